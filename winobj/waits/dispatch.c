/* SPDX-License-Identifier: MIT */
/* dispatch.c - signalling and waiting (dispatch.h). */
#include "winobj/waits/dispatch.h"

#include "winobj/fork.h"
#include "winobj/handles/descriptor.h"
#include "winobj/waits/alert.h"
#include "winobj/waits/mutex.h"
#include "winobj/waits/named.h"
#include "winobj/waits/waiter.h"

#include "util/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct lock win_dispatcher = LOCK_INIT(LOCK_WIN_OBJECT, "dispatcher");
FORK_ROW(.place = LOCK_WIN_OBJECT, .lock = &win_dispatcher);

void win_waitable_init(struct win_waitable *waitable, enum win_waitable_kind kind, bool signalled)
{
    waitable->kind = kind;
    waitable->signalled = signalled;
    waitable->count = 0;
    waitable->export_fd = -1;
    waitable->name = -1;
    list_init(&waitable->waits);
}

void win_waitable_fini(struct win_waitable *waitable)
{
    if (waitable->export_fd >= 0)
        close(waitable->export_fd);
    if (waitable->name >= 0)
        win_named->close(waitable->name);
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
    lock_assert_held(&win_dispatcher);
    if (waitable->signalled == signalled)
        return;
    waitable->signalled = signalled;
    export_update_locked(waitable);
}

