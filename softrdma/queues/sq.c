/* SPDX-License-Identifier: MIT */
/* sq.c - the send queue. */
#include "softrdma/queues/sq.h"

#include "softrdma/absent.h"
#include "softrdma/queues/cq.h"
#include "softrdma/wire/ddp.h"
#include "softrdma/limits.h"
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int srd_sq_init(struct srd_sq *sq, const struct ibv_qp_cap *cap, bool sig_all)
{
    size_t tail = cap->max_send_sge * sizeof(struct ibv_sge);

    lock_init(&sq->lock, LOCK_SRD_SQ, "srd_sq");
    sq->depth = cap->max_send_wr;
    sq->max_sge = cap->max_send_sge;
    sq->sig_all = sig_all;
    if (tail < cap->max_inline_data)
        tail = cap->max_inline_data;
    if (tail < sizeof(struct srd_sqe_bind))
        tail = sizeof(struct srd_sqe_bind);
    _Static_assert(sizeof(struct srd_sqe_fast) <= sizeof(struct srd_sqe_bind), "the larger one");
    _Static_assert(sizeof(struct srd_sqe_atomic) <= sizeof(struct srd_sqe_bind), "the larger one");
    sq->stride_octets = (uint32_t)(sizeof(struct srd_sqe) + tail + 63) & ~63u;
    /* The queue grants as much inline data as fits the slot. */
    sq->max_inline = sq->stride_octets - (uint32_t)sizeof(struct srd_sqe);
    if (sq->max_inline > SRD_MAX_INLINE)
        sq->max_inline = SRD_MAX_INLINE;
    if (!sq->depth)
        return 0;
    sq->mask = srd_ring_mask(sq->depth);
    sq->ring = aligned_alloc(64, (sq->mask + (size_t)1) * sq->stride_octets);
    return sq->ring ? 0 : -ENOMEM;
}

void srd_sq_fini(struct srd_sq *sq)
{
    free(sq->ring);
}

void srd_sq_reset(struct srd_sq *sq)
{
    lock_acquire(&sq->lock);
    sq->flushing = sq->plain_peer = false;
    sq->complete = 0;
    atomic_store_explicit(&sq->head, 0, memory_order_relaxed);
    atomic_store_explicit(&sq->next, 0, memory_order_relaxed);
    atomic_store_explicit(&sq->tail, 0, memory_order_relaxed);
    lock_release(&sq->lock);
}

static enum ibv_wc_opcode wc_opcode(uint8_t kind)
{
    switch (kind) {
    case SRD_SQE_WRITE: return IBV_WC_RDMA_WRITE;
    case SRD_SQE_READ: return IBV_WC_RDMA_READ;
    case SRD_SQE_FETCH_ADD: return IBV_WC_FETCH_ADD;
    case SRD_SQE_CMP_SWAP: return IBV_WC_COMP_SWAP;
    case SRD_SQE_BIND: return IBV_WC_BIND_MW;
    case SRD_SQE_INVALIDATE: return IBV_WC_LOCAL_INV;
    case SRD_SQE_FAST_REG: return (enum ibv_wc_opcode)SRD_WC_FAST_REG;
    default: return IBV_WC_SEND;
    }
}

static void complete(
    struct srd_qp *qp, const struct srd_sqe *sqe, enum ibv_wc_status status, uint32_t vendor_err)
{
    struct ibv_wc wc;

    if ((status == IBV_WC_SUCCESS && !sqe->signaled) ||
        atomic_load_explicit(&qp->mute, memory_order_relaxed))
        return;
    memset(&wc, 0, sizeof(wc));
    wc.wr_id = sqe->wr_id;
    wc.status = status;
    wc.opcode = wc_opcode(sqe->kind);
    wc.vendor_err = vendor_err;
    wc.byte_len = sqe->octets;
    wc.qp_num = qp->qp.qp_num;
    srd_cq_push(qp->qp.send_cq, &wc, status != IBV_WC_SUCCESS);
}

