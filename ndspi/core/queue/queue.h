/* SPDX-License-Identifier: MIT */
/*
 * queue.h - the request ring of an initiator or receive queue.
 *
 * A failed ibv_wc has neither kind nor context, so every request has a record, and wr_id is its address. Records form a
 * ring of depth + 1, handed out in order under the queue's lock. `freed` is the oldest record still in use; the ring is
 * full when the next record's successor is `freed`. The posting side keeps a copy of it, `stop`, and reads `freed` anew
 * only when it runs into the copy; it also sets `stop` so that every post takes the slow path while the queue is not
 * open. So one comparison answers "connected, and room left".
 *
 * A completion retires its record and all older ones (silent requests that succeeded). `seen` is the oldest record not
 * retired. Results in the completion queue's software queue still count (`unfetched`), because NetworkDirect counts a
 * request until the program fetches its result: `freed` moves on only then.
 */
#ifndef NDSPI_CORE_QUEUE_QUEUE_H
#define NDSPI_CORE_QUEUE_QUEUE_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include "util/list.h"
#include "util/lock.h"

#include <infiniband/verbs.h>
#include <stdatomic.h>

#define ND_LIKELY(x)   __builtin_expect(!!(x), 1)
#define ND_UNLIKELY(x) __builtin_expect(!!(x), 0)

/*
 * A flag of the kernel flavour's requests, beside ND_OP_FLAG_*: the device may get this request together with the next
 * one that lacks the flag (batch.h).
 */
enum { ND_POST_DEFER = 1 << 16 };

struct nd_batch;
struct nd_cq;
struct nd_mr;
struct nd_mw_mr;
struct nd_qp;
struct nd_queue;
struct nd_region;
struct nd_srq;

/* nd_request.special: any of them sends a completion through the slow path. */
enum {
    ND_REQUEST_SILENT = 1 << 0,  /* no result unless it fails */
    ND_REQUEST_MARKER = 1 << 1,  /* ours: never a result */
    ND_REQUEST_BINDING = 1 << 2, /* Bind or Invalidate: a window's state may change */
    ND_REQUEST_SHARED = 1 << 3,  /* an SRQ's: the completion names the queue pair */
    ND_REQUEST_STAGED = 1 << 4,  /* it has a slot of the staging area */
    ND_REQUEST_REFUSED = 1 << 5, /* the device refused it: ends in its turn */
    ND_REQUEST_FENCE = 1 << 6,   /* ours, in no ring: all requests before `next` are done */
    ND_REQUEST_OWN_MR = 1 << 7,  /* an Invalidate of a window with a registration of its own */
    ND_REQUEST_FAST = 1 << 8,    /* FastRegister, or Invalidate of a fast region */
};

/* The type of a FastRegister, which versions 1 and 2 do not have. */
#define ND_REQUEST_TYPE_FAST_REGISTER ((ND2_REQUEST_TYPE)(Nd2RequestTypeWrite + 1))
/* A right that ND_OP_FLAG_* do not have: requests of this end may write to a fast region. */
enum { ND_POST_LOCAL_WRITE = 1 << 17 };

/* Kinds of requests as the kernel flavour numbers them. */
enum nd_operation {
    ND_OPERATION_RECEIVE = 0x01,
    ND_OPERATION_SEND = 0x02,
    ND_OPERATION_FAST_REGISTER = 0x04,
    ND_OPERATION_BIND = 0x08,
    ND_OPERATION_INVALIDATE = 0x10,
    ND_OPERATION_READ = 0x20,
    ND_OPERATION_WRITE = 0x40,
    ND_OPERATION_INVALIDATED = 0x8001, /* a Receive whose message invalidated a key */
};

/* The index is the ND2_REQUEST_TYPE, or ND_REQUEST_TYPE_FAST_REGISTER. */
extern const uint32_t nd_operations[7];

struct nd_request {
    _Alignas(64) union {
        /* What a success reports, but for a Receive's length. In version 1 RequestContext is the ND_RESULT. */
        ND2_RESULT result;
        struct {
            uint8_t result_octets_[offsetof(ND2_RESULT, RequestType) + sizeof(ND2_REQUEST_TYPE)];
            uint32_t special; /* lies in the result's padding */
        };
        struct {
            uint8_t before_kind_[offsetof(ND2_RESULT, RequestType)];
            uint64_t kind_and_special; /* RequestType and special, for one store: ND_KIND */
        };
    };
    union {
        struct nd_queue *queue;
        struct nd_srq *srq; /* ND_REQUEST_SHARED */
    };
    struct nd_request *next; /* next in the ring; an SRQ's: next free one */
    union {
        struct nd_mr *mr;        /* Invalidate: the region that the window leaves, pinned */
        struct nd_mw_mr *own_mr; /* ND_REQUEST_OWN_MR: replaces mr, pinned */
        uint64_t length;         /* v1: bytes of a Send, Read or Write; a Receive: 0 */
        uint64_t number;         /* ND_REQUEST_FAST: the region's number for it */
    };
    union {
        uint32_t rkey; /* Bind: the window's new key; Invalidate: its last one; the fast region's */
        uint32_t slot; /* ND_REQUEST_STAGED */
        uint32_t operation; /* nothing special, kernel flavour: enum nd_operation */
    };
    uint32_t wc_length; /* mask: a Receive has all bits, its length comes with the completion */
};

