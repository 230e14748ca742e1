/* SPDX-License-Identifier: MIT */
/*
 * heap.h - heaps and their blocks: malloc with a header, so that a heap can be destroyed with all that is in it, be
 * walked and be locked, and a block knows its exact size and its heap. Blocks are aligned to 16 bytes, as on 64-bit
 * Windows.
 *
 * A heap keeps its blocks in shards, each with a lock: the process heap has several, and a thread puts its blocks into
 * the same one, so that threads seldom meet. Who
 * called HeapLock owns all shards; every other thread that links or unlinks a block waits until HeapUnlock.
 */
#ifndef WIN32_MEMORY_HEAP_H
#define WIN32_MEMORY_HEAP_H

#include <windows.h>

#include "util/list.h"
#include "util/lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * A place in the ring of a shard's blocks. The pointers are complements, so that a tool that looks for memory without
 * a pointer to it still finds what the program forgot.
 */
struct heap_place {
    uintptr_t next, prev;
};

struct heap_shard {
    _Alignas(64) struct lock lock; /* guards the rest, of a private heap also used; a leaf */
    struct heap_place blocks;
    pthread_t owner; /* the thread that called HeapLock, if depth is not 0 */
    unsigned depth;
    _Atomic uint32_t turns; /* futex word of those who wait for HeapUnlock: it counts them */
};

struct heap {
    struct list_node link; /* heaps */
    size_t maximum;        /* the most bytes that all blocks have together; 0: no maximum */
    size_t used;
    unsigned count;
    struct heap_shard shards[];
};

struct heap_block {
    struct heap_place place;
    struct heap_shard *shard;
    size_t size;
    _Alignas(16) unsigned char data[];
};

/* The heap behind a handle; NULL with ERROR_INVALID_HANDLE. */
struct heap *heap_of(HANDLE handle);

/* The next heap, the process heap first, NULL: the first; NULL: there are no more. The lock of the list is held. */
struct heap *heap_next(struct heap *heap);

/* The block of this heap that begins at memory; NULL with ERROR_INVALID_PARAMETER: it is another's, or none. */
struct heap_block *heap_block_of(struct heap *heap, const void *memory);

/* Whether a block's header is of this heap; it may be any memory. */
bool heap_has(const struct heap *heap, const struct heap_block *block);

/* Takes a shard's lock, once no other thread owns it by HeapLock. */
void heap_shard_enter(struct heap_shard *shard);

static inline struct heap_place *heap_place_at(uintptr_t complement)
{
    return (struct heap_place *)~complement;
}

static inline uintptr_t heap_place_hidden(const struct heap_place *place)
{
    return ~(uintptr_t)place;
}

#endif
