/* SPDX-License-Identifier: MIT */
/*
 * cq.h - completion queue: results, and Notify.
 *
 * GetResults normally polls the device straight into the client's array (core/queue/datapath.h). These cases close that
 * path and use the software queue: completions drained ahead of the client (by Notify, a device event, a full request
 * ring), a Notify that waits, queue pairs that wait for their last completion.
 *
 * The client's depth is rounded up, as cards do (`capacity`); one result more than that is an overrun, however large
 * the device's queue and the client's array are. If the rings of all attached queue pairs together are no deeper than
 * the client's depth, not even that can be passed. If they are deeper (`most`), GetResults polls all that the device
 * has before it returns any, by a path of its own (`counted`); the first result beyond the depth is logged (`passed`).
 *
 * Notify: `arrived` counts visible completions that entered the software queue, fetched follows from its length, and
 * `notified` is how many there were when a Notify last completed. A Notify ends at once iff arrived > max(fetched,
 * notified); otherwise it waits, the device is armed, and the device is looked at again. What was polled straight into
 * an array needs no counting: then the software queue was empty and no Notify waited.
 *
 * Some devices mark solicited Receives (`marks`). A plain ibv_wc does not: then an event tells, if the device was armed
 * for solicited completions only. Without such an event, in the call itself or when an earlier Notify has armed the
 * device for all, any new Receive counts.
 *
 * The device's queue has at least ND_CQ_RESERVE entries more than `capacity`, for completions that the client
 * never sees; it may have more, as room for Resize (verbs/depth.h).
 *
 * Lock: LOCK_CQ, over everything but adapter, pending's inside and ibv. nd_cq_unlock_and_deliver drops it and then
 * executes what was decided under it.
 *
 * cq.c: its life; completion.c: from the device into the software queue; get_results.c: from there to the client;
 * notify.c.
 */
#ifndef NDSPI_CORE_QUEUE_CQ_H
#define NDSPI_CORE_QUEUE_CQ_H

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/base.h"
#include "ndspi/core/object.h"
#include "ndspi/core/pending.h"
#include "ndspi/core/queue/queue.h"

#include "util/list.h"
#include "util/lock.h"

struct nd_mw;

enum { ND_CQ_BATCH = 16 };

/*
 * A result of the kernel flavour. It begins as an ND2_RESULT does, up to its kind; a caller that asks for
 * ND_RESULT_SHORT octets of each gets no more than what both begin with.
 */
struct nd_result {
    HRESULT status;
    uint32_t octets; /* a Receive's length; others: 0 */
    void *qp_context, *context;
    uint32_t type;   /* enum nd_operation */
    uint32_t vendor; /* a failure's code of the device, or its status; 0: success, or none */
    uintptr_t token; /* ND_OPERATION_INVALIDATED: the key that the peer invalidated; else 0 */
};

#define ND_RESULT_SHORT ((uint32_t)offsetof(struct nd_result, type))

/* A completion in the software queue. */
struct nd_cq_entry {
    ND2_RESULT result;
    struct nd_queue *queue;  /* NULL: it belongs to an SRQ or a window, or the queue pair is gone */
    struct nd_srq *srq;      /* pinned */
    struct nd_mw *mw;        /* pinned: the entry reports that the peer invalidated it */
    struct nd_request *next; /* records are freed up to here when it is fetched */
    uint32_t older;          /* queue->newest before this one: leads to the queue's last result */
    bool solicited;          /* the device reports it */
    bool invalidated;        /* a Receive: the peer invalidated `token` */
    union {
        uint32_t token;
        uint32_t vendor; /* failed: the device's own code, or its status */
    };
};

enum nd_cq_arming { ND_CQ_NOT_ARMED, ND_CQ_ARMED_SOLICITED, ND_CQ_ARMED_ANY };

/* What the fast path of GetResults needs; its first member is the lock of the whole queue. */
struct nd_cq_poll {
    struct lock lock;
    size_t usual_room; /* results the fast path takes at once: ND_CQ_BATCH, or 0: it is closed */
    bool counted;      /* the fast path is closed only because the depth may be passed */
    struct ibv_cq *ibv;
    int (*poll_cq)(struct ibv_cq *, int, struct ibv_wc *); /* a copy of ibv's, to save a load */
    /* The arguments of the call under way: memory keeps them over the device's call more cheaply than registers. */
    void *results;
    uint32_t room;
    uint32_t size; /* kernel flavour: octets of each result */
    struct ibv_wc wc[ND_CQ_BATCH];
};

/*
 * Queue pairs with an SRQ that receive here, by the number of the device's queue pair: a completion of an SRQ names
 * only that. nd_qp.shared_link in the place of its number; two for each place at most, where there is memory.
 */
