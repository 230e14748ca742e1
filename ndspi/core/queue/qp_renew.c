/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/qp_renew.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A remembered Receive, at the place of its record. */
struct nd_kept {
    int count;
    struct ibv_sge sges[];
};

static struct nd_kept *kept_at(const struct nd_queue *queue, const struct nd_request *request)
{
    size_t size = sizeof(struct nd_kept) + queue->max_sge * sizeof(struct ibv_sge);

    return (struct nd_kept *)((char *)queue->kept + (size_t)(request - queue->records) * size);
}

HRESULT nd_keep_init(struct nd_qp *qp)
{
    struct nd_queue *queue = &qp->receive;
    size_t size = sizeof(struct nd_kept) + queue->max_sge * sizeof(struct ibv_sge);

    if (!nd_has_quirk(&qp->adapter->port.caps, ONE_ATTEMPT))
        return ND_SUCCESS;
    if (!(queue->kept = calloc(queue->depth + 1, size)))
        return ND_NO_MEMORY;
    queue->number = qp->ibv->qp_num;
    atomic_init(&queue->keeping, true);
    nd_queue_set_mode(queue, ND_QUEUE_KEEPING);
    return ND_SUCCESS;
}

void nd_keep_fini(struct nd_qp *qp)
{
    free(qp->receive.kept);
}

void nd_keep_locked(struct nd_queue *queue, const struct ibv_recv_wr *wr)
{
    struct nd_kept *kept = kept_at(queue, (struct nd_request *)(uintptr_t)wr->wr_id);

    lock_assert_held(&queue->lock);
    kept->count = wr->num_sge;
    if (wr->num_sge)
        memcpy(kept->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
}

bool nd_keep_swallows(const struct nd_queue *queue, const struct ibv_wc *wc)
{
    return queue->kept && (wc->qp_num != queue->number ||
                              atomic_load_explicit(&queue->keeping, memory_order_acquire));
}

void nd_keep_end(struct nd_qp *qp)
{
    struct nd_queue *queue = &qp->receive;

    if (!queue->kept)
        return;
    atomic_store_explicit(&queue->keeping, false, memory_order_release);
    lock_acquire(&queue->lock);
    if (queue->mode == ND_QUEUE_KEEPING)
        nd_queue_set_mode_locked(queue, ND_QUEUE_OPEN);
    lock_release(&queue->lock);
}

/* What is posted from here on is only remembered. */
static struct ibv_qp *take_device_out(struct nd_qp *qp)
{
    struct ibv_qp *old;

    lock_acquire(&qp->receive.lock);
    old = qp->receive.ibv;
    qp->receive.ibv = NULL;
    lock_release(&qp->receive.lock);
    return old;
}

static void exchange(struct nd_qp *qp, struct ibv_qp *fresh)
{
    lock_acquire(&qp->lock);
    lock_acquire(&qp->initiator.lock);
    qp->initiator.ibv = fresh;
    lock_release(&qp->initiator.lock);
    lock_acquire(&qp->receive_cq->poll.lock);
    qp->ibv = fresh;
    qp->receive.number = fresh->qp_num;
    lock_release(&qp->receive_cq->poll.lock);
    lock_release(&qp->lock);
}

static const struct nd_request *oldest_of(struct nd_queue *queue)
{
    const struct nd_request *oldest;

    lock_acquire(&queue->cq->poll.lock);
    oldest = nd_queue_oldest_locked(queue);
    lock_release(&queue->cq->poll.lock);
    return oldest;
}

/* A batch that is open holds the newest ones: they are posted with it. */
static int post_again(struct nd_qp *qp, struct ibv_qp *fresh)
{
    struct nd_queue *queue = &qp->receive;
    const struct nd_request *end;
    int error = 0;

    lock_acquire(&queue->lock);
    queue->ibv = fresh;
    end = nd_queue_batched_from_locked(queue);
    for (const struct nd_request *request = oldest_of(queue); request != end && !error;
         request = request->next) {
        struct nd_kept *kept = kept_at(queue, request);
        struct ibv_recv_wr wr = { .wr_id = (uintptr_t)request,
            .sg_list = kept->sges,
            .num_sge = kept->count },
                           *bad;

        error = ibv_post_recv(fresh, &wr, &bad);
    }
    lock_release(&queue->lock);
    return error;
}

/* Returns whether the program flushed it meanwhile, which was left to us. */
static bool end_renewal(struct nd_qp *qp)
{
    bool flushed;

    lock_acquire(&qp->lock);
    qp->renewing = false;
    flushed = qp->flushed;
    lock_release(&qp->lock);
    return flushed;
}

static bool begin_renewal(struct nd_qp *qp)
{
    lock_acquire(&qp->lock);
    qp->renewing =
        !qp->flushed && !qp->closed && !qp->connected && !nd_adapter_removed(qp->adapter);
    lock_release(&qp->lock);
    return qp->renewing;
}

void nd_qp_renew(struct nd_qp *qp)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;
    struct ibv_qp *fresh, *old;
    int rc;

    if (!qp->receive.kept || !begin_renewal(qp))
        return;
    if ((rc = nd_qp_make_device_qp(qp, &fresh))) {
        log_write(LOG_WARN, LOG_QP,
            "no other queue pair after a refused connection: %s; the next attempt will fail",
            strerror(rc));
    } else {
        old = take_device_out(qp);
        exchange(qp, fresh);
        if ((rc = verbs->destroy_qp(old)))
            log_write(LOG_ERROR, LOG_QP, "a queue pair does not go: %s", strerror(rc));
        nd_cq_look(qp->receive_cq); /* what is left of the old one */
        if ((rc = post_again(qp, fresh)))
            log_write(
                LOG_ERROR, LOG_QP, "Receives are lost with a refused connection: %s", strerror(rc));
    }
    if (end_renewal(qp))
        nd_qp_flush_device(qp);
}