/* Whether the queue takes requests of RFC 7306: not if the peer is known not to be softrdma. */
static bool may_extend(const struct srd_sq *sq, enum srd_absent what)
{
    if (sq->plain_peer)
        srd_absent(what);
    return !sq->plain_peer;
}

/* fill_opcode for the requests of RFC 7306. */
static __attribute__((noinline)) bool fill_extension(
    const struct srd_sq *sq, struct srd_sqe *sqe, const struct ibv_send_wr *wr)
{
    bool solicited = wr->send_flags & IBV_SEND_SOLICITED;

    switch (wr->opcode) {
    case IBV_WR_SEND_WITH_IMM:
        sqe->kind = SRD_SQE_SEND;
        sqe->wire_opcode = (solicited ? SRD_OP_SEND_SE : SRD_OP_SEND) | SRD_SEND_IMMEDIATE;
        sqe->rkey = be32toh(wr->imm_data);
        return may_extend(sq, SRD_ABSENT_IMMEDIATE);
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        sqe->kind = SRD_SQE_WRITE;
        sqe->wire_opcode = solicited ? SRD_OP_IMMEDIATE_SE : SRD_OP_IMMEDIATE;
        sqe->immediate = be32toh(wr->imm_data);
        return may_extend(sq, SRD_ABSENT_IMMEDIATE);
    default: break;
    }
    sqe->kind = wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? SRD_SQE_FETCH_ADD : SRD_SQE_CMP_SWAP;
    sqe->remote_addr = wr->wr.atomic.remote_addr;
    sqe->rkey = wr->wr.atomic.rkey;
    return may_extend(sq, SRD_ABSENT_ATOMICS);
}

/* The program chooses the low 8 bits of the key; the others are the window's, whatever the program has there. */
static uint32_t key_to_bind(const struct ibv_mw *mw, uint32_t rkey)
{
    const uint32_t octet = 0xFF;

    return (mw->rkey & ~octet) | (rkey & octet);
}

/* Fills the opcode and the members that depend on it. Returns false for a request that this device does not have. */
static bool fill_opcode(const struct srd_sq *sq, struct srd_sqe *sqe, const struct ibv_send_wr *wr)
{
    bool solicited = wr->send_flags & IBV_SEND_SOLICITED;

    sqe->remote_addr = wr->wr.rdma.remote_addr;
    sqe->rkey = wr->wr.rdma.rkey;
    switch (wr->opcode) {
    case IBV_WR_SEND:
        sqe->kind = SRD_SQE_SEND;
        sqe->wire_opcode = solicited ? SRD_OP_SEND_SE : SRD_OP_SEND;
        sqe->rkey = 0;
        return true;
    case IBV_WR_SEND_WITH_INV:
        sqe->kind = SRD_SQE_SEND;
        sqe->wire_opcode = solicited ? SRD_OP_SEND_SE_INV : SRD_OP_SEND_INV;
        sqe->rkey = wr->invalidate_rkey;
        return true;
    case IBV_WR_RDMA_WRITE:
        sqe->kind = SRD_SQE_WRITE;
        sqe->wire_opcode = SRD_OP_WRITE;
        return true;
    case IBV_WR_RDMA_READ: sqe->kind = SRD_SQE_READ; return true;
    case IBV_WR_LOCAL_INV:
        sqe->kind = SRD_SQE_INVALIDATE;
        sqe->rkey = wr->invalidate_rkey;
        return true;
    case IBV_WR_BIND_MW:
        if (!wr->bind_mw.mw)
            return false;
        sqe->kind = SRD_SQE_BIND;
        sqe->rkey = key_to_bind(wr->bind_mw.mw, wr->bind_mw.rkey);
        return true;
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return fill_extension(sq, sqe, wr);
    default: return false;
    }
}

