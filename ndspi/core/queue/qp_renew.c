/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/qp_renew.h"

#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/kept.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <string.h>

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
    lock_acquire(&qp->pair.receive_cq->poll.lock);
    qp->ibv = fresh;
    qp->pair.number = fresh->qp_num;
    lock_release(&qp->pair.receive_cq->poll.lock);
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
        struct ibv_recv_wr wr = nd_keep_recall(queue, request), *bad;

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
        log_limited(LOG_WARN, LOG_QP,
            "no other queue pair after a refused connection: %s; the next attempt will fail",
            strerror(rc));
    } else {
        old = take_device_out(qp);
        exchange(qp, fresh);
        if ((rc = verbs->destroy_qp(old)))
            log_write(LOG_ERROR, LOG_QP, "a queue pair does not go: %s", strerror(rc));
        nd_cq_look(qp->pair.receive_cq); /* what is left of the old one */
        if ((rc = post_again(qp, fresh)))
            log_limited(
                LOG_ERROR, LOG_QP, "Receives are lost with a refused connection: %s", strerror(rc));
    }
    if (end_renewal(qp))
        nd_qp_flush_device(qp);
}
