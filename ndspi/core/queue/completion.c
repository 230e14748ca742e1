/* SPDX-License-Identifier: MIT */
/* completion.c - a request completes: from the device's completion to a result in the software queue. */
#include "ndspi/core/queue/cq_private.h"

#include "ndspi/core/memory/frmr.h"
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/sgl.h"
#include "ndspi/core/queue/post.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"
#include "ndspi/core/status.h"

#include "util/log.h"
#include "util/probe.h"

static bool is_error(const ND2_RESULT *result)
{
    return FAILED(result->Status);
}

static void tell_passed_locked(struct nd_cq *cq)
{
    cq->passed = true;
    log_limited(LOG_INFO, LOG_CQ,
        "more results wait in a completion queue than the %u it was made for; this one has room "
        "for "
        "%u, others may not: make it deeper, or fetch results sooner",
        cq->depth, cq->capacity);
}

static void push_locked(struct nd_cq *cq, const struct nd_cq_entry *entry)
{
    struct nd_cq_entry *at;
    uint32_t tail;

    if (cq->closed || cq->failed) {
        nd_cq_count_end(entry);
        return;
    }
    if (cq->count >= cq->capacity) {
        nd_cq_count_end(entry);
        nd_cq_fail_locked(cq, ND_BUFFER_OVERFLOW);
        return;
    }
    if (!cq->count)
        cq->head = 0; /* stay at the start: few pages of a deep ring are ever touched */
    tail = cq->head + cq->count;
    at = &cq->entries[tail < cq->capacity ? tail : tail - cq->capacity];
    *at = *entry;
    cq->count++;
    cq->arrived++;
    if (ND_UNLIKELY(cq->count > cq->depth && !cq->passed))
        tell_passed_locked(cq);
    if (is_error(&entry->result) || entry->solicited)
        cq->arrived_solicited = cq->arrived;
    else if (entry->result.RequestType == Nd2RequestTypeReceive && !cq->marks)
        cq->arrived_perhaps = cq->arrived;
    if (entry->queue) {
        if (!entry->queue->unfetched++)
            entry->queue->seen = atomic_load_explicit(&entry->queue->freed, memory_order_relaxed);
        at->older = entry->queue->newest;
        entry->queue->newest = (uint32_t)cq->arrived;
    }
    if (entry->srq)
        nd_object_pin(&entry->srq->object);
    if (entry->mw)
        nd_object_pin(&entry->mw->object);
}

/*
 * The peer invalidated a key of this queue pair (NULL: of one that is gone), with the Receive whose result was pushed
 * last: if the key is a window's, pushes the window's own result after it.
 */
static void push_taken_back_locked(struct nd_cq *cq, struct nd_qp *qp, uint32_t rkey)
{
    struct nd_mw *mw;

    if (nd_frmr_taken_back(cq->adapter, rkey, &cq->dead) || !qp ||
        !(mw = nd_mw_taken_back(cq->adapter, qp, rkey, &cq->dead)))
        return;
    push_locked(cq, &(struct nd_cq_entry){
                        .result = { .Status = ND_SUCCESS,
                            .RequestContext = mw->invalidate_result,
                            .RequestType = Nd2RequestTypeInvalidate },
                        .mw = mw,
                    });
    nd_object_unpin_later(&mw->object, &cq->dead);
}

static void retire_locked(struct nd_cq *cq, struct nd_request *request)
{
    struct nd_queue *queue = request->queue;

    if (queue->unfetched)
        queue->seen = request->next;
    else
        nd_cq_free_up_to(queue, request->next);
    if (request->special & ND_REQUEST_MARKER)
        queue->marked = true;
    if (queue->closing && nd_queue_idle_locked(queue)) {
        queue->closing = false;
        list_del(&queue->closing_link);
        nd_object_unpin_later(&queue->qp->object, &cq->dead);
    }
}

static struct nd_qp *find_shared_locked(struct nd_cq *cq, uint32_t number)
{
    list_for_each (nd_cq_shared_place(&cq->shared, number), node) {
        struct nd_qp *qp = list_entry(node, struct nd_qp, shared_link);

        if (qp->number == number)
            return qp;
    }
    return NULL;
}

/* The device's own code for a failure, or its status. */
static uint32_t vendor_of(const struct ibv_wc *wc)
{
    return wc->vendor_err ? wc->vendor_err : (uint32_t)wc->status;
}

/*
 * Has the queue pair flushed: this notifies a peer that does not see the failure otherwise, and a Bind that the library
 * emulates must know that its queue pair is in the error state (bind.c). In the kernel flavour this also ends the
 * connection: the disconnect event comes now, even if the peer has gone.
 */