/* Fills the data: copies inline data, otherwise the scatter/gather list. */
static bool fill_data(struct srd_sq *sq, struct srd_sqe *sqe, const struct ibv_send_wr *wr)
{
    uint64_t octets = 0;

    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > sq->max_sge || (wr->num_sge && !wr->sg_list))
        return false;
    for (int i = 0; i < wr->num_sge; i++)
        octets += wr->sg_list[i].length;
    sqe->inlined = wr->send_flags & IBV_SEND_INLINE && sqe->kind != SRD_SQE_READ;
    if (sqe->inlined) {
        uint8_t *data = sqe->tail;

        if (octets > sq->max_inline)
            return false;
        for (int i = 0; i < wr->num_sge; i++) {
            memcpy(data, (const void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
            data += wr->sg_list[i].length;
        }
        sqe->num_sge = 0;
    } else {
        sqe->num_sge = (uint8_t)wr->num_sge;
        for (int i = 0; i < wr->num_sge; i++)
            srd_sqe_sge(sqe)[i] = wr->sg_list[i];
    }
    if (octets > SRD_MAX_MSG_SIZE) {
        octets = 0;
        sqe->status = IBV_WC_LOC_LEN_ERR;
    }
    sqe->octets = (uint32_t)octets;
    return true;
}

/* Fills an Atomic, which needs exactly one entry of 8 octets. The peer refuses an address that is not aligned. */
static bool fill_atomic(struct srd_sqe *sqe, const struct ibv_send_wr *wr)
{
    struct srd_sqe_atomic *to = srd_sqe_atomic(sqe);

    if (wr->num_sge != 1 || !wr->sg_list || wr->sg_list[0].length != sizeof(uint64_t))
        return false;
    to->sge = wr->sg_list[0];
    to->compare_add = wr->wr.atomic.compare_add;
    to->swap = wr->wr.atomic.swap;
    sqe->num_sge = 1;
    sqe->octets = sizeof(uint64_t);
    return true;
}

static void fill_bind(struct srd_sqe_bind *to, const struct ibv_send_wr *wr)
{
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;

    to->mw = wr->bind_mw.mw;
    to->replaces = to->mw->type == IBV_MW_TYPE_1;
    to->bind = (struct srd_bind){ .region_key = info->mr ? info->mr->rkey : 0,
        .addr = info->addr,
        .length = info->length,
        .access = info->mw_access_flags };
}

static void fill_common(
    const struct srd_sq *sq, struct srd_sqe *sqe, uint64_t wr_id, unsigned send_flags)
{
    sqe->wr_id = wr_id;
    sqe->number = UINT64_MAX;
    sqe->msn = 0;
    sqe->octets = 0;
    sqe->num_sge = 0;
    sqe->status = IBV_WC_SUCCESS;
    sqe->signaled = sq->sig_all || send_flags & IBV_SEND_SIGNALED;
    sqe->fence = send_flags & IBV_SEND_FENCE;
    sqe->inlined = sqe->done = false;
}

static bool fill(struct srd_sq *sq, struct srd_sqe *sqe, const struct ibv_send_wr *wr)
{
    fill_common(sq, sqe, wr->wr_id, wr->send_flags);
    if (!fill_opcode(sq, sqe, wr))
        return false;
    if (sqe->kind <= SRD_SQE_READ)
        return fill_data(sq, sqe, wr);
    if (srd_sqe_is_atomic(sqe))
        return fill_atomic(sqe, wr);
    if (sqe->kind == SRD_SQE_BIND)
        fill_bind(srd_sqe_bind(sqe), wr);
    return true;
}

/* Whether a request can be queued with the count head. Returns 0, EINVAL or ENOMEM. */
static int look_for_room_locked(const struct srd_qp *qp, uint32_t head)
{
    const struct srd_sq *sq = &qp->sq;

    if (!srd_qp_may_send(qp))
        return EINVAL;
    return head - atomic_load_explicit(&sq->tail, memory_order_relaxed) >= sq->depth ? ENOMEM : 0;
}

/* Completes a request as flushed, without the ring, which may have no room in the error state. */
static int post_flushed_locked(struct srd_qp *qp, struct ibv_send_wr *wr)
{
    struct srd_sqe sqe = { .wr_id = wr->wr_id };

    if (!fill_opcode(&qp->sq, &sqe, wr) || wr->num_sge < 0 ||
        (uint32_t)wr->num_sge > qp->sq.max_sge)
        return EINVAL;
    complete(qp, &sqe, IBV_WC_WR_FLUSH_ERR, 0);
    return 0;
}

int srd_sq_post(struct srd_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr, bool all,
    struct srd_way *way)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t head, start;
    int error = 0;

    lock_acquire(&sq->lock);
    start = head = atomic_load_explicit(&sq->head, memory_order_relaxed);
    for (; wr; wr = wr->next) {
        if (sq->flushing)
            error = post_flushed_locked(qp, wr);
        else if (!(error = look_for_room_locked(qp, head)) && !fill(sq, srd_sqe_at(sq, head), wr))
            error = EINVAL;
        if (error) {
            *bad_wr = wr;
            if (all)
                head = start;
            break;
        }
        if (!sq->flushing)
            head++;
    }
    /* Pairs with the load of the thread that builds FPDUs. */
    atomic_store_explicit(&sq->head, head, memory_order_release);
    *way = head != start ? srd_qp_way_locked(qp) : (struct srd_way){ 0 };
    lock_release(&sq->lock);
    return error;
}

