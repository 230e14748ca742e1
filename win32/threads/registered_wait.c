/* SPDX-License-Identifier: MIT */
/*
 * registered_wait.c - RegisterWaitForSingleObject: a wait without a thread (watch.h) and a deadline of the reactor,
 * whose end has a thread of the pool call the program's function (callback.h).
 *
 * The next wait begins with the call, so that calls may overlap; with WT_EXECUTEINWAITTHREAD after it, so that they do
 * not, as on Windows, where the waiting thread itself makes them.
 */
#include "win32/threads/callback.h"

#include "winobj/waits/watch.h"
#include "winobj/waits/waiter.h"

#include "util/clock.h"
#include "util/log.h"

#include <stdlib.h>

enum {
    FLAGS = WT_EXECUTEINIOTHREAD | WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE |
            WT_EXECUTELONGFUNCTION | WT_EXECUTEINPERSISTENTTHREAD | WT_TRANSFER_IMPERSONATION,
    RETRY_MS = 10,
};

struct registered {
    struct win_callback callback; /* first */
    struct win_watch watch;
    struct win_waitable *object; /* referenced; NULL when it is over */
    WAITORTIMERCALLBACK function;
    PVOID context;
    ULONG timeout_ms, flags;
    uint64_t deadline_ns;
    bool waits;     /* the watch has begun, and no call is posted for it */
    bool retries;   /* the watch could not begin: at the deadline it is retried */
    bool timed_out; /* what the posted call tells the function */
};

static void set_deadline_locked(struct registered *wait, uint64_t deadline_ns)
{
    wait->deadline_ns = deadline_ns;
    reactor_deadline(&wait->callback.source, deadline_ns);
}

/* False with the last error. */
static bool begin_locked(struct registered *wait)
{
    wait->waits = win_watch_begin(&wait->watch, wait->object, &wait->callback.source);
    if (wait->waits)
        set_deadline_locked(wait, win_deadline_ns(wait->timeout_ms));
    return wait->waits;
}

/* The first wait got its resources, but another may have taken them since. */
static void begin_again_locked(struct registered *wait)
{
    if (wait->callback.closed || (wait->flags & WT_EXECUTEONLYONCE))
        return;
    if (!(wait->retries = !begin_locked(wait)))
        return;
    log_limited(LOG_WARN, LOG_WIN,
        "a registered wait for a named object failed: error %lu; it is retried",
        (unsigned long)GetLastError());
    set_deadline_locked(wait, win_deadline_ns(RETRY_MS));
}

/* Ends the watch, and has the function called. */
static void end_locked(struct registered *wait, bool timed_out)
{
    wait->waits = false;
    wait->timed_out = timed_out;
    set_deadline_locked(wait, REACTOR_NEVER);
    win_callback_post_locked(&wait->callback);
}

static void wait_run(struct reactor_source *source, enum reactor_how how)
{
    struct registered *wait =
        (struct registered *)container_of(source, struct win_callback, source);

    (void)how;
    win_callbacks_lock();
    if (wait->waits && win_watch_satisfied(&wait->watch)) {
        win_watch_end(&wait->watch);
        end_locked(wait, false);
    }
    win_callbacks_unlock();
}

static void wait_expired(struct reactor_source *source, enum reactor_how how)
{
    struct registered *wait =
        (struct registered *)container_of(source, struct win_callback, source);

    (void)how;
    win_callbacks_lock();
    if (clock_now_ns() >= wait->deadline_ns) { /* else a later wait has begun */
        if (wait->waits)
            end_locked(wait, !win_watch_end(&wait->watch));
        else if (wait->retries)
            begin_again_locked(wait);
    }
    win_callbacks_unlock();
}

static void wait_call(struct win_callback *callback)
{
    struct registered *wait = (struct registered *)callback;
    bool timed_out;

    win_callbacks_lock();
    timed_out = wait->timed_out;
    if (!(wait->flags & WT_EXECUTEINWAITTHREAD))
        begin_again_locked(wait);
    win_callbacks_unlock();
    wait->function(wait->context, timed_out);
    if (!(wait->flags & WT_EXECUTEINWAITTHREAD))
        return;
    win_callbacks_lock();
    begin_again_locked(wait);
    win_callbacks_unlock();
}

/* If the object has satisfied the wait by now, the function is still called for that. */
static void wait_stop_locked(struct win_callback *callback)
{
    struct registered *wait = (struct registered *)callback;

    wait->retries = false;
    if (!wait->waits)
        return;
    wait->waits = false;
    if (win_watch_end(&wait->watch))
        end_locked(wait, false);
}

/* Releases the object now: it may have a name, which the program expects to be free after it unregistered the wait. */
static void wait_release(struct win_callback *callback)
{
    struct registered *wait = (struct registered *)callback;
    struct win_waitable *object = wait->object;

    wait->object = NULL;
    if (object)
        win_object_unref(&object->object);
}

static void wait_destroy(struct win_object *object)
{
    wait_release((struct win_callback *)object);
    free(object);
}

