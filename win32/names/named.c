/* SPDX-License-Identifier: MIT */
/*
 * named.c - events, mutexes and semaphores with names: what waits ask of them (winobj/waits/named.h), opening by a name
 * or by a parcel.
 */
#include "win32/names/named.h"

#include "winobj/waits/alert.h"
#include "winobj/waits/named.h"

#include <stdlib.h>
#include <string.h>

/* Waits that other processes know. The dispatcher lock guards it. */
static struct list_head waits = { { &waits.n, &waits.n } };
static atomic_bool used;

/* The number of a thread that may own mutexes; 0: there is none. */
static uint32_t owner_id(const struct win_owner *owner)
{
    return owner ? win_owner_id(owner) : 0;
}

/* Whether another thread or process has satisfied the wait. */
static bool granted(struct win_wait *wait)
{
    bool abandoned;
    int result;

    if (wait->others < 0 || (result = names_wait_result(wait->others, wait->count, &abandoned)) < 0)
        return false;
    win_alert_claim(wait->alert); /* succeeds: an APC would have withdrawn the wait first */
    wait->satisfied = result;
    wait->abandoned = abandoned;
    return true;
}

/* The caller holds names_lock. */
static bool try_named(struct win_wait *wait)
{
    for (DWORD i = 0; i < wait->count; i++)
        if (wait->objects[i]->name >= 0)
            names_check(wait->objects[i]->name);
    return granted(wait) || win_wait_try_locked(wait);
}

/* Ends the waits of this process that were satisfied under names_lock. */
static void look_locked(void)
{
    bool again;

    lock_assert_held(&win_dispatcher);
    do {
        again = false;
        list_for_each (&waits, node) {
            struct win_wait *wait = list_entry(node, struct win_wait, link);
            bool done;

            if (wait->satisfied >= 0)
                continue;
            names_lock();
            names_woken();
            done = try_named(wait);
            if (!done)
                names_wait_look(wait->others);
            again |= names_woken();
            names_unlock();
            if (done)
                win_wait_wake(wait);
        }
    } while (again);
}

static void unlock_and_look(void)
{
    bool woken = names_woken();

    names_unlock();
    if (woken)
        look_locked();
}

static void woken_from_outside(void)
{
    lock_acquire(&win_dispatcher);
    look_locked();
    lock_release(&win_dispatcher);
}

static bool try_locked(struct win_wait *wait)
{
    bool satisfied;

    names_lock();
    satisfied = try_named(wait);
    unlock_and_look();
    return satisfied;
}

static void end_locked(struct win_wait *wait)
{
    names_lock();
    if (wait->satisfied < 0)
        try_named(wait); /* it may have been satisfied since the deadline */
    names_wait_end(wait->others);
    list_del(&wait->link);
    wait->others = -1;
    unlock_and_look();
}

static bool begin_locked(struct win_wait *wait, bool *satisfied)
{
    struct names_wanted wanted[MAXIMUM_WAIT_OBJECTS];
    unsigned count = 0;
    bool begun = true;

    for (DWORD i = 0; i < wait->count; i++)
        if (wait->objects[i]->name >= 0)
            wanted[count++] = (struct names_wanted){ .object = wait->objects[i]->name, .index = i };
    names_lock();
    if (!win_alert_came(wait->alert)) {
        wait->others = names_wait_begin(wanted, count, wait->all, owner_id(wait->owner));
        begun = wait->others >= 0;
    }
    if (wait->others >= 0) {
        list_add_tail(&waits, &wait->link);
        *satisfied = try_named(wait);
    }
    unlock_and_look();
    if (wait->others >= 0 && *satisfied)
        end_locked(wait);
    return begun;
}

static bool end_by_apc(struct win_wait *wait)
{
    bool ended;

    names_lock();
    ended = (wait->others < 0 || names_wait_withdraw(wait->others, wait->count)) &&
            win_alert_claim_by_apc(wait->alert);
    names_unlock();
    return ended;
}

static void look(void)
{
    lock_acquire(&win_dispatcher);
    if (names_woken()) /* names_lock has finished what a killed process had begun */
        look_locked();
    lock_release(&win_dispatcher);
}

/*
 * Opens the handle of a new object as one of a name. Frees it if that fails. name, make, create: for names_open.
 * Returns what win_named_ops.create returns; create false: ERROR_SUCCESS. The caller holds no lock.
 */
