/* SPDX-License-Identifier: MIT */
/*
 * qp.h - queue pair: the connection side. Posting: core/queue/datapath.h and post.c.
 *
 * A queue pair is made in INIT, so that Receives can be posted at once; the connector moves it. It pins both completion
 * queues and the SRQ. After the last Release it goes to the error state and stays allocated until its completion queues
 * have returned its last completion or are released themselves.
 *
 * Lock: LOCK_QP, over the members marked below.
 */
#ifndef NDSPI_CORE_QUEUE_QP_H
#define NDSPI_CORE_QUEUE_QP_H

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/base.h"
#include "ndspi/core/object.h"
#include "ndspi/core/queue/queue.h"

struct nd_cq;
struct nd_frmr;
struct nd_mr;
struct nd_mw;
struct nd_pages;
struct nd_qp;
struct nd_srq;
struct rdma_cm_id;

/*
 * Callbacks to the connector that claimed it, in the layer above. Called without locks, the connector pinned; by then
 * the connector may have unclaimed the queue pair and have another.
 */
struct nd_qp_user_ops {
    /* Its last reference is gone: ends the connection as a Disconnect of ours does, or the attempt. */
    void (*closed)(struct nd_object *user, struct nd_qp *qp);
    /* The program has flushed it: no connection can begin on it any more. */
    void (*flushed)(struct nd_object *user, struct nd_qp *qp);
    /* It is in the error state, which the peer does not notice: disconnects an established connection. */
    void (*failed)(struct nd_object *user, struct nd_qp *qp);
};

struct nd_qp {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned, as are both completion queues and the SRQ */
    void *context;              /* its results carry it */
    struct nd_cq *receive_cq, *initiator_cq;
    struct nd_srq *srq;                     /* or NULL */
    uint32_t inbound_reads, outbound_reads; /* v1: asked for; the connector reads them */
    struct ibv_pd *pd;
    struct ibv_qp *ibv;
    struct ibv_qp_cap cap; /* the capabilities asked for */
    atomic_uint failure;   /* nd_qp_blame; 0: none */
    atomic_bool erred;     /* its connection is counted among those with an error */
    struct nd_child child;

    uint32_t number;              /* the device's queue pair number; receive_cq's lock */
    struct list_node shared_link; /* node of receive_cq->shared, if it has an SRQ */
    atomic_bool broken;           /* a request failed, and this device needs us to flush */
    struct list_node broken_link; /* nd_cq.broken, of the completion queue that saw it first */

    struct lock lock;       /* guards the members down to closed */
    struct nd_object *user; /* the connector that claimed it */
    const struct nd_qp_user_ops *user_ops;
    bool connected; /* it is or was */
    bool flushed;
    bool closed;

    struct nd_queue initiator, receive;
};

/* What CreateQueuePair asks for; the facade has checked it against the limits. Depths in requests, inline in bytes. */
struct nd_qp_params {
    struct nd_cq *receive_cq, *initiator_cq;
    struct nd_srq *srq;
    struct ibv_pd *pd; /* NULL: the adapter's */
    void *context;
    uint32_t receive_depth, initiator_depth, receive_sge, initiator_sge, inline_data;
    uint32_t inbound_reads, outbound_reads; /* stored for the connector */
};

/* Returns ND_SUCCESS (one pin, the application's), ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. */
HRESULT nd_qp_init(struct nd_qp *qp, struct nd_adapter *adapter, const struct nd_qp_params *params,
    void (*destroy)(struct nd_object *object));
/* The last Release: disconnects, flushes, drops the application's pin. */
void nd_qp_close(struct nd_qp *qp);
void nd_qp_fini(struct nd_qp *qp);

/*
 * The connector calls these.
 * claim    pins it for one connection attempt; until unclaim it calls the user's callbacks. Returns ND_SUCCESS;
 *          ND_CONNECTION_ACTIVE: claimed or connected already; ND_INVALID_DEVICE_STATE: flushed or released.
 * unclaim  ends the claim: after a refused Connect it may be claimed again. No lock held.
 */
