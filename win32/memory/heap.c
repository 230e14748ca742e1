/* SPDX-License-Identifier: MIT */
/*
 * heap.c - heaps (heap.h): making and destroying them, their blocks. LocalAlloc takes from the process heap; it has no
 * movable memory.
 */
#include "win32/memory/heap.h"

#include "win32/fork.h"
#include "win32/memory/secure_cache.h"

#include <stdlib.h>

enum {
    PROCESS_SHARDS = 16,
    PRIVATE_HEAP = sizeof(struct heap) + sizeof(struct heap_shard) /* octets; it has one shard */
};

static union {
    struct heap heap;
    char octets[sizeof(struct heap) + PROCESS_SHARDS * sizeof(struct heap_shard)];
} process;
static struct list_head heaps = { { &heaps.n, &heaps.n } };
static struct lock heaps_lock = LOCK_INIT(LOCK_WIN_HANDLES, "heaps");
WIN_HELD_OVER_FORK(heaps_lock);

static void shards_init(struct heap *heap, unsigned count)
{
    heap->count = count;
    for (unsigned i = 0; i < count; i++) {
        struct heap_shard *shard = &heap->shards[i];

        lock_init(&shard->lock, LOCK_WIN_HANDLES, "heap");
        shard->blocks.next = shard->blocks.prev = heap_place_hidden(&shard->blocks);
    }
}

/* The priority has it run before the constructors of the program and of the libraries above. */
__attribute__((constructor(150))) static void heap_load(void)
{
    shards_init(&process.heap, PROCESS_SHARDS);
}

struct heap *heap_of(HANDLE handle)
{
    struct heap *found = NULL;

    if (handle == &process.heap)
        return &process.heap;
    lock_acquire(&heaps_lock);
    list_for_each (&heaps, node)
        if (list_entry(node, struct heap, link) == handle)
            found = handle;
    lock_release(&heaps_lock);
    if (!found)
        SetLastError(ERROR_INVALID_HANDLE);
    return found;
}

struct heap *heap_next(struct heap *heap)
{
    struct list_node *next;

    if (!heap)
        return &process.heap;
    next = heap == &process.heap ? heaps.n.next : heap->link.next;
    return next == &heaps.n ? NULL : list_entry(next, struct heap, link);
}

bool heap_has(const struct heap *heap, const struct heap_block *block)
{
    const uintptr_t at = (uintptr_t)block->shard - (uintptr_t)heap->shards;

    return at % sizeof(heap->shards[0]) == 0 && at / sizeof(heap->shards[0]) < heap->count;
}

/* The shard of the calling thread's new blocks. */
static struct heap_shard *shard_here(struct heap *heap)
{
    static atomic_uint threads;
    static _Thread_local unsigned thread;

    if (heap->count == 1)
        return heap->shards;
    if (!thread)
        thread = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % PROCESS_SHARDS;
    return &heap->shards[thread - 1];
}

/* Counts size more bytes of the heap, if they fit; returns whether they do. */
static bool room_take(struct heap *heap, size_t size)
{
    bool fits;

    if (heap == &process.heap)
        return true;
    heap_shard_enter(&heap->shards[0]);
    fits = !heap->maximum || size <= heap->maximum - heap->used;
    if (fits)
        heap->used += size;
    lock_release(&heap->shards[0].lock);
    return fits;
}

static void room_give(struct heap *heap, size_t size)
{
    if (heap == &process.heap)
        return;
    heap_shard_enter(&heap->shards[0]);
    heap->used -= size;
    lock_release(&heap->shards[0].lock);
}

static void block_link(struct heap *heap, struct heap_block *block)
{
    struct heap_shard *shard = shard_here(heap);

    block->shard = shard;
    heap_shard_enter(shard);
    block->place.next = heap_place_hidden(&shard->blocks);
    block->place.prev = shard->blocks.prev;
    heap_place_at(block->place.prev)->next = heap_place_hidden(&block->place);
    shard->blocks.prev = heap_place_hidden(&block->place);
    lock_release(&shard->lock);
}

