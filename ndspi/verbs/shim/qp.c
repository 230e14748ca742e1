/* SPDX-License-Identifier: MIT */
/* qp.c - queue pairs: their life, their error state, and the device's new queue pair after a refused connection. */
#include "ndspi/verbs/shim/objects.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct shim_cq *cq_of(struct ibv_cq *cq)
{
    return (struct shim_cq *)cq;
}

/* Changes the attributes as the device needs them. */
static struct ibv_qp_init_attr devices_init(
    const struct shim_qp *qp, const struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr init = *attr;

    init.qp_context = (void *)(uintptr_t)qp;
    init.send_cq = cq_of(attr->send_cq)->device;
    init.recv_cq = cq_of(attr->recv_cq)->device;
    init.srq = attr->srq ? ((struct shim_srq *)attr->srq)->device : NULL;
    return init;
}

static int init_rings(struct shim_qp *qp, const struct ibv_qp_init_attr *attr)
{
    uint32_t receives = attr->srq ? 0 : attr->cap.max_recv_wr;
    int error;

    qp->receive.receives = true;
    qp->receive.max_sge = attr->cap.max_recv_sge ? attr->cap.max_recv_sge : 1;
    if ((error = shim_ring_init(&qp->send, qp, cq_of(attr->send_cq), attr->cap.max_send_wr)))
        return error;
    return shim_ring_init(&qp->receive, qp, cq_of(attr->recv_cq), receives);
}

static void set_device(struct shim_qp *qp, struct ibv_qp *device)
{
    qp->device = qp->send.device = qp->receive.device = device;
    qp->send.number = qp->receive.number = qp->ibv.qp_num = device->qp_num;
    qp->ibv.state = device->state;
}

static void free_qp(struct shim_qp *qp)
{
    shim_ring_fini(&qp->send);
    shim_ring_fini(&qp->receive);
    free(qp);
}

struct ibv_qp *shim_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct shim *shim = (struct shim *)pd->context;
    struct shim_qp *qp = calloc(1, sizeof(*qp));
    struct ibv_qp_init_attr init;
    struct ibv_qp *device;
    int error;

    if (!qp) {
        errno = ENOMEM;
        return NULL;
    }
    lock_init(&qp->lock, LOCK_SHIM_QP, "shim's queue pair");
    list_node_init(&qp->broken_link);
    list_node_init(&qp->shared_link);
    qp->shim = shim;
    qp->ibv = (struct ibv_qp){ .context = &shim->ibv,
        .qp_context = attr->qp_context,
        .pd = pd,
        .send_cq = attr->send_cq,
        .recv_cq = attr->recv_cq,
        .srq = attr->srq,
        .qp_type = attr->qp_type };
    init = qp->init = devices_init(qp, attr);
    if (!(device = shim->below->create_qp(((struct shim_pd *)pd)->device, &init))) {
        error = errno;
        goto free;
    }
    attr->cap = init.cap;
    set_device(qp, device);
    if ((error = init_rings(qp, attr)))
        goto destroy;
    atomic_init(&qp->shadowing, shim_has(shim, ONE_ATTEMPT));
    atomic_init(&qp->keeping, shim_has(shim, FLUSHES_AT_END));
    if (attr->srq) {
        lock_acquire(&cq_of(attr->recv_cq)->lock);
        list_add_tail(&cq_of(attr->recv_cq)->shared, &qp->shared_link);
        lock_release(&cq_of(attr->recv_cq)->lock);
    }
    return &qp->ibv;

destroy:
    shim->below->destroy_qp(device);
free:
    free_qp(qp);
    errno = error;
    return NULL;
}

/* Removes it from its completion queues. */
static void leave_queue(struct shim_qp *qp, struct shim_ring *ring)
{
    struct shim_cq *cq = ring->cq;

    lock_acquire(&cq->lock);
    if (list_linked(&ring->ready_link))
        list_del(&ring->ready_link);
    if (list_linked(&ring->unreported_link))
        list_del(&ring->unreported_link);
    if (ring->receives && list_linked(&qp->shared_link))
        list_del(&qp->shared_link);
    lock_release(&cq->lock);
}

int shim_destroy_qp(struct ibv_qp *ibv)
{
    struct shim_qp *qp = (struct shim_qp *)ibv;
    int rc = qp->shim->below->destroy_qp(qp->device);

    if (rc)
        return rc;
    leave_queue(qp, &qp->send);
    leave_queue(qp, &qp->receive);
    free_qp(qp);
    return 0;
}

int shim_query_qp(
    struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    struct shim_qp *qp = (struct shim_qp *)ibv;
    int rc = qp->shim->below->query_qp(qp->device, attr, mask, init);

    init->qp_context = ibv->qp_context;
    init->send_cq = ibv->send_cq;
    init->recv_cq = ibv->recv_cq;
    init->srq = ibv->srq;
    return rc;
}

/* ---- the error state ---- */

/* Completes what was withheld. */
static void complete_withheld(struct shim_ring *ring)
{
    lock_acquire(&ring->cq->lock);
    shim_ring_complete_withheld_locked(ring);
    shim_raise_locked(ring->cq);
    lock_release(&ring->cq->lock);
}

