/* SPDX-License-Identifier: MIT */
/*
 * objects.h - the shim's objects, each with the device's object behind it. The client's part comes first in each.
 *
 * Locks, in this order: of a queue pair (over the device's control calls), of a ring (over the device's posts), of a
 * completion queue, of a channel. A ring belongs to one completion queue, whose lock guards what completes.
 */
#ifndef NDSPI_VERBS_SHIM_OBJECTS_H
#define NDSPI_VERBS_SHIM_OBJECTS_H

#include "ndspi/verbs/shim/shim.h"

#include "util/list.h"
#include "util/lock.h"

#include <pthread.h>
#include <stdatomic.h>

struct shim {
    struct ibv_context ibv; /* first */
    struct nd_verbs verbs;  /* `below` with the shim's calls in their places */
    const struct nd_verbs *below;
    struct ibv_context *device;
    nd_quirk_set quirks;
    int event_fd; /* readable: the shim has completion events of its own */
};

#define shim_has(shim, name) (((shim)->quirks & ND_QUIRK_BIT(name)) != 0)

struct shim_pd {
    struct ibv_pd ibv; /* first */
    struct ibv_pd *device;
};

struct shim_channel {
    struct ibv_comp_channel ibv; /* first */
    struct shim *shim;
    struct ibv_comp_channel *device;
    pthread_mutex_t mutex;
    pthread_cond_t acknowledged;
    struct list_head events; /* shim_cq.event_link: completion queues with an event of the shim's */
};

struct shim_cq {
    struct ibv_cq ibv; /* first */
    struct shim *shim;
    struct ibv_cq *device;
    struct shim_channel *channel; /* or NULL */
    struct lock lock;             /* LOCK_SHIM_CQ, guards what follows */
    struct list_head ready;       /* shim_ring.ready_link: rings with completions that may go out */
    struct list_head unreported;  /* shim_ring.unreported_link */
    struct list_head shared; /* shim_qp.shared_link: queue pairs with an SRQ that receive here */
    bool armed;              /* the client has armed it, and got no event since */
    struct list_node event_link; /* shim_channel.events; the channel's mutex */
    unsigned unacknowledged;     /* the shim's events that were fetched; the channel's mutex */
};

struct shim_srq {
    struct ibv_srq ibv; /* first */
    struct ibv_srq *device;
};

/* shim_record.state */
enum {
    SHIM_POSTED = 1 << 0,     /* the record is in use */
    SHIM_SILENT = 1 << 1,     /* the client wants no completion of a success */
    SHIM_UNSIGNALED = 1 << 2, /* the device will complete it only when it fails */
    SHIM_INVALIDATE = 1 << 3, /* a local invalidation */
    SHIM_DONE = 1 << 4,       /* it has ended; `wc` has its completion */
    SHIM_SW_FLUSH = 1 << 5,   /* the device never got it: flushed when all before it have ended */
    SHIM_WITHHELD = 1 << 6,   /* flushed before the queue pair was connected, or while `keeping` */
};

struct shim_record {
    struct ibv_wc wc; /* wr_id is the client's; written by the posting side */
    struct shim_ring *ring;
    uint32_t state;
    uint32_t before; /* the values that the shim replaced in the client's work request */
};

/*
 * The requests of a send or receive queue, the oldest first. Each has a number, which counts on for ever: its record is
 * records[number modulo size].
 */
struct shim_ring {
    struct lock lock; /* LOCK_SHIM_RING, held to post; guards what follows */
    struct ibv_qp *device;
    bool closed;    /* nothing reaches the device any more */
    uint32_t given; /* valid if closed: the device has the requests before this number */

    struct shim_qp *qp;
    struct shim_cq *cq;
    bool receives;
    uint32_t size, depth; /* size: a power of two */
    struct shim_record *records;
    /* The entries of Receives, until the queue pair is connected (ONE_ATTEMPT); or NULL. */
    struct shim_recv_shadow *shadow;
    uint32_t max_sge;
    /* `lock` guards it; for requests that the shim flushes, the completion queue's lock does, too. */
    _Atomic uint32_t posted;

