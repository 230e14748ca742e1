/* SPDX-License-Identifier: MIT */
/* handle.c - the handle table (handle.h), CloseHandle, the flags of handles, WinLinuxGetDescriptor. */
#include "winobj/handles/handle.h"

#include "winobj/fork.h"
#include "winobj/handles/descriptor.h"

#include "util/lock.h"

#include <winobj_linux.h>

#include <assert.h>
#include <stdlib.h>

enum {
    CHUNK_SLOTS = 1024,
    CHUNKS = 1024,
    INDEX_BITS = 20,
    GENERATION_BITS = 10, /* the three sum to 32: a handle fits 32 bits, as on Windows */
    TAG_BITS = 2,
};

static_assert(
    1 << (INDEX_BITS + TAG_BITS) == WIN_DESCRIPTORS, "handles of generation 0 are descriptors");

#define OPEN            ((uint64_t)1 << 31)
#define INHERITED       ((uint64_t)1 << 30)
#define REFERENCES      (INHERITED - 1)
#define GENERATION_MASK ((1u << GENERATION_BITS) - 1)

static struct win_slot *_Atomic chunks[CHUNKS];
static void (*_Atomic offered)(void);

/* Free slots, oldest first, so that a generation is used again as late as possible. */
static struct lock table_lock = LOCK_INIT(LOCK_WIN_HANDLES, "handle table");
FORK_ROW(.place = LOCK_WIN_HANDLES, .lock = &table_lock);
static uint32_t *free_ring;
static uint32_t free_capacity, free_head, free_count, slot_count;

