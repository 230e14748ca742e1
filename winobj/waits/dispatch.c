/* SPDX-License-Identifier: MIT */
/* dispatch.c - signalling and waiting (dispatch.h), and the Wait* functions. */
#include "winobj/waits/dispatch.h"

#include "winobj/fork.h"
#include "winobj/waits/mutex.h"
#include "winobj/waits/waiter.h"

#include "util/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A pending wait: on the stack of the waiting thread, linked to each of its objects. The dispatcher lock guards it. */
struct wait {
    struct reactor_waiter *waiter;
    struct win_waitable *const *objects;
    DWORD count;
    bool all;
    bool abandoned;          /* it acquired an abandoned mutex */
    struct win_owner *owner; /* of the mutexes that it acquires; NULL if it waits for none */
    int satisfied;           /* index of the object that ended it (0 for all), -1 while it lasts */
};

struct wait_link {
    struct list_node node;
    struct wait *wait;
    DWORD index;
};

static struct lock dispatcher = LOCK_INIT(LOCK_WIN_OBJECT, "dispatcher");

void win_waitable_init(struct win_waitable *waitable, enum win_waitable_kind kind, bool signalled)
{
    waitable->kind = kind;
    waitable->signalled = signalled;
    waitable->count = 0;
    waitable->export_fd = -1;
    list_init(&waitable->waits);
}

void win_waitable_fini(struct win_waitable *waitable)
{
    if (waitable->export_fd >= 0)
        close(waitable->export_fd);
}

/* Makes the exported descriptor readable exactly while signalled; the calls cannot block. */
static void export_update_locked(struct win_waitable *waitable)
{
    eventfd_t value;

    if (waitable->export_fd < 0)
        return;
    while (eventfd_read(waitable->export_fd, &value) < 0 && errno == EINTR)
        ;
    while (waitable->signalled && eventfd_write(waitable->export_fd, 1) < 0 && errno == EINTR)
        ;
}

static void set_signalled_locked(struct win_waitable *waitable, bool signalled)
{
    lock_assert_held(&dispatcher);
    if (waitable->signalled == signalled)
        return;
    waitable->signalled = signalled;
    export_update_locked(waitable);
}

/* Does to an object what a satisfied wait does. Returns whether it was an abandoned mutex. */
static bool take_locked(struct win_waitable *waitable, struct win_owner *owner)
{
    bool abandoned = false;

    switch (waitable->kind) {
    case WAITABLE_MANUAL: break;
    case WAITABLE_AUTO: set_signalled_locked(waitable, false); break;
    case WAITABLE_COUNT: set_signalled_locked(waitable, --waitable->count > 0); break;
    case WAITABLE_OWNED:
        abandoned = win_mutex_take_locked(waitable, owner);
        set_signalled_locked(waitable, false);
        break;
    }
    return abandoned;
}

/* Whether an object allows a wait: a mutex also allows those of its owner. */
static bool is_there_locked(const struct win_waitable *waitable, const struct win_owner *owner)
{
    return waitable->signalled ||
           (waitable->kind == WAITABLE_OWNED && win_mutex_is_owned_locked(waitable, owner));
}

/* Satisfies a wait if its objects allow it; returns whether it did. */
static bool try_satisfy_locked(struct wait *wait)
{
    lock_assert_held(&dispatcher);
    if (wait->all) {
        for (DWORD i = 0; i < wait->count; i++)
            if (!is_there_locked(wait->objects[i], wait->owner))
                return false;
        for (DWORD i = 0; i < wait->count; i++)
            wait->abandoned |= take_locked(wait->objects[i], wait->owner);
        wait->satisfied = 0;
        return true;
    }
    for (DWORD i = 0; i < wait->count; i++) {
        if (!is_there_locked(wait->objects[i], wait->owner))
            continue;
        wait->abandoned = take_locked(wait->objects[i], wait->owner);
        wait->satisfied = (int)i;
        return true;
    }
    return false;
}

/* Satisfies the waits that a signalled object allows. Returns a waiter for the caller to wake, or NULL. */
static struct reactor_waiter *satisfy_locked(struct win_waitable *waitable)
{
    struct reactor_waiter *last = NULL;

    list_for_each (&waitable->waits, node) {
        struct wait *wait = list_entry(node, struct wait_link, node)->wait;
        if (!waitable->signalled)
            break;
        if (wait->satisfied >= 0 || !try_satisfy_locked(wait))
            continue;
        /* Waiters outlive their waits, so the caller wakes the last (usually the only) one without the lock. */
        if (last)
            reactor_signal(last);
        last = wait->waiter;
    }
    return last;
}

void win_waitable_set(struct win_waitable *waitable)
{
    struct reactor_waiter *last;

    lock_acquire(&dispatcher);
    set_signalled_locked(waitable, true);
    last = satisfy_locked(waitable);
    lock_release(&dispatcher);
    if (last)
        reactor_signal(last);
}

