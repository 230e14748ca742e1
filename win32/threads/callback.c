/* SPDX-License-Identifier: MIT */
/* callback.c - callbacks of timers and registered waits, and their end (callback.h). */
#include "win32/threads/callback.h"

#include "win32/threads/pool.h"
#include "winobj/waits/dispatch.h"

#include "util/fork.h"
#include "util/lock.h"
#include "util/once.h"

#include <errno.h>
#include <stdlib.h>

static struct lock callbacks_lock = LOCK_INIT(LOCK_WIN_FILE, "callbacks");
FORK_ROW(.place = LOCK_WIN_FILE, .lock = &callbacks_lock);
static struct once binding_once = ONCE_INIT;
static PTP_IO binding; /* one for all callbacks; the OVERLAPPED of a packet is the callback */
static _Thread_local struct win_callback *running;

void win_callbacks_lock(void)
{
    lock_acquire(&callbacks_lock);
}

void win_callbacks_unlock(void)
{
    lock_release(&callbacks_lock);
}

struct win_callback *win_callback_enter(struct win_callback *callback)
{
    struct win_callback *before = running;

    running = callback;
    return before;
}

static void send_locked(struct win_callback *callback)
{
    lock_assert_held(&callbacks_lock);
    callback->queued = true;
    win_pool_post_kept(binding, &callback->packet, callback);
}

void win_callback_post_locked(struct win_callback *callback)
{
    callback->pending++;
    win_callback_count_locked(callback);
    if (!callback->queued)
        send_locked(callback);
}

void win_callback_count_locked(struct win_callback *callback)
{
    lock_assert_held(&callbacks_lock);
    callback->calls++;
    win_object_ref(&callback->object);
}

/* Called after a call or a timer has ended, or a close: ends the object if that was the last. */
static void settle_locked(struct win_callback *callback)
{
    lock_assert_held(&callbacks_lock);
    if (!callback->closed || callback->over || callback->calls || callback->timers)
        return;
    callback->over = true;
    if (callback->event) {
        win_waitable_set(callback->event);
        win_object_unref(&callback->event->object);
        callback->event = NULL;
    }
    if (callback->owner) {
        callback->owner->timers--;
        settle_locked(callback->owner);
    }
}

/* Drops what is not used after the last call. Without the lock: it may destroy any object. */
static void release(struct win_callback *callback)
{
    if (callback->ops->release)
        callback->ops->release(callback);
}

void win_callback_done(struct win_callback *callback)
{
    bool last;

    win_callbacks_lock();
    last =
        callback->closed && callback->calls == 1; /* else the close, or another call, comes later */
    if (last) {
        win_callbacks_unlock();
        release(callback);
        win_callbacks_lock();
    }
    callback->calls--;
    settle_locked(callback);
    win_callbacks_unlock();
    win_object_unref(&callback->object);
}

/* Runs on a pool thread. Before the call, another thread can take the next packet. */
static VOID CALLBACK run(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    struct win_callback *callback = overlapped, *before;

    (void)instance;
    (void)context;
    (void)error;
    (void)bytes;
    (void)io;
    win_callbacks_lock();
    callback->queued = false;
    if (--callback->pending)
        send_locked(callback);
    win_callbacks_unlock();
    before = win_callback_enter(callback);
    callback->ops->call(callback);
    win_callback_enter(before);
    win_callback_done(callback);
}

static int binding_open(void)
{
    binding = win_pool_open(run, NULL, NULL);
    return binding ? 0 : -ENOMEM;
}

static bool has_source(const struct win_callback *callback)
{
    return callback->ops->source.free != NULL;
}

void win_callback_source_free(struct reactor_source *source)
{
    win_object_unref(&container_of(source, struct win_callback, source)->object);
}

static bool source_add(struct win_callback *callback)
{
    reactor_source_init(&callback->source, &callback->ops->source, -1);
    win_object_ref(&callback->object);
    if (!reactor_add(&callback->source, 0))
        return true;
    reactor_unref(&callback->source);
    return false;
}