static uint32_t word_generation(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static struct win_slot *slot_at(uint32_t index)
{
    struct win_slot *chunk =
        atomic_load_explicit(&chunks[index / CHUNK_SLOTS], memory_order_acquire);

    return chunk ? &chunk[index % CHUNK_SLOTS] : NULL;
}

static void free_push_locked(uint32_t index)
{
    lock_assert_held(&table_lock);
    free_ring[(free_head + free_count++) % free_capacity] = index;
}

/* Adds a chunk. The ring always has room for all slots, so that freeing one cannot fail. */
static bool grow_locked(void)
{
    uint32_t chunk_index = slot_count / CHUNK_SLOTS, capacity = slot_count + CHUNK_SLOTS;
    struct win_slot *chunk;
    uint32_t *ring;

    lock_assert_held(&table_lock);
    if (chunk_index == CHUNKS)
        return false;
    if (!(chunk = calloc(CHUNK_SLOTS, sizeof(*chunk))))
        return false;
    if (!(ring = malloc(capacity * sizeof(*ring)))) {
        free(chunk);
        return false;
    }
    for (uint32_t i = 0; i < free_count; i++)
        ring[i] = free_ring[(free_head + i) % free_capacity];
    free(free_ring);
    free_ring = ring;
    free_head = 0;
    free_capacity = capacity;
    atomic_store_explicit(&chunks[chunk_index], chunk, memory_order_release);
    for (uint32_t i = 0; i < CHUNK_SLOTS; i++)
        if (slot_count + i) /* index 0 would make a NULL handle */
            free_push_locked(slot_count + i);
    slot_count = capacity;
    return true;
}

/* Takes a free slot. Returns its index; 0 with the last error. */
static uint32_t slot_take(void)
{
    uint32_t index = 0;

    lock_acquire(&table_lock);
    if (free_count || grow_locked()) {
        index = free_ring[free_head];
        free_head = (free_head + 1) % free_capacity;
        free_count--;
    }
    lock_release(&table_lock);
    if (!index)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return index;
}

static void slot_give_back(uint32_t index)
{
    lock_acquire(&table_lock);
    free_push_locked(index);
    lock_release(&table_lock);
}

static HANDLE slot_handle(uint32_t index, uint32_t generation)
{
    return (HANDLE)(uintptr_t)(((uint64_t)generation << INDEX_BITS | index) << TAG_BITS);
}

static HANDLE slot_open_as(
    uint32_t index, uint32_t generation, struct win_object *object, uint64_t flags)
{
    struct win_slot *slot = slot_at(index);

    slot->object = object;
    atomic_store_explicit(
        &slot->word, (uint64_t)generation << 32 | OPEN | flags | 1, memory_order_release);
    return slot_handle(index, generation);
}

/* Opens a slot that slot_take returned. Generation 0 is left out: those values are the descriptors (descriptor.h). */
static HANDLE slot_open(uint32_t index, struct win_object *object)
{
    struct win_slot *slot = slot_at(index);
    uint32_t generation =
        (word_generation(atomic_load_explicit(&slot->word, memory_order_relaxed)) + 1) &
        GENERATION_MASK;

    generation += !generation;
    return slot_open_as(index, generation, object, 0);
}

HANDLE win_handle_open(struct win_object *object, const struct win_object_type *type)
{
    uint32_t index = slot_take();

    if (!index)
        return NULL;
    object->type = type;
    object->slot = slot_at(index);
    atomic_init(&object->handles, 1);
    return slot_open(index, object);
}

HANDLE win_handle_add(struct win_object *object)
{
    uint32_t index = slot_take();
    unsigned handles;

    if (!index)
        return NULL;
    handles = atomic_load_explicit(&object->handles, memory_order_relaxed);
    do {
        if (!handles && object->type->close) {
            slot_give_back(index);
            SetLastError(ERROR_INVALID_HANDLE);
            return NULL;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &object->handles, &handles, handles + 1, memory_order_relaxed, memory_order_relaxed));
    win_object_ref(object);
    return slot_open(index, object);
}

/* The slot that a handle or a descriptor names, and its generation; NULL for a value that names none. */
static struct win_slot *handle_slot(HANDLE handle, uint32_t *generation)
{
    uint64_t value;

    if ((uintptr_t)handle < WIN_DESCRIPTORS)
        handle = win_descriptor_handle((uintptr_t)handle);
    value = (uint64_t)(uintptr_t)handle >> TAG_BITS;
    if (value >> (INDEX_BITS + GENERATION_BITS))
        return NULL;
    *generation = (uint32_t)(value >> INDEX_BITS);
    return slot_at((uint32_t)value & ((1u << INDEX_BITS) - 1));
}

static uint32_t slot_index(const struct win_slot *slot)
{
    for (uint32_t i = 0;; i++) {
        const struct win_slot *chunk = atomic_load_explicit(&chunks[i], memory_order_relaxed);
        if (slot >= chunk && slot < chunk + CHUNK_SLOTS)
            return i * CHUNK_SLOTS + (uint32_t)(slot - chunk);
    }
}

void win_object_ref(struct win_object *object)
{
    atomic_fetch_add_explicit(&object->slot->word, 1, memory_order_relaxed);
}

/*
 * Drops a reference. Returns whether it was the last one; acq_rel: the thread that drops it sees what all others did to
 * the object.
 */
static bool slot_drop(struct win_slot *slot)
{
    return (atomic_fetch_sub_explicit(&slot->word, 1, memory_order_acq_rel) & REFERENCES) == 1;
}

void win_object_unref(struct win_object *object)
{
    struct win_slot *slot = object->slot;

    if (!slot_drop(slot))
        return;
    object->type->destroy(object);
    slot_give_back(slot_index(slot));
}

static void duplicate_unref(struct win_slot *slot)
{
    struct win_object *object = slot->object;

    if (!slot_drop(slot))
        return;
    win_object_unref(object);
    slot_give_back(slot_index(slot));
}

/* The name is the number of the first handle. The table does not use it again while the object exists. */
HANDLE win_object_name(const struct win_object *object)
{
    uint64_t word = atomic_load_explicit(&object->slot->word, memory_order_relaxed);

    return slot_handle(slot_index(object->slot), word_generation(word));
}

/* The object of a handle or name whose slot has one of the bits of in_use, referenced; NULL: there is none. */
static struct win_object *pin(HANDLE handle, uint64_t in_use)
{
    uint32_t generation = 0;
    struct win_slot *slot = handle_slot(handle, &generation);
    struct win_object *object;
    uint64_t word;

    if (!slot)
        return NULL;
    word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    do {
        if (!(word & in_use) || word_generation(word) != generation)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(
        &slot->word, &word, word + 1, memory_order_acquire, memory_order_relaxed));
    object = slot->object;
    if (__builtin_expect(object->slot != slot, 0)) {
        win_object_ref(object);
        duplicate_unref(slot);
    }
    return object;
}

struct win_object *win_object_find(HANDLE name)
{
    return pin(name, REFERENCES);
}

struct win_object *win_handle_pin(HANDLE handle, const struct win_object_type *type)
{
    struct win_object *object = pin(handle, OPEN);

    if (object && type && object->type != type) {
        win_object_unref(object);
        return NULL;
    }
    return object;
}

/* The constants for the process, the thread and their tokens: CloseHandle leaves them alone. */
static bool handle_is_pseudo(HANDLE handle)
{
    LONG_PTR value = (LONG_PTR)handle;

    return value >= -6 && value <= -1;
}

/*
 * CloseHandle - closes a handle of any kind that this library makes; ignores its two low bits. A socket that has been
 * used as a handle is one, too.
 * Returns TRUE for GetCurrentProcess() and GetCurrentThread(), which stay valid.
 * Returns FALSE with ERROR_INVALID_HANDLE for anything that is not open. Users of the object (a pending request on a
 * file, a thread that waits, files of a port, a duplicate) keep it alive.
 */
BOOL WINAPI CloseHandle(HANDLE handle)
{
    uint32_t generation = 0;
    struct win_slot *slot = handle_slot(handle, &generation);
    struct win_object *object;
    uint64_t word;

    if (!slot)
        goto invalid;
    word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    do {
        if (!(word & OPEN) || word_generation(word) != generation)
            goto invalid;
    } while (!atomic_compare_exchange_weak_explicit(
        &slot->word, &word, word & ~OPEN, memory_order_acquire, memory_order_relaxed));
    object = slot->object;
    if (atomic_fetch_sub_explicit(&object->handles, 1, memory_order_acq_rel) == 1 &&
        object->type->close)
        object->type->close(object);
    if (object->slot == slot)
        win_object_unref(object);
    else
        duplicate_unref(slot);
    return TRUE;

invalid:
    if (handle_is_pseudo(handle))
        return TRUE;
    SetLastError(ERROR_INVALID_HANDLE);
    return FALSE;
}

bool win_handle_inherits(HANDLE handle)
{
    uint32_t generation = 0;
    struct win_slot *slot = handle_slot(handle, &generation);
    uint64_t word = slot ? atomic_load_explicit(&slot->word, memory_order_relaxed) : 0;

    return (word & OPEN) && (word & INHERITED) && word_generation(word) == generation;
}

DWORD win_handle_set_inherit(HANDLE handle, bool inherit)
{
    struct win_object *object = win_handle_pin(handle, NULL);
    DWORD error = object ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
    uint32_t generation = 0;
    struct win_slot *slot = handle_slot(handle, &generation);
    uint64_t word;

    if (object && inherit)
        error = object->type->carry ? object->type->carry(object, NULL) : ERROR_NOT_SUPPORTED;
    if (!error) {
        word = atomic_load_explicit(&slot->word, memory_order_relaxed);
        do
            if (!(word & OPEN) || word_generation(word) != generation) {
                error = ERROR_INVALID_HANDLE;
                break;
            }
        while (!atomic_compare_exchange_weak_explicit(&slot->word, &word,
            inherit ? word | INHERITED : word & ~INHERITED, memory_order_relaxed,
            memory_order_relaxed));
    }
    if (object)
        win_object_unref(object);
    return error;
}

HANDLE win_handle_attribute(HANDLE handle, const SECURITY_ATTRIBUTES *attributes)
{
    if (handle && attributes && attributes->bInheritHandle) {
        win_handle_set_inherit(handle, true);
        win_handle_offer();
    }
    return handle;
}

void win_handle_set_offered(void (*function)(void))
{
    atomic_store_explicit(&offered, function, memory_order_relaxed);
}

void win_handle_offer(void)
{
    void (*function)(void) = atomic_load_explicit(&offered, memory_order_relaxed);

    if (function)
        function();
}

HANDLE win_handle_next_inherited(uint32_t *place)
{
    struct win_slot *slot;

    while ((slot = slot_at(*place))) {
        const uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);
        const uint32_t index = (*place)++;

        if ((word & OPEN) && (word & INHERITED))
            return slot_handle(index, word_generation(word));
    }
    return NULL;
}

