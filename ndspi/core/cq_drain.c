/* SPDX-License-Identifier: MIT */
/* cq_drain.c - from the device into the software queue, and from there to the client. */
#include "ndspi/core/datapath.h"

#include "ndspi/core/adapter.h"
#include "ndspi/core/mw.h"
#include "ndspi/core/qp.h"
#include "ndspi/core/srq.h"
#include "ndspi/core/status.h"

#include <string.h>

static bool is_error(const ND2_RESULT *result)
{
    return FAILED(result->Status);
}

static void push_locked(struct nd_cq *cq, const struct nd_cq_entry *entry)
{
    uint32_t tail;

    if (cq->closed)
        return;
    if (cq->count == cq->capacity) {
        nd_cq_fail_locked(cq, ND_BUFFER_OVERFLOW);
        return;
    }
    if (!cq->count)
        cq->head = 0; /* stay at the start: few pages of a deep ring are ever touched */
    tail = cq->head + cq->count;
    cq->entries[tail < cq->capacity ? tail : tail - cq->capacity] = *entry;
    cq->count++;
    cq->arrived++;
    if (is_error(&entry->result))
        cq->arrived_error = cq->arrived;
    else if (entry->result.RequestType == Nd2RequestTypeReceive)
        cq->arrived_receive = cq->arrived;
    if (entry->queue && !entry->queue->unfetched++)
        entry->queue->seen = atomic_load_explicit(&entry->queue->freed, memory_order_relaxed);
    if (entry->srq)
        nd_object_pin(&entry->srq->object);
}

/* Release: the record is the posting side's again; pairs with nd_queue_take_locked. */
static void free_up_to(struct nd_queue *queue, struct nd_request *next)
{
    atomic_store_explicit(&queue->freed, next, memory_order_release);
}

static void retire_locked(struct nd_cq *cq, struct nd_request *request)
{
    struct nd_queue *queue = request->queue;

    if (queue->unfetched)
        queue->seen = request->next;
    else
        free_up_to(queue, request->next);
    if (request->special & ND_REQUEST_MARKER)
        queue->marked = true;
    if (queue->closing && nd_queue_idle_locked(queue)) {
        queue->closing = false;
        list_del(&queue->closing_link);
        nd_object_unpin_later((struct nd_object *)queue->qp, &cq->dead);
    }
}

/* Most recently used first: one connection is usually the busy one. */
static struct nd_qp *find_shared_locked(struct nd_cq *cq, uint32_t qp_num)
{
    list_for_each (&cq->shared, node) {
        struct nd_qp *qp = list_entry(node, struct nd_qp, shared_link);

        if (qp->ibv->qp_num != qp_num)
            continue;
        list_del(node);
        list_add_head(&cq->shared, node);
        return qp;
    }
    return NULL;
}

static void take_shared_locked(
    struct nd_cq *cq, const struct ibv_wc *wc, struct nd_request *request)
{
    struct nd_srq *srq = request->srq;
    struct nd_cq_entry entry = { .result = request->result, .srq = srq };
    struct nd_qp *qp = find_shared_locked(cq, wc->qp_num);

    entry.result.QueuePairContext = qp ? qp->context : NULL;
    if (wc->status != IBV_WC_SUCCESS)
        entry.result.Status =
            nd_status_from_wc(wc->status, Nd2RequestTypeReceive, cq->adapter->dialect);
    else
        entry.result.BytesTransferred = wc->byte_len;
    if (wc->status == IBV_WC_SUCCESS && wc->wc_flags & IBV_WC_WITH_INV && qp)
        nd_mw_lost(cq->adapter, qp, wc->invalidated_rkey, &cq->dead);
    push_locked(cq, &entry);
    nd_srq_seen(srq, request);
}

/* A window's side of a completion. */
static void settle_binding_locked(struct nd_cq *cq, struct nd_request *request, bool failed)
{
    struct nd_mr *mr = request->mr;

    if (request->result.RequestType == Nd2RequestTypeInvalidate)
        nd_mw_invalidated(cq->adapter, mr, &cq->dead);
    else if (failed)
        nd_mw_lost(cq->adapter, request->queue->qp, request->rkey, &cq->dead);
}

