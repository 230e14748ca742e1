/* SPDX-License-Identifier: MIT */
/*
 * fls.c - FlsAlloc and the functions with it: values of each thread, and a callback for each value at the end of its
 * thread, or of its index. There are no fibers: a fiber's values are its thread's.
 *
 * A value is taken out of its place by an exchange before its callback is called, so each gets one call even if its
 * thread and its index end at once.
 */
#include "win32/threads/fls.h"

#include "win32/fork.h"

#include "util/list.h"
#include "util/lock.h"
#include "util/once.h"

#include <windows.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct values {
    struct list_node link; /* threads */
    void *_Atomic of[FLS_MAXIMUM_AVAILABLE];
};

enum index_state { INDEX_FREE, INDEX_USED, INDEX_ENDS };

/* The lock guards the list and the changes of an index. */
static struct lock fls_lock = LOCK_INIT(LOCK_WIN_HANDLES, "values of threads");
WIN_HELD_OVER_FORK(fls_lock);
static struct list_head threads = { { &threads.n, &threads.n } };
static struct {
    atomic_uint state; /* enum index_state */
    PFLS_CALLBACK_FUNCTION callback;
} indexes[FLS_MAXIMUM_AVAILABLE];

static pthread_key_t key;
static struct once key_once = ONCE_INIT;
static _Thread_local struct values *mine;

static bool is_index(DWORD index)
{
    if (index < FLS_MAXIMUM_AVAILABLE && atomic_load(&indexes[index].state) == INDEX_USED)
        return true;
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
}

/* Takes a value; returns whether there is one that has a callback. */
static bool take(struct values *values, DWORD index, PFLS_CALLBACK_FUNCTION *callback, void **value)
{
    lock_acquire(&fls_lock); /* read both at once: the index may be freed and reused */
    *value = atomic_exchange(&values->of[index], NULL);
    *callback = indexes[index].callback;
    lock_release(&fls_lock);
    return *value && *callback;
}

void win_fls_thread_ends(void)
{
    struct values *values = mine;
    PFLS_CALLBACK_FUNCTION callback;
    void *value;

    if (!values)
        return;
    for (DWORD i = 0; i < FLS_MAXIMUM_AVAILABLE; i++)
        if (atomic_load(&values->of[i]) && take(values, i, &callback, &value))
            callback(value);
    mine = NULL;
    pthread_setspecific(key, NULL);
    lock_acquire(&fls_lock);
    list_del(&values->link);
    lock_release(&fls_lock);
    free(values);
}

static void thread_ends(void *unused)
{
    (void)unused;
    win_fls_thread_ends();
}

static int key_make(void)
{
    return pthread_key_create(&key, thread_ends);
}

/*
 * FlsAlloc - a new index, NULL in every thread.
 * callback  NULL, or called with each value that is not NULL: by its thread when that ends, before the handle is
 *           signalled; by FlsFree. Not at the end of the process
 * Returns   FLS_OUT_OF_INDEXES with ERROR_NO_MORE_ITEMS (there are 127).
 */
DWORD WINAPI FlsAlloc(PFLS_CALLBACK_FUNCTION callback)
{
    DWORD index = 1; /* never 0, as on Windows */

    lock_acquire(&fls_lock);
    while (index < FLS_MAXIMUM_AVAILABLE && atomic_load(&indexes[index].state) != INDEX_FREE)
        index++;
    if (index < FLS_MAXIMUM_AVAILABLE) {
        indexes[index].callback = callback;
        atomic_store(&indexes[index].state, INDEX_USED);
    }
    lock_release(&fls_lock);
    if (index < FLS_MAXIMUM_AVAILABLE)
        return index;
    SetLastError(ERROR_NO_MORE_ITEMS);
    return FLS_OUT_OF_INDEXES;
}

/* Takes a value of any thread for an index; NULL: there is none. */
static void *take_any(DWORD index)
{
    void *value = NULL;

    lock_acquire(&fls_lock);
    list_for_each (&threads, node)
        if ((value = atomic_exchange(&list_entry(node, struct values, link)->of[index], NULL)))
            break;
    lock_release(&fls_lock);
    return value;
}

/*
 * FlsFree - frees an index; calls its callback on this thread with each thread's value that is not NULL. FALSE with
 * ERROR_INVALID_PARAMETER: no index of FlsAlloc.
 */
BOOL WINAPI FlsFree(DWORD index)
{
    unsigned used = INDEX_USED;
    void *value;

    if (!is_index(index))
        return FALSE;
    if (!atomic_compare_exchange_strong(&indexes[index].state, &used, INDEX_ENDS)) {
        SetLastError(ERROR_INVALID_PARAMETER); /* another thread frees it */
        return FALSE;
    }
    while ((value = take_any(index)))
        if (indexes[index].callback)
            indexes[index].callback(value);
    atomic_store(&indexes[index].state, INDEX_FREE);
    return TRUE;
}

/* FlsGetValue - the calling thread's value, the last error cleared; NULL with ERROR_INVALID_PARAMETER: no index. */
PVOID WINAPI FlsGetValue(DWORD index)
{
    if (!is_index(index))
        return NULL;
    SetLastError(ERROR_SUCCESS);
    return mine ? atomic_load(&mine->of[index]) : NULL;
}

/* The calling thread's values; false with the last error. */
static bool values_make(void)
{
    struct values *values = calloc(1, sizeof(*values));

    if (!values || once_run(&key_once, key_make) || pthread_setspecific(key, values)) {
        free(values);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    lock_acquire(&fls_lock);
    list_add_tail(&threads, &values->link);
    lock_release(&fls_lock);
    mine = values;
    return true;
}

/* FlsSetValue - sets it. FALSE with ERROR_INVALID_PARAMETER (no index of FlsAlloc), ERROR_NOT_ENOUGH_MEMORY. */
BOOL WINAPI FlsSetValue(DWORD index, PVOID value)
{
    if (!is_index(index) || (!mine && !values_make()))
        return FALSE;
    atomic_store(&mine->of[index], value);
    return TRUE;
}
