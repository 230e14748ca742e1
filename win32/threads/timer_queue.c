/* SPDX-License-Identifier: MIT */
/*
 * timer_queue.c - timer queues: a deadline of the reactor for each timer, whose end has a thread of the pool call the
 * program's function (callback.h).
 *
 * The calls of WT_EXECUTEINTIMERTHREAD of one queue go one at a time, in their order, as they do on Windows, where one
 * thread has them all: the queue lists them, and has one call of its own posted while the list is not empty.
 */
#include "win32/threads/callback.h"

#include "winobj/waits/waiter.h"

#include "util/clock.h"
#include "util/once.h"

#include <errno.h>
#include <stdlib.h>

enum {
    FLAGS = WT_EXECUTEINIOTHREAD | WT_EXECUTEONLYONCE | WT_EXECUTELONGFUNCTION |
            WT_EXECUTEINTIMERTHREAD | WT_EXECUTEINPERSISTENTTHREAD | WT_TRANSFER_IMPERSONATION,
    NS_PER_MS = 1000000,
};

struct queue {
    struct win_callback callback; /* first */
    struct list_head timers;      /* open ones */
    struct list_head turns; /* timers of WT_EXECUTEINTIMERTHREAD that have expired; referenced */
    bool busy;              /* its call is posted, or running */
};

struct timer {
    struct win_callback callback; /* first */
    struct list_node link, turn;
    unsigned turns; /* how often it expired without a call yet; it is in queue.turns while not 0 */
    WAITORTIMERCALLBACK function;
    PVOID parameter;
    ULONG flags;
    DWORD period_ms;
    uint64_t due_ns; /* REACTOR_NEVER: it has expired for the last time, or is due never */
    bool expired;
};

static struct once default_once = ONCE_INIT;
static struct queue *default_queue; /* never closed */

static BOOL fail(DWORD error)
{
    SetLastError(error);
    return FALSE;
}

static struct queue *queue_of(const struct timer *timer)
{
    return (struct queue *)timer->callback.owner;
}

static void call_function(struct timer *timer)
{
    timer->function(timer->parameter, TRUE);
}

static void timer_call(struct win_callback *callback)
{
    call_function((struct timer *)callback);
}

/* The timer whose turn is next; NULL: none. */
static struct timer *next_turn(struct queue *queue)
{
    struct timer *timer = NULL;
    struct list_node *node;

    win_callbacks_lock();
    if ((node = list_pop(&queue->turns))) {
        timer = list_entry(node, struct timer, turn);
        if (--timer->turns)
            list_add_tail(&queue->turns, &timer->turn);
    } else
        queue->busy = false;
    win_callbacks_unlock();
    return timer;
}

/* Makes the calls of WT_EXECUTEINTIMERTHREAD, on a thread of the pool. */
static void queue_call(struct win_callback *callback)
{
    struct timer *timer;

    while ((timer = next_turn((struct queue *)callback))) {
        win_callback_enter(&timer->callback);
        call_function(timer);
        win_callback_enter(callback);
        win_callback_done(&timer->callback);
    }
}

/* Has the function of a timer called once more. */
static void post_locked(struct timer *timer)
{
    struct queue *queue = queue_of(timer);

    if (!(timer->flags & WT_EXECUTEINTIMERTHREAD)) {
        win_callback_post_locked(&timer->callback);
        return;
    }
    win_callback_count_locked(&timer->callback);
    if (!timer->turns++)
        list_add_tail(&queue->turns, &timer->turn);
    if (!queue->busy)
        win_callback_post_locked(&queue->callback);
    queue->busy = true;
}

static void set_due_locked(struct timer *timer, uint64_t due_ns)
{
    timer->due_ns = due_ns;
    reactor_deadline(&timer->callback.source, due_ns);
}

/* The next time follows from the last one, not from its call; times that have passed meanwhile are skipped. */
static void timer_expired(struct reactor_source *source, enum reactor_how how)
{
    struct timer *timer = (struct timer *)container_of(source, struct win_callback, source);
    uint64_t now_ns = clock_now_ns(), period_ns = (uint64_t)timer->period_ms * NS_PER_MS;

    (void)how;
    win_callbacks_lock();
    if (!timer->callback.closed && now_ns >= timer->due_ns) { /* else the program changed it */
        timer->expired = true;
        if (!period_ns)
            set_due_locked(timer, REACTOR_NEVER);
        else if (timer->due_ns + period_ns > now_ns)
            set_due_locked(timer, timer->due_ns + period_ns);
        else
            set_due_locked(timer, now_ns + period_ns);
        post_locked(timer);
    }
    win_callbacks_unlock();
}

static void timer_stop_locked(struct win_callback *callback)
{
    struct timer *timer = (struct timer *)callback;

    list_del(&timer->link);
    list_del(&timer->turn);
    for (; timer->turns; timer->turns--) { /* a call of another timer may wait for this one's end */
        callback->calls--;
        win_object_unref(&callback->object); /* other references remain */
    }
}