static void note_broken_locked(struct nd_cq *cq, struct nd_qp *qp, const struct ibv_wc *wc)
{
    nd_quirk_set affected = ND_QUIRK_BIT(NO_MOVE) | ND_QUIRK_BIT(NO_WINDOWS);
    bool tells = cq->adapter->dialect->tells_failure && wc->status != IBV_WC_WR_FLUSH_ERR;

    if ((!tells && !(cq->adapter->port.caps.quirks & affected)) || !nd_object_try_pin(&qp->object))
        return;
    if (tells)
        nd_qp_blame(qp, vendor_of(wc));
    if (atomic_exchange_explicit(&qp->broken, true, memory_order_relaxed))
        nd_object_unpin_later(&qp->object, &cq->dead);
    else
        list_add_tail(&cq->broken, &qp->broken_link);
}

/* Counts no flushed request: it follows from an earlier error. */
static void count_error(struct nd_qp *qp, const struct ibv_wc *wc)
{
    if (wc->status == IBV_WC_WR_FLUSH_ERR)
        return;
    PROBE3(error, qp->ibv->qp_num, wc->status, wc->vendor_err);
    nd_qp_count_error(qp);
}

static bool invalidates(const struct ibv_wc *wc)
{
    return wc->wc_flags & IBV_WC_WITH_INV;
}

/* Stores in the result of this Receive which key the peer invalidated with it. */
static void tell_invalidation(struct nd_cq_entry *entry, const struct ibv_wc *wc)
{
    entry->invalidated = true;
    entry->token = wc->invalidated_rkey;
}

static void fail_entry(
    const struct nd_cq *cq, struct nd_cq_entry *entry, enum ibv_wc_status status, uint32_t vendor)
{
    ND2_REQUEST_TYPE type = entry->result.RequestType;

    entry->result.Status = nd_status_from_wc(status, type, cq->adapter->dialect);
    entry->result.BytesTransferred = 0;
    entry->vendor = vendor;
}

static bool is_solicited(const struct nd_cq *cq, const struct ibv_wc *wc)
{
    return cq->marks && wc->wc_flags & ND_WC_SOLICITED;
}

static void take_shared_locked(
    struct nd_cq *cq, const struct ibv_wc *wc, struct nd_request *request)
{
    struct nd_srq *srq = request->srq;
    struct nd_cq_entry entry = { .result = request->result, .srq = srq };
    struct nd_qp *qp = find_shared_locked(cq, wc->qp_num);

    entry.result.QueuePairContext = qp ? qp->context : NULL;
    if (wc->status != IBV_WC_SUCCESS) {
        fail_entry(cq, &entry, wc->status, vendor_of(wc));
    } else {
        entry.result.BytesTransferred = wc->byte_len;
        entry.solicited = is_solicited(cq, wc);
        if (invalidates(wc))
            tell_invalidation(&entry, wc);
    }
    if (qp && wc->status == IBV_WC_SUCCESS) {
        qp->receive.shared++;
        qp->receive.received += wc->byte_len;
    }
    push_locked(cq, &entry);
    if (wc->status == IBV_WC_SUCCESS && invalidates(wc))
        push_taken_back_locked(cq, qp, wc->invalidated_rkey);
    if (wc->status != IBV_WC_SUCCESS && qp) {
        count_error(qp, wc);
        note_broken_locked(cq, qp, wc);
    }
    nd_srq_seen(srq, request);
}

/* Releases what a request holds. Returns its status, which may differ from that of its completion. */
static enum ibv_wc_status release_held_locked(
    struct nd_cq *cq, struct nd_request *request, enum ibv_wc_status status)
{
    struct nd_qp *qp = request->queue->qp;

    if (request->special & ND_REQUEST_STAGED)
        nd_staging_free(request->queue, request);
    if (request->special & ND_REQUEST_FAST)
        nd_frmr_ended(cq->adapter, request->rkey, request->number,
            request->result.RequestType != Nd2RequestTypeInvalidate, status, &cq->dead);
    if (!(request->special & ND_REQUEST_BINDING))
        return status;
    if (request->result.RequestType != Nd2RequestTypeInvalidate) {
        if (status != IBV_WC_SUCCESS)
            nd_mw_lost(cq->adapter, qp, request->rkey, &cq->dead);
    } else {
        bool well = status == IBV_WC_SUCCESS;

        if (nd_binding_end(request, well, cq->adapter, &cq->dead) && well)
            return IBV_WC_LOC_ACCESS_ERR;
    }
    return status;
}

/*
 * Takes a window's own registration back before its Invalidate completes for the client. That is a system call: the
 * lock is dropped meanwhile, and no other thread takes completions.
 */
static void revoke_locked(struct nd_cq *cq, const struct nd_request *request)
{
    struct nd_qp *qp = request->queue->qp;

    if (!nd_object_try_pin(&qp->object))
        return; /* the queue pair is being destroyed */
    cq->taking = true;
    nd_cq_unlock_and_deliver(cq);
    nd_mw_mr_deregister(request->own_mr);
    if (qp->receive_cq != cq)
        nd_cq_look(qp->receive_cq); /* the peer may have invalidated first */
    lock_acquire(&cq->poll.lock);
    cq->taking = false;
    nd_object_unpin_later(&qp->object, &cq->dead);
}

static struct nd_cq_entry entry_of(const struct nd_request *request)
{
    return (struct nd_cq_entry){
        .result = request->result, .queue = request->queue, .next = request->next
    };
}