void win_waitable_change(struct win_waitable *waitable,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument)
{
    struct reactor_waiter *last;

    lock_acquire(&dispatcher);
    set_signalled_locked(waitable, change(waitable, argument));
    last = satisfy_locked(waitable);
    lock_release(&dispatcher);
    if (last)
        reactor_signal(last);
}

void win_waitable_change_each(struct win_waitable *(*next)(void *argument),
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument)
{
    struct win_waitable *waitable;
    struct reactor_waiter *last;

    lock_acquire(&dispatcher);
    while ((waitable = next(argument))) {
        set_signalled_locked(waitable, change(waitable, argument));
        if ((last = satisfy_locked(waitable)))
            reactor_signal(last);
    }
    lock_release(&dispatcher);
}

bool win_handle_change(HANDLE handle, const struct win_object_type *type,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument)
{
    struct win_object *object = win_handle_pin(handle, type);

    if (!object) {
        SetLastError(ERROR_INVALID_HANDLE);
        return false;
    }
    win_waitable_change((struct win_waitable *)object, change, argument);
    win_object_unref(object);
    return true;
}

HANDLE win_waitable_open(struct win_waitable *waitable, const struct win_object_type *type)
{
    HANDLE handle = win_handle_open(&waitable->object, type);

    if (handle)
        SetLastError(ERROR_SUCCESS);
    else
        free(waitable);
    return handle;
}

void win_waitable_destroy(struct win_object *object)
{
    win_waitable_fini((struct win_waitable *)object);
    free(object);
}

int win_waitable_object_descriptor(struct win_object *object)
{
    return win_waitable_descriptor((struct win_waitable *)object);
}

void win_waitable_object_forked(struct win_object *object)
{
    win_waitable_forked((struct win_waitable *)object);
}

void win_waitable_reset(struct win_waitable *waitable)
{
    lock_acquire(&dispatcher);
    set_signalled_locked(waitable, false);
    lock_release(&dispatcher);
}

void win_waitable_take(struct win_waitable *waitable)
{
    lock_acquire(&dispatcher);
    take_locked(waitable, NULL);
    lock_release(&dispatcher);
}

bool win_waitable_is_set(struct win_waitable *waitable)
{
    bool signalled;

    lock_acquire(&dispatcher);
    signalled = waitable->signalled;
    lock_release(&dispatcher);
    return signalled;
}

int win_waitable_descriptor(struct win_waitable *waitable)
{
    int fd;

    lock_acquire(&dispatcher);
    if (waitable->export_fd < 0)
        waitable->export_fd = eventfd(waitable->signalled, EFD_CLOEXEC | EFD_NONBLOCK);
    fd = waitable->export_fd;
    lock_release(&dispatcher);
    return fd;
}

void win_waitable_forked(struct win_waitable *waitable)
{
    list_init(&waitable->waits);
    if (waitable->export_fd >= 0)
        close(waitable->export_fd);
    waitable->export_fd = -1;
}

/*
 * Objects for GetCurrentProcess() and GetCurrentThread() in a wait. They are never signalled: the thread that waits has
 * not ended, nor has its process. They have slots outside the table, and are never destroyed.
 */
static void never_goes(struct win_object *object)
{
    (void)object;
}

static const struct win_object_type self_type = {
    .name = "the thread that waits, or its process",
    .waitable = true,
    .destroy = never_goes,
};

static struct win_slot self_slots[2] = { { .word = 1 }, { .word = 1 } };
#define SELF(i)                                                                                    \
    {                                                                                              \
        .object = { .type = &self_type, .slot = &self_slots[i] }, .kind = WAITABLE_MANUAL,         \
        .export_fd = -1, .waits = {                                                                \
            { &selves[i].waits.n, &selves[i].waits.n }                                             \
        }                                                                                          \
    }
static struct win_waitable selves[2] = { SELF(0), SELF(1) };

void win_dispatch_forked(void)
{
    for (int i = 0; i < 2; i++)
        win_waitable_forked(&selves[i]);
}

static struct win_waitable *self_pin(HANDLE handle)
{
    struct win_waitable *self = handle == GetCurrentProcess()  ? &selves[0]
                                : handle == GetCurrentThread() ? &selves[1]
                                                               : NULL;

    if (self)
        win_object_ref(&self->object);
    return self;
}

struct win_waitable *win_waitable_pin(HANDLE handle)
{
    struct win_object *object = win_handle_pin(handle, NULL);

    if (!object)
        return self_pin(handle);
    if (!object->type->waitable) {
        win_object_unref(object);
        return NULL;
    }
    return (struct win_waitable *)object;
}

static bool satisfied_now(struct wait *wait)
{
    bool satisfied;

    lock_acquire(&dispatcher);
    satisfied = wait->satisfied >= 0 || try_satisfy_locked(wait);
    lock_release(&dispatcher);
    return satisfied;
}

