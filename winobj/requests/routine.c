/* SPDX-License-Identifier: MIT */
/* routine.c - see routine.h. */
#include "winobj/requests/routine.h"

#include "winobj/fork.h"
#include "winobj/handles/handle.h"

#include <stdlib.h>

struct win_routine {
    struct win_apc apc; /* first: win_apcs_run frees the record by it */
    struct list_node link;
    struct win_object *thread; /* referenced */
    struct win_apcs *apcs;
    DWORD (*error_of)(LONG status);
};

static struct lock routines_lock = LOCK_INIT(LOCK_WIN_FILE, "completion routines");
static struct list_head routines = { { &routines.n, &routines.n } };
static atomic_uint routines_count; /* most requests have none */

bool win_routine_add(OVERLAPPED *overlapped, const struct win_routine_call *call,
    struct win_object *thread, struct win_apcs *apcs)
{
    struct win_routine *routine = calloc(1, sizeof(*routine));

    if (!routine) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return false;
    }
    routine->apc.completion = call->completion;
    routine->apc.transfer = call->transfer;
    routine->error_of = call->error_of;
    routine->apc.overlapped = overlapped;
    win_object_ref(thread);
    routine->thread = thread;
    routine->apcs = apcs;
    lock_acquire(&routines_lock);
    list_add_tail(&routines, &routine->link);
    lock_release(&routines_lock);
    atomic_fetch_add(&routines_count, 1);
    return true;
}

/* The caller holds routines_lock. */
static struct win_routine *find(const OVERLAPPED *overlapped)
{
    list_for_each (&routines, node) {
        struct win_routine *routine = list_entry(node, struct win_routine, link);

        if (routine->apc.overlapped == overlapped)
            return routine;
    }
    return NULL;
}

bool win_routine_is_of(const OVERLAPPED *overlapped)
{
    bool found;

    if (!atomic_load_explicit(&routines_count, memory_order_relaxed))
        return false;
    lock_acquire(&routines_lock);
    found = find(overlapped);
    lock_release(&routines_lock);
    return found;
}

struct win_routine *win_routine_take(const OVERLAPPED *overlapped)
{
    struct win_routine *routine;

    if (!atomic_load_explicit(&routines_count, memory_order_relaxed))
        return NULL;
    lock_acquire(&routines_lock);
    if ((routine = find(overlapped)))
        list_del(&routine->link);
    lock_release(&routines_lock);
    if (!routine)
        return NULL;
    atomic_fetch_sub(&routines_count, 1);
    if (routine->apc.transfer)
        routine->apc.flags = overlapped->Offset;
    return routine;
}

void win_routine_post(struct win_routine *routine, LONG status, ULONG_PTR bytes)
{
    struct win_object *thread = routine->thread;

    routine->apc.error = routine->error_of(status);
    routine->apc.bytes = (DWORD)bytes;
    if (!win_apcs_hand(routine->apcs, &routine->apc))
        free(routine);
    win_object_unref(thread);
}

void win_routine_drop(struct win_routine *routine)
{
    win_object_unref(routine->thread);
    free(routine);
}

void win_routines_forked(void)
{
    lock_init(&routines_lock, LOCK_WIN_FILE, "completion routines");
    list_init(&routines);
    atomic_store_explicit(&routines_count, 0, memory_order_relaxed);
}