static void wait_forked(struct win_object *object)
{
    struct registered *wait = (struct registered *)object;

    win_callback_forked(object);
    win_watch_forked(&wait->watch);
    wait->waits = wait->retries = false;
}

static const struct win_callback_ops wait_ops = {
    .type = { .name = "registered wait", .destroy = wait_destroy, .forked = wait_forked },
    .source = { .expired = wait_expired, .run = wait_run, .free = win_callback_source_free },
    .call = wait_call,
    .stop_locked = wait_stop_locked,
    .release = wait_release,
};

static bool fail(DWORD error)
{
    SetLastError(error);
    return false;
}

/* The object of a handle, if it suits; NULL with the last error. */
static struct win_waitable *object_pin(HANDLE handle)
{
    struct win_waitable *object = win_waitable_pin(handle);

    if (!object) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    if (object->kind != WAITABLE_OWNED)
        return object;
    win_object_unref(&object->object);
    SetLastError(ERROR_NOT_SUPPORTED);
    return NULL;
}

static struct registered *wait_new(HANDLE handle)
{
    struct win_waitable *object = object_pin(handle);
    struct registered *wait = object ? calloc(1, sizeof(*wait)) : NULL;

    if (wait) {
        wait->object = object;
        wait->deadline_ns = REACTOR_NEVER;
    } else if (object) {
        win_object_unref(&object->object);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    }
    return wait;
}

/* Begins the first wait; closes the object if that fails. False with the last error. */
static bool start(struct registered *wait)
{
    bool begun;
    DWORD error;

    win_object_ref(&wait->callback.object);
    win_callbacks_lock();
    if (!(begun = begin_locked(wait))) {
        error = GetLastError();
        win_callback_close_locked(&wait->callback);
        SetLastError(error);
    }
    win_callbacks_unlock();
    win_object_unref(&wait->callback.object);
    return begun;
}

/*
 * RegisterWaitForSingleObject - has the pool call a function each time an object is signalled, or a time has passed
 * since the last call.
 * out         out: a value for UnregisterWaitEx alone, stored before the first call; NULL after a failure
 * object      in: of any kind that WaitForSingleObject takes but a mutex, which only a thread can own. Each wait takes
 *             the signal of an auto-reset event, or a unit of a semaphore; an object that stays signalled has the
 *             function called over and over, so it needs WT_EXECUTEONLYONCE. The object lives as long as the wait
 * function    in: called with context, and FALSE for a signal or TRUE for the time, on a thread of the pool. It may
 *             block, and unregister the wait, but not wait there for its own end
 * timeout_ms  in: the time; 0: the function is called at once; INFINITE: none
 * flags       in: WT_EXECUTEDEFAULT, WT_EXECUTEINIOTHREAD, WT_EXECUTELONGFUNCTION, WT_EXECUTEINPERSISTENTTHREAD,
 *             WT_TRANSFER_IMPERSONATION: every thread of the pool suits them; WT_EXECUTEONLYONCE: there is one call;
 *             WT_EXECUTEINWAITTHREAD: the next wait begins after the call, so calls do not overlap
 * Returns     FALSE with ERROR_INVALID_PARAMETER (no function, out NULL, another flag), ERROR_INVALID_HANDLE (nothing
 *             to wait for), ERROR_NOT_SUPPORTED (a mutex), ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES. Any
 *             thread.
 * Source: RegisterWaitForSingleObject function (winbase.h).
 */
BOOL WINAPI RegisterWaitForSingleObject(PHANDLE out, HANDLE object, WAITORTIMERCALLBACK function,
    PVOID context, ULONG timeout_ms, ULONG flags)
{
    struct registered *wait;

    if (out)
        *out = NULL;
    if (!out || !function || (flags & ~(ULONG)FLAGS))
        return fail(ERROR_INVALID_PARAMETER);
    if (!(wait = wait_new(object)))
        return FALSE;
    wait->function = function;
    wait->context = context;
    wait->timeout_ms = timeout_ms;
    wait->flags = flags;
    if (!(*out = win_callback_open(&wait->callback, &wait_ops)))
        return FALSE;
    if (start(wait))
        return TRUE;
    *out = NULL;
    return FALSE;
}

/*
 * UnregisterWaitEx - ends a registered wait: no call begins but those for signals and times before.
 * event    in: NULL; INVALID_HANDLE_VALUE: returns when its calls have returned, not from inside one of them; or an
 *          event that is signalled then
 * Returns  TRUE, or FALSE with ERROR_IO_PENDING: calls are still to return, and the wait ends with them. FALSE as
 *          win_callback_close. Any thread.
 * Source: UnregisterWaitEx function (threadpoollegacyapiset.h).
 */
BOOL WINAPI UnregisterWaitEx(HANDLE wait, HANDLE event)
{
    return win_callback_close(wait, &wait_ops, event);
}

/* UnregisterWait - UnregisterWaitEx without an event. */
BOOL WINAPI UnregisterWait(HANDLE wait)
{
    return UnregisterWaitEx(wait, NULL);
}