static void timer_destroy(struct win_object *object)
{
    struct timer *timer = (struct timer *)object;

    if (queue_of(timer))
        win_object_unref(&queue_of(timer)->callback.object);
    free(timer);
}

static void timer_forked(struct win_object *object)
{
    struct timer *timer = (struct timer *)object;

    win_callback_forked(object);
    list_node_init(&timer->turn);
    timer->turns = 0;
}

static const struct win_callback_ops timer_ops = {
    .type = { .name = "timer of a queue", .destroy = timer_destroy, .forked = timer_forked },
    .source = { .expired = timer_expired, .free = win_callback_source_free },
    .call = timer_call,
    .stop_locked = timer_stop_locked,
};

static void queue_stop_locked(struct win_callback *callback)
{
    struct queue *queue = (struct queue *)callback;

    while (!list_empty(&queue->timers))
        win_callback_close_locked(&list_entry(queue->timers.n.next, struct timer, link)->callback);
}

static void queue_destroy(struct win_object *object)
{
    free(object);
}

static void queue_forked(struct win_object *object)
{
    struct queue *queue = (struct queue *)object;

    win_callback_forked(object);
    list_init(&queue->turns);
    queue->busy = false;
}

static const struct win_callback_ops queue_ops = {
    .type = { .name = "timer queue", .destroy = queue_destroy, .forked = queue_forked },
    .call = queue_call,
    .stop_locked = queue_stop_locked,
};

/*
 * CreateTimerQueue - a new queue of timers, without any.
 * Returns  a value for the functions of timer queues alone, until DeleteTimerQueueEx; NULL with
 *          ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: CreateTimerQueue function (threadpoollegacyapiset.h).
 */
HANDLE WINAPI CreateTimerQueue(VOID)
{
    struct queue *queue = calloc(1, sizeof(*queue));

    if (!queue) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    list_init(&queue->timers);
    list_init(&queue->turns);
    return win_callback_open(&queue->callback, &queue_ops);
}

static int default_open(void)
{
    HANDLE name = CreateTimerQueue();

    default_queue = name ? (struct queue *)win_callback_pin(name, &queue_ops) : NULL;
    return default_queue ? 0 : -ENOMEM;
}

/* The queue of a name, or the default one for NULL; referenced. NULL with the last error. */
static struct queue *queue_pin(HANDLE name)
{
    if (name)
        return (struct queue *)win_callback_pin(name, &queue_ops);
    if (once_run(&default_once, default_open))
        return NULL;
    win_object_ref(&default_queue->callback.object);
    return default_queue;
}

static struct timer *timer_new(
    WAITORTIMERCALLBACK function, PVOID parameter, DWORD period_ms, ULONG flags)
{
    struct timer *timer = calloc(1, sizeof(*timer));

    if (!timer) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    list_node_init(&timer->link);
    list_node_init(&timer->turn);
    timer->function = function;
    timer->parameter = parameter;
    timer->flags = flags;
    timer->period_ms = period_ms;
    timer->due_ns = REACTOR_NEVER;
    return timer;
}

/* Adds a timer to a queue and sets it. False: the queue is closed, and the timer with it. */
static bool timer_start(struct timer *timer, struct queue *queue, DWORD due_ms)
{
    bool open;

    win_callbacks_lock();
    if ((open = !queue->callback.closed)) {
        win_callback_belong_locked(&timer->callback, &queue->callback);
        list_add_tail(&queue->timers, &timer->link);
        set_due_locked(timer, win_deadline_ns(due_ms));
    } else
        win_callback_close_locked(&timer->callback);
    win_callbacks_unlock();
    return open;
}

/*
 * CreateTimerQueueTimer - a timer that has the pool call a function.
 * out        out: a value for the functions of timer queues alone, stored before the first call; NULL after a failure
 * name       in: the queue; NULL: the process's own, which is never deleted
 * function   in: called with parameter and TRUE on a thread of the pool, at each time once. It may block, and delete
 *            the timer, but not wait there for its own end. If it lasts longer than the period, its calls overlap
 * due_ms     in: from now to the first call; 0: at once; INFINITE: never, until ChangeTimerQueueTimer
 * period_ms  in: from each time to the next; 0: there is one call
 * flags      in: WT_EXECUTEDEFAULT, WT_EXECUTEINIOTHREAD, WT_EXECUTELONGFUNCTION, WT_EXECUTEINPERSISTENTTHREAD,
 *            WT_TRANSFER_IMPERSONATION: every thread of the pool suits them; WT_EXECUTEONLYONCE: period_ms is 0;
 *            WT_EXECUTEINTIMERTHREAD: the calls of all such timers of the queue come one after the other
 * Returns    FALSE with ERROR_INVALID_PARAMETER (no function, out NULL, another flag, a period with
 *            WT_EXECUTEONLYONCE), ERROR_INVALID_HANDLE (no queue), ERROR_NOT_ENOUGH_MEMORY,
 *            ERROR_NO_SYSTEM_RESOURCES. Any thread.
 * Source: CreateTimerQueueTimer function (threadpoollegacyapiset.h).
 */