static void block_unlink(struct heap_block *block)
{
    struct heap_shard *shard = block->shard;

    heap_shard_enter(shard);
    heap_place_at(block->place.prev)->next = block->place.next;
    heap_place_at(block->place.next)->prev = block->place.prev;
    lock_release(&shard->lock);
}

/* A large block is about to be freed, or moved. */
static void block_goes(const struct heap_block *block)
{
    if (block->size >= WIN_SECURE_BLOCK)
        win_memory_goes(block->data, block->size);
}

/* GetProcessHeap - the heap that is always there. */
HANDLE WINAPI GetProcessHeap(void)
{
    return &process.heap;
}

/*
 * HeapCreate - makes a private heap. flags: 0 or HEAP_NO_SERIALIZE. initial_size: a hint. maximum_size: the limit of
 * all its blocks together, rounded up to whole pages; 0: no limit.
 * Returns NULL with ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI HeapCreate(DWORD flags, SIZE_T initial_size, SIZE_T maximum_size)
{
    struct heap *heap;

    (void)initial_size;
    if (flags & ~(DWORD)HEAP_NO_SERIALIZE) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(heap = aligned_alloc(_Alignof(struct heap), PRIVATE_HEAP))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    memset(heap, 0, PRIVATE_HEAP);
    heap->maximum =
        maximum_size > SIZE_MAX - 4095 ? SIZE_MAX : (maximum_size + 4095) & ~(size_t)4095;
    shards_init(heap, 1);
    lock_acquire(&heaps_lock);
    list_add_tail(&heaps, &heap->link);
    lock_release(&heaps_lock);
    return heap;
}

/* HeapDestroy - frees a heap and every block in it. Errors: ERROR_INVALID_HANDLE (also for the process heap). */
BOOL WINAPI HeapDestroy(HANDLE handle)
{
    struct heap *heap = heap_of(handle);
    struct heap_place *place, *next;

    if (!heap || heap == &process.heap) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    lock_acquire(&heaps_lock);
    list_del(&heap->link);
    lock_release(&heaps_lock);
    for (place = heap_place_at(heap->shards[0].blocks.next); place != &heap->shards[0].blocks;
         place = next) {
        struct heap_block *block = container_of(place, struct heap_block, place);

        next = heap_place_at(place->next);
        block_goes(block);
        free(block);
    }
    free(heap);
    return TRUE;
}

/* HeapAlloc - size bytes; HEAP_ZERO_MEMORY clears them. NULL: no memory, or no such heap (ERROR_INVALID_HANDLE). */
LPVOID WINAPI HeapAlloc(HANDLE handle, DWORD flags, SIZE_T size)
{
    struct heap *heap = heap_of(handle);
    struct heap_block *block = NULL;

    if (!heap)
        return NULL;
    if (size <= SIZE_MAX - sizeof(*block) && room_take(heap, size)) {
        block = flags & HEAP_ZERO_MEMORY ? calloc(1, sizeof(*block) + size)
                                         : malloc(sizeof(*block) + size);
        if (!block)
            room_give(heap, size);
    }
    if (!block) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    block->size = size;
    block_link(heap, block);
    return block->data;
}

struct heap_block *heap_block_of(struct heap *heap, const void *memory)
{
    struct heap_block *block =
        (struct heap_block *)((char *)(uintptr_t)memory - offsetof(struct heap_block, data));

    if (memory && (uintptr_t)memory % _Alignof(struct heap_block) == 0 && heap_has(heap, block))
        return block;
    SetLastError(ERROR_INVALID_PARAMETER);
    return NULL;
}

