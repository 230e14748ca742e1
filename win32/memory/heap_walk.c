/* SPDX-License-Identifier: MIT */
/* heap_walk.c - HeapLock, HeapUnlock, HeapWalk, HeapValidate; heaps around a fork. */
#include "win32/fork.h"
#include "win32/memory/heap.h"

#include "util/futex.h"

#include <limits.h>

static bool is_mine(const struct heap_shard *shard)
{
    return shard->depth && pthread_equal(shard->owner, pthread_self());
}

void heap_shard_enter(struct heap_shard *shard)
{
    lock_acquire(&shard->lock);
    while (shard->depth && !is_mine(shard)) {
        const uint32_t turn = atomic_load(&shard->turns);

        lock_release(&shard->lock);
        futex_wait(&shard->turns, turn, NULL);
        lock_acquire(&shard->lock);
    }
}

/*
 * HeapLock - keeps all other threads from adding blocks to a heap, and from freeing and resizing its blocks, until as
 * many calls of HeapUnlock: they wait. The calling thread may go on using the heap.
 * heap     also the process heap; what other code allocates by malloc is not in it
 * Returns  FALSE with ERROR_INVALID_HANDLE. Any thread; it may wait for another thread's HeapUnlock.
 * Source: HeapLock function (heapapi.h).
 */
BOOL WINAPI HeapLock(HANDLE handle)
{
    struct heap *heap = heap_of(handle);

    if (!heap)
        return FALSE;
    for (unsigned i = 0; i < heap->count; i++) {
        struct heap_shard *shard = &heap->shards[i];

        heap_shard_enter(shard);
        shard->owner = pthread_self();
        shard->depth++;
        lock_release(&shard->lock);
    }
    return TRUE;
}

/*
 * HeapUnlock - undoes one HeapLock of the calling thread. FALSE with ERROR_INVALID_HANDLE, ERROR_NOT_OWNER (the calling
 * thread has not locked it).
 * Source: HeapUnlock function (heapapi.h).
 */
BOOL WINAPI HeapUnlock(HANDLE handle)
{
    struct heap *heap = heap_of(handle);
    bool owned = true;

    if (!heap)
        return FALSE;
    for (unsigned i = 0; i < heap->count && owned; i++) {
        struct heap_shard *shard = &heap->shards[i];
        bool free;

        lock_acquire(&shard->lock);
        owned = is_mine(shard);
        free = owned && !--shard->depth;
        if (free)
            atomic_fetch_add(&shard->turns, 1);
        lock_release(&shard->lock);
        if (free)
            futex_wake(&shard->turns, INT_MAX);
    }
    if (!owned)
        SetLastError(ERROR_NOT_OWNER);
    return owned;
}

static struct heap_block *block_at(struct heap_place *place)
{
    return container_of(place, struct heap_block, place);
}

/* The first block of a heap's shards from one on; NULL: there is none. */
static struct heap_block *first_from(struct heap *heap, unsigned shard)
{
    struct heap_block *found = NULL;

    for (; shard < heap->count && !found; shard++) {
        struct heap_shard *one = &heap->shards[shard];

        heap_shard_enter(one);
        if (heap_place_at(one->blocks.next) != &one->blocks)
            found = block_at(heap_place_at(one->blocks.next));
        lock_release(&one->lock);
    }
    return found;
}

static struct heap_block *block_after(struct heap *heap, struct heap_block *block)
{
    struct heap_shard *shard = block->shard;
    struct heap_place *next;

    heap_shard_enter(shard);
    next = heap_place_at(block->place.next);
    lock_release(&shard->lock);
    return next != &shard->blocks ? block_at(next)
                                  : first_from(heap, (unsigned)(shard - heap->shards) + 1);
}

/*
 * HeapWalk - describes the blocks of a heap, one by one. Lock the heap while you walk: a block that is freed between
 * two calls leaves nothing to go on from.
 * entry    in: lpData NULL for the first block, else what the call before has written; out: lpData, cbData and wFlags
 *          (PROCESS_HEAP_ENTRY_BUSY) of a block. There are no entries of regions or of free memory, which are malloc's
 * Returns  FALSE with ERROR_NO_MORE_ITEMS (all have been described), ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (no
 *          entry; no block of this heap). Any thread.
 * Source: HeapWalk function (heapapi.h).
 */
BOOL WINAPI HeapWalk(HANDLE handle, LPPROCESS_HEAP_ENTRY entry)
{
    struct heap *heap = heap_of(handle);
    struct heap_block *block;

    if (!heap)
        return FALSE;
    if (!entry) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!entry->lpData)
        block = first_from(heap, 0);
    else {
        if (!(block = heap_block_of(heap, entry->lpData)))
            return FALSE;
        block = block_after(heap, block);
    }
    if (!block) {
        SetLastError(ERROR_NO_MORE_ITEMS);
        return FALSE;
    }
    *entry = (PROCESS_HEAP_ENTRY){ .lpData = block->data,
        .cbData = block->size > UINT32_MAX ? UINT32_MAX : (DWORD)block->size,
        .cbOverhead = sizeof(struct heap_block),
        .wFlags = PROCESS_HEAP_ENTRY_BUSY };
    return TRUE;
}

/* Whether the ring is whole; found: whether the memory is one of its blocks. */
static bool shard_is_sound(
    struct heap *heap, struct heap_shard *shard, const void *memory, bool *found)
{
    struct heap_place *place = &shard->blocks, *next;
    bool sound;

    heap_shard_enter(shard);
    do {
        next = heap_place_at(place->next);
        sound = heap_place_at(next->prev) == place &&
                (next == &shard->blocks || heap_has(heap, block_at(next)));
        if (sound && next != &shard->blocks && block_at(next)->data == memory)
            *found = true;
        place = next;
    } while (sound && place != &shard->blocks);
    lock_release(&shard->lock);
    return sound;
}

/*
 * HeapValidate - whether a heap's list of blocks is whole, and memory, if it is not NULL, one of its blocks. Looks at
 * all blocks. What the program wrote beside its blocks is malloc's to find.
 * Returns  FALSE: it is not, the last error stays; or ERROR_INVALID_HANDLE. Any thread.
 * Source: HeapValidate function (heapapi.h).
 */
BOOL WINAPI HeapValidate(HANDLE handle, DWORD flags, LPCVOID memory)
{
    struct heap *heap = heap_of(handle);
    bool sound = heap != NULL, found = false;

    (void)flags;
    for (unsigned i = 0; sound && i < heap->count; i++)
        sound = shard_is_sound(heap, &heap->shards[i], memory, &found);
    return sound && (!memory || found);
}

/* The shards' own locks; that of the list of heaps is held. */
static void hold_heaps(void)
{
    for (struct heap *heap = heap_next(NULL); heap; heap = heap_next(heap))
        for (unsigned i = 0; i < heap->count; i++)
            lock_hold(&heap->shards[i].lock);
}

static void drop_heaps(void)
{
    for (struct heap *heap = heap_next(NULL); heap; heap = heap_next(heap))
        for (unsigned i = 0; i < heap->count; i++)
            lock_drop(&heap->shards[i].lock);
}

/* What another thread of the parent had locked is free: that thread is not here. */
static void drop_heaps_in_child(void)
{
    for (struct heap *heap = heap_next(NULL); heap; heap = heap_next(heap))
        for (unsigned i = 0; i < heap->count; i++)
            if (!is_mine(&heap->shards[i]))
                heap->shards[i].depth = 0;
    drop_heaps();
}

FORK_ROW(.place = WIN_FORK_LEAF + 1, .prepare = hold_heaps, .parent = drop_heaps,
    .child = drop_heaps_in_child);