BOOL WINAPI CreateTimerQueueTimer(PHANDLE out, HANDLE name, WAITORTIMERCALLBACK function,
    PVOID parameter, DWORD due_ms, DWORD period_ms, ULONG flags)
{
    struct queue *queue;
    struct timer *timer;
    bool made = false;

    if (out)
        *out = NULL;
    if (!out || !function || (flags & ~(ULONG)FLAGS) || (period_ms && (flags & WT_EXECUTEONLYONCE)))
        return fail(ERROR_INVALID_PARAMETER);
    if (!(queue = queue_pin(name)))
        return FALSE;
    if ((timer = timer_new(function, parameter, period_ms, flags)) &&
        (*out = win_callback_open(&timer->callback, &timer_ops)) &&
        !(made = timer_start(timer, queue, due_ms))) {
        *out = NULL;
        SetLastError(ERROR_INVALID_HANDLE);
    }
    win_object_unref(&queue->callback.object);
    return made;
}

/*
 * ChangeTimerQueueTimer - sets a timer anew. One without a period whose time has come stays as it is, as on Windows.
 * queue    ignored, as on Windows: the timer knows its own
 * due_ms, period_ms  as for CreateTimerQueueTimer
 * Returns  FALSE with ERROR_INVALID_PARAMETER (no timer, a period with WT_EXECUTEONLYONCE), ERROR_INVALID_HANDLE (not
 *          a timer, or deleted). Any thread, its own function's too.
 * Source: ChangeTimerQueueTimer function (threadpoollegacyapiset.h).
 */
BOOL WINAPI ChangeTimerQueueTimer(HANDLE queue, HANDLE name, ULONG due_ms, ULONG period_ms)
{
    struct timer *timer;
    DWORD error = ERROR_SUCCESS;

    (void)queue;
    if (!name)
        return fail(ERROR_INVALID_PARAMETER);
    if (!(timer = (struct timer *)win_callback_pin(name, &timer_ops)))
        return FALSE;
    win_callbacks_lock();
    if (timer->callback.closed)
        error = ERROR_INVALID_HANDLE;
    else if (period_ms && (timer->flags & WT_EXECUTEONLYONCE))
        error = ERROR_INVALID_PARAMETER;
    else if (timer->period_ms || !timer->expired) {
        timer->period_ms = period_ms;
        timer->expired = false;
        set_due_locked(timer, win_deadline_ns(due_ms));
    }
    win_callbacks_unlock();
    win_object_unref(&timer->callback.object);
    return error ? fail(error) : TRUE;
}

/*
 * DeleteTimerQueueTimer - ends a timer: no call begins but those whose time had come; with WT_EXECUTEINTIMERTHREAD none
 * begins at all, so that a call of another timer of the queue may wait for the end of this one.
 * queue    ignored, as on Windows
 * event    in: NULL; INVALID_HANDLE_VALUE: returns when its calls have returned, not from inside one of them; or an
 *          event that is signalled then
 * Returns  TRUE, or FALSE with ERROR_IO_PENDING: calls are still to return, and the timer ends with them. FALSE with
 *          ERROR_INVALID_PARAMETER (no timer), and as win_callback_close. Any thread.
 * Source: DeleteTimerQueueTimer function (threadpoollegacyapiset.h).
 */
BOOL WINAPI DeleteTimerQueueTimer(HANDLE queue, HANDLE timer, HANDLE event)
{
    (void)queue;
    if (!timer)
        return fail(ERROR_INVALID_PARAMETER);
    return win_callback_close(timer, &timer_ops, event);
}

/*
 * DeleteTimerQueueEx - ends a queue with all its timers.
 * event    in: that of DeleteTimerQueueTimer, for the calls of all its timers
 * Returns  what DeleteTimerQueueTimer returns; ERROR_INVALID_HANDLE for NULL, too. Any thread.
 * Source: DeleteTimerQueueEx function (threadpoollegacyapiset.h).
 */
BOOL WINAPI DeleteTimerQueueEx(HANDLE queue, HANDLE event)
{
    return win_callback_close(queue, &queue_ops, event);
}

/* DeleteTimerQueue - DeleteTimerQueueEx without an event; TRUE also while calls are still to return. */
BOOL WINAPI DeleteTimerQueue(HANDLE queue)
{
    return DeleteTimerQueueEx(queue, NULL) || GetLastError() == ERROR_IO_PENDING;
}
