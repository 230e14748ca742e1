/* SPDX-License-Identifier: MIT */
/* srq.c - shared receive queues: create, limits, events. The ring is rq.c. */
#include "softrdma/cq.h"
#include "softrdma/device.h"
#include "softrdma/memory.h"
#include "softrdma/qp.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_srq *srd_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    uint32_t depth = attr->attr.max_wr, max_sge = attr->attr.max_sge;
    struct srd_srq *srq;

    if (srd_stale(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (!depth || depth > SRD_MAX_SRQ_WR || max_sge > SRD_MAX_SRQ_SGE) {
        errno = EINVAL;
        return NULL;
    }
    srq = calloc(1, sizeof(*srq));
    if (!srq || srd_rq_init(&srq->rq, depth, max_sge)) {
        free(srq);
        errno = ENOMEM;
        return NULL;
    }
    srq->srq.context = pd->context;
    srq->srq.srq_context = attr->srq_context;
    srq->srq.pd = pd;
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    srd_pd_get(pd);
    return &srq->srq;
}

int srd_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;
    bool reached = false;

    if (srd_stale(ibsrq->context))
        return EIO;
    if (attr_mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
        return EINVAL;
    if (attr_mask & IBV_SRQ_MAX_WR) {
        if (!attr->max_wr || attr->max_wr > SRD_MAX_SRQ_WR)
            return EINVAL;
        int error = srd_rq_resize(&srq->rq, attr->max_wr);

        if (error)
            return -error;
    }
    if (attr_mask & IBV_SRQ_LIMIT) {
        lock_acquire(&srq->rq.lock);
        if (attr->srq_limit > srq->rq.depth) {
            lock_release(&srq->rq.lock);
            return EINVAL;
        }
        srq->limit = attr->srq_limit;
        /* Armed when already below: said at once, nothing else would. */
        if (srq->limit && srq->rq.head - srq->rq.tail < srq->limit) {
            srq->limit = 0;
            reached = true;
        }
        lock_release(&srq->rq.lock);
    }
    if (reached) {
        struct ibv_async_event event = { .event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
            .element.srq = ibsrq };

        srd_async_raise(ibsrq->context, &event, &srq->limit_event);
    }
    return 0;
}

int srd_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;

    if (srd_stale(ibsrq->context))
        return EIO;
    lock_acquire(&srq->rq.lock);
    attr->max_wr = srq->rq.depth;
    attr->max_sge = srq->rq.max_sge;
    attr->srq_limit = srq->limit;
    lock_release(&srq->rq.lock);
    return 0;
}

int srd_destroy_srq(struct ibv_srq *ibsrq)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;

    if (atomic_load_explicit(&srq->users, memory_order_acquire))
        return EBUSY;
    srd_async_forget(ibsrq->context, ibsrq);
    srd_pd_put(ibsrq->pd);
    srd_rq_fini(&srq->rq);
    pthread_mutex_destroy(&ibsrq->mutex);
    pthread_cond_destroy(&ibsrq->cond);
    free(srq);
    return 0;
}