    _Atomic uint32_t oldest; /* the completion queue's lock guards it, and what follows */
    uint32_t done;           /* records with SHIM_DONE */
    bool failed;             /* a failed completion was delivered */
    uint32_t number;         /* the device's queue pair number */
    struct list_node ready_link, unreported_link;
};

struct shim_qp {
    struct ibv_qp ibv; /* first */
    struct shim *shim;
    struct lock lock; /* LOCK_SHIM_QP, held over control calls; guards what follows to device */
    bool down;        /* the shim or its client has moved it to the error state */
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr to_init; /* the attributes with which it went to INIT */
    int to_init_mask;
    struct ibv_qp *device;
    atomic_bool shadowing; /* ONE_ATTEMPT: it is not connected yet */
    atomic_bool keeping; /* FLUSHES_AT_END: withholds flushes until it must go to the error state */
    atomic_bool broken;  /* a request has failed */
    atomic_bool flushing;         /* asked for the error state before any request had failed */
    struct list_node broken_link; /* node of the list of the thread that polled that completion */
    struct list_node shared_link;
    struct shim_ring send, receive;
};

/* ---- event.c ---- */

struct ibv_comp_channel *shim_create_comp_channel(struct ibv_context *context);
int shim_destroy_comp_channel(struct ibv_comp_channel *channel);
int shim_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
void shim_ack_cq_events(struct ibv_cq *cq, unsigned events);
int shim_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
void shim_ack_async_event(struct ibv_async_event *event);
/*
 * A completion of the shim's own was added to the queue: raises an event, if the client has armed it. The queue's lock
 * is held.
 */
void shim_raise_locked(struct shim_cq *cq);
/* Waits until the queue's events are acknowledged, before it is destroyed. */
void shim_end_events(struct shim_cq *cq);

/* ---- ring.c ---- */

/* Returns 0 or an errno. Without depth there is no queue. */
int shim_ring_init(struct shim_ring *ring, struct shim_qp *qp, struct shim_cq *cq, uint32_t depth);
void shim_ring_fini(struct shim_ring *ring);
/* libibverbs' calls. */
int shim_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int shim_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int shim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Posts the Receives that it has recorded to another queue pair of the device. Lock held. Returns an errno. */
int shim_ring_post_again_locked(struct shim_ring *ring);
/* Lets no request reach the device from now on. */
void shim_ring_close(struct shim_ring *ring);
/*
 * They turn the device's completions into the client's. The completion queue's lock is held.
 * done               the request has ended
 * flush_unreported   the device completes nothing more: flushes the remaining requests
 * complete_withheld  completes the requests that were withheld
 * deliver            stores at most `room` completions and returns how many; the ring stays ready while there are more
 */
void shim_ring_done_locked(struct shim_record *record, const struct ibv_wc *wc);
void shim_ring_flush_unreported_locked(struct shim_ring *ring);
void shim_ring_complete_withheld_locked(struct shim_ring *ring);
int shim_ring_deliver_locked(struct shim_ring *ring, struct ibv_wc *wc, int room);

/* ---- qp.c ---- */

struct ibv_qp *shim_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int shim_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int shim_query_qp(
    struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init);
int shim_destroy_qp(struct ibv_qp *qp);
void shim_attempt_ended(struct ibv_qp *qp, bool connected);
/* Moves it to the error state, where it may be already. No lock of the shim held. Returns an errno. */
int shim_qp_to_error(struct shim_qp *qp);

/* ---- cq.c ---- */

struct ibv_cq *shim_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector);
int shim_resize_cq(struct ibv_cq *cq, int cqe);
int shim_destroy_cq(struct ibv_cq *cq);
int shim_poll_cq(struct ibv_cq *cq, int room, struct ibv_wc *wc);
int shim_req_notify_cq(struct ibv_cq *cq, int solicited_only);

#endif
