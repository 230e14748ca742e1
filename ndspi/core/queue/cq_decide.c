/* SPDX-License-Identifier: MIT */
/*
 * cq_decide.c - what is decided under the lock of a completion queue: which Notify requests end (the rules are told in
 * cq.h), and its own end; and what follows from it once the lock is dropped.
 */
#include "ndspi/core/queue/cq_private.h"

#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#define FOR_RESULTS (ND_CQ_WAITS(ND_CQ_NOTIFY_ANY) | ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED))

/* Everything that waits for a result ends together; what made it end is used up. */
void nd_cq_fire_locked(struct nd_cq *cq)
{
    cq->triggered = cq->arrived;
    if (nd_pending_decide(&cq->pending, cq->waiting & FOR_RESULTS, ND_SUCCESS))
        cq->deliver = true;
    cq->waiting &= ~FOR_RESULTS;
}

bool nd_cq_trigger_locked(struct nd_cq *cq, bool unsure)
{
    uint64_t fetched = cq->arrived - cq->count;
    uint64_t old = fetched > cq->triggered ? fetched : cq->triggered;
    bool any = cq->waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_ANY) && cq->arrived > old;
    bool solicited = cq->waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED) &&
                     (cq->arrived_solicited > old || (unsure && cq->arrived_perhaps > old));

    if (!any && !solicited)
        return false;
    nd_cq_fire_locked(cq);
    return true;
}

/* Results that nobody will fetch. */
static void drop_entries_locked(struct nd_cq *cq)
{
    for (; cq->count; cq->count--) {
        struct nd_cq_entry *entry = &cq->entries[cq->head];

        if (entry->srq)
            nd_object_unpin_later(&entry->srq->object, &cq->dead);
        if (entry->mw)
            nd_object_unpin_later(&entry->mw->object, &cq->dead);
        cq->head = cq->head + 1 == cq->depth ? 0 : cq->head + 1;
    }
}

/* Queue pairs need not wait for completions any more. */
static void release_closing_locked(struct nd_cq *cq)
{
    struct list_node *node;

    while ((node = list_pop(&cq->closing))) {
        struct nd_queue *queue = list_entry(node, struct nd_queue, closing_link);

        queue->closing = false;
        nd_object_unpin_later(&queue->qp->object, &cq->dead);
    }
}

void nd_cq_abandon_locked(struct nd_cq *cq)
{
    lock_assert_held(&cq->poll.lock);
    drop_entries_locked(cq);
    release_closing_locked(cq);
}

void nd_cq_fail_locked(struct nd_cq *cq, HRESULT status)
{
    const char *name = nd_status_name(status);

    lock_assert_held(&cq->poll.lock);
    if (cq->failed)
        return;
    log_limited(
        LOG_ERROR, LOG_CQ, "completion queue of depth %u failed: %s", cq->depth, name ? name : "?");
    cq->failed = status;
    nd_cq_abandon_locked(cq);
    if (cq->waiting && nd_pending_decide(&cq->pending, cq->waiting, status))
        cq->deliver = true;
    cq->waiting = 0;
}

static void flush_broken(struct nd_qp *qp)
{
    (void)nd_qp_to_error(qp);
    nd_object_unpin(&qp->object);
}

/* Which way GetResults takes next. */
static void choose_way_locked(struct nd_cq *cq)
{
    bool open = !cq->count && !cq->waiting && !cq->failed && !cq->closed && !cq->refused &&
                !cq->taking && list_empty(&cq->closing) && list_empty(&cq->batches);

    cq->poll.counted = open && nd_cq_may_overrun_locked(cq);
    cq->poll.usual_room = open && !cq->poll.counted ? ND_CQ_BATCH : 0;
}

void nd_cq_leave(struct nd_cq *cq)
{
    struct nd_object *dead = NULL;
    struct list_head broken;
    bool deliver = cq->deliver;

    list_init(&broken);
    cq->deliver = false;
    if (!cq->taking) { /* else that thread does it */
        dead = nd_object_take_dead(&cq->dead);
        list_splice_tail(&broken, &cq->broken);
    }
    choose_way_locked(cq);
    lock_release(&cq->poll.lock);
    if (deliver)
        nd_pending_deliver(&cq->pending);
    nd_object_destroy_dead(dead);
    while (ND_UNLIKELY(!list_empty(&broken)))
        flush_broken(list_entry(list_pop(&broken), struct nd_qp, broken_link));
}