_Static_assert(sizeof(struct nd_request) == 64, "a record is a cache line");

/* A request of this kind with nothing special about it. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ND_KIND(type) ((uint64_t)(type))
#else
#define ND_KIND(type) ((uint64_t)(type) << 32)
#endif

enum nd_queue_mode {
    ND_QUEUE_CLOSED,  /* the initiator queue of a queue pair that was never connected */
    ND_QUEUE_OPEN,    /* also after the connection is lost: the device flushes */
    ND_QUEUE_FLUSHED, /* only in a dialect that refuses posts to a flushed queue */
    ND_QUEUE_REMOVED, /* the device is gone */
};

/*
 * The posting side counts these, besides its octets, but not at each post: the number of posted requests follows from
 * `next`. Posted requests that no other member counts are Sends, or Receives.
 */
struct nd_queue_counts {
    uint64_t posted;               /* how many were posted before base */
    const struct nd_request *base; /* what next was then; next never gets a whole lap ahead of it */
    uint64_t reads, read_octets, writes, write_octets;
    uint64_t others; /* Bind, Invalidate, FastRegister */
};

/* Not a token: tokens have 32 bits. */
#define ND_QUEUE_UNKNOWN (1ull << 32)

struct nd_queue {
    /* The posting side, guarded by lock. */
    struct lock lock;                /* LOCK_QP_QUEUE */
    uint64_t max_length;             /* bytes of one request */
    const struct nd_region *regions; /* lists are ND_SGE, with its handles; NULL: ND2_SGE */
    struct nd_request *next, *stop;
    struct ibv_qp *ibv;
    uint64_t octets; /* counts.h: of Sends that were posted */
    union {          /* the fast path posts it: all but wr_id and, in version 2, sg_list is fixed */
        struct {
            struct ibv_send_wr send_wr, *bad_send;
            /* What ibv_post_send would load, kept here to save that load. */
            int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
        };
        struct {
            struct ibv_recv_wr recv_wr, *bad_recv;
            int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **);
        };
    };
    struct ibv_sge sge; /* v1, kernel flavour: send_wr or recv_wr points to it */
    uint64_t known;     /* kernel flavour: the facade's token for sge.lkey, or ND_QUEUE_UNKNOWN */
    enum nd_queue_mode mode;
    uint32_t depth, max_sge, max_read_sge;
    bool receives; /* a receive queue; false: an initiator queue */
    bool slow;     /* every post takes the slow path: nd_queue_park_locked */
    bool no_reads; /* the connection agreed on no Reads in flight, so none may be posted */
    uint32_t silent_run, silent_run_max; /* silent requests since the last signaled one */
    uint32_t max_inline;                 /* bytes */
    uint8_t *bounce;                     /* inline data of more entries than the device takes */
    struct ibv_sge *sges;                /* max_sge + 1: a list as the device reads it */
    uint8_t *staging; /* inline parts of mixed lists; slots of max_inline bytes */
    struct ibv_mr *staging_mr;
    _Atomic uint32_t staging_free; /* mask of slots */
    bool batching;                 /* a batch keeps posts, and each takes the slow path */
    bool defers;                   /* its batches are chains of ND_POST_DEFER */
    atomic_bool chain;             /* a chain is open; only the posting thread changes it */
    struct nd_batch *batch;        /* core/queue/batch.h; NULL until the first */
    struct nd_qp *qp;              /* its owner */
    struct nd_cq *cq;
    struct nd_request *records;
    struct nd_queue_counts counts;

    /* The completing side, guarded by the completion queue's lock; the posting side reads freed. */
    _Alignas(64) _Atomic(struct nd_request *) freed;
    uint64_t received;       /* octets of completed Receives; unused in an initiator queue */
    struct nd_request *seen; /* valid while unfetched is not 0; otherwise it equals freed */
    uint32_t unfetched;      /* results in the software queue */
    uint32_t refused;        /* requests with ND_REQUEST_REFUSED */
    uint32_t newest;         /* nd_cq.arrived, its low bits, at the last of the unfetched results */
    bool closing;            /* its queue pair waits for the last completion */
    bool marker_posted;      /* the thread that closes has posted the marker */
    bool marked;             /* the marker completed: nothing follows it */
    struct list_node closing_link;
    struct list_node batch_link; /* node of nd_cq.batches while batching */
    struct nd_request fence;
    uint64_t failed, flushed; /* how many requests failed, and were flushed */
    uint64_t shared;          /* Receives of an SRQ that completed */
};

