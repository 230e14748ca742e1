/* SPDX-License-Identifier: MIT */
/* alert.c - queues of APCs, and the alertable waits that they end (alert.h). */
#include "winobj/waits/alert.h"

#include "winobj/waits/named.h"

#include <stdlib.h>

enum alert_end { ALERT_PENDING, ALERT_SATISFIED, ALERT_APC };

/* NULL: no handle of the thread was ever made, so no other thread can queue to it. */
static _Thread_local struct win_apcs *mine;

void win_apcs_init(struct win_apcs *apcs)
{
    lock_init(&apcs->lock, LOCK_WIN_OBJECT, "APCs");
    list_init(&apcs->queue);
    apcs->alert = NULL;
    apcs->closed = false;
}

void win_apcs_adopt(struct win_apcs *apcs)
{
    mine = apcs;
}

/* Takes the first APC off, as a copy: a timer's APC may be queued again, or freed, once the lock is released. */
static bool apc_take(struct win_apcs *apcs, struct win_apc *taken)
{
    struct list_node *node;
    struct win_apc *apc = NULL;

    lock_acquire(&apcs->lock);
    if ((node = list_pop(&apcs->queue))) {
        apc = list_entry(node, struct win_apc, link);
        *taken = *apc;
    }
    lock_release(&apcs->lock);
    if (apc && !taken->routine) /* a timer's is a part of it */
        free(apc);
    return apc != NULL;
}

void win_apcs_close(struct win_apcs *apcs)
{
    struct win_apc dropped;

    mine = NULL;
    lock_acquire(&apcs->lock);
    apcs->closed = true;
    lock_release(&apcs->lock);
    while (apc_take(apcs, &dropped))
        ;
}

void win_apcs_forked(struct win_apcs *apcs)
{
    /* If the lock is held, another thread of the parent may have been changing the queue at the fork. */
    if (atomic_load_explicit(&apcs->lock.word, memory_order_relaxed))
        list_init(&apcs->queue);
    lock_init(&apcs->lock, LOCK_WIN_OBJECT, "APCs");
    apcs->alert = NULL;
}

static bool claim(struct win_alert *alert, unsigned end)
{
    unsigned pending = ALERT_PENDING;

    return atomic_compare_exchange_strong(&alert->ended, &pending, end);
}

/* Queues an APC that is on no queue, and wakes the thread. False: the thread has ended. */
static bool apc_queue(struct win_apcs *apcs, struct win_apc *apc)
{
    struct reactor_waiter *waiter = NULL;
    bool closed, named = false;

    lock_acquire(&apcs->lock);
    if (!(closed = apcs->closed)) {
        list_add_tail(&apcs->queue, &apc->link);
        named = apcs->alert && apcs->alert->named;
        if (apcs->alert && (named ? win_named->end_by_apc(apcs->alert->named)
                                  : win_alert_claim_by_apc(apcs->alert)))
            waiter = apcs->alert->waiter;
    }
    lock_release(&apcs->lock);
    if (named)
        win_named->look();
    if (waiter)
        reactor_signal(waiter);
    return !closed;
}

DWORD win_apcs_post(struct win_apcs *apcs, PAPCFUNC function, ULONG_PTR data)
{
    struct win_apc *apc = malloc(sizeof(*apc));

    if (!apc)
        return ERROR_NOT_ENOUGH_MEMORY;
    *apc = (struct win_apc){ .function = function, .data = data };
    if (apc_queue(apcs, apc))
        return ERROR_SUCCESS;
    free(apc);
    return ERROR_GEN_FAILURE;
}

bool win_apcs_hand(struct win_apcs *apcs, struct win_apc *apc)
{
    return apc_queue(apcs, apc);
}

void win_apcs_queue(struct win_apcs *apcs, struct win_apc *apc, uint64_t time)
{
    bool queued;

    lock_acquire(&apcs->lock);
    if (!(queued = list_linked(&apc->link)))
        apc->time = time;
    lock_release(&apcs->lock);
    if (!queued) /* only the caller queues it */
        apc_queue(apcs, apc);
}

void win_apcs_remove(struct win_apcs *apcs, struct win_apc *apc)
{
    lock_acquire(&apcs->lock);
    if (list_linked(&apc->link))
        list_del(&apc->link);
    lock_release(&apcs->lock);
}

bool win_apcs_closed(struct win_apcs *apcs)
{
    bool closed;

    lock_acquire(&apcs->lock);
    closed = apcs->closed;
    lock_release(&apcs->lock);
    return closed;
}

bool win_apcs_pending(void)
{
    bool pending;

    if (!mine)
        return false;
    lock_acquire(&mine->lock);
    pending = !list_empty(&mine->queue);
    lock_release(&mine->lock);
    return pending;
}

void win_apcs_run(void)
{
    struct win_apc apc;

    while (mine && apc_take(mine, &apc)) {
        if (apc.function)
            apc.function(apc.data);
        else if (apc.completion)
            apc.completion(apc.error, apc.bytes, apc.overlapped);
        else if (apc.transfer)
            apc.transfer(apc.error, apc.bytes, apc.overlapped, apc.flags);
        else
            apc.routine(apc.context, (DWORD)apc.time, (DWORD)(apc.time >> 32));
    }
}

bool win_alert_begin(struct win_alert *alert, struct reactor_waiter *waiter, struct win_wait *named)
{
    bool pending;

    alert->waiter = waiter;
    alert->named = named;
    atomic_init(&alert->ended, ALERT_PENDING);
    if (!mine)
        return true;
    lock_acquire(&mine->lock);
    if (!(pending = !list_empty(&mine->queue)))
        mine->alert = alert;
    lock_release(&mine->lock);
    return !pending;
}

bool win_alert_end(struct win_alert *alert)
{
    if (!mine)
        return false;
    lock_acquire(&mine->lock);
    mine->alert = NULL;
    lock_release(&mine->lock);
    return atomic_load(&alert->ended) == ALERT_APC;
}

bool win_alert_claim(struct win_alert *alert)
{
    return !alert || claim(alert, ALERT_SATISFIED);
}

bool win_alert_claim_by_apc(struct win_alert *alert)
{
    return claim(alert, ALERT_APC);
}

bool win_alert_came(struct win_alert *alert)
{
    return alert && atomic_load(&alert->ended) == ALERT_APC;
}
