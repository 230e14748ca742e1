/* SPDX-License-Identifier: MIT */
/*
 * cq_ex.c - the extended completion queue: completions one by one between start_poll and end_poll
 * (ibv_create_cq_ex(3)).
 *
 * Between the two calls the current completion belongs to the thread. The mutex for that is the public struct's, not a
 * lock of util/lock.h, because the program's own code runs under it.
 */
#include "softrdma/queues/cq.h"

#include "softrdma/context/context.h"

#include <errno.h>
#include <string.h>

static const uint64_t known_fields =
    IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP |
    IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL | IBV_WC_EX_WITH_DLID_PATH_BITS;

static const struct ibv_wc *current(struct ibv_cq_ex *ex)
{
    return srd_cq_current(ibv_cq_ex_to_cq(ex));
}

/* Polls one completion into the current one. Returns 0, ENOENT, or the error of the poll. */
static int take(struct ibv_cq_ex *ex)
{
    struct ibv_wc *wc = srd_cq_current(ibv_cq_ex_to_cq(ex));
    int count = srd_poll_cq(ibv_cq_ex_to_cq(ex), 1, wc);

    if (count <= 0)
        return count ? -count : ENOENT;
    ex->wr_id = wc->wr_id;
    ex->status = wc->status;
    return 0;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
    int error;

    if (attr->comp_mask)
        return errno = EINVAL;
    pthread_mutex_lock(&ex->mutex);
    error = take(ex);
    if (error)
        pthread_mutex_unlock(&ex->mutex);
    return error;
}

static void end_poll(struct ibv_cq_ex *ex)
{
    pthread_mutex_unlock(&ex->mutex);
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
    return current(ex)->opcode;
}

static uint32_t read_vendor_err(struct ibv_cq_ex *ex)
{
    return current(ex)->vendor_err;
}

static unsigned int read_wc_flags(struct ibv_cq_ex *ex)
{
    return current(ex)->wc_flags;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
    return current(ex)->byte_len;
}

/* Also returns the invalidated key, which is in a union with imm_data. */
static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
    return current(ex)->imm_data;
}

static uint32_t read_qp_num(struct ibv_cq_ex *ex)
{
    return current(ex)->qp_num;
}

/* These fields are about InfiniBand's datagrams, and 0 as in struct ibv_wc. */
static uint32_t read_src_qp(struct ibv_cq_ex *ex)
{
    return current(ex)->src_qp;
}

static uint32_t read_slid(struct ibv_cq_ex *ex)
{
    return current(ex)->slid;
}

static uint8_t read_sl(struct ibv_cq_ex *ex)
{
    return current(ex)->sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *ex)
{
    return current(ex)->dlid_path_bits;
}

static void fill_calls(struct ibv_cq_ex *ex, uint64_t fields)
{
    ex->start_poll = start_poll;
    ex->next_poll = take;
    ex->end_poll = end_poll;
    ex->read_opcode = read_opcode;
    ex->read_vendor_err = read_vendor_err;
    ex->read_wc_flags = read_wc_flags;
    if (fields & IBV_WC_EX_WITH_BYTE_LEN)
        ex->read_byte_len = read_byte_len;
    if (fields & IBV_WC_EX_WITH_IMM)
        ex->read_imm_data = read_imm_data;
    if (fields & IBV_WC_EX_WITH_QP_NUM)
        ex->read_qp_num = read_qp_num;
    if (fields & IBV_WC_EX_WITH_SRC_QP)
        ex->read_src_qp = read_src_qp;
    if (fields & IBV_WC_EX_WITH_SLID)
        ex->read_slid = read_slid;
    if (fields & IBV_WC_EX_WITH_SL)
        ex->read_sl = read_sl;
    if (fields & IBV_WC_EX_WITH_DLID_PATH_BITS)
        ex->read_dlid_path_bits = read_dlid_path_bits;
}

struct ibv_cq_ex *srd_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
    struct ibv_cq *cq;

    /* The device has no timestamps and no parent domains, and cannot ignore overruns. */
    if (attr->wc_flags & ~known_fields ||
        attr->comp_mask & ~(uint32_t)IBV_CQ_INIT_ATTR_MASK_FLAGS ||
        flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    cq = srd_create_cq(
        context, (int)attr->cqe, attr->cq_context, attr->channel, (int)attr->comp_vector);
    if (!cq)
        return NULL;
    fill_calls((struct ibv_cq_ex *)cq, attr->wc_flags);
    return (struct ibv_cq_ex *)cq;
}