/* Links the wait to its objects, unless it is satisfied at once. */
static bool wait_begin(struct wait *wait, struct wait_link *links)
{
    bool satisfied;

    lock_acquire(&dispatcher);
    satisfied = try_satisfy_locked(wait);
    for (DWORD i = 0; !satisfied && i < wait->count; i++) {
        links[i].wait = wait;
        links[i].index = i;
        list_add_tail(&wait->objects[i]->waits, &links[i].node);
    }
    lock_release(&dispatcher);
    return satisfied;
}

static void wait_end(struct wait *wait, struct wait_link *links)
{
    lock_acquire(&dispatcher);
    for (DWORD i = 0; i < wait->count; i++)
        list_del(&links[i].node);
    lock_release(&dispatcher);
}

/* Whether one of the objects has a descriptor: the program then polls that, and may not call again soon. */
static bool exported(const struct wait *wait)
{
    for (DWORD i = 0; i < wait->count; i++)
        if (atomic_load_explicit(&wait->objects[i]->export_fd, memory_order_relaxed) >= 0)
            return true;
    return false;
}

static DWORD result_of(const struct wait *wait)
{
    if (wait->satisfied < 0)
        return WAIT_TIMEOUT;
    return (wait->abandoned ? WAIT_ABANDONED_0 : WAIT_OBJECT_0) + (DWORD)wait->satisfied;
}

/* Sets the owner of a wait that has mutexes among its objects. False with the last error. */
static bool owner_find(struct wait *wait)
{
    for (DWORD i = 0; i < wait->count; i++)
        if (wait->objects[i]->kind == WAITABLE_OWNED)
            return (wait->owner = win_owner_self()) != NULL;
    return true;
}

DWORD win_waitables_wait(
    struct win_waitable *const *objects, DWORD count, bool all, uint64_t deadline_ns)
{
    struct wait_link links[MAXIMUM_WAIT_OBJECTS];
    struct wait wait = { .objects = objects, .count = count, .all = all, .satisfied = -1 };

    if (!owner_find(&wait))
        return WAIT_FAILED;
    if (satisfied_now(&wait)) {
        if (!exported(&wait))
            reactor_active();
        return result_of(&wait);
    }
    if (!deadline_ns) {
        reactor_look();
        if (!exported(&wait))
            reactor_active();
        satisfied_now(&wait);
        return result_of(&wait);
    }
    if (!(wait.waiter = win_waiter_self()))
        return WAIT_FAILED;
    if (wait_begin(&wait, links))
        return result_of(&wait);
    while (!satisfied_now(&wait) && win_wait_sleep(wait.waiter, deadline_ns))
        ;
    wait_end(&wait, links);
    return result_of(&wait);
}

/*
 * WaitForMultipleObjects - waits for any or all of up to 64 events, threads, mutexes, semaphores and timers.
 * Returns WAIT_OBJECT_0 + the lowest index satisfied (WAIT_ABANDONED_0 + it: that is a mutex whose owner ended; for
 * all: one of them is), WAIT_TIMEOUT, or WAIT_FAILED with ERROR_INVALID_PARAMETER (count 0 or above
 * MAXIMUM_WAIT_OBJECTS, NULL array, one object twice in a wait for all), ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY.
 * A thread in a wait moves the library's pending work (docs/internals/threads.md).
 */
DWORD WINAPI WaitForMultipleObjects(DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms)
{
    struct win_waitable *objects[MAXIMUM_WAIT_OBJECTS];
    DWORD pinned = 0, result = WAIT_FAILED;

    if (!count || count > MAXIMUM_WAIT_OBJECTS || !handles) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return WAIT_FAILED;
    }
    for (; pinned < count; pinned++) {
        if (!(objects[pinned] = win_waitable_pin(handles[pinned]))) {
            SetLastError(ERROR_INVALID_HANDLE);
            goto unpin;
        }
        for (DWORD i = 0; all && i < pinned; i++) {
            if (objects[i] == objects[pinned]) {
                SetLastError(ERROR_INVALID_PARAMETER);
                win_object_unref(&objects[pinned]->object);
                goto unpin;
            }
        }
    }
    result = win_waitables_wait(objects, count, all, timeout_ms ? win_deadline_ns(timeout_ms) : 0);
unpin:
    while (pinned--)
        win_object_unref(&objects[pinned]->object);
    return result;
}

DWORD WINAPI WaitForMultipleObjectsEx(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms, BOOL alertable)
{
    (void)alertable; /* there are no APCs to run */
    return WaitForMultipleObjects(count, handles, all, timeout_ms);
}

/* WaitForSingleObject - WaitForMultipleObjects of one. */
DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD timeout_ms)
{
    return WaitForMultipleObjects(1, &handle, FALSE, timeout_ms);
}

DWORD WINAPI WaitForSingleObjectEx(HANDLE handle, DWORD timeout_ms, BOOL alertable)
{
    (void)alertable;
    return WaitForSingleObject(handle, timeout_ms);
}

void win_dispatch_fork_begin(void)
{
    lock_acquire(&dispatcher);
}

void win_dispatch_fork_end(void)
{
    lock_release(&dispatcher);
}
