/* SPDX-License-Identifier: MIT */
/* fake_qp.c - queue pairs of the fake device, and their requests. */
#include "tests/support/fake_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fake_request {
    uint64_t wr_id;
    enum ibv_wc_opcode opcode;
    bool signaled;
};

struct fake_queue { /* of held requests */
    struct fake_request *requests;
    unsigned size, head, count;
};

struct fake_qp {
    struct ibv_qp qp;
    struct fake_qp *older;
    struct fake_queue send, receive;
    bool all_signaled;
};

static struct fake_qp *fake_qps; /* newest first */
static uint32_t fake_next_number = 0x11;

static enum ibv_wc_opcode fake_wc_opcode(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_INV: return IBV_WC_SEND;
    case IBV_WR_RDMA_WRITE: return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_BIND_MW: return IBV_WC_BIND_MW;
    case IBV_WR_LOCAL_INV: return IBV_WC_LOCAL_INV;
    default: fake_abort("a request of unknown kind");
    }
    return 0;
}

static void fake_finish_locked(struct fake_qp *qp, struct ibv_cq *cq,
    const struct fake_request *request, enum ibv_wc_status status, uint32_t byte_len)
{
    struct ibv_wc wc = {
        .wr_id = request->wr_id,
        .status = status,
        .opcode = request->opcode,
        .byte_len = byte_len,
        .qp_num = qp->qp.qp_num,
    };

    if (status != IBV_WC_SUCCESS) {
        memset(&wc, 0xee, sizeof wc);
        wc.wr_id = request->wr_id;
        wc.status = status;
        wc.vendor_err = 1;
        wc.qp_num = qp->qp.qp_num;
    } else if (!request->signaled) {
        return;
    }
    fake_cq_push_locked((struct fake_cq *)cq, &wc);
}

static void fake_hold_locked(struct fake_queue *queue, const struct fake_request *request)
{
    if (queue->count == queue->size)
        fake_abort("more requests posted than the queue is deep");
    queue->requests[(queue->head + queue->count++) % queue->size] = *request;
}

static bool fake_take_locked(struct fake_queue *queue, struct fake_request *request)
{
    if (queue->count == 0)
        return false;
    *request = queue->requests[queue->head];
    queue->head = (queue->head + 1) % queue->size;
    queue->count--;
    return true;
}

static void fake_error_locked(struct fake_qp *qp)
{
    struct fake_request request;

    qp->qp.state = IBV_QPS_ERR;
    while (fake_take_locked(&qp->send, &request))
        fake_finish_locked(qp, qp->qp.send_cq, &request, IBV_WC_WR_FLUSH_ERR, 0);
    while (fake_take_locked(&qp->receive, &request))
        fake_finish_locked(qp, qp->qp.recv_cq, &request, IBV_WC_WR_FLUSH_ERR, 0);
}

static void fake_post_locked(struct fake_qp *qp, struct fake_queue *queue, struct ibv_cq *cq,
    const struct fake_request *request)
{
    if (__builtin_expect(fake.mode == FAKE_IMMEDIATE && qp->qp.state != IBV_QPS_ERR, 1))
        fake_finish_locked(qp, cq, request, IBV_WC_SUCCESS, 8);
    else if (qp->qp.state == IBV_QPS_ERR)
        fake_finish_locked(qp, cq, request, IBV_WC_WR_FLUSH_ERR, 0);
    else
        fake_hold_locked(queue, request);
}

int fake_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;

    for (; wr; wr = wr->next) {
        struct fake_request request = {
            .wr_id = wr->wr_id,
            .opcode = fake_wc_opcode(wr->opcode),
            .signaled = qp->all_signaled || (wr->send_flags & IBV_SEND_SIGNALED),
        };

        int error = fake.removed ? EIO : 0;

        fake_lock();
        if (ibv_qp->state < IBV_QPS_RTS)
            error = EINVAL;
        if (error == 0)
            fake_post_locked(qp, &qp->send, ibv_qp->send_cq, &request);
        fake_unlock();
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}