HANDLE win_callback_open(struct win_callback *callback, const struct win_callback_ops *ops)
{
    HANDLE name;

    callback->ops = ops;
    if (once_run(&binding_once, binding_open) ||
        !(name = win_handle_open(&callback->object, &ops->type))) {
        ops->type.destroy(&callback->object);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_object_ref(&callback->object); /* the program's, until the object is closed */
    CloseHandle(name);                 /* the value stays: it is the name */
    if (!has_source(callback) || source_add(callback))
        return name;
    win_object_unref(&callback->object);
    SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return NULL;
}

struct win_callback *win_callback_pin(HANDLE name, const struct win_callback_ops *ops)
{
    struct win_object *object = win_object_find(name);

    if (object && object->type == &ops->type)
        return (struct win_callback *)object;
    if (object)
        win_object_unref(object);
    SetLastError(ERROR_INVALID_HANDLE);
    return NULL;
}

void win_callback_belong_locked(struct win_callback *callback, struct win_callback *owner)
{
    lock_assert_held(&callbacks_lock);
    owner->timers++;
    win_object_ref(&owner->object);
    callback->owner = owner;
}

void win_callback_close_locked(struct win_callback *callback)
{
    lock_assert_held(&callbacks_lock);
    callback->closed = true;
    callback->ops->stop_locked(callback);
    settle_locked(callback);
    if (has_source(callback)) {
        reactor_remove(&callback->source);
        reactor_unref(&callback->source);
    }
    win_object_unref(&callback->object);
}

/* Closes it, with an event or none. Returns ERROR_SUCCESS if it is over, or an error. */
static DWORD close_with(struct win_callback *callback, struct win_waitable *event)
{
    DWORD error = ERROR_INVALID_HANDLE;

    win_callbacks_lock();
    if (!callback->closed) {
        if (event)
            win_object_ref(&event->object);
        callback->event = event;
        win_callback_close_locked(callback);
        error = callback->over ? ERROR_SUCCESS : ERROR_IO_PENDING;
    }
    win_callbacks_unlock();
    if (!error)
        release(callback);
    return error;
}

static DWORD close_and_wait(struct win_callback *callback)
{
    struct win_waitable *event;
    HANDLE handle;
    DWORD error;

    if (running && (running == callback || running->owner == callback))
        return ERROR_POSSIBLE_DEADLOCK;
    if (!(handle = CreateEventA(NULL, TRUE, FALSE, NULL)))
        return ERROR_NOT_ENOUGH_MEMORY;
    event = win_waitable_pin(handle);
    error = close_with(callback, event);
    win_object_unref(&event->object);
    if (error == ERROR_IO_PENDING)
        error = WaitForSingleObject(handle, INFINITE) ? GetLastError() : ERROR_SUCCESS;
    CloseHandle(handle);
    return error;
}

static DWORD close_and_signal(struct win_callback *callback, HANDLE handle)
{
    struct win_object *event = win_handle_pin(handle, &win_event_type);
    DWORD error;

    if (!event)
        return ERROR_INVALID_HANDLE;
    error = close_with(callback, (struct win_waitable *)event);
    win_object_unref(event);
    return error;
}

BOOL win_callback_close(HANDLE name, const struct win_callback_ops *ops, HANDLE event)
{
    struct win_callback *callback = win_callback_pin(name, ops);
    DWORD error;

    if (!callback)
        return FALSE;
    if (event == INVALID_HANDLE_VALUE)
        error = close_and_wait(callback);
    else
        error = event ? close_and_signal(callback, event) : close_with(callback, NULL);
    win_object_unref(&callback->object);
    if (error)
        SetLastError(error);
    return !error;
}

void win_callback_forked(struct win_object *object)
{
    struct win_callback *callback = (struct win_callback *)object;

    callback->pending = callback->calls = 0;
    callback->queued = false;
    if (callback->closed && !callback->over && callback->owner)
        callback->owner->timers--;
    callback->over = callback->closed;
}