static HANDLE open_named(struct win_waitable *waitable, const struct win_object_type *type,
    const char *name, const struct names_new *make, bool create)
{
    bool existed = false;
    enum names_kind kind;
    HANDLE handle;
    int number;

    if (!atomic_exchange(&used, true))
        names_set_woken(woken_from_outside);
    if ((number = names_open(name, make, create, &existed)) < 0) {
        free(waitable);
        return NULL;
    }
    kind = names_kind_of(number);
    if (kind == NAMES_EVENT_MANUAL)
        waitable->kind = WAITABLE_MANUAL;
    else if (kind == NAMES_EVENT_AUTO)
        waitable->kind = WAITABLE_AUTO;
    waitable->name = number;
    handle = win_waitable_open(waitable, type);
    if (!handle)
        names_close(number);
    else if (existed && create)
        SetLastError(ERROR_ALREADY_EXISTS);
    return handle;
}

/* The object that a name is to have, as the new one of this process says it. */
static struct names_new made_like(
    const struct win_waitable *waitable, const struct win_named_new *how)
{
    switch (waitable->kind) {
    case WAITABLE_COUNT:
        return (struct names_new){
            .kind = NAMES_SEMAPHORE, .count = waitable->count, .most = how->most
        };
    case WAITABLE_OWNED:
        return (struct names_new){
            .kind = NAMES_MUTEX, .count = how->owner != NULL, .owner = owner_id(how->owner)
        };
    case WAITABLE_AUTO:
    case WAITABLE_MANUAL: break;
    }
    return (struct names_new){ .kind = waitable->kind == WAITABLE_MANUAL ? NAMES_EVENT_MANUAL
                                                                         : NAMES_EVENT_AUTO,
        .count = waitable->signalled };
}

static HANDLE create(struct win_waitable *waitable, const struct win_object_type *type,
    const struct win_named_new *how)
{
    struct names_new make = made_like(waitable, how);
    char hidden[64];

    if (how->name && *how->name)
        return open_named(waitable, type, how->name, &make, true);
    names_hidden(hidden);
    make.exact = true;
    return open_named(waitable, type, hidden, &make, true);
}

static HANDLE open_existing(struct win_waitable *(*blank)(void), const struct win_object_type *type,
    BOOL inherit, LPCSTR name)
{
    struct win_waitable *waitable;
    struct names_new wanted;

    if (!name) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!(waitable = blank()))
        return NULL;
    wanted = made_like(waitable, &(struct win_named_new){ .most = 1 });
    return win_handle_attribute(open_named(waitable, type, name, &wanted, false),
        &(SECURITY_ATTRIBUTES){ .bInheritHandle = inherit });
}

static struct win_waitable *blank_event(void)
{
    return win_event_new(false, false);
}

static struct win_waitable *blank_semaphore(void)
{
    return win_semaphore_new(0, 1);
}

/*
 * OpenEventA, OpenEventW - opens the event of a name. A handle has all rights; inherit: CreateProcess may hand it on.
 * Returns NULL as OpenMutexA does. Any thread.
 * Source: OpenEventA function (synchapi.h).
 */
HANDLE WINAPI OpenEventA(DWORD access, BOOL inherit, LPCSTR name)
{
    (void)access;
    return open_existing(blank_event, &win_event_type, inherit, name);
}

/*
 * OpenMutexA, OpenMutexW - opens the mutex of a name. A handle has all rights; inherit: CreateProcess may hand it
 * on.
 * Returns NULL with ERROR_FILE_NOT_FOUND, ERROR_INVALID_HANDLE (an event or a semaphore has the name),
 * ERROR_INVALID_PARAMETER (no name), or an error of names_open. Any thread.
 * Source: OpenMutexW function (synchapi.h).
 */
HANDLE WINAPI OpenMutexA(DWORD access, BOOL inherit, LPCSTR name)
{
    (void)access;
    return open_existing(win_mutex_new, &win_mutex_type, inherit, name);
}

/*
 * OpenSemaphoreA, OpenSemaphoreW - opens the semaphore of a name. A handle has all rights; inherit: CreateProcess may
 * hand it on.
 * Returns NULL as OpenMutexA does. Any thread.
 * Source: OpenSemaphoreW function (synchapi.h).
 */
HANDLE WINAPI OpenSemaphoreA(DWORD access, BOOL inherit, LPCSTR name)
{
    (void)access;
    return open_existing(blank_semaphore, &win_semaphore_type, inherit, name);
}

