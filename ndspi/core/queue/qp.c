/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/qp.h"

#include "ndspi/core/memory/frmr.h"
#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/sgl.h"
#include "ndspi/core/queue/post.h"
#include "ndspi/core/queue/srq.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Receiver not ready: a sender's retries end after some ten milliseconds, well before a program gives up waiting; with
 * an SRQ they never end. The receiving side asks for both values.
 */
enum {
    RNR_RETRIES = 6,
    RNR_RETRIES_FOR_EVER = 7,
    RNR_TIMER_10_US = 1,
    TRANSPORT_RETRIES = 6, /* 7 is "for ever" on some devices */
};

static int create_device_qp(const struct nd_qp *qp, struct ibv_qp **ibv)
{
    struct nd_adapter *adapter = qp->adapter;
    struct ibv_qp_init_attr init = {
        .qp_context = (void *)(uintptr_t)&qp->child,
        .send_cq = qp->initiator_cq->poll.ibv,
        .recv_cq = qp->receive_cq->poll.ibv,
        .srq = qp->srq ? qp->srq->ibv : NULL,
        .cap = qp->cap,
        .qp_type = IBV_QPT_RC,
    };

    errno = 0; /* not every driver sets it */
    *ibv = adapter->verbs->create_qp(qp->pd, &init);
    return *ibv ? 0 : errno ? errno : ENOMEM;
}

