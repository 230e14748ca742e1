/* SPDX-License-Identifier: MIT */
/*
 * qp_ex.c - the extended queue pair: requests built call by call between wr_start and wr_complete (ibv_wr_post(3)).
 *
 * The calls draft requests beside the send queue, and wr_complete posts them as one list, by the same code as any list.
 * Between the two calls the drafts belong to the thread. The mutex for that is the public struct's, not a lock of
 * util/lock.h, because the program's own code runs under it.
 */
#include "softrdma/queues/qp.h"

#include "softrdma/context/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct srd_draft {
    struct ibv_send_wr wr;
    struct ibv_sge inlined;     /* describes tail when that holds inline data */
    _Alignas(8) uint8_t tail[]; /* a scatter/gather list, or inline data */
};

/* A queue pair begins with this number of drafts, which doubles when a list needs more, up to the queue's depth. */
enum { DRAFTS_FIRST = 16 };

static const uint64_t known_ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
                                  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
                                  IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_LOCAL_INV |
                                  IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV;

static struct srd_qp *from(struct ibv_qp_ex *ex)
{
    return srd_qp_from(&ex->qp_base);
}

static struct srd_draft *draft_at(struct srd_drafts *drafts, uint32_t i)
{
    return (struct srd_draft *)(drafts->memory + (size_t)i * drafts->stride_octets);
}

static bool grow(struct srd_drafts *drafts)
{
    uint32_t room = drafts->room ? drafts->room * 2 : DRAFTS_FIRST;
    uint8_t *memory = realloc(drafts->memory, (size_t)room * drafts->stride_octets);

    if (!memory)
        return false;
    drafts->memory = memory;
    drafts->room = room;
    return true;
}

/* Begins the next request and returns it; NULL: it failed, and drafts->error keeps the reason for wr_complete. */
static struct ibv_send_wr *draft(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    struct srd_qp *qp = from(ex);
    struct srd_drafts *drafts = &qp->drafts;
    struct ibv_send_wr *wr;

    drafts->current = NULL;
    if (!drafts->error &&
        (drafts->count == qp->sq.depth || (drafts->count == drafts->room && !grow(drafts))))
        drafts->error = ENOMEM;
    if (drafts->error)
        return NULL;
    drafts->current = draft_at(drafts, drafts->count++);
    wr = &drafts->current->wr;
    memset(wr, 0, sizeof(*wr));
    wr->wr_id = ex->wr_id;
    wr->send_flags = ex->wr_flags & ~(unsigned)IBV_SEND_INLINE;
    wr->opcode = opcode;
    return wr;
}

/* draft, for a request with a remote address. */
static struct ibv_send_wr *wr_rdma(
    struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t remote_addr)
{
    struct ibv_send_wr *wr = draft(ex, opcode);

    if (!wr)
        return NULL;
    wr->wr.rdma.rkey = rkey;
    wr->wr.rdma.remote_addr = remote_addr;
    return wr;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    wr_rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_write_imm(
    struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, __be32 imm_data)
{
    struct ibv_send_wr *wr = wr_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);

    if (wr)
        wr->imm_data = imm_data;
}

static void wr_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
    uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
    struct ibv_send_wr *wr = draft(ex, opcode);

    if (!wr)
        return;
    wr->wr.atomic.rkey = rkey;
    wr->wr.atomic.remote_addr = remote_addr;
    wr->wr.atomic.compare_add = compare_add;
    wr->wr.atomic.swap = swap;
}

