/* SPDX-License-Identifier: MIT */
/* named.c - waits for objects with names, and what ends them (named.h). */
#include "winobj/waits/named.h"

#include "winobj/waits/alert.h"

#include <stdlib.h>
#include <string.h>

/* Waits that other processes know. The dispatcher lock guards it. */
static struct list_head waits = { { &waits.n, &waits.n } };
static atomic_bool used;

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

/* Under names_lock. */
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

void win_named_forked(void)
{
    list_init(&waits);
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

bool win_named_try_locked(struct win_wait *wait)
{
    bool satisfied;

    names_lock();
    satisfied = try_named(wait);
    unlock_and_look();
    return satisfied;
}

bool win_named_begin_locked(struct win_wait *wait, bool *satisfied)
{
    struct names_wanted wanted[MAXIMUM_WAIT_OBJECTS];
    unsigned count = 0;
    bool begun = true;

    for (DWORD i = 0; i < wait->count; i++)
        if (wait->objects[i]->name >= 0)
            wanted[count++] = (struct names_wanted){ .object = wait->objects[i]->name, .index = i };
    names_lock();
    if (!win_alert_came(wait->alert)) {
        wait->others =
            names_wait_begin(wanted, count, wait->all, wait->owner ? win_owner_id(wait->owner) : 0);
        begun = wait->others >= 0;
    }
    if (wait->others >= 0) {
        list_add_tail(&waits, &wait->link);
        *satisfied = try_named(wait);
    }
    unlock_and_look();
    if (wait->others >= 0 && *satisfied)
        win_named_end_locked(wait);
    return begun;
}

void win_named_end_locked(struct win_wait *wait)
{
    names_lock();
    if (wait->satisfied < 0)
        try_named(wait); /* it may have been satisfied since the deadline */
    names_wait_end(wait->others);
    list_del(&wait->link);
    wait->others = -1;
    unlock_and_look();
}

bool win_named_end_by_apc(struct win_wait *wait)
{
    bool ended;

    names_lock();
    ended = (wait->others < 0 || names_wait_withdraw(wait->others, wait->count)) &&
            win_alert_claim_by_apc(wait->alert);
    names_unlock();
    return ended;
}

void win_named_look(void)
{
    lock_acquire(&win_dispatcher);
    if (names_woken()) /* names_lock has finished what a killed process had begun */
        look_locked();
    lock_release(&win_dispatcher);
}

HANDLE win_named_open(struct win_waitable *waitable, const struct win_object_type *type,
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

DWORD win_named_carry(
    struct win_waitable *waitable, enum win_parcel_kind kind, struct win_parcel *parcel)
{
    struct names_new like;

    if (waitable->name < 0)
        return ERROR_NOT_SUPPORTED;
    if (!parcel)
        return ERROR_SUCCESS;
    names_key(waitable->name, &like, parcel->name, sizeof(parcel->name));
    parcel->kind = kind;
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

void win_named_choose(
    struct win_chosen_name *chosen, const char *name, const SECURITY_ATTRIBUTES *attributes)
{
    chosen->name = name && *name ? name : NULL;
    chosen->exact = !chosen->name && attributes && attributes->bInheritHandle;
    if (chosen->exact) {
        names_hidden(chosen->hidden);
        chosen->name = chosen->hidden;
    }
}

int win_named_signal(struct win_waitable *waitable, LONG units, LONG *before)
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

void win_named_reset(struct win_waitable *waitable)
{
    lock_acquire(&win_dispatcher);
    names_lock();
    names_reset(waitable->name);
    unlock_and_look();
    lock_release(&win_dispatcher);
}

int win_named_release(struct win_waitable *waitable, struct win_owner *owner)
{
    int error;

    lock_acquire(&win_dispatcher);
    names_lock();
    error = names_release(waitable->name, win_owner_id(owner));
    unlock_and_look();
    lock_release(&win_dispatcher);
    return error;
}

bool win_named_is_set(struct win_waitable *waitable, bool take)
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

void win_named_abandon(uint32_t owner)
{
    if (!atomic_load(&used))
        return;
    lock_acquire(&win_dispatcher);
    if (names_ready()) {
        names_lock();
        names_abandon(owner);
        unlock_and_look();
    }
    lock_release(&win_dispatcher);
}