static int move_to_init(const struct nd_qp *qp, struct ibv_qp *ibv)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = qp->adapter->port.number,
        .qp_access_flags =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE,
    };

    return qp->adapter->verbs->modify_qp(
        ibv, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int make_device_qp(struct nd_qp *qp, struct ibv_qp **ibv)
{
    int rc = create_device_qp(qp, ibv);

    if (rc) {
        log_write(LOG_WARN, LOG_QP, "a queue pair of %u+%u requests cannot be made: %s",
            qp->cap.max_send_wr, qp->cap.max_recv_wr, strerror(rc));
        return rc == EINVAL ? ENOMEM : rc;
    }
    if ((rc = move_to_init(qp, *ibv)))
        qp->adapter->verbs->destroy_qp(*ibv);
    else if (qp->adapter->verbs->keep_posted)
        qp->adapter->verbs->keep_posted(*ibv);
    return rc;
}

/* The buffers for translating lists that the device cannot read as they are. */
static HRESULT make_sges(struct nd_queue *queue, uint32_t max_sge)
{
    queue->sges = calloc(max_sge + 1, sizeof(*queue->sges));
    return queue->sges ? ND_SUCCESS : ND_NO_MEMORY;
}

static HRESULT init_rings(struct nd_qp *qp, const struct nd_qp_params *params)
{
    HRESULT status;

    status = nd_queue_init(&qp->initiator, params->initiator_depth, Nd2RequestTypeSend,
        params->context, ND_QUEUE_CLOSED);
    if (SUCCEEDED(status))
        status = nd_queue_init(&qp->receive, params->srq ? 0 : params->receive_depth,
            Nd2RequestTypeReceive, params->context, ND_QUEUE_OPEN);
    if (SUCCEEDED(status) && params->inline_data &&
        !(qp->initiator.bounce = malloc(params->inline_data)))
        status = ND_NO_MEMORY;
    if (SUCCEEDED(status))
        status = make_sges(&qp->initiator, params->initiator_sge);
    if (SUCCEEDED(status))
        status = make_sges(&qp->receive, params->receive_sge);
    return status;
}

static void describe_queues(struct nd_qp *qp, const struct nd_qp_params *params)
{
    struct nd_queue *queues[] = { &qp->initiator, &qp->receive };
    const struct nd_limits *limits = &qp->adapter->limits;

    for (int i = 0; i < 2; i++) {
        queues[i]->qp = qp;
        queues[i]->ibv = qp->ibv;
        if (queues[i]->receives)
            queues[i]->post_recv = qp->ibv->context->ops.post_recv;
        else
            queues[i]->post_send = qp->ibv->context->ops.post_send;
        queues[i]->regions = qp->adapter->regions.table;
    }
    qp->initiator.cq = params->initiator_cq;
    qp->initiator.defers = qp->adapter->dialect->defers;
    qp->initiator.max_sge = params->initiator_sge;
    qp->initiator.max_read_sge =
        params->initiator_sge < limits->max_read_sge ? params->initiator_sge : limits->max_read_sge;
    qp->initiator.max_inline = params->inline_data;
    qp->initiator.send_wr.sg_list = &qp->initiator.sge;
    qp->initiator.send_wr.num_sge = 1;
    qp->initiator.send_wr.opcode = IBV_WR_SEND;
    qp->initiator.send_wr.send_flags = IBV_SEND_SIGNALED;
    qp->receive.cq = params->receive_cq;
    qp->receive.max_sge = params->receive_sge;
    qp->receive.recv_wr.sg_list = &qp->receive.sge;
    qp->receive.recv_wr.num_sge = 1;
    for (int i = 0; i < 2; i++) {
        queues[i]->max_length = limits->max_transfer;
        nd_queue_set_mode(queues[i], queues[i]->mode); /* max_sge counts from now on */
    }
}

static void removed(struct nd_child *child)
{
    struct nd_qp *qp = container_of(child, struct nd_qp, child);

    nd_queue_set_mode(&qp->initiator, ND_QUEUE_REMOVED);
    nd_queue_set_mode(&qp->receive, ND_QUEUE_REMOVED);
}

/*
 * The device says that the queue pair has failed. In the kernel flavour that ends the connection; a failed request may
 * give a better reason.
 */
static void failed(struct nd_child *child, enum ibv_event_type type)
{
    struct nd_qp *qp = container_of(child, struct nd_qp, child);

    if (!qp->adapter->dialect->tells_failure)
        return;
    log_write(
        LOG_INFO, LOG_QP, "queue pair %u failed: %s", qp->ibv->qp_num, ibv_event_type_str(type));
    nd_cq_look(qp->initiator_cq);
    if (qp->receive_cq != qp->initiator_cq)
        nd_cq_look(qp->receive_cq);
    nd_qp_blame(qp, IBV_WC_FATAL_ERR);
    if (!atomic_exchange_explicit(&qp->broken, true, memory_order_relaxed))
        nd_qp_broke(qp);
}

static void count(struct nd_child *child, struct nd_counts *counts)
{
    nd_qp_count(container_of(child, struct nd_qp, child), counts);
}

static const struct nd_child_ops child_ops = {
    .event = failed, .removed = removed, .count = count
};

/* The last step of nd_qp_init, which cannot fail: other threads can reach the queue pair now. */
static void publish(struct nd_qp *qp, const struct nd_qp_params *params)
{
    struct nd_adapter *adapter = qp->adapter;

    nd_object_pin(&params->receive_cq->object);
    nd_object_pin(&params->initiator_cq->object);
    if (params->srq) {
        nd_object_pin(&params->srq->object);
        nd_cq_add_shared(params->receive_cq, qp);
    }
    nd_adapter_add(adapter, &qp->child, &qp->object, &child_ops);
}

HRESULT nd_qp_init(struct nd_qp *qp, struct nd_adapter *adapter, const struct nd_qp_params *params,
    void (*destroy)(struct nd_object *object))
{
    HRESULT status;
    int rc;

    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    nd_object_init(&qp->object, destroy);
    lock_init(&qp->lock, LOCK_QP, "queue pair");
    qp->adapter = adapter;
    list_node_init(&qp->shared_link);
    list_node_init(&qp->broken_link);
    qp->context = params->context;
    qp->pd = params->pd ? params->pd : adapter->port.pd;
    qp->receive_cq = params->receive_cq;
    qp->initiator_cq = params->initiator_cq;
    qp->srq = params->srq;
    qp->cap = (struct ibv_qp_cap){ .max_send_wr = params->initiator_depth + ND_QP_RESERVE,
        .max_recv_wr = params->receive_depth,
        /* Inline data is one entry, however many the list has. */
        .max_send_sge = params->initiator_sge ? params->initiator_sge : params->inline_data > 0,
        .max_recv_sge = params->receive_sge,
        .max_inline_data = params->inline_data };
    qp->inbound_reads = params->inbound_reads;
    qp->outbound_reads = params->outbound_reads;
    if (FAILED(status = init_rings(qp, params)))
        goto fini_rings;
    if ((rc = make_device_qp(qp, &qp->ibv))) {
        status = nd_status_from_errno(rc);
        goto fini_rings;
    }
    qp->number = qp->ibv->qp_num;
    describe_queues(qp, params);
    if ((rc = nd_staging_init(&qp->initiator, adapter, params->initiator_depth))) {
        status = nd_status_from_errno(rc);
        goto fini_staging;
    }
    nd_cq_attach(params->receive_cq, qp->srq ? ND_CQ_ANY_NUMBER : qp->receive.depth);
    nd_cq_attach(params->initiator_cq, qp->initiator.depth);
    publish(qp, params);
    return ND_SUCCESS;

fini_staging:
    nd_staging_fini(&qp->initiator, adapter);
    adapter->verbs->destroy_qp(qp->ibv);
fini_rings:
    nd_queue_fini(&qp->initiator);
    nd_queue_fini(&qp->receive);
    return status;
}

/*
 * A last request of our own, flushed at once: its completion retires silent requests, which have none. No thread posts
 * any more, so it uses the ring's spare record; the device's queue has room for it.
 */
static void post_marker(struct nd_queue *queue)
{
    struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;

    lock_acquire(&queue->lock);
    if (queue->mode == ND_QUEUE_OPEN || queue->mode == ND_QUEUE_FLUSHED) {
        queue->next->special = ND_REQUEST_MARKER;
        wr.wr_id = (uintptr_t)queue->next;
        queue->marker_posted = !ibv_post_send(queue->ibv, &wr, &bad);
        if (!queue->marker_posted)
            log_write(LOG_DEBUG, LOG_QP, "a released queue pair takes no marker");
    }
    lock_release(&queue->lock);
}

/* The connector that claimed it, pinned, or NULL. */
static struct nd_object *user_of(struct nd_qp *qp, const struct nd_qp_user_ops **ops)
{
    struct nd_object *user;

    lock_acquire(&qp->lock);
    *ops = qp->user_ops;
    if ((user = qp->user))
        nd_object_pin(user);
    lock_release(&qp->lock);
    return user;
}

void nd_qp_close(struct nd_qp *qp)
{
    const struct nd_qp_user_ops *ops;
    struct nd_object *user;

    lock_acquire(&qp->lock);
    qp->closed = true;
    lock_release(&qp->lock);
    if ((user = user_of(qp, &ops))) {
        ops->closed(user, qp);
        nd_object_unpin(user);
    }
    nd_queue_end_batch(&qp->receive);
    nd_queue_end_batch(&qp->initiator);
    nd_qp_to_error(qp);
    if (!nd_adapter_removed(qp->adapter)) {
        post_marker(&qp->initiator);
        nd_cq_close_queue(qp->initiator_cq, &qp->initiator);
        nd_cq_close_queue(qp->receive_cq, &qp->receive);
    }
    nd_object_unpin(&qp->object);
}

/* Unpins the regions of Invalidates that never completed, because the completion queue was released or failed. */
static void end_invalidates(struct nd_qp *qp)
{
    const struct nd_queue *queue = &qp->initiator;
    struct nd_dead dead = { 0 };

    if (nd_queue_idle_locked(queue)) /* a marker that came back has passed `next` */
        return;
    for (const struct nd_request *request = nd_queue_oldest_locked(queue); request != queue->next;
         request = request->next)
        if (request->special & ND_REQUEST_FAST)
            nd_frmr_forget(qp->adapter, request->rkey);
        else if (request->special & ND_REQUEST_BINDING &&
                 request->result.RequestType == Nd2RequestTypeInvalidate)
            (void)nd_binding_end(request, false, qp->adapter, &dead);
    nd_object_destroy_dead(dead.first);
}

void nd_qp_fini(struct nd_qp *qp)
{
    struct nd_adapter *adapter = qp->adapter;
    int rc;

    nd_adapter_drop(adapter, &qp->child);
    if (qp->srq) {
        nd_cq_look(qp->receive_cq); /* Receives taken from the SRQ report its context */
        nd_cq_remove_shared(qp->receive_cq, qp);
    }
    nd_cq_detach(qp->initiator_cq, &qp->initiator, qp->initiator.depth);
    nd_cq_detach(qp->receive_cq, &qp->receive, qp->srq ? ND_CQ_ANY_NUMBER : qp->receive.depth);
    end_invalidates(qp);        /* detached: no other thread reads the ring */
    nd_mw_qp_gone(adapter, qp); /* a device may keep a queue pair that has windows */
    nd_frmr_qp_gone(adapter, qp);
    if ((rc = adapter->verbs->destroy_qp(qp->ibv)))
        log_write(LOG_ERROR, LOG_QP, "cannot destroy a queue pair: %s", strerror(rc));
    nd_staging_fini(&qp->initiator, adapter);
    nd_queue_fini(&qp->initiator);
    nd_queue_fini(&qp->receive);
    nd_object_unpin(&qp->initiator_cq->object);
    nd_object_unpin(&qp->receive_cq->object);
    if (qp->srq)
        nd_object_unpin(&qp->srq->object);
    nd_adapter_unpin(adapter);
}

HRESULT nd_qp_claim(struct nd_qp *qp, struct nd_object *user, const struct nd_qp_user_ops *user_ops)
{
    HRESULT status = ND_SUCCESS;

    lock_acquire(&qp->lock);
    if (qp->user || qp->connected) {
        status = ND_CONNECTION_ACTIVE;
    } else if (qp->flushed || qp->closed) {
        status = ND_INVALID_DEVICE_STATE;
    } else {
        qp->user = user;
        qp->user_ops = user_ops;
    }
    lock_release(&qp->lock);
    if (SUCCEEDED(status))
        nd_object_pin(&qp->object);
    return status;
}

void nd_qp_unclaim(struct nd_qp *qp)
{
    lock_acquire(&qp->lock);
    qp->user = NULL;
    lock_release(&qp->lock);
    nd_object_unpin(&qp->object);
}

uint8_t nd_qp_rnr_retries(const struct nd_qp *qp)
{
    return qp->srq ? RNR_RETRIES_FOR_EVER : RNR_RETRIES;
}

bool nd_qp_flushed(struct nd_qp *qp)
{
    bool is;

    lock_acquire(&qp->lock);
    is = qp->flushed;
    lock_release(&qp->lock);
    return is;
}

/* One state change: attributes of the connection manager, then our own. Returns 0 or an errno, and logs that. */
static int move(struct nd_qp *qp, struct rdma_cm_id *id, struct ibv_qp_attr *attr,
    enum ibv_qp_state state, unsigned inbound, unsigned outbound)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;
    int mask = 0, rc;

    attr->qp_state = state;
    if (verbs->init_qp_attr(id, attr, &mask)) {
        rc = errno ? errno : EINVAL;
        log_limited(LOG_INFO, LOG_QP, "queue pair %u is not connected: the peer has given up: %s",
            qp->ibv->qp_num, strerror(rc));
        return rc;
    }
    if (state == IBV_QPS_INIT)
        attr->qp_access_flags |=
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
        attr->max_dest_rd_atomic = (uint8_t)inbound;
    if (mask & IBV_QP_MIN_RNR_TIMER)
        attr->min_rnr_timer = RNR_TIMER_10_US;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        attr->max_rd_atomic = (uint8_t)outbound;
    if (mask & IBV_QP_RETRY_CNT)
        attr->retry_cnt = TRANSPORT_RETRIES;
    rc = verbs->modify_qp(qp->ibv, attr, mask);
    if (rc)
        log_limited(nd_qp_flushed(qp) ? LOG_INFO : LOG_WARN, LOG_QP,
            "queue pair %u to state %d: %s", qp->ibv->qp_num, state, strerror(rc));
    return rc;
}