struct nd_cq_shared {
    struct list_head few[16]; /* the places until there are more */
    struct list_head *places;
    uint32_t mask, count;
};

struct nd_cq {
    struct nd_object object; /* first */
    struct nd_cq_poll poll;

    struct nd_adapter *adapter; /* pinned */
    struct nd_child child;
    struct nd_pending pending; /* kinds: ND_CQ_NOTIFY_* */
    uintptr_t affinity;        /* the one asked for, a hint */

    struct nd_cq_entry *entries; /* ring */
    struct lock size_lock;       /* LOCK_CQ_SIZE: held to resize the device's queue */
    uint32_t depth;              /* the depth that the client asked for */
    uint32_t capacity; /* the ring's size, at least depth: one result more is an overrun */
    uint32_t head, count;
    uint64_t most; /* results that the attached queues can put here at once */
    uint64_t arrived, notified;
    uint64_t arrived_solicited; /* arrived, at the last failed or solicited completion */
    uint64_t arrived_perhaps;   /* arrived, at the last Receive that may have been solicited */
    uint64_t solicited_since;   /* arrived, when the first pending SOLICITED was issued */
    bool marks;                 /* the device marks solicited Receives */
    bool guarded;   /* results of version 1 go by nd_sink.store, which keeps the fast path closed */
    bool moderated; /* the device holds its events back (moderation.h) */

    unsigned waiting; /* mask of pending kinds */
    enum nd_cq_arming armed;
    bool deliver;   /* a request was decided, and is to be delivered */
    bool taking;    /* a thread drains and has dropped the lock: no other takes completions */
    bool again;     /* another thread tried to meanwhile: the first one polls again */
    bool passed;    /* more results have waited than the depth since it was set */
    bool closed;    /* the application has released it: no client fetches any more */
    HRESULT failed; /* ND_SUCCESS, or what every Notify gets */

    unsigned queues;          /* how many are attached */
    unsigned unacknowledged;  /* events of ibv that were not acknowledged yet */
    struct list_head closing; /* nd_queue.closing_link; each pins its queue pair */
    struct nd_cq_shared shared;
    struct list_head batches; /* nd_queue.batch_link: those with an open batch */
    unsigned refused;         /* sum of nd_queue.refused */
    struct list_head broken;  /* nd_qp.broken_link; pinned: those that we have to flush */
    struct nd_dead dead;
};

/*
 * nd_cq_init - file in: where its Notify requests complete, pinned; depth in: checked by the facade; affinity: a hint.
 * Returns ND_SUCCESS (one pin, the application's), ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED.
 */
HRESULT nd_cq_init(struct nd_cq *cq, struct nd_adapter *adapter, struct nd_sink_file *file,
    uint32_t depth, uintptr_t affinity, void (*destroy)(struct nd_object *object));
/* The last Release: cancels, drops the application's pin. */
void nd_cq_close(struct nd_cq *cq);
void nd_cq_fini(struct nd_cq *cq);

/*
 * nd_cq_resize - Returns ND_SUCCESS; ND_INVALID_PARAMETER: 0 or above the limit; ND_BUFFER_OVERFLOW: more results wait;
 * ND_NO_MEMORY; ND_INSUFFICIENT_RESOURCES: the device has not that many, or cannot resize and made it with fewer;
 * ND_DEVICE_REMOVED. No completion is lost.
 */
HRESULT nd_cq_resize(struct nd_cq *cq, uint32_t depth);

/*
 * nd_cq_notify - Returns ND_PENDING; ND_INVALID_PARAMETER: type, or no overlapped; ND_NO_MEMORY; what the queue failed
 * with (ND_BUFFER_OVERFLOW: overrun); ND_DEVICE_REMOVED.
 */
HRESULT nd_cq_notify(struct nd_cq *cq, ULONG type, OVERLAPPED *overlapped);
/*
 * nd_cq_arm - a Notify that merges and cannot fail, for a dialect that arms.
 * request  in: always the same one of a queue. If it is under way, it now ends by the stronger type of both (ANY, then
 *          SOLICITED, then ERRORS); else it begins. It ends with ND_SUCCESS; with the status with which the queue
 *          failed, earlier too; or with ND_CANCELED when the queue is closed
 */
void nd_cq_arm(struct nd_cq *cq, ULONG type, OVERLAPPED *request);
/* CancelOverlappedRequests. */
void nd_cq_cancel(struct nd_cq *cq);

/*
 * nd_cq_event - the device's event for this queue, got and not acknowledged: acknowledges it too. Called by run only;
 * the caller holds a pin.
 */
void nd_cq_event(struct nd_cq *cq);
/*
 * nd_cq_poll_before_event - the device's event for this queue may be on its way: ends the requests that new arrivals
 * complete. Returns true if it ended some and none is pending now. The caller holds a pin.
 */