/* Does to an object what a satisfied wait does. Returns whether it was an abandoned mutex. */
static bool take_locked(struct win_waitable *waitable, struct win_owner *owner)
{
    bool abandoned = false;

    if (waitable->name >= 0)
        return win_named->take_locked(waitable->name, owner);
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

/* Whether an object satisfies a wait: a mutex also satisfies those of its owner. */
static bool is_there_locked(const struct win_waitable *waitable, const struct win_owner *owner)
{
    if (waitable->name >= 0)
        return win_named->is_there_locked(waitable->name, owner);
    return waitable->signalled ||
           (waitable->kind == WAITABLE_OWNED && win_mutex_is_owned_locked(waitable, owner));
}

bool win_wait_try_locked(struct win_wait *wait)
{
    DWORD first = 0, last;

    lock_assert_held(&win_dispatcher);
    /* The first object that decides: for all, one that is not there; else, one that is. */
    while (first < wait->count && is_there_locked(wait->objects[first], wait->owner) == wait->all)
        first++;
    if ((first == wait->count) != wait->all || !win_alert_claim(wait->alert))
        return false;
    last = wait->all ? wait->count - 1 : first;
    wait->satisfied = wait->all ? 0 : (int)first;
    for (DWORD i = (DWORD)wait->satisfied; i <= last; i++)
        wait->abandoned |= take_locked(wait->objects[i], wait->owner);
    if (wait->named)
        win_named->taken_locked(wait);
    return true;
}

static bool try_satisfy_locked(struct win_wait *wait)
{
    return wait->named ? win_named->try_locked(wait) : win_wait_try_locked(wait);
}

/* Satisfies the waits that a signalled object allows. Returns a waiter for the caller to wake, or NULL. */
static struct reactor_waiter *satisfy_locked(struct win_waitable *waitable)
{
    struct reactor_waiter *last = NULL;

    list_for_each (&waitable->waits, node) {
        struct win_wait *wait = list_entry(node, struct win_wait_link, node)->wait;
        if (!waitable->signalled)
            break;
        if (wait->satisfied >= 0 || !try_satisfy_locked(wait))
            continue;
        if (wait->source) {
            win_wait_wake(wait);
            continue;
        }
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

    if (waitable->name >= 0) {
        win_named->signal(waitable, 1, NULL);
        return;
    }
    lock_acquire(&win_dispatcher);
    set_signalled_locked(waitable, true);
    last = satisfy_locked(waitable);
    lock_release(&win_dispatcher);
    if (last)
        reactor_signal(last);
}

void win_waitable_change(struct win_waitable *waitable,
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument)
{
    struct reactor_waiter *last;

    lock_acquire(&win_dispatcher);
    set_signalled_locked(waitable, change(waitable, argument));
    last = satisfy_locked(waitable);
    lock_release(&win_dispatcher);
    if (last)
        reactor_signal(last);
}

void win_waitable_change_each(struct win_waitable *(*next)(void *argument),
    bool (*change)(struct win_waitable *waitable, void *argument), void *argument)
{
    struct win_waitable *waitable;
    struct reactor_waiter *last;

    lock_acquire(&win_dispatcher);
    while ((waitable = next(argument))) {
        set_signalled_locked(waitable, change(waitable, argument));
        if ((last = satisfy_locked(waitable)))
            reactor_signal(last);
    }
    lock_release(&win_dispatcher);
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
    if (waitable->name >= 0) {
        win_named->reset(waitable);
        return;
    }
    lock_acquire(&win_dispatcher);
    set_signalled_locked(waitable, false);
    lock_release(&win_dispatcher);
}

void win_waitable_take(struct win_waitable *waitable)
{
    if (waitable->name >= 0) {
        win_named->is_set(waitable, true);
        return;
    }
    lock_acquire(&win_dispatcher);
    take_locked(waitable, NULL);
    lock_release(&win_dispatcher);
}

bool win_waitable_is_set(struct win_waitable *waitable)
{
    bool signalled;

    if (waitable->name >= 0)
        return win_named->is_set(waitable, false);
    lock_acquire(&win_dispatcher);
    signalled = waitable->signalled;
    lock_release(&win_dispatcher);
    return signalled;
}

int win_waitable_descriptor(struct win_waitable *waitable)
{
    int fd;

    if (waitable->name >= 0) {
        errno = EOPNOTSUPP; /* a descriptor would not follow changes by other processes */
        return -1;
    }
    lock_acquire(&win_dispatcher);
    if (waitable->export_fd < 0)
        waitable->export_fd = eventfd(waitable->signalled, EFD_CLOEXEC | EFD_NONBLOCK);
    fd = waitable->export_fd;
    lock_release(&win_dispatcher);
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
        .export_fd = -1, .name = -1, .waits = {                                                    \
            { &selves[i].waits.n, &selves[i].waits.n }                                             \
        }                                                                                          \
    }
static struct win_waitable selves[2] = { SELF(0), SELF(1) };

void win_dispatch_forked(void)
{
    if (win_named)
        win_named->forked();
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
    struct win_waitable *self;

    if (!object && (self = self_pin(handle)))
        return self;
    if (!object) { /* a socket that has not been used as a handle yet? */
        win_descriptor_adopt(handle);
        object = win_handle_pin(handle, NULL);
    }
    if (!object)
        return NULL;
    if (object->type->waitable && (!object->type->await || object->type->await(object)))
        return (struct win_waitable *)object;
    win_object_unref(object);
    return NULL;
}

bool win_wait_satisfied(struct win_wait *wait)
{
    bool satisfied;

    lock_acquire(&win_dispatcher);
    satisfied = wait->satisfied >= 0 || try_satisfy_locked(wait);
    lock_release(&win_dispatcher);
    return satisfied;
}

bool win_wait_begin(struct win_wait *wait, struct win_wait_link *links, bool *satisfied)
{
    bool begun = true;

    lock_acquire(&win_dispatcher);
    *satisfied = try_satisfy_locked(wait);
    if (!*satisfied && wait->named)
        begun = win_named->begin_locked(wait, satisfied);
    for (DWORD i = 0; begun && !*satisfied && i < wait->count; i++) {
        links[i].wait = wait;
        links[i].index = i;
        list_add_tail(&wait->objects[i]->waits, &links[i].node);
    }
    lock_release(&win_dispatcher);
    return begun;
}

void win_wait_end(struct win_wait *wait, struct win_wait_link *links)
{
    lock_acquire(&win_dispatcher);
    for (DWORD i = 0; i < wait->count; i++)
        list_del(&links[i].node);
    if (wait->others >= 0)
        win_named->end_locked(wait);
    lock_release(&win_dispatcher);
}

/* Whether one of the objects has a descriptor: the program then polls that, and may not call again soon. */
static bool exported(const struct win_wait *wait)
{
    for (DWORD i = 0; i < wait->count; i++)
        if (atomic_load_explicit(&wait->objects[i]->export_fd, memory_order_relaxed) >= 0)
            return true;
    return false;
}

static DWORD result_of(const struct win_wait *wait)
{
    if (wait->satisfied < 0)
        return WAIT_TIMEOUT;
    return (wait->abandoned ? WAIT_ABANDONED_0 : WAIT_OBJECT_0) + (DWORD)wait->satisfied;
}

/* Sets the owner of a wait that has mutexes among its objects. False with the last error. */
static bool owner_find(struct win_wait *wait)
{
    for (DWORD i = 0; i < wait->count; i++)
        if (wait->objects[i]->kind == WAITABLE_OWNED)
            return (wait->owner = win_owner_self()) != NULL;
    return true;
}

/* Sleeps until the wait has ended. The last part of win_waitables_wait. */
static DWORD wait_asleep(struct win_wait *wait, uint64_t deadline_ns)
{
    struct win_wait_link links[MAXIMUM_WAIT_OBJECTS];
    bool satisfied;

    if (!win_wait_begin(wait, links, &satisfied))
        return WAIT_FAILED;
    if (satisfied)
        return result_of(wait);
    while (!win_wait_satisfied(wait) && !win_alert_came(wait->alert) &&
           win_wait_sleep(wait->waiter, deadline_ns))
        ;
    win_wait_end(wait, links);
    return result_of(wait);
}

static DWORD wait_alertably(struct win_wait *wait, uint64_t deadline_ns)
{
    struct win_alert alert;
    DWORD result;

    wait->alert = &alert;
    if (!win_alert_begin(&alert, wait->waiter, wait->named ? wait : NULL))
        return WAIT_IO_COMPLETION;
    result = wait_asleep(wait, deadline_ns);
    return win_alert_end(&alert) ? WAIT_IO_COMPLETION : result;
}

DWORD win_waitables_wait(struct win_waitable *const *objects, DWORD count, bool all,
    uint64_t deadline_ns, bool alertable)
{
    struct win_wait wait = {
        .objects = objects, .count = count, .all = all, .satisfied = -1, .others = -1
    };

    for (DWORD i = 0; i < count; i++)
        wait.named |= objects[i]->name >= 0;
    if (!owner_find(&wait))
        return WAIT_FAILED;
    if (win_wait_satisfied(&wait)) {
        if (!exported(&wait))
            reactor_active();
        return result_of(&wait);
    }
    if (!deadline_ns) {
        reactor_look();
        if (!exported(&wait))
            reactor_active();
        if (!win_wait_satisfied(&wait) && alertable && win_apcs_pending())
            return WAIT_IO_COMPLETION;
        return result_of(&wait);
    }
    if (!(wait.waiter = win_waiter_self()))
        return WAIT_FAILED;
    return alertable ? wait_alertably(&wait, deadline_ns) : wait_asleep(&wait, deadline_ns);
}