HRESULT nd_qp_claim(
    struct nd_qp *qp, struct nd_object *user, const struct nd_qp_user_ops *user_ops);
void nd_qp_unclaim(struct nd_qp *qp);

static inline uint32_t nd_qp_number(const struct nd_qp *qp)
{
    return qp->ibv->qp_num;
}

/* The path of its connection's octets (softrdma.h, srd_query_path); NULL: no connection, or the device does not say. */
static inline const char *nd_qp_path(const struct nd_qp *qp)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;

    return verbs->query_path ? verbs->query_path(qp->ibv) : NULL;
}

static inline bool nd_qp_has_srq(const struct nd_qp *qp)
{
    return qp->srq;
}

/*
 * nd_qp_to_rts - ready to receive and to send. The id's request or reply has arrived.
 * inbound, outbound  in: agreed Reads in flight; outbound 0: from now on posting a Read fails
 * Returns ND_SUCCESS, or a failure: then the queue pair is in INIT still, or flushed. No lock held.
 */
HRESULT nd_qp_to_rts(struct nd_qp *qp, struct rdma_cm_id *id, unsigned inbound, unsigned outbound);

/* counts.c: adds what it has counted so far, and what it has now. Takes LOCK_QP_QUEUE, LOCK_CQ, the device's locks. */
void nd_qp_count(struct nd_qp *qp, struct nd_counts *counts);

/*
 * nd_queue_outstanding - drains the device's completions, as a Notify does, and counts the requests without one
 * (outstanding.c). count  out: that many of the newest requests have not ended, but for silent ones, which may have
 * Returns false: nothing can be said, since the queue pair is flushed or its completion queue has failed. No lock held.
 */
bool nd_queue_outstanding(struct nd_queue *queue, uint32_t *count);

/* Messages of its peer that had no Receive. Returns false: the device does not tell. Takes the device's locks. */
static inline bool nd_qp_rnr(const struct nd_qp *qp, struct nd_rnr *rnr)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;
    struct nd_wire_counts unused;

    if (verbs->query_counters)
        verbs->query_counters(qp->ibv, &unused, rnr);
    return verbs->query_counters;
}

/* The receiver-not-ready retries for the connection request and reply: for ever with an SRQ. */
uint8_t nd_qp_rnr_retries(const struct nd_qp *qp);

/* Opens the initiator queue for requests. Takes LOCK_QP_QUEUE. */
void nd_qp_set_sendable(struct nd_qp *qp);
/*
 * The attempt that claimed it failed: restores the queue pair, with its posted Receives. Still claimed; no lock held.
 * If the device needs another queue pair for that and has none, the next attempt fails.
 */
void nd_qp_attempt_failed(struct nd_qp *qp);

/*
 * nd_qp_to_error  moves it to the error state: all queued requests end with ND_CANCELED
 * nd_qp_flush     does that for the program; also ends its Accept, if it waits for the peer
 * Idempotent. No lock held. Return ND_SUCCESS, ND_DEVICE_REMOVED, or what the device says.
 */
HRESULT nd_qp_to_error(struct nd_qp *qp);
HRESULT nd_qp_flush(struct nd_qp *qp);
/*
 * A request has failed: nd_qp_blame records the device's own code, if none is recorded yet; any lock. nd_qp_broke then
 * moves the queue pair to the error state and (in a dialect that reports failures) ends the connection. No lock held.
 */
void nd_qp_blame(struct nd_qp *qp, uint32_t code);
static inline uint32_t nd_qp_failure(const struct nd_qp *qp)
{
    return atomic_load_explicit(&qp->failure, memory_order_relaxed);
}
void nd_qp_broke(struct nd_qp *qp);
/* Its connection has ended with an error: the adapter counts it, once. Any lock. */
void nd_qp_count_error(struct nd_qp *qp);
/* Returns whether it was flushed. Takes LOCK_QP. */
bool nd_qp_flushed(struct nd_qp *qp);

