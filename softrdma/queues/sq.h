/* SPDX-License-Identifier: MIT */
/*
 * sq.h - send queue: a ring of requests in posting order, and their completion in that order.
 *
 *        tail                 next                 head
 *   free  |  sent or executed  |  waiting           |  free
 *
 * head moves under the lock (posting), next under LOCK_SRD_TX (the request is wholly built into FPDUs, or executed),
 * tail under the lock (the request completed). Sends and Writes are numbered as they are built; they are done when the
 * count of complete messages reaches their number: those that a soft peer acknowledged, or, with other peers, those
 * that TCP took. All other requests are marked done one by one.
 */
#ifndef SOFTRDMA_QUEUES_SQ_H
#define SOFTRDMA_QUEUES_SQ_H

#include "softrdma/softrdma.h"
#include "softrdma/wire/ddp.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct srd_qp;
struct srd_way;

enum srd_sqe_kind {
    SRD_SQE_SEND,
    SRD_SQE_WRITE,
    SRD_SQE_READ,
    SRD_SQE_FETCH_ADD,
    SRD_SQE_CMP_SWAP,
    SRD_SQE_BIND, /* from here on nothing goes on the wire */
    SRD_SQE_INVALIDATE,
    SRD_SQE_FAST_REG,
};

struct srd_sqe {
    uint64_t wr_id;
    /* among Sends and Writes, from 1; of a Write with immediate data: that of the latter */
    uint64_t number;
    uint64_t remote_addr;
    uint32_t rkey; /* to write, read, bind to, invalidate, or register; a Send's immediate data */
    uint32_t octets;
    uint32_t msn; /* of its message, if that is an untagged one; a Write: of its immediate data */
    uint32_t immediate; /* of a Write, host order */
    uint8_t kind;       /* enum srd_sqe_kind */
    /* Send kinds, SRD_SEND_IMMEDIATE among them; Write: SRD_OP_WRITE, or that of the immediate data behind it */
    uint8_t wire_opcode;
    uint8_t num_sge; /* 0 when inlined */
    uint8_t status;  /* enum ibv_wc_status */
    bool signaled, fence, inlined;
    bool done; /* kinds other than Send and Write, and what failed here; under the lock */
    /* scatter/gather list, or inline data, or one of the structures below */
    _Alignas(8) uint8_t tail[];
};

/* What a Bind asks for. The region by its key alone: the program may deregister it before the request's turn. */
struct srd_bind {
    uint32_t region_key; /* 0, which is none's: no region was given */
    uint64_t addr, length;
    unsigned access;
};

struct srd_sqe_bind {
    struct ibv_mw *mw;
    bool replaces; /* of a type 1 window: waits for what is sent of it */
    struct srd_bind bind;
};

/* Pages of a fast registration; one block. */
struct srd_page_list {
    struct srd_page_list *next; /* of spare ones */
    uint32_t room, count;
    bool linear; /* each page follows the one before it */
    uint64_t pages[];
};

/* What a fast registration asks for. The region by its key alone, as a Bind. */
struct srd_sqe_fast {
    struct srd_page_list *list; /* the request's until it is executed, then NULL */
    uint64_t base, length;
    uint32_t offset;
    int access;
};

/* The operands of an Atomic, behind its one entry, which is where the original value goes. */
struct srd_sqe_atomic {
    struct ibv_sge sge;
    uint64_t compare_add, swap;
};

/* Whether the request is executed here, without the wire. */
static inline bool srd_sqe_is_local(const struct srd_sqe *sqe)
{
    return sqe->kind >= SRD_SQE_BIND;
}

static inline bool srd_sqe_is_atomic(const struct srd_sqe *sqe)
{
    return sqe->kind == SRD_SQE_FETCH_ADD || sqe->kind == SRD_SQE_CMP_SWAP;
}

/* Whether it is a Write that immediate data follows: opcodes of Sends do not have that bit. */
static inline bool srd_sqe_write_has_immediate(const struct srd_sqe *sqe)
{
    return sqe->wire_opcode & SRD_OP_IMMEDIATE;
}

static inline struct ibv_sge *srd_sqe_sge(struct srd_sqe *sqe)
{
    return (struct ibv_sge *)sqe->tail;
}

static inline struct srd_sqe_bind *srd_sqe_bind(struct srd_sqe *sqe)
{
    return (struct srd_sqe_bind *)sqe->tail;
}

static inline struct srd_sqe_atomic *srd_sqe_atomic(struct srd_sqe *sqe)
{
    return (struct srd_sqe_atomic *)sqe->tail;
}

static inline struct srd_sqe_fast *srd_sqe_fast(struct srd_sqe *sqe)
{
    return (struct srd_sqe_fast *)sqe->tail;
}

struct srd_sq {
    struct lock lock; /* LOCK_SRD_SQ */
    uint8_t *ring;
    uint32_t depth, mask; /* of 2^n places: counts wrap */
    uint32_t stride_octets, max_sge, max_inline;
    bool sig_all;
    bool flushing; /* error state: posts complete flushed at once; under the lock */
    /* the peer is known, and not softrdma: no request of RFC 7306; under the lock */
    bool plain_peer;
    _Atomic uint32_t head, next, tail; /* counts, not positions */
    uint64_t complete;                 /* Sends and Writes known to be complete; under the lock */
};

/* Why srd_sq_retire_locked stopped. */
enum srd_sq_retired { SRD_SQ_MORE, SRD_SQ_EMPTY, SRD_SQ_CULPRIT };

int srd_sq_init(struct srd_sq *sq, const struct ibv_qp_cap *cap, bool sig_all);
void srd_sq_fini(struct srd_sq *sq);

static inline struct srd_sqe *srd_sqe_at(struct srd_sq *sq, uint32_t count)
{
    return (struct srd_sqe *)(sq->ring + (size_t)(count & sq->mask) * sq->stride_octets);
}

/*
 * srd_sq_post - validate and queue a list. Returns 0, or EINVAL, ENOMEM with *bad_wr at the first that was not queued.
 * all: what stands in front of a bad one is not queued either.
 * way out: how to send it (qp.h); no connection when nothing was queued or there is none.
 * Takes the lock; in the error state each request completes flushed.
 */
int srd_sq_post(struct srd_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr, bool all,
    struct srd_way *way);

/* Queues one fast registration, as srd_sq_post does a list. list becomes the queue's if *queued is set. */
int srd_sq_post_fast(struct srd_qp *qp, const struct srd_fast_reg *reg, struct srd_page_list *list,
    bool *queued, struct srd_way *way);

/* The peer turned out not to be softrdma: requests of RFC 7306 fail, those that are queued when their turn comes. */
void srd_sq_plain_peer_locked(struct srd_sq *sq);

/* Completes what is done, from the tail on; stops before a failed request (CULPRIT: the stream has to fail). */
enum srd_sq_retired srd_sq_retire_locked(struct srd_qp *qp);

/*
 * srd_sq_flush - the end: completes everything, each once, in order. What is done completes with success up to the
 * first that is not; culprit gets status and vendor_err, or its own when it has one; Sends and Writes in front of it
 * that TCP has taken succeed: the peer works in order. Afterwards posts flush at once.
 */
void srd_sq_flush(struct srd_qp *qp, bool has_culprit, uint32_t culprit, enum ibv_wc_status status,
    uint32_t vendor_err);

/* After the queue pair was reset: empty, accepting. */
void srd_sq_reset(struct srd_sq *sq);

#endif
