/* SPDX-License-Identifier: MIT */
/*
 * heap.c - heaps: malloc with a header, so that a heap can be destroyed with all that is in it and a block knows its
 * exact size and its heap. Blocks are aligned to 16 bytes, as on 64-bit Windows. LocalAlloc takes from the process
 * heap; it has no movable memory.
 */
#include "winobj/fork.h"
#include "winobj/memory/secure_cache.h"

#include <windows.h>

#include "util/list.h"
#include "util/lock.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

struct heap {
    struct list_node link;   /* heaps */
    struct list_head blocks; /* of a private heap */
    size_t maximum;          /* of all blocks together, in bytes; 0: none */
    size_t used;
    struct lock lock; /* guards blocks, used */
};

struct block {
    struct list_node link; /* blocks of a private heap */
    struct heap *heap;
    size_t size;
    _Alignas(16) unsigned char data[];
};

/* The process heap keeps no list of its blocks: it is never destroyed. */
static struct heap process_heap;
static struct list_head heaps = { { &heaps.n, &heaps.n } };
static struct lock heaps_lock = LOCK_INIT(LOCK_WIN_HANDLES, "heaps");
WIN_HELD_OVER_FORK(heaps_lock);

/* The heap behind a handle; NULL with ERROR_INVALID_HANDLE. */
static struct heap *heap_of(HANDLE handle)
{
    struct heap *found = NULL;

    if (handle == &process_heap)
        return &process_heap;
    lock_acquire(&heaps_lock);
    list_for_each (&heaps, node)
        if (list_entry(node, struct heap, link) == handle)
            found = handle;
    lock_release(&heaps_lock);
    if (!found)
        SetLastError(ERROR_INVALID_HANDLE);
    return found;
}

/* Counts size more bytes of the heap, if they fit; returns whether they do. */
static bool room_take(struct heap *heap, size_t size)
{
    bool fits;

    if (heap == &process_heap)
        return true;
    lock_acquire(&heap->lock);
    fits = !heap->maximum || size <= heap->maximum - heap->used;
    if (fits)
        heap->used += size;
    lock_release(&heap->lock);
    return fits;
}

static void room_give(struct heap *heap, size_t size)
{
    if (heap == &process_heap)
        return;
    lock_acquire(&heap->lock);
    heap->used -= size;
    lock_release(&heap->lock);
}

static void block_link(struct heap *heap, struct block *block)
{
    block->heap = heap;
    if (heap == &process_heap)
        return;
    lock_acquire(&heap->lock);
    list_add_tail(&heap->blocks, &block->link);
    lock_release(&heap->lock);
}

static void block_unlink(struct heap *heap, struct block *block)
{
    if (heap == &process_heap)
        return;
    lock_acquire(&heap->lock);
    list_del(&block->link);
    lock_release(&heap->lock);
}

/* A large block is about to be freed, or moved. */
static void block_goes(const struct block *block)
{
    if (block->size >= WIN_SECURE_BLOCK)
        win_memory_goes(block->data, block->size);
}

/* GetProcessHeap - the heap that is always there. */
HANDLE WINAPI GetProcessHeap(void)
{
    return &process_heap;
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
    if (!(heap = calloc(1, sizeof(*heap)))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    heap->maximum =
        maximum_size > SIZE_MAX - 4095 ? SIZE_MAX : (maximum_size + 4095) & ~(size_t)4095;
    list_init(&heap->blocks);
    lock_init(&heap->lock, LOCK_WIN_HANDLES, "heap");
    lock_acquire(&heaps_lock);
    list_add_tail(&heaps, &heap->link);
    lock_release(&heaps_lock);
    return heap;
}

/* HeapDestroy - frees a heap and every block in it. Errors: ERROR_INVALID_HANDLE (also for the process heap). */
BOOL WINAPI HeapDestroy(HANDLE handle)
{
    struct heap *heap = heap_of(handle);
    struct list_node *node;

    if (!heap || heap == &process_heap) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    lock_acquire(&heaps_lock);
    list_del(&heap->link);
    lock_release(&heaps_lock);
    while ((node = list_pop(&heap->blocks))) {
        struct block *block = list_entry(node, struct block, link);
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
    struct block *block = NULL;

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

/* The block of this heap that begins at memory; NULL with ERROR_INVALID_PARAMETER when it is another heap's. */
static struct block *block_of(struct heap *heap, const void *memory)
{
    struct block *block =
        (struct block *)((char *)(uintptr_t)memory - offsetof(struct block, data));

    if (memory && block->heap == heap)
        return block;
    SetLastError(ERROR_INVALID_PARAMETER);
    return NULL;
}

/* HeapReAlloc - changes a block's size, and may move it; HEAP_ZERO_MEMORY clears the added bytes. NULL: no change. */
LPVOID WINAPI HeapReAlloc(HANDLE handle, DWORD flags, LPVOID memory, SIZE_T size)
{
    struct heap *heap = heap_of(handle);
    struct block *block = heap ? block_of(heap, memory) : NULL, *moved = NULL;
    size_t before;

    if (!block)
        return NULL;
    before = block->size;
    block_unlink(heap, block);
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
    struct block *block;

    (void)flags;
    if (!heap)
        return FALSE;
    if (!memory)
        return TRUE;
    if (!(block = block_of(heap, memory)))
        return FALSE;
    block_goes(block);
    block_unlink(heap, block);
    room_give(heap, block->size);
    free(block);
    return TRUE;
}

/* HeapSize - the size that the program asked for; (SIZE_T)-1 with the errors of HeapFree. */
SIZE_T WINAPI HeapSize(HANDLE handle, DWORD flags, LPCVOID memory)
{
    struct heap *heap = heap_of(handle);
    struct block *block = heap ? block_of(heap, memory) : NULL;

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

/* The heaps' own locks; that of their list is held. */
static void hold_heaps(void)
{
    list_for_each (&heaps, node)
        while (!lock_try(&list_entry(node, struct heap, link)->lock))
            sched_yield();
}

static void drop_heaps(void)
{
    list_for_each (&heaps, node)
        lock_release(&list_entry(node, struct heap, link)->lock);
}

FORK_ROW(.place = WIN_FORK_LEAF + 1, .prepare = hold_heaps, .parent = drop_heaps);