/*
 * Posts, with the codes of the interface pages. list: n ND2_SGE, or ND_SGE on an adapter with handles (v1). Any thread.
 * They take LOCK_QP_QUEUE, and LOCK_MEMORY for windows.
 * _v1, _v2   IND2QueuePair's and INDEndpoint's Send and Receive: the usual case at once (datapath.c)
 * _general   every flag, any number of entries
 */
HRESULT nd_queue_send_v1(
    struct nd_queue *queue, void *result, const void *list, size_t n, uint32_t flags);
HRESULT nd_queue_send_v2(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags);
HRESULT nd_queue_receive_v1(struct nd_queue *queue, void *result, const void *list, size_t n);
HRESULT nd_queue_receive_v2(struct nd_queue *queue, void *context, const void *list, uint32_t n);
HRESULT nd_queue_send_general(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags);
HRESULT nd_queue_receive_general(
    struct nd_queue *queue, void *context, const void *list, uint32_t n);

/* A number of entries for the general forms, capped at UINT32_MAX, which no queue pair takes. */
static inline uint32_t nd_at_most(size_t n)
{
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

struct nd_remote {
    uint64_t address;
    uint32_t token; /* network order */
    bool bounded;   /* the call refuses a request that is longer than `room` */
    uint64_t room;  /* bytes */
};

/* token  in: the peer's window's, network order. Returns also ND_NOT_SUPPORTED. */
HRESULT nd_qp_send_invalidate(
    struct nd_qp *qp, void *context, const void *list, uint32_t n, uint32_t token, uint32_t flags);
/* They return also ND_REMOTE_ERROR: beyond the bounds. */
HRESULT nd_qp_read(struct nd_qp *qp, void *context, const void *list, uint32_t n,
    const struct nd_remote *remote, uint32_t flags);
HRESULT nd_qp_write(struct nd_qp *qp, void *context, const void *list, uint32_t n,
    const struct nd_remote *remote, uint32_t flags);
/* Returns also ND_INVALID_PARAMETER_2 to _6, ND_INVALID_DEVICE_REQUEST, ND_ACCESS_VIOLATION. */
HRESULT nd_qp_bind(struct nd_qp *qp, void *context, struct nd_mr *mr, struct nd_mw *mw,
    const void *buffer, size_t length, uint32_t flags);
HRESULT nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags);

/*
 * Fast regions (core/memory/frmr.h): FastRegister and Invalidate. flags: ND_OP_FLAG_SILENT_SUCCESS, _READ_FENCE,
 * ND_POST_DEFER (without effect); of a FastRegister also _ALLOW_READ, _ALLOW_WRITE (of peers; includes
 * ND_POST_LOCAL_WRITE) and ND_POST_LOCAL_WRITE.
 * Return ND_SUCCESS; ND_INVALID_PARAMETER: invalid pages, a region of another adapter or domain; ND_CONNECTION_INVALID;
 * ND_NO_MORE_ENTRIES; ND_ACCESS_VIOLATION: remote rights for a region allocated without them; ND_INVALID_DEVICE_STATE:
 * registered already, not registered, not allocated; with ND_FAST_WINDOWS also those of nd_frmr_back, and
 * ND_INVALID_DEVICE_STATE for an Invalidate on another queue pair.
 */
HRESULT nd_qp_fast_register(struct nd_qp *qp, void *context, struct nd_frmr *frmr,
    const struct nd_pages *pages, uint32_t flags);
HRESULT nd_qp_invalidate_frmr(
    struct nd_qp *qp, void *context, struct nd_frmr *frmr, uint32_t flags);
/* The last Release of a window: posts what batches hold for it first. No lock held. */
void nd_mw_close(struct nd_mw *mw);

#endif