static DWORD carry(const struct win_waitable *waitable, struct win_parcel *parcel)
{
    static const enum win_parcel_kind kinds[] = {
        [WAITABLE_MANUAL] = WIN_PARCEL_EVENT,
        [WAITABLE_AUTO] = WIN_PARCEL_EVENT,
        [WAITABLE_COUNT] = WIN_PARCEL_SEMAPHORE,
        [WAITABLE_OWNED] = WIN_PARCEL_MUTEX,
    };
    struct names_new like;

    if (!parcel)
        return ERROR_SUCCESS;
    names_key(waitable->name, &like, parcel->name, sizeof(parcel->name));
    parcel->kind = kinds[waitable->kind];
    parcel->named = true;
    parcel->numbers[0] = like.kind;
    parcel->numbers[1] = (uint32_t)like.count;
    parcel->numbers[2] = (uint32_t)like.most;
    return ERROR_SUCCESS;
}

struct names_new win_named_carried(const struct win_parcel *parcel)
{
    return (struct names_new){
        .kind = (enum names_kind)parcel->numbers[0],
        .count = (int32_t)parcel->numbers[1],
        .most = (int32_t)parcel->numbers[2],
        .exact = true,
    };
}

HANDLE win_named_receive(const struct win_parcel *parcel)
{
    const struct names_new make = win_named_carried(parcel);
    const struct win_object_type *type = &win_event_type;
    struct win_waitable *waitable;

    if (make.kind == NAMES_MUTEX) {
        type = &win_mutex_type;
        waitable = win_mutex_new();
    } else if (make.kind == NAMES_SEMAPHORE) {
        type = &win_semaphore_type;
        waitable = win_semaphore_new(make.count, make.most);
    } else
        waitable = win_event_new(make.kind == NAMES_EVENT_MANUAL, make.count);
    return waitable ? open_named(waitable, type, parcel->name, &make, true) : NULL;
}

static int signal_named(struct win_waitable *waitable, LONG units, LONG *before)
{
    int32_t had = 0;
    int error;

    lock_acquire(&win_dispatcher);
    names_lock();
    error = names_signal(waitable->name, units, &had);
    unlock_and_look();
    lock_release(&win_dispatcher);
    if (before)
        *before = had;
    return error;
}

static void reset_named(struct win_waitable *waitable)
{
    lock_acquire(&win_dispatcher);
    names_lock();
    names_reset(waitable->name);
    unlock_and_look();
    lock_release(&win_dispatcher);
}

static int release_named(struct win_waitable *waitable, const struct win_owner *owner)
{
    int error;

    lock_acquire(&win_dispatcher);
    names_lock();
    error = names_release(waitable->name, win_owner_id(owner));
    unlock_and_look();
    lock_release(&win_dispatcher);
    return error;
}

static bool is_set(struct win_waitable *waitable, bool take)
{
    bool set;

    lock_acquire(&win_dispatcher);
    names_lock();
    set = names_is_there(waitable->name, 0);
    if (set && take) {
        names_take(waitable->name, 0);
        names_taken(-1, 0);
    }
    unlock_and_look();
    lock_release(&win_dispatcher);
    return set;
}

static void abandon(const struct win_owner *owner)
{
    if (!atomic_load(&used))
        return;
    lock_acquire(&win_dispatcher);
    if (names_ready()) {
        names_lock();
        names_abandon(win_owner_id(owner));
        unlock_and_look();
    }
    lock_release(&win_dispatcher);
}

static bool is_there_locked(int name, const struct win_owner *owner)
{
    return names_is_there(name, owner_id(owner));
}

static bool take_locked(int name, const struct win_owner *owner)
{
    return names_take(name, owner_id(owner));
}

static void taken_locked(const struct win_wait *wait)
{
    names_taken(wait->others, wait->satisfied);
}

static void forked(void)
{
    list_init(&waits);
}

static const struct win_named_ops named_ops = {
    .create = create,
    .close = names_close,
    .carry = carry,
    .signal = signal_named,
    .reset = reset_named,
    .release = release_named,
    .is_set = is_set,
    .abandon = abandon,
    .try_locked = try_locked,
    .is_there_locked = is_there_locked,
    .take_locked = take_locked,
    .taken_locked = taken_locked,
    .begin_locked = begin_locked,
    .end_locked = end_locked,
    .end_by_apc = end_by_apc,
    .look = look,
    .forked = forked,
};

/* The priority has it run before receive_load, which opens what this process inherits. */
__attribute__((constructor(200))) static void named_load(void)
{
    win_named_register(&named_ops);
}