bool win_handle_reserve(HANDLE handle)
{
    const uint32_t index = ((uint32_t)(uintptr_t)handle >> TAG_BITS) & ((1u << INDEX_BITS) - 1);
    uint32_t kept = 0;
    bool free_one = false;

    lock_acquire(&table_lock);
    while (slot_count <= index && grow_locked())
        ;
    for (uint32_t i = 0; i < free_count; i++) {
        const uint32_t one = free_ring[(free_head + i) % free_capacity];

        if (one == index)
            free_one = true;
        else
            free_ring[(free_head + kept++) % free_capacity] = one;
    }
    free_count = kept;
    lock_release(&table_lock);
    return free_one;
}

void win_handle_place(struct win_object *object, HANDLE handle)
{
    const uint64_t value = (uint64_t)(uintptr_t)handle >> TAG_BITS;

    atomic_fetch_add_explicit(&object->handles, 1, memory_order_relaxed);
    win_object_ref(object);
    slot_open_as((uint32_t)value & ((1u << INDEX_BITS) - 1), (uint32_t)(value >> INDEX_BITS),
        object, INHERITED);
}

/*
 * GetHandleInformation - HANDLE_FLAG_INHERIT if CreateProcess may hand the handle on.
 * Returns FALSE with ERROR_INVALID_HANDLE.
 */