static void take_locked(struct nd_cq *cq, const struct ibv_wc *wc)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;
    bool failed = wc->status != IBV_WC_SUCCESS;
    struct nd_cq_entry entry;

    if (request->special & ND_REQUEST_SHARED) {
        take_shared_locked(cq, wc, request);
        return;
    }
    if (request->special & ND_REQUEST_BINDING)
        settle_binding_locked(cq, request, failed);
    entry = (struct nd_cq_entry){
        .result = request->result, .queue = request->queue, .next = request->next
    };
    if (failed) {
        entry.result.Status =
            nd_status_from_wc(wc->status, request->result.RequestType, cq->adapter->dialect);
        entry.result.BytesTransferred = 0;
    } else if (request->result.RequestType == Nd2RequestTypeReceive) {
        entry.result.BytesTransferred = wc->byte_len;
        if (wc->wc_flags & IBV_WC_WITH_INV)
            nd_mw_lost(cq->adapter, request->queue->qp, wc->invalidated_rkey, &cq->dead);
    }
    if (!(request->special & ND_REQUEST_MARKER) &&
        (failed || !(request->special & ND_REQUEST_SILENT)))
        push_locked(cq, &entry);
    retire_locked(cq, request);
}

void nd_cq_drain_locked(struct nd_cq *cq)
{
    int polled;

    lock_assert_held(&cq->poll.lock);
    do {
        if (cq->failed || cq->closed)
            return;
        polled = ibv_poll_cq(cq->poll.ibv, ND_CQ_BATCH, cq->poll.wc);
        for (int i = 0; i < polled; i++)
            take_locked(cq, &cq->poll.wc[i]);
    } while (polled == ND_CQ_BATCH);
    if (polled < 0)
        nd_cq_fail_locked(cq, ND_INTERNAL_ERROR);
}

static unsigned fetch_locked(struct nd_cq *cq, ND2_RESULT *results, unsigned room)
{
    unsigned fetched;

    for (fetched = 0; fetched < room && cq->count; fetched++) {
        struct nd_cq_entry *entry = &cq->entries[cq->head];

        results[fetched] = entry->result;
        if (entry->queue)
            free_up_to(entry->queue, --entry->queue->unfetched ? entry->next : entry->queue->seen);
        if (entry->srq) {
            nd_srq_fetched(entry->srq);
            nd_object_unpin_later(&entry->srq->object, &cq->dead);
        }
        cq->head = cq->head + 1 == cq->capacity ? 0 : cq->head + 1;
        cq->count--;
    }
    return fetched;
}

unsigned nd_cq_results_rest(struct nd_cq_poll *poll, unsigned polled, unsigned left)
{
    struct nd_cq *cq = container_of(poll, struct nd_cq, poll);
    unsigned stored = polled - left;
    ND2_RESULT *results = poll->results;
    unsigned room = poll->room;

    for (unsigned i = stored; i < polled; i++)
        take_locked(cq, &poll->wc[i]);
    nd_cq_drain_locked(cq);
    nd_cq_trigger_locked(cq, false);
    stored += fetch_locked(cq, results + stored, room - stored);
    nd_cq_leave(cq);
    return stored;
}

unsigned nd_cq_results_general(struct nd_cq_poll *poll, ND2_RESULT *results, unsigned room)
{
    lock_acquire(&poll->lock);
    poll->results = results;
    poll->room = room;
    return nd_cq_results_rest(poll, 0, 0);
}

unsigned nd_cq_results_count(struct nd_cq_poll *poll, int polled)
{
    const struct ibv_wc *wc = poll->wc;
    ND2_RESULT *results = poll->results;

    if (polled < 0)
        return nd_cq_results_rest(poll, 0, 0); /* which hears of it, too */
    for (int left = polled; left; left--)
        if (!nd_cq_translate_locked(wc++, results++))
            return nd_cq_results_rest(poll, (unsigned)polled, (unsigned)left);
    lock_release(&poll->lock);
    return (unsigned)polled;
}

unsigned nd_cq_results_release(struct nd_cq_poll *poll, unsigned count)
{
    lock_release_rest(&poll->lock);
    return count;
}

void nd_cq_look(struct nd_cq *cq)
{
    lock_acquire(&cq->poll.lock);
    nd_cq_drain_locked(cq);
    nd_cq_trigger_locked(cq, false);
    nd_cq_leave(cq);
}