static void fill_fast(struct srd_sq *sq, struct srd_sqe *sqe, const struct srd_fast_reg *reg,
    struct srd_page_list *list)
{
    fill_common(sq, sqe, reg->wr_id, reg->send_flags);
    sqe->kind = SRD_SQE_FAST_REG;
    sqe->rkey = reg->mr->rkey;
    *srd_sqe_fast(sqe) = (struct srd_sqe_fast){ .list = list,
        .base = reg->base,
        .length = reg->length,
        .offset = reg->offset,
        .access = reg->access };
}

int srd_sq_post_fast(struct srd_qp *qp, const struct srd_fast_reg *reg, struct srd_page_list *list,
    bool *queued, struct srd_way *way)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t head;
    int error = 0;

    *queued = false;
    *way = (struct srd_way){ 0 };
    lock_acquire(&sq->lock);
    head = atomic_load_explicit(&sq->head, memory_order_relaxed);
    if (sq->flushing) {
        struct srd_sqe flushed = { .wr_id = reg->wr_id, .kind = SRD_SQE_FAST_REG };

        complete(qp, &flushed, IBV_WC_WR_FLUSH_ERR, 0);
    } else if ((error = look_for_room_locked(qp, head)) == 0) {
        fill_fast(sq, srd_sqe_at(sq, head), reg, list);
        /* Pairs with the load of the thread that builds FPDUs. */
        atomic_store_explicit(&sq->head, head + 1, memory_order_release);
        *queued = true;
        *way = srd_qp_way_locked(qp);
    }
    lock_release(&sq->lock);
    return error;
}

static bool is_extension(const struct srd_sqe *sqe)
{
    switch (sqe->kind) {
    case SRD_SQE_SEND: return sqe->wire_opcode & SRD_SEND_IMMEDIATE;
    case SRD_SQE_WRITE: return srd_sqe_write_has_immediate(sqe);
    default: return srd_sqe_is_atomic(sqe);
    }
}