HRESULT nd_qp_to_rts(struct nd_qp *qp, struct rdma_cm_id *id, unsigned inbound, unsigned outbound)
{
    static const enum ibv_qp_state steps[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS };
    struct ibv_qp_attr attr = { 0 };

    if (nd_adapter_removed(qp->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&qp->initiator.lock);
    qp->initiator.no_reads = !outbound;
    lock_release(&qp->initiator.lock);
    if (nd_has_quirk(&qp->adapter->port.caps, MOVED_BY_CM))
        return ND_SUCCESS;
    for (int i = 0; i < 3; i++) {
        int rc = move(qp, id, &attr, steps[i], inbound, outbound);

        if (!rc)
            continue;
        if (i > 0)
            nd_qp_to_error(qp);
        return rc == EINVAL ? ND_CONNECTION_ABORTED : nd_status_from_errno(rc);
    }
    return ND_SUCCESS;
}

/* Refuses posts from now on, if the queue pair is flushed and the dialect says so. */
static void refuse_posts(struct nd_qp *qp)
{
    if (!qp->adapter->dialect->refuses_flushed || !nd_qp_flushed(qp))
        return;
    nd_queue_set_flushed(&qp->initiator);
    nd_queue_set_flushed(&qp->receive);
}

void nd_qp_set_sendable(struct nd_qp *qp)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;

    lock_acquire(&qp->lock);
    qp->connected = true;
    lock_release(&qp->lock);
    if (verbs->attempt_ended)
        verbs->attempt_ended(qp->ibv, true);
    nd_queue_set_mode(&qp->initiator, ND_QUEUE_OPEN);
    refuse_posts(qp); /* it may have been flushed meanwhile */
}

