/* SPDX-License-Identifier: MIT */
/*
 * sq.h - send queue: a ring of requests in posting order, and their completion in that order.
 *
 *        tail                 next                 head
 *   free  |  sent or executed  |  waiting           |  free
 *
 * head moves under the lock (posting), next under LOCK_SRD_TX (the request is wholly built into FPDUs, or executed),
 * tail under the lock (the request completed). Sends and Writes are numbered as they are built; they are done when the
 * count of complete messages reaches their number. Messages are complete when a softrdma peer has acknowledged them,
 * or, with another peer, when TCP has taken them. All other requests are marked done one by one.
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
    SRD_SQE_BIND, /* this kind and those below it send nothing on the wire */
    SRD_SQE_INVALIDATE,
    SRD_SQE_FAST_REG,
};

struct srd_sqe {
    uint64_t wr_id;
    /* number among Sends and Writes, from 1; a Write's immediate data counts, too, and its number is the request's */
    uint64_t number;
    uint64_t remote_addr;
    uint32_t rkey; /* the key to write, read, bind, invalidate, register; a Send: immediate data */
    uint32_t octets;
    uint32_t msn;       /* an untagged message's MSN; a Write: its immediate data's MSN */
    uint32_t immediate; /* a Write's immediate data, host order */
    uint8_t kind;       /* enum srd_sqe_kind */
    /* Sends: their opcode, or SRD_SEND_IMMEDIATE; Writes: SRD_OP_WRITE, or the opcode of their immediate data */
    uint8_t wire_opcode;
    uint8_t num_sge; /* 0 when inlined */
    uint8_t status;  /* enum ibv_wc_status */
    bool signaled, fence, inlined;
    bool done; /* no Send or Write: it is done; any kind: it failed here; the lock guards it */
    /* the scatter/gather list, or inline data, or one of the structures below */
    _Alignas(8) uint8_t tail[];
};

/* The parameters of a Bind. It has the region's key alone: the program may deregister it before the request's turn. */
struct srd_bind {
    uint32_t region_key; /* 0, which no region has: the program gave none */
    uint64_t addr, length;
    unsigned access;
};

struct srd_sqe_bind {
    struct ibv_mw *mw;
    bool replaces; /* the window is of type 1: the Bind waits until nothing is being sent from it */
    struct srd_bind bind;
};

/* The pages of a fast registration, in one block of memory. */
struct srd_page_list {
    struct srd_page_list *next; /* next in the list of spare ones */
    uint32_t room, count;
    bool linear; /* each page follows the one before it */
    uint64_t pages[];
};

/* The parameters of a fast registration. It has the region's key alone, as a Bind has. */
struct srd_sqe_fast {
    struct srd_page_list *list; /* the request's until it is executed, then NULL */
    uint64_t base, length;
    uint32_t offset;
    int access;
};

/* The operands of an Atomic, behind its one scatter/gather entry, which receives the original value. */
struct srd_sqe_atomic {
    struct ibv_sge sge;
    uint64_t compare_add, swap;
};

/* Whether the request is executed at this end, and sends nothing. */
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
    uint32_t depth, mask; /* the ring has mask + 1 places, 2^n, since counts wrap */
    uint32_t stride_octets, max_sge, max_inline;
    bool sig_all;
    bool flushing; /* error state: posts complete flushed at once; the lock guards it */
    /* the peer is known not to be softrdma, so it takes no request of RFC 7306; the lock guards it */
    bool plain_peer;
    _Atomic uint32_t head, next, tail; /* counts, not positions */
    uint64_t complete; /* number of Sends and Writes known to be complete; the lock guards it */
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
 * srd_sq_post - validates and queues a list. Returns 0, or EINVAL, ENOMEM with *bad_wr at the first request that was
 * not queued. all: requests in front of a bad one are not queued either. way out: how to send the requests (qp.h); no
 * connection when nothing was queued or there is none. Takes the lock; in the error state each request completes
 * flushed.
 */
int srd_sq_post(struct srd_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr, bool all,
    struct srd_way *way);

/* Queues one fast registration, as srd_sq_post queues a list. list becomes the queue's if *queued is set. */
int srd_sq_post_fast(struct srd_qp *qp, const struct srd_fast_reg *reg, struct srd_page_list *list,
    bool *queued, struct srd_way *way);

/* The peer is not softrdma: requests of RFC 7306 fail from now on, and queued ones fail when their turn comes. */
void srd_sq_plain_peer_locked(struct srd_sq *sq);

/* Completes the requests that are done, from the tail on, up to a failed one (CULPRIT: the stream has to fail). */
enum srd_sq_retired srd_sq_retire_locked(struct srd_qp *qp);

/*
 * srd_sq_flush - ends the queue: completes every request once, in order. Requests that are done complete with success,
 * up to the first that is not. The culprit gets status and vendor_err, or its own status when it has one. Sends and
 * Writes in front of the culprit succeed if TCP has taken them, since the peer works in order. Afterwards posts flush
 * at once.
 */
void srd_sq_flush(struct srd_qp *qp, bool has_culprit, uint32_t culprit, enum ibv_wc_status status,
    uint32_t vendor_err);

/* Empties the queue after the queue pair was reset; from now on it takes requests. */
void srd_sq_reset(struct srd_sq *sq);

#endif