void srd_sq_plain_peer_locked(struct srd_sq *sq)
{
    uint32_t head = atomic_load_explicit(&sq->head, memory_order_relaxed);

    lock_assert_held(&sq->lock);
    sq->plain_peer = true;
    for (uint32_t i = atomic_load_explicit(&sq->tail, memory_order_relaxed); i != head; i++) {
        struct srd_sqe *sqe = srd_sqe_at(sq, i);

        if (!is_extension(sqe))
            continue;
        srd_absent(srd_sqe_is_atomic(sqe) ? SRD_ABSENT_ATOMICS : SRD_ABSENT_IMMEDIATE);
        sqe->status = IBV_WC_LOC_QP_OP_ERR;
    }
}

static bool is_done(const struct srd_sq *sq, const struct srd_sqe *sqe)
{
    if (sqe->done)
        return true;
    return (sqe->kind == SRD_SQE_SEND || sqe->kind == SRD_SQE_WRITE) && sqe->number <= sq->complete;
}

enum srd_sq_retired srd_sq_retire_locked(struct srd_qp *qp)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t tail = atomic_load_explicit(&sq->tail, memory_order_relaxed);
    /* pairs with the store of the thread that builds FPDUs */
    uint32_t next = atomic_load_explicit(&sq->next, memory_order_acquire);
    enum srd_sq_retired result = SRD_SQ_EMPTY;

    lock_assert_held(&sq->lock);
    for (; tail != next; tail++) {
        struct srd_sqe *sqe = srd_sqe_at(sq, tail);

        if (!is_done(sq, sqe))
            break;
        if (sqe->status != IBV_WC_SUCCESS) {
            result = SRD_SQ_CULPRIT;
            break;
        }
        complete(qp, sqe, IBV_WC_SUCCESS, 0);
    }
    atomic_store_explicit(&sq->tail, tail, memory_order_relaxed);
    if (result == SRD_SQ_EMPTY && tail != atomic_load_explicit(&sq->head, memory_order_relaxed))
        result = SRD_SQ_MORE;
    return result;
}

/*
 * Whether the request is known to be complete since the peer's Terminate is about a later one. As with an
 * acknowledgement, the peer cannot claim more than TCP has taken.
 */
static bool is_passed(struct srd_qp *qp, const struct srd_sqe *sqe)
{
    return (sqe->kind == SRD_SQE_SEND || sqe->kind == SRD_SQE_WRITE) &&
           sqe->number <= atomic_load_explicit(&qp->stream.handed, memory_order_acquire);
}

void srd_sq_flush(struct srd_qp *qp, bool has_culprit, uint32_t culprit, enum ibv_wc_status status,
    uint32_t vendor_err)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t tail, next, head;
    bool failed = false;

    lock_acquire(&sq->lock);
    tail = atomic_load_explicit(&sq->tail, memory_order_relaxed);
    next = atomic_load_explicit(&sq->next, memory_order_acquire);
    head = atomic_load_explicit(&sq->head, memory_order_relaxed);
    for (uint32_t i = tail; i != head; i++) {
        struct srd_sqe *sqe = srd_sqe_at(sq, i);
        bool built = (int32_t)(i - next) < 0;
        bool in_front = has_culprit && (int32_t)(i - culprit) < 0;
        enum ibv_wc_status result = IBV_WC_WR_FLUSH_ERR;

        if (sqe->status != IBV_WC_SUCCESS && built)
            result = sqe->status;
        else if (has_culprit && i == culprit)
            result = status;
        else if (!failed && built && (is_done(sq, sqe) || (in_front && is_passed(qp, sqe))))
            result = IBV_WC_SUCCESS;
        failed = result != IBV_WC_SUCCESS; /* all requests behind a failed one fail, too */
        if (sqe->kind == SRD_SQE_FAST_REG)
            free(srd_sqe_fast(sqe)->list);
        complete(qp, sqe, result, has_culprit && i == culprit ? vendor_err : 0);
    }
    atomic_store_explicit(&sq->next, head, memory_order_relaxed);
    atomic_store_explicit(&sq->tail, head, memory_order_relaxed);
    sq->flushing = true;
    qp->qp.state = IBV_QPS_ERR;
    lock_release(&sq->lock);
}