void nd_cq_end_refused_locked(
    struct nd_cq *cq, struct nd_queue *queue, const struct nd_request *until)
{
    struct nd_request *request = nd_queue_oldest_locked(queue);

    while (queue->refused && request != until) {
        struct nd_request *next = request->next;
        struct nd_cq_entry entry = entry_of(request);

        if (request->special & ND_REQUEST_REFUSED) {
            bool done = !is_error(&entry.result);
            bool silent = done && request->special & ND_REQUEST_SILENT;

            release_held_locked(cq, request, done ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
            entry.result.BytesTransferred = 0;
            request->special = 0;
            request->result.Status = ND_SUCCESS;
            queue->refused--;
            cq->refused--;
            if (!silent)
                push_locked(cq, &entry);
            retire_locked(cq, request);
        } else if (!until) {
            return;
        }
        request = next;
    }
}

/*
 * All requests before the first refused one of its batch are done; if that one has ended, later completions said the
 * same.
 */
static void take_fence_locked(struct nd_cq *cq, const struct nd_request *fence)
{
    struct nd_queue *queue = fence->queue;
    struct nd_request *first = fence->next;

    if (!(first->special & ND_REQUEST_REFUSED))
        return;
    nd_cq_end_refused_locked(cq, queue, first);
    if (queue->unfetched)
        queue->seen = first;
    else
        nd_cq_free_up_to(queue, first);
    nd_cq_end_refused_locked(cq, queue, NULL);
}

/* Takes a completion whose request belongs to the queue pair, not to an SRQ. */
static void take_own_locked(struct nd_cq *cq, const struct ibv_wc *wc)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;
    bool failed = wc->status != IBV_WC_SUCCESS;
    bool taken_back = !failed && invalidates(wc);
    struct nd_queue *queue = request->queue;
    enum ibv_wc_status status;
    struct nd_cq_entry entry;

    if (ND_UNLIKELY(queue->refused))
        nd_cq_end_refused_locked(cq, queue, request);
    if (ND_UNLIKELY(request->special & ND_REQUEST_OWN_MR) && !failed)
        revoke_locked(cq, request);
    status = release_held_locked(cq, request, wc->status);
    failed = status != IBV_WC_SUCCESS;
    entry = entry_of(request);
    if (failed) {
        fail_entry(
            cq, &entry, status, wc->status == IBV_WC_SUCCESS ? (uint32_t)status : vendor_of(wc));
        count_error(queue->qp, wc);
        note_broken_locked(cq, queue->qp, wc);
    } else if (request->result.RequestType == Nd2RequestTypeReceive) {
        entry.result.BytesTransferred = wc->byte_len;
        queue->received += wc->byte_len;
        entry.solicited = is_solicited(cq, wc);
        if (taken_back)
            tell_invalidation(&entry, wc);
    } else if (queue->regions && !(request->special & ND_REQUEST_BINDING)) {
        entry.result.BytesTransferred = (uint32_t)request->length;
    }
    if (!(request->special & ND_REQUEST_MARKER) &&
        (failed || !(request->special & ND_REQUEST_SILENT)))
        push_locked(cq, &entry);
    if (taken_back && request->result.RequestType == Nd2RequestTypeReceive)
        push_taken_back_locked(cq, queue->qp, wc->invalidated_rkey);
    retire_locked(cq, request);
    if (ND_UNLIKELY(queue->refused))
        nd_cq_end_refused_locked(cq, queue, NULL);
}

void nd_cq_take_locked(struct nd_cq *cq, const struct ibv_wc *wc)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;

    PROBE4(completion, request->queue, request, wc->status, wc->byte_len);
    if (request->special & ND_REQUEST_SHARED)
        take_shared_locked(cq, wc, request);
    else if (request->special & ND_REQUEST_FENCE)
        take_fence_locked(cq, request);
    else
        take_own_locked(cq, wc);
}

void nd_cq_drain_locked(struct nd_cq *cq)
{
    int polled = 0;

    lock_assert_held(&cq->poll.lock);
    if (ND_UNLIKELY(cq->taking)) {
        cq->again = true;
        return;
    }
    do {
        cq->again = false;
        if (cq->failed || cq->closed)
            break;
        polled = ibv_poll_cq(cq->poll.ibv, ND_CQ_BATCH, cq->poll.wc);
        for (int i = 0; i < polled; i++)
            nd_cq_take_locked(cq, &cq->poll.wc[i]);
    } while (polled == ND_CQ_BATCH || cq->again);
    if (polled < 0)
        nd_cq_fail_locked(
            cq, nd_adapter_removed(cq->adapter) ? ND_DEVICE_REMOVED : ND_BUFFER_OVERFLOW);
}

void nd_cq_look(struct nd_cq *cq)
{
    lock_acquire(&cq->poll.lock);
    nd_cq_drain_locked(cq);
    nd_cq_match_notifies_locked(cq, false);
    nd_cq_unlock_and_deliver(cq);
}
