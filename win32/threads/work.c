/* SPDX-License-Identifier: MIT */
/*
 * work.c - QueueUserWorkItem, CreateThreadpoolWork and the functions with it: calls on the pool's threads. A PTP_WORK
 * is a binding of the pool.
 */
#include "win32/threads/pool.h"

#include "util/once.h"

#include <errno.h>
#include <stdlib.h>

/* A function to call once. */
struct item {
    LPTHREAD_START_ROUTINE function; /* NULL: callback is called */
    PTP_SIMPLE_CALLBACK callback;
    PVOID context;
};

static struct once items_once = ONCE_INIT;
static PTP_IO items;

static VOID CALLBACK item_run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    struct item item = *(struct item *)overlapped;

    (void)context;
    (void)error;
    (void)bytes;
    (void)io;
    free(overlapped);
    if (item.function)
        item.function(item.context);
    else
        item.callback(instance, item.context);
}

static int items_open(void)
{
    items = win_pool_open(item_run, NULL, NULL);
    return items ? 0 : -ENOMEM;
}

static BOOL item_queue(struct item item)
{
    struct item *copy;

    if (once_run(&items_once, items_open) || !(copy = malloc(sizeof(*copy)))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    *copy = item;
    if (win_pool_post(items, copy))
        return TRUE;
    free(copy);
    return FALSE;
}

/*
 * QueueUserWorkItem - has a thread of the pool call a function once. The function may block; its result is ignored.
 * flags    any of WT_EXECUTEINIOTHREAD, WT_EXECUTELONGFUNCTION, WT_EXECUTEINPERSISTENTTHREAD,
 *          WT_TRANSFER_IMPERSONATION: every thread of the pool suits them
 * Returns  FALSE with ERROR_INVALID_PARAMETER (no function, another flag), ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI QueueUserWorkItem(LPTHREAD_START_ROUTINE function, PVOID context, ULONG flags)
{
    if (!function || (flags & ~(ULONG)(WT_EXECUTEINIOTHREAD | WT_EXECUTELONGFUNCTION |
                                       WT_EXECUTEINPERSISTENTTHREAD | WT_TRANSFER_IMPERSONATION))) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    return item_queue((struct item){ .function = function, .context = context });
}

/*
 * TrySubmitThreadpoolCallback - has a thread of the pool call a function once, as QueueUserWorkItem does.
 * Returns  FALSE with ERROR_INVALID_PARAMETER (no callback, or an environment), ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI TrySubmitThreadpoolCallback(
    PTP_SIMPLE_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment)
{
    if (!callback || environment) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    return item_queue((struct item){ .callback = callback, .context = context });
}

/*
 * CreateThreadpoolWork - a callback that SubmitThreadpoolWork calls on a thread of the pool, as often as wanted.
 * environment  NULL: there is one pool
 * Returns      NULL with ERROR_INVALID_PARAMETER (no callback, an environment), ERROR_NOT_ENOUGH_MEMORY.
 */
PTP_WORK WINAPI CreateThreadpoolWork(
    PTP_WORK_CALLBACK callback, PVOID context, PTP_CALLBACK_ENVIRON environment)
{
    if (!callback || environment) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return (PTP_WORK)(void *)win_pool_open(NULL, callback, context);
}

/*
 * SubmitThreadpoolWork - has a thread of the pool call the callback once. Several calls may run at once. If memory is
 * short it waits until it gets some.
 */
VOID WINAPI SubmitThreadpoolWork(PTP_WORK work)
{
    while (!win_pool_post((PTP_IO)(void *)work, NULL))
        SwitchToThread();
}

/*
 * WaitForThreadpoolWorkCallbacks - waits for the calls submitted; cancel TRUE drops those that have not begun.
 */
VOID WINAPI WaitForThreadpoolWorkCallbacks(PTP_WORK work, BOOL cancel)
{
    WaitForThreadpoolIoCallbacks((PTP_IO)(void *)work, cancel);
}

/* CloseThreadpoolWork - frees it, once the calls submitted have returned. */
VOID WINAPI CloseThreadpoolWork(PTP_WORK work)
{
    CloseThreadpoolIo((PTP_IO)(void *)work);
}