/* Receives are not withheld any more: completes those that were, unless end_withholding does that later. */
static void end_shadowing(struct shim_qp *qp)
{
    if (atomic_exchange_explicit(&qp->shadowing, false, memory_order_acq_rel) &&
        !atomic_load_explicit(&qp->keeping, memory_order_relaxed))
        complete_withheld(&qp->receive);
}

/* Flushed requests are not withheld any more: completes those that were. */
static void end_withholding(struct shim_qp *qp)
{
    bool kept = atomic_exchange_explicit(&qp->keeping, false, memory_order_acq_rel);

    end_shadowing(qp);
    if (!kept)
        return;
    complete_withheld(&qp->send);
    complete_withheld(&qp->receive);
}

/* The next poll takes the device's completions, and flushes the remaining requests. */
static void flush_unreported(struct shim_ring *ring)
{
    lock_acquire(&ring->cq->lock);
    if (!list_linked(&ring->unreported_link))
        list_add_tail(&ring->cq->unreported, &ring->unreported_link);
    shim_raise_locked(ring->cq);
    lock_release(&ring->cq->lock);
}

static int to_error_locked(struct shim_qp *qp)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
    const struct shim *shim = qp->shim;
    int rc;

    end_withholding(qp);
    if (shim_has(shim, LATE_SENDS))
        shim_ring_close(&qp->send);
    if (shim_has(shim, LATE_RECEIVES))
        shim_ring_close(&qp->receive);
    /* If a request has failed, that error is the cause of the flush. */
    atomic_store_explicit(&qp->flushing, !atomic_load_explicit(&qp->broken, memory_order_relaxed),
        memory_order_release);
    if ((rc = shim->below->modify_qp(qp->device, &attr, IBV_QP_STATE))) {
        atomic_store_explicit(&qp->flushing, false, memory_order_release);
        return rc;
    }
    qp->down = true;
    qp->ibv.state = IBV_QPS_ERR;
    if (shim_has(shim, FORGOTTEN)) {
        flush_unreported(&qp->send);
        flush_unreported(&qp->receive);
    }
    return 0;
}

int shim_qp_to_error(struct shim_qp *qp)
{
    int rc = 0;

    lock_acquire(&qp->lock);
    if (!qp->down)
        rc = to_error_locked(qp);
    lock_release(&qp->lock);
    return rc;
}

int shim_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
    struct shim_qp *qp = (struct shim_qp *)ibv;
    int rc;

    if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_ERR)
        return shim_qp_to_error(qp);
    lock_acquire(&qp->lock);
    rc = qp->shim->below->modify_qp(qp->device, attr, mask);
    if (!rc && mask & IBV_QP_STATE)
        qp->ibv.state = attr->qp_state;
    if (!rc && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_INIT) {
        qp->to_init = *attr;
        qp->to_init_mask = mask;
    }
    lock_release(&qp->lock);
    return rc;
}

/* ---- a new queue pair of the device ---- */

static struct ibv_qp *make_fresh(struct shim_qp *qp)
{
    const struct nd_verbs *below = qp->shim->below;
    struct ibv_qp_init_attr init = qp->init;
    struct ibv_qp *fresh = below->create_qp(((struct shim_pd *)qp->ibv.pd)->device, &init);
    int rc = errno;

    if (fresh && (rc = below->modify_qp(fresh, &qp->to_init, qp->to_init_mask))) {
        below->destroy_qp(fresh);
        fresh = NULL;
    }
    if (!fresh)
        log_limited(LOG_WARN, LOG_QP,
            "cannot create another queue pair after a refused connection: %s; the next attempt "
            "will fail",
            strerror(rc));
    return fresh;
}

static int exchange(struct shim_ring *ring, struct ibv_qp *fresh)
{
    int error;

    lock_acquire(&ring->lock);
    ring->device = fresh;
    lock_acquire(&ring->cq->lock);
    ring->number = fresh->qp_num;
    lock_release(&ring->cq->lock);
    error = ring->shadow ? shim_ring_post_again_locked(ring) : 0;
    lock_release(&ring->lock);
    return error;
}

/*
 * Destroys the old queue pair last, so that the two have different numbers: cq.c recognises the old one's flushes by
 * them.
 */
static void renew_locked(struct shim_qp *qp)
{
    struct ibv_qp *old = qp->device, *fresh = make_fresh(qp);
    int rc;

    if (!fresh)
        return;
    qp->device = fresh;
    qp->ibv.qp_num = fresh->qp_num;
    (void)exchange(&qp->send, fresh);
    if ((rc = exchange(&qp->receive, fresh)))
        log_limited(LOG_ERROR, LOG_QP,
            "cannot post the Receives again after a refused connection: %s", strerror(rc));
    if ((rc = qp->shim->below->destroy_qp(old)))
        log_write(LOG_ERROR, LOG_QP, "cannot destroy a queue pair: %s", strerror(rc));
}

void shim_attempt_ended(struct ibv_qp *ibv, bool connected)
{
    struct shim_qp *qp = (struct shim_qp *)ibv;

    lock_acquire(&qp->lock);
    if (connected)
        end_shadowing(qp);
    else if (atomic_load_explicit(&qp->shadowing, memory_order_relaxed))
        renew_locked(qp);
    lock_release(&qp->lock);
}