/*
 * nd_queue_init - a ring for depth requests (0: never room); type and context go into each record.
 * Returns ND_SUCCESS or ND_NO_MEMORY. The queue starts in the mode given.
 */
HRESULT nd_queue_init(struct nd_queue *queue, uint32_t depth, ND2_REQUEST_TYPE type,
    void *queue_pair_context, enum nd_queue_mode mode);
void nd_queue_fini(struct nd_queue *queue);

/* Refuses posts from now on, unless the queue already does. Takes the lock. */
void nd_queue_set_flushed(struct nd_queue *queue);
/* Changes the mode and with it the path of posts. The first takes the lock. */
void nd_queue_set_mode(struct nd_queue *queue, enum nd_queue_mode mode);
void nd_queue_set_mode_locked(struct nd_queue *queue, enum nd_queue_mode mode);
/*
 * Called after a change of mode, batching or max_sge: the next post takes the slow path. While the queue is `slow`, all
 * later posts do too: the device gets them not at all or not at once, or the call must refuse even one entry.
 */
void nd_queue_park_locked(struct nd_queue *queue);

/* Kernel flavour: remembers the key of a token; forgets it. They take the lock. */
void nd_queue_know(struct nd_queue *queue, uint32_t token, uint32_t lkey);
void nd_queue_forget(struct nd_queue *queue, uint32_t token);

/* Counts the records from one up to another, along the ring. */
static inline uint32_t nd_queue_distance(
    const struct nd_queue *queue, const struct nd_request *from, const struct nd_request *to)
{
    return (uint32_t)(to >= from ? to - from : to - from + queue->depth + 1);
}

/*
 * nd_queue_try_take_locked - the next record by the slow path: in any mode, also while batching.
 * Returns ND_SUCCESS; ND_CONNECTION_INVALID; ND_NO_MORE_ENTRIES; ND_DEVICE_REMOVED. Lock held.
 */
HRESULT nd_queue_try_take_locked(struct nd_queue *queue, struct nd_request **request);
/* Gives back the record that was taken last. Lock held. */
void nd_queue_untake_locked(struct nd_queue *queue, struct nd_request *request);
/* Returns the status for a post that the device refused with this error. Logs. */
HRESULT nd_queue_refusal(const struct nd_queue *queue, int error);
/* The device refused the request of the record `wr_id`: gives that back, drops the lock. Returns the post's status. */
HRESULT nd_queue_refused(struct nd_queue *queue, uint64_t wr_id, int error);
/* nd_queue_refused for a Send that the fast path has counted. */
HRESULT nd_queue_refused_send(struct nd_queue *queue, uint64_t wr_id, int error);
/* Another thread waits for the lock that this drops. Returns ND_SUCCESS. */
HRESULT nd_queue_release(struct nd_queue *queue);

/*
 * Brings nd_queue_counts up to `next`, before `next` can gain a whole lap on `base`. Inline: a call would cost the fast
 * path of a post registers. Lock held.
 */
static inline void nd_queue_count_locked(struct nd_queue *queue)
{
    struct nd_queue_counts *counts = &queue->counts;

    counts->posted += nd_queue_distance(queue, counts->base, queue->next);
    counts->base = queue->next;
}

/*
 * Takes the next record. Returns NULL if the queue is not open, is full, collects a batch, or takes no entries. `stop`
 * may be an old copy of `freed`: acquire, since the fetching thread must be done with the record before it is used
 * anew; pairs with nd_cq_translate_locked, completion.c.
 */
static inline struct nd_request *nd_queue_take_locked(struct nd_queue *queue)
{
    struct nd_request *request = queue->next;
    struct nd_request *next = request->next;

    if (ND_UNLIKELY(next == queue->stop)) {
        if (queue->slow)
            return NULL;
        nd_queue_count_locked(queue);
        queue->stop = atomic_load_explicit(&queue->freed, memory_order_acquire);
        if (next == queue->stop)
            return NULL;
    }
    queue->next = next;
    return request;
}

/* Returns whether the device reports a success of the request, too. */
static inline bool nd_request_is_signaled(const struct nd_request *request)
{
    return !(request->special & ND_REQUEST_SILENT) || request->special & ND_REQUEST_STAGED ||
           (request->special & ND_REQUEST_BINDING &&
               request->result.RequestType == Nd2RequestTypeInvalidate);
}

/* The oldest record that is not retired. The completion queue's lock is held. */
static inline struct nd_request *nd_queue_oldest_locked(const struct nd_queue *queue)
{
    return queue->unfetched ? queue->seen
                            : atomic_load_explicit(&queue->freed, memory_order_relaxed);
}

/*
 * Returns whether all posted requests are retired. A marker comes last, and takes the spare record. The completion
 * queue's lock is held, no thread posts any more.
 */
static inline bool nd_queue_idle_locked(const struct nd_queue *queue)
{
    if (queue->marker_posted)
        return queue->marked;
    return queue->next == nd_queue_oldest_locked(queue);
}

#endif
