/* SPDX-License-Identifier: MIT */
/* descriptor.c - from a descriptor to the handle of its object (descriptor.h). */
#include "winobj/handles/descriptor.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { CHUNK = 4096, CHUNKS = WIN_DESCRIPTORS / CHUNK };

/* Handles fit 32 bits; 0: none. Chunks are never freed. */
static _Atomic uint32_t *_Atomic chunks[CHUNKS];
static void (*_Atomic make)(int descriptor);

static _Atomic uint32_t *entry_of(uintptr_t descriptor)
{
    _Atomic uint32_t *chunk;

    if (descriptor >= WIN_DESCRIPTORS)
        return NULL;
    chunk = atomic_load_explicit(&chunks[descriptor / CHUNK], memory_order_acquire);
    return chunk ? &chunk[descriptor % CHUNK] : NULL;
}

/* Returns the entry of a descriptor, and makes its chunk if there is none; NULL: no handle's value, or no memory. */
static _Atomic uint32_t *entry_make(uintptr_t descriptor)
{
    _Atomic uint32_t *chunk, *none = NULL;

    if (!descriptor || descriptor >= WIN_DESCRIPTORS) /* 0 is NULL, which is no handle */
        return NULL;
    if (entry_of(descriptor))
        return entry_of(descriptor);
    if (!(chunk = calloc(CHUNK, sizeof(*chunk))))
        return NULL;
    if (!atomic_compare_exchange_strong(&chunks[descriptor / CHUNK], &none, chunk))
        free((void *)chunk);
    return entry_of(descriptor);
}

static HANDLE handle_of(uint32_t value)
{
    return (HANDLE)(uintptr_t)value;
}

HANDLE win_descriptor_handle(uintptr_t descriptor)
{
    _Atomic uint32_t *entry = entry_of(descriptor);

    return entry ? handle_of(atomic_load_explicit(entry, memory_order_acquire)) : NULL;
}

HANDLE win_descriptor_claim(uintptr_t descriptor, HANDLE handle)
{
    _Atomic uint32_t *entry = entry_make(descriptor);
    uint32_t there = 0;

    if (!entry)
        return INVALID_HANDLE_VALUE;
    atomic_compare_exchange_strong(entry, &there, (uint32_t)(uintptr_t)handle);
    return handle_of(there);
}

void win_descriptor_drop(uintptr_t descriptor, HANDLE handle)
{
    _Atomic uint32_t *entry = entry_of(descriptor);
    uint32_t there = (uint32_t)(uintptr_t)handle;

    if (entry)
        atomic_compare_exchange_strong(entry, &there, 0);
}

void win_descriptor_maker(void (*maker)(int descriptor))
{
    atomic_store(&make, maker);
}

void win_descriptor_adopt(HANDLE handle)
{
    const uintptr_t descriptor = (uintptr_t)handle;
    void (*maker)(int descriptor) = atomic_load(&make);

    if (maker && descriptor && descriptor < WIN_DESCRIPTORS && !win_descriptor_handle(descriptor))
        maker((int)descriptor);
}