/* Returns whether the queue pair is as before the attempt, and may be claimed for another. */
static bool is_fresh(struct nd_qp *qp)
{
    bool fresh;

    lock_acquire(&qp->lock);
    fresh = !qp->flushed && !qp->closed && !qp->connected;
    lock_release(&qp->lock);
    return fresh;
}

void nd_qp_attempt_failed(struct nd_qp *qp)
{
    struct nd_cq *cq = qp->receive_cq;
    const struct nd_verbs *verbs = qp->adapter->verbs;

    if (!verbs->attempt_ended || !is_fresh(qp) || nd_adapter_removed(qp->adapter))
        return;
    verbs->attempt_ended(qp->ibv, false);
    nd_cq_number_shared(cq, qp, qp->ibv->qp_num);
    nd_cq_look(cq); /* completions of the failed attempt */
}

/* Disconnects, since the device does not tell the peer that a queue pair went to the error state, or may fail to. */
static void tell_peer(struct nd_qp *qp)
{
    const struct nd_qp_user_ops *ops;
    struct nd_object *user = user_of(qp, &ops);

    if (!user)
        return;
    ops->failed(user, qp);
    nd_object_unpin(user);
}

HRESULT nd_qp_to_error(struct nd_qp *qp)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    bool first;
    int rc;

    if (nd_adapter_removed(qp->adapter))
        return ND_DEVICE_REMOVED;
    nd_queue_submit(&qp->receive);
    nd_queue_submit(&qp->initiator);
    lock_acquire(&qp->lock);
    first = !qp->flushed;
    qp->flushed = true;
    lock_release(&qp->lock);
    if (!first)
        return ND_SUCCESS;
    refuse_posts(qp);
    if ((rc = qp->adapter->verbs->modify_qp(qp->ibv, &attr, IBV_QP_STATE))) {
        log_limited(LOG_ERROR, LOG_QP, "queue pair %u cannot be flushed: %s", qp->ibv->qp_num,
            strerror(rc));
        return nd_status_from_errno(rc);
    }
    if (nd_has_quirk(&qp->adapter->port.caps, NO_MOVE))
        tell_peer(qp);
    return ND_SUCCESS;
}

void nd_qp_blame(struct nd_qp *qp, uint32_t code)
{
    unsigned none = 0;

    atomic_compare_exchange_strong_explicit(
        &qp->failure, &none, code, memory_order_relaxed, memory_order_relaxed);
}

void nd_qp_count_error(struct nd_qp *qp)
{
    if (!atomic_exchange_explicit(&qp->erred, true, memory_order_relaxed))
        atomic_fetch_add_explicit(&qp->adapter->counts.connection_errors, 1, memory_order_relaxed);
}

void nd_qp_broke(struct nd_qp *qp)
{
    (void)nd_qp_to_error(qp);
    if (qp->adapter->dialect->tells_failure)
        tell_peer(qp);
}

HRESULT nd_qp_flush(struct nd_qp *qp)
{
    HRESULT status = nd_qp_to_error(qp);
    const struct nd_qp_user_ops *ops;
    struct nd_object *user = SUCCEEDED(status) ? user_of(qp, &ops) : NULL;

    if (user) {
        ops->flushed(user, qp);
        nd_object_unpin(user);
    }
    return status;
}