static void wr_atomic_cmp_swp(
    struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t compare, uint64_t swap)
{
    wr_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(
    struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr, uint64_t add)
{
    wr_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
    wr_rdma(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_send(struct ibv_qp_ex *ex)
{
    draft(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
    struct ibv_send_wr *wr = draft(ex, IBV_WR_SEND_WITH_IMM);

    if (wr)
        wr->imm_data = imm_data;
}

static void wr_invalidating(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey)
{
    struct ibv_send_wr *wr = draft(ex, opcode);

    if (wr)
        wr->invalidate_rkey = rkey;
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
    wr_invalidating(ex, IBV_WR_SEND_WITH_INV, rkey);
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
    wr_invalidating(ex, IBV_WR_LOCAL_INV, rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
    const struct ibv_mw_bind_info *bind_info)
{
    struct ibv_send_wr *wr = draft(ex, IBV_WR_BIND_MW);

    if (!wr)
        return;
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = rkey;
    wr->bind_mw.bind_info = *bind_info;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *sg_list)
{
    struct srd_drafts *drafts = &from(ex)->drafts;

    if (!drafts->current)
        return;
    if (num_sge > from(ex)->sq.max_sge) {
        drafts->error = EINVAL;
        return;
    }
    memcpy(drafts->current->tail, sg_list, num_sge * sizeof(*sg_list));
    drafts->current->wr.num_sge = (int)num_sge;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
    const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

    wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(
    struct ibv_qp_ex *ex, size_t num_buf, const struct ibv_data_buf *buf_list)
{
    struct srd_drafts *drafts = &from(ex)->drafts;
    struct srd_draft *current = drafts->current;
    size_t octets = 0;

    if (!current)
        return;
    for (size_t i = 0; i < num_buf; i++) {
        if (buf_list[i].length > from(ex)->sq.max_inline - octets) {
            drafts->error = ENOMEM; /* ibv_wr_post(3) */
            return;
        }
        memcpy(current->tail + octets, buf_list[i].addr, buf_list[i].length);
        octets += buf_list[i].length;
    }
    current->inlined.length = (uint32_t)octets;
    current->wr.num_sge = 1;
    current->wr.send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
    const struct ibv_data_buf buf = { .addr = addr, .length = length };

    wr_set_inline_data_list(ex, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *ex)
{
    struct srd_drafts *drafts = &from(ex)->drafts;

    pthread_mutex_lock(&ex->qp_base.mutex);
    drafts->count = 0;
    drafts->current = NULL;
    drafts->error = 0;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    pthread_mutex_unlock(&ex->qp_base.mutex);
}

/* Links the drafts into a list, now that their array does not move any more. */
static struct ibv_send_wr *chain(struct srd_drafts *drafts)
{
    struct ibv_send_wr *first = NULL, **link = &first;

    for (uint32_t i = 0; i < drafts->count; i++) {
        struct srd_draft *at = draft_at(drafts, i);

        at->wr.sg_list = (struct ibv_sge *)at->tail;
        if (at->wr.send_flags & IBV_SEND_INLINE) {
            at->inlined.addr = (uintptr_t)at->tail;
            at->wr.sg_list = &at->inlined;
        }
        *link = &at->wr;
        link = &at->wr.next;
    }
    return first;
}

/* Posts all drafts or none, since the caller cannot learn which one failed. */
static int wr_complete(struct ibv_qp_ex *ex)
{
    struct srd_drafts *drafts = &from(ex)->drafts;
    int error = drafts->error;

    if (!error && drafts->count)
        error = srd_post_all(&ex->qp_base, chain(drafts));
    pthread_mutex_unlock(&ex->qp_base.mutex);
    return srd_errno(error);
}

static void fill_calls(struct ibv_qp_ex *ex, uint64_t ops)
{
    if (ops & IBV_QP_EX_WITH_RDMA_WRITE)
        ex->wr_rdma_write = wr_rdma_write;
    if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
        ex->wr_rdma_write_imm = wr_rdma_write_imm;
    if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
        ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
        ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
    if (ops & IBV_QP_EX_WITH_RDMA_READ)
        ex->wr_rdma_read = wr_rdma_read;
    if (ops & IBV_QP_EX_WITH_SEND)
        ex->wr_send = wr_send;
    if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
        ex->wr_send_imm = wr_send_imm;
    if (ops & IBV_QP_EX_WITH_SEND_WITH_INV)
        ex->wr_send_inv = wr_send_inv;
    if (ops & IBV_QP_EX_WITH_LOCAL_INV)
        ex->wr_local_inv = wr_local_inv;
    if (ops & IBV_QP_EX_WITH_BIND_MW)
        ex->wr_bind_mw = wr_bind_mw;
    ex->wr_set_sge = wr_set_sge;
    ex->wr_set_sge_list = wr_set_sge_list;
    ex->wr_set_inline_data = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    ex->wr_start = wr_start;
    ex->wr_complete = wr_complete;
    ex->wr_abort = wr_abort;
}

struct ibv_qp *srd_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    bool extended = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    struct ibv_qp *ibv;
    struct srd_qp *qp;
    size_t tail;

    if (attr->comp_mask & ~known || (extended && attr->send_ops_flags & ~known_ops)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || attr->pd->context->device != context->device) {
        errno = EINVAL;
        return NULL;
    }
    /* struct ibv_qp_init_attr_ex begins with the members of struct ibv_qp_init_attr. */
    ibv = srd_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
    if (!ibv || !extended)
        return ibv;
    qp = srd_qp_from(ibv);
    tail = attr->cap.max_send_sge * sizeof(struct ibv_sge);
    if (tail < attr->cap.max_inline_data)
        tail = attr->cap.max_inline_data;
    qp->drafts.stride_octets = (uint32_t)((sizeof(struct srd_draft) + tail + 7) & ~(size_t)7);
    if (attr->cap.max_send_wr && !grow(&qp->drafts)) {
        srd_destroy_qp(ibv);
        errno = ENOMEM;
        return NULL;
    }
    fill_calls(&qp->ex, attr->send_ops_flags);
    return ibv;
}

struct ibv_qp_ex *srd_qp_to_qp_ex(struct ibv_qp *ibv)
{
    return srd_qp_from(ibv)->ex.wr_start ? &srd_qp_from(ibv)->ex : NULL;
}