int fake_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;

    for (; wr; wr = wr->next) {
        struct fake_request request = {
            .wr_id = wr->wr_id, .opcode = IBV_WC_RECV, .signaled = true
        };

        int error = fake.removed ? EIO : 0;

        fake_lock();
        if (ibv_qp->state == IBV_QPS_RESET)
            error = EINVAL;
        if (error == 0)
            fake_post_locked(qp, &qp->receive, ibv_qp->recv_cq, &request);
        fake_unlock();
        if (error != 0) {
            *bad = wr;
            return error;
        }
    }
    return 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    (void)pd;
    (void)attr;
    errno = ENOSYS;
    return NULL;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
    (void)srq;
    (void)attr;
    (void)attr_mask;
    return ENOSYS;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    (void)srq;
    (void)attr;
    return ENOSYS;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    (void)srq;
    return ENOSYS;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_cap *cap = &attr->cap;
    struct fake_qp *qp;

    if (fake_fails(FAKE_CREATE_QP))
        return NULL;
    if (cap->max_send_wr > FAKE_QUEUE_MAX || cap->max_recv_wr > FAKE_QUEUE_MAX ||
        cap->max_send_sge > FAKE_SGE_MAX || cap->max_recv_sge > FAKE_SGE_MAX ||
        cap->max_inline_data > 256) {
        errno = EINVAL;
        return NULL;
    }
    if (fake.send_entries &&
        cap->max_send_wr * (cap->max_send_sge ? cap->max_send_sge : 1) > fake.send_entries) {
        errno = ENOMEM;
        return NULL;
    }
    qp = fake_new(sizeof *qp);
    qp->all_signaled = attr->sq_sig_all;
    qp->send.size = cap->max_send_wr + 1;
    qp->receive.size = cap->max_recv_wr + 1;
    qp->send.requests = calloc(qp->send.size, sizeof *qp->send.requests);
    qp->receive.requests = calloc(qp->receive.size, sizeof *qp->receive.requests);
    if (!qp->send.requests || !qp->receive.requests)
        fake_abort("out of memory");
    qp->qp = (struct ibv_qp){
        .context = pd->context,
        .qp_context = attr->qp_context,
        .pd = pd,
        .send_cq = attr->send_cq,
        .recv_cq = attr->recv_cq,
        .qp_type = attr->qp_type,
    };
    fake_lock();
    qp->qp.qp_num = fake_next_number++;
    ((struct fake_cq *)attr->send_cq)->users++;
    ((struct fake_cq *)attr->recv_cq)->users++;
    qp->older = fake_qps;
    fake_qps = qp;
    fake_unlock();
    return &qp->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
    if (fake.removed)
        return EIO;
    if (!(attr_mask & IBV_QP_STATE))
        return 0;
    fake_lock();
    if (attr->qp_state == IBV_QPS_ERR)
        fake_error_locked((struct fake_qp *)qp);
    else
        qp->state = attr->qp_state;
    fake_unlock();
    return 0;
}

int ibv_query_qp(
    struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr)
{
    (void)attr_mask;
    *attr = (struct ibv_qp_attr){ .qp_state = qp->state };
    *init_attr = (struct ibv_qp_init_attr){ .send_cq = qp->send_cq, .recv_cq = qp->recv_cq };
    return 0;
}

int ibv_destroy_qp(struct ibv_qp *ibv_qp)
{
    struct fake_qp *qp = (struct fake_qp *)ibv_qp;
    struct fake_qp **link = &fake_qps;

    fake_lock();
    while (*link != qp)
        link = &(*link)->older;
    *link = qp->older;
    ((struct fake_cq *)ibv_qp->send_cq)->users--;
    ((struct fake_cq *)ibv_qp->recv_cq)->users--;
    fake_unlock();
    free(qp->send.requests);
    free(qp->receive.requests);
    fake_free(qp);
    return 0;
}

static struct fake_qp *fake_find_locked(uint32_t qp_num)
{
    struct fake_qp *qp = fake_qps;

    while (qp && qp_num && qp->qp.qp_num != qp_num)
        qp = qp->older;
    return qp;
}

bool fake_complete(uint32_t qp_num, bool receive, enum ibv_wc_status status, uint32_t byte_len)
{
    struct fake_request request;
    struct fake_qp *qp;
    bool taken;

    fake_lock();
    qp = fake_find_locked(qp_num);
    taken = qp && fake_take_locked(receive ? &qp->receive : &qp->send, &request);
    if (taken) {
        fake_finish_locked(
            qp, receive ? qp->qp.recv_cq : qp->qp.send_cq, &request, status, byte_len);
        if (status != IBV_WC_SUCCESS)
            fake_error_locked(qp);
    }
    fake_unlock();
    return taken;
}

unsigned fake_held(uint32_t qp_num, bool receive)
{
    struct fake_qp *qp;
    unsigned count;

    fake_lock();
    qp = fake_find_locked(qp_num);
    count = !qp ? 0 : receive ? qp->receive.count : qp->send.count;
    fake_unlock();
    return count;
}