bool nd_cq_poll_before_event(struct nd_cq *cq);
/* The queue is lost: everything that waits, and every later Notify, gets the status. */
void nd_cq_fail(struct nd_cq *cq, HRESULT status);

/* counts.c: adds what it has now. Takes LOCK_CQ. */
void nd_cq_count(struct nd_cq *cq, struct nd_counts *counts);

/* Returns whether more results have waited than the client asked for room for, since it last did. Takes LOCK_CQ. */
bool nd_cq_passed(struct nd_cq *cq);

/* Moves what the device has into the software queue. No lock held. */
void nd_cq_look(struct nd_cq *cq);

/*
 * GetResults of both versions and of the kernel flavour (datapath.c). Any thread. They take LOCK_CQ.
 * results  out: an array of room ND2_RESULTs; v1: of ND_RESULT pointers; kernel flavour: of room times ND_RESULT_SHORT
 *          octets
 * Return the number of results.
 */
size_t nd_cq_results_v1(struct nd_cq_poll *poll, void *results, size_t room);
uint32_t nd_cq_results_v2(struct nd_cq_poll *poll, void *results, uint32_t room);
uint32_t nd_cq_results_kernel(struct nd_cq_poll *poll, void *results, uint32_t room);
uint32_t nd_cq_results_kernel_ex(struct nd_cq_poll *poll, void *results, uint32_t room);

/*
 * Results in the general way: the whole call; the whole call under the lock; and the rest of a call that the fast path
 * began (poll->results, poll->room; of poll->wc, the last `left` of `polled` are not handled yet). They return the
 * number of results; the last two drop the lock.
 */
unsigned nd_cq_results_general(struct nd_cq_poll *poll, void *results, uint32_t room);
unsigned nd_cq_results_general_kernel(
    struct nd_cq_poll *poll, void *results, uint32_t room, uint32_t size);
unsigned nd_cq_results_deep(struct nd_cq_poll *poll, void *results, uint32_t room);
unsigned nd_cq_results_rest(struct nd_cq_poll *poll, unsigned polled, unsigned left);
/* The last two for the kernel flavour, whose results have this size. */
unsigned nd_cq_results_deep_kernel(
    struct nd_cq_poll *poll, void *results, uint32_t room, uint32_t size);
unsigned nd_cq_results_rest_kernel(struct nd_cq_poll *poll, unsigned polled, unsigned left);
unsigned nd_cq_results_rest_kernel_short(struct nd_cq_poll *poll, unsigned polled, unsigned left);

/* A shared receive queue may put any number of results here. */
#define ND_CQ_ANY_NUMBER UINT32_MAX

/* Attaches a queue that can put `most` results here at once: keeps the reserve large enough. */
void nd_cq_attach(struct nd_cq *cq, uint32_t most);
/*
 * A queue pair is gone: forgets queue, whose requests are all retired or will never be. most  in: as when it was
 * attached.
 */
void nd_cq_detach(struct nd_cq *cq, struct nd_queue *queue, uint32_t most);
/*
 * The queue pair of `queue` is released: keeps it pinned until its last completion was seen, unless the completion
 * queue is closed or has failed.
 */
void nd_cq_close_queue(struct nd_cq *cq, struct nd_queue *queue);
/* They add, remove and number a queue pair with an SRQ; the last also sets nd_qp.number, with an SRQ or without. */
void nd_cq_add_shared(struct nd_cq *cq, struct nd_qp *qp);
void nd_cq_remove_shared(struct nd_cq *cq, struct nd_qp *qp);
void nd_cq_number_shared(struct nd_cq *cq, struct nd_qp *qp, uint32_t number);

/*
 * Batches (core/queue/batch.h); the queue's lock is held, except for the last.
 * begins, ends  while one is open, a client that polls for results or waits for them submits it
 * refuse        the device refused the requests from first to before end: they end in their turn, the first with the
 *               status, the others with ND_CANCELED
 * end_refused   follows refuse, with no lock held and the queue pair pinned: ends those whose turn it is
 */
void nd_cq_batch_begins(struct nd_cq *cq, struct nd_queue *queue);
void nd_cq_batch_ends(struct nd_cq *cq, struct nd_queue *queue);
void nd_cq_refuse(
    struct nd_cq *cq, struct nd_request *first, const struct nd_request *end, HRESULT status);
void nd_cq_end_refused(struct nd_cq *cq, struct nd_queue *queue);
/*
 * Returns whether it is this request's turn: all that were posted to its ring before it have ended. The queue's lock is
 * held.
 */
bool nd_cq_is_turn_of(struct nd_cq *cq, const struct nd_request *request);

#endif