BOOL WINAPI GetHandleInformation(HANDLE handle, LPDWORD flags)
{
    struct win_object *object;

    win_descriptor_adopt(handle);
    if (!(object = win_handle_pin(handle, NULL))) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    *flags = win_handle_inherits(handle) ? HANDLE_FLAG_INHERIT : 0;
    win_object_unref(object);
    return TRUE;
}

/*
 * SetHandleInformation - sets or clears HANDLE_FLAG_INHERIT of a handle.
 * mask     HANDLE_FLAG_INHERIT or 0
 * Returns  FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (another flag), ERROR_NOT_SUPPORTED: protection
 *          from closing, or a handle that cannot be inherited: of a thread, a timer, NetworkDirect, or an
 *          event, a mutex or a semaphore that has no name and was not made with bInheritHandle.
 */
BOOL WINAPI SetHandleInformation(HANDLE handle, DWORD mask, DWORD flags)
{
    struct win_object *object;
    DWORD error = ERROR_SUCCESS;

    win_descriptor_adopt(handle);
    if (mask & ~(DWORD)HANDLE_FLAG_INHERIT)
        error =
            mask & HANDLE_FLAG_PROTECT_FROM_CLOSE ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
    else if (mask)
        error = win_handle_set_inherit(handle, flags & HANDLE_FLAG_INHERIT);
    else if ((object = win_handle_pin(handle, NULL)))
        win_object_unref(object);
    else
        error = ERROR_INVALID_HANDLE;
    if (error)
        SetLastError(error);
    return !error;
}

int WinLinuxGetDescriptor(HANDLE handle)
{
    struct win_object *object = win_handle_pin(handle, NULL);
    int fd = -1;

    if (!object || !object->type->descriptor)
        SetLastError(ERROR_INVALID_HANDLE);
    else if ((fd = object->type->descriptor(object)) < 0)
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    if (object)
        win_object_unref(object);
    return fd;
}

void win_handles_forked(void)
{
    for (uint32_t i = 0; i < slot_count; i++) {
        struct win_slot *slot = slot_at(i);
        struct win_object *object;

        if (!(atomic_load_explicit(&slot->word, memory_order_relaxed) & REFERENCES))
            continue;
        object = slot->object;
        if (object->slot == slot && object->type->forked)
            object->type->forked(object);
    }
}