/* HeapReAlloc - changes a block's size, and may move it; HEAP_ZERO_MEMORY clears the added bytes. NULL: no change. */
LPVOID WINAPI HeapReAlloc(HANDLE handle, DWORD flags, LPVOID memory, SIZE_T size)
{
    struct heap *heap = heap_of(handle);
    struct heap_block *block = heap ? heap_block_of(heap, memory) : NULL, *moved = NULL;
    size_t before;

    if (!block)
        return NULL;
    before = block->size;
    block_unlink(block);
    if (size <= SIZE_MAX - sizeof(*block) && (size <= before || room_take(heap, size - before))) {
        block_goes(block);
        moved = realloc(block, sizeof(*block) + size);
    } else
        size = before; /* room_take has counted nothing */
    block_link(heap, moved ? moved : block);
    if (moved ? size < before : size > before)
        room_give(heap, size < before ? before - size : size - before);
    if (!moved) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    moved->size = size;
    if ((flags & HEAP_ZERO_MEMORY) && size > before)
        memset(moved->data + before, 0, size - before);
    return moved->data;
}

/* HeapFree - NULL is fine. Errors: ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (another heap's block). */
BOOL WINAPI HeapFree(HANDLE handle, DWORD flags, LPVOID memory)
{
    struct heap *heap = heap_of(handle);
    struct heap_block *block;

    (void)flags;
    if (!heap)
        return FALSE;
    if (!memory)
        return TRUE;
    if (!(block = heap_block_of(heap, memory)))
        return FALSE;
    block_goes(block);
    block_unlink(block);
    room_give(heap, block->size);
    free(block);
    return TRUE;
}

/* HeapSize - the size that the program asked for; (SIZE_T)-1 with the errors of HeapFree. */
SIZE_T WINAPI HeapSize(HANDLE handle, DWORD flags, LPCVOID memory)
{
    struct heap *heap = heap_of(handle);
    struct heap_block *block = heap ? heap_block_of(heap, memory) : NULL;

    (void)flags;
    return block ? block->size : (SIZE_T)-1;
}

/*
 * HeapSetInformation - sets an option of a heap.
 * heap     NULL with HeapEnableTerminationOnCorruption: all heaps
 * what     HeapEnableTerminationOnCorruption: malloc ends the program when it sees corruption, with or without this;
 *          HeapCompatibilityInformation: value is a ULONG, 2; malloc is that kind of heap already
 * Returns  FALSE with ERROR_INVALID_PARAMETER (no such heap, another value or class), ERROR_INSUFFICIENT_BUFFER (size).
 * Source: HeapSetInformation function (heapapi.h).
 */
BOOL WINAPI HeapSetInformation(HANDLE handle, HEAP_INFORMATION_CLASS what, PVOID value, SIZE_T size)
{
    DWORD error = ERROR_INVALID_PARAMETER;

    if (what == HeapEnableTerminationOnCorruption && !handle)
        return TRUE;
    if (!heap_of(handle))
        return FALSE;
    if (what == HeapEnableTerminationOnCorruption)
        return TRUE;
    if (what == HeapCompatibilityInformation) {
        if (size < sizeof(ULONG))
            error = ERROR_INSUFFICIENT_BUFFER;
        else if (value && *(const ULONG *)value == 2)
            return TRUE;
    }
    SetLastError(error);
    return FALSE;
}

/*
 * LocalAlloc - bytes of memory; flags: LMEM_FIXED, LMEM_ZEROINIT, or both (LPTR). NULL with ERROR_INVALID_PARAMETER
 * (another flag), ERROR_NOT_ENOUGH_MEMORY.
 */
HLOCAL WINAPI LocalAlloc(UINT flags, SIZE_T bytes)
{
    if (flags & ~(UINT)LPTR) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return HeapAlloc(GetProcessHeap(), flags & LMEM_ZEROINIT ? HEAP_ZERO_MEMORY : 0, bytes);
}

/*
 * LocalFree - frees memory of LocalAlloc or FormatMessage; NULL is fine. Returns NULL, or memory with the last error.
 */
HLOCAL WINAPI LocalFree(HLOCAL memory)
{
    return HeapFree(GetProcessHeap(), 0, memory) ? NULL : memory;
}
