/* SPDX-License-Identifier: MIT */
/*
 * secure_cache.c - AddSecureMemoryCacheCallback: programs that keep memory registered with a device learn of it before
 * the memory is freed.
 *
 * Callbacks run without a lock, on copies: they may free memory, add and remove callbacks.
 */
#include "win32/memory/secure_cache.h"

#include "win32/fork.h"

#include "util/lock.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_CALLBACKS = 32 };

static struct lock callbacks_lock = LOCK_INIT(LOCK_WIN_HANDLES, "callbacks of memory");
WIN_HELD_OVER_FORK(callbacks_lock);
static PSECURE_MEMORY_CACHE_CALLBACK callbacks[MOST_CALLBACKS];
static atomic_uint callback_count; /* changed under the lock */

/* The thread is in a callback: memory that the callback frees is not reported, so it never recurses. */
static _Thread_local bool reporting;

void win_memory_goes(const void *address, size_t size)
{
    PSECURE_MEMORY_CACHE_CALLBACK called[MOST_CALLBACKS];
    unsigned count;
    DWORD error;

    if (!atomic_load(&callback_count) || reporting)
        return;
    lock_acquire(&callbacks_lock);
    count = atomic_load(&callback_count);
    memcpy(called, callbacks, count * sizeof(*called));
    lock_release(&callbacks_lock);
    error = GetLastError();
    reporting = true;
    for (unsigned i = 0; i < count; i++)
        called[i]((PVOID)(uintptr_t)address, size);
    reporting = false;
    SetLastError(error);
}

/*
 * AddSecureMemoryCacheCallback - has a function called before memory goes: with the first address and the bytes, on the
 * thread that frees it, while the memory is still there. Its result is ignored: the memory goes anyway. It is called
 * for VirtualFree (both types), VirtualProtect, UnmapViewOfFile, and for blocks of 64 KiB or more in HeapFree,
 * HeapReAlloc (before the block may move) and HeapDestroy; not for calls that fail by their arguments, not for what a
 * callback itself frees, and not for memory that the program frees by Linux' own functions (free, munmap).
 * Returns FALSE with ERROR_INVALID_PARAMETER (NULL), ERROR_NOT_ENOUGH_MEMORY (32 are there).
 */
BOOL WINAPI AddSecureMemoryCacheCallback(PSECURE_MEMORY_CACHE_CALLBACK callback)
{
    DWORD error = ERROR_SUCCESS;
    unsigned count;

    if (!callback) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    lock_acquire(&callbacks_lock);
    count = atomic_load(&callback_count);
    if (count == MOST_CALLBACKS) {
        error = ERROR_NOT_ENOUGH_MEMORY;
    } else {
        callbacks[count] = callback;
        atomic_store(&callback_count, count + 1);
    }
    lock_release(&callbacks_lock);
    if (error)
        SetLastError(error);
    return !error;
}

/*
 * RemoveSecureMemoryCacheCallback - undoes one AddSecureMemoryCacheCallback of the function. A call that another thread
 * has begun goes on. FALSE with ERROR_INVALID_PARAMETER: the function was not added.
 */
BOOL WINAPI RemoveSecureMemoryCacheCallback(PSECURE_MEMORY_CACHE_CALLBACK callback)
{
    bool found = false;
    unsigned count;

    lock_acquire(&callbacks_lock);
    count = atomic_load(&callback_count);
    for (unsigned i = 0; i < count && !found; i++) {
        if (callbacks[i] != callback)
            continue;
        memmove(&callbacks[i], &callbacks[i + 1], (count - i - 1) * sizeof(*callbacks));
        atomic_store(&callback_count, count - 1);
        found = true;
    }
    lock_release(&callbacks_lock);
    if (!found)
        SetLastError(ERROR_INVALID_PARAMETER);
    return found;
}
