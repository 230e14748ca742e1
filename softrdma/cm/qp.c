/* SPDX-License-Identifier: MIT */
/* qp.c - queue pairs of the connection manager: those on an id, and attributes for programs that move theirs. */
#include "softrdma/cm/id.h"

#include "softrdma/queues/qp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>

/*
 * The largest FPDU between softrdma ends; other peers get FPDUs that fit a TCP segment. With CRC both ends touch an
 * FPDU several times, so it should fit the first-level cache.
 */
enum { SOFT_FPDU_OCTETS = 64 * 1024, SOFT_FPDU_OCTETS_CRC = 32 * 1024 };

uint32_t srd_id_fpdu_octets(const struct srd_id *id)
{
    int emss = 0;
    socklen_t octets = sizeof(emss);

    if (id->params.soft_peer)
        return id->params.crc ? SOFT_FPDU_OCTETS_CRC : SOFT_FPDU_OCTETS;
    if (getsockopt(id->conn->source.fd, IPPROTO_TCP, TCP_MAXSEG, &emss, &octets) || emss < 128)
        emss = 536; /* every host takes it */
    return srd_mpa_fpdu_octets((uint32_t)emss);
}

/* A queue pair of an exchange has its settings in its own attributes, not in the id's. */
void srd_id_complete_params_locked(struct srd_id *id)
{
    struct srd_qp *qp = id->exchanged;

    lock_assert_held(&id->lock);
    id->params.fpdu_max_octets = srd_id_fpdu_octets(id);
    id->params.rnr_retries =
        qp ? atomic_load_explicit(&qp->rnr_retries, memory_order_relaxed) : id->rnr_retries;
    id->params.quiet_end = qp != NULL;
}

int srd_id_pick_qp_locked(struct srd_id *id, const struct rdma_conn_param *param)
{
    struct srd_qp *qp;

    if (!id->ibv.qp && !param)
        return EINVAL;
    id->qp_num = id->ibv.qp ? id->ibv.qp->qp_num : param->qp_num;
    qp = srd_device_find_qp(id->device, id->qp_num);
    if (!qp)
        return EINVAL;
    srd_qp_unpin(qp);
    return 0;
}

static int limit(uint8_t wanted, uint16_t *out)
{
    *out = wanted == RDMA_MAX_RESP_RES ? SRD_MAX_RD_ATOM : wanted;
    return *out > SRD_MAX_RD_ATOM ? EINVAL : 0;
}

int srd_id_pick_limits_locked(struct srd_id *id, const struct rdma_conn_param *param)
{
    int error;

    /* librdmacm and the kernel take larger values for 7, too. */
    id->rnr_retries = param && param->rnr_retry_count < SRD_RNR_FOR_EVER ? param->rnr_retry_count
                                                                         : SRD_RNR_FOR_EVER;
    id->local =
        (struct srd_mpa_local){ .crc = srd_cm_crc(), .soft = true, .ird_max = SRD_MAX_RD_ATOM };
    error = limit(param ? param->responder_resources : RDMA_MAX_RESP_RES, &id->local.ird);
    return error ? error
                 : limit(param ? param->initiator_depth : RDMA_MAX_INIT_DEPTH, &id->local.ord);
}

static void fill_attr(const struct srd_id *id, struct ibv_qp_attr *attr, int *mask)
{
    enum ibv_qp_state state = attr->qp_state;

    memset(attr, 0, sizeof(*attr));
    attr->qp_state = state;
    *mask = IBV_QP_STATE;
    switch (state) {
    case IBV_QPS_INIT:
        attr->port_num = 1;
        attr->qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
        *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
        break;
    case IBV_QPS_RTR:
        attr->ah_attr.port_num = 1;
        attr->path_mtu = IBV_MTU_4096;
        attr->max_dest_rd_atomic = (uint8_t)id->params.ird;
        attr->min_rnr_timer = 0;
        *mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        break;
    default:
        attr->timeout = id->ack_timeout;
        attr->retry_cnt = 7;
        attr->rnr_retry = id->rnr_retries;
        attr->max_rd_atomic = (uint8_t)id->params.ord;
        *mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                 IBV_QP_MAX_QP_RD_ATOMIC;
    }
}

int srd_init_qp_attr(struct rdma_cm_id *ibv, struct ibv_qp_attr *attr, int *attr_mask)
{
    struct srd_id *id = srd_id_from(ibv);
    enum ibv_qp_state state = attr->qp_state;
    int error = 0;

    if (!srd_id_enter(ibv))
        return -1;
    if (!id->device || (state != IBV_QPS_INIT && state != IBV_QPS_RTR && state != IBV_QPS_RTS))
        error = EINVAL;
    else if (state != IBV_QPS_INIT && id->state < SRD_ID_RESPONSE)
        error = EINVAL; /* the peer is not known yet */
    else if (id->state == SRD_ID_OVER)
        error = EINVAL;
    else
        fill_attr(id, attr, attr_mask);
    return srd_id_leave(ibv, error);
}

static int move(struct srd_id *id, enum ibv_qp_state to)
{
    struct ibv_qp_attr attr = { .qp_state = to };
    int mask;

    fill_attr(id, &attr, &mask);
    return srd_modify_qp(id->ibv.qp, &attr, mask);
}

int srd_id_qp_ready(struct srd_id *id)
{
    int error = 0;

    if (id->ibv.qp && id->ibv.qp->state != IBV_QPS_RTS) {
        error = move(id, IBV_QPS_RTR);
        if (!error)
            error = move(id, IBV_QPS_RTS);
    }
    return error;
}

/* Makes a channel and a completion queue, for a program that gives none. */
static int make_cq(struct ibv_context *verbs, uint32_t entries, struct rdma_cm_id *id,
    struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
    *channel = srd_create_comp_channel(verbs);
    if (!*channel)
        return errno;
    *cq = srd_create_cq(verbs, entries ? (int)entries : 1, id, *channel, 0);
    return *cq ? 0 : errno;
}

/* Destroys the id's queues and channels. The program may have set its own, one for both directions. */
static void drop_cqs(struct rdma_cm_id *id)
{
    if (id->send_cq && id->send_cq != id->recv_cq)
        srd_destroy_cq(id->send_cq);
    if (id->recv_cq)
        srd_destroy_cq(id->recv_cq);
    if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
        srd_destroy_comp_channel(id->send_cq_channel);
    if (id->recv_cq_channel)
        srd_destroy_comp_channel(id->recv_cq_channel);
    id->send_cq = id->recv_cq = NULL;
    id->send_cq_channel = id->recv_cq_channel = NULL;
}

static int make_qp(struct srd_id *id, struct ibv_qp_init_attr_ex *attr)
{
    struct rdma_cm_id *ibv = &id->ibv;
    struct ibv_pd *pd = attr->pd;
    struct ibv_qp *qp;
    int error = 0;

    if (!attr->send_cq) {
        error =
            make_cq(pd->context, attr->cap.max_send_wr, ibv, &ibv->send_cq_channel, &ibv->send_cq);
        attr->send_cq = ibv->send_cq;
    }
    if (!error && !attr->recv_cq) {
        error =
            make_cq(pd->context, attr->cap.max_recv_wr, ibv, &ibv->recv_cq_channel, &ibv->recv_cq);
        attr->recv_cq = ibv->recv_cq;
    }
    if (error)
        return error;
    if (!attr->srq)
        attr->srq = ibv->srq;
    qp = srd_create_qp_ex(pd->context, attr);
    if (!qp)
        return errno;
    ibv->qp = qp;
    error = move(id, IBV_QPS_INIT);
    if (error) {
        ibv->qp = NULL;
        srd_destroy_qp(qp);
    }
    return error;
}

int srd_create_id_qp_ex(struct rdma_cm_id *ibv, struct ibv_qp_init_attr_ex *attr)
{
    struct srd_id *id = srd_id_from(ibv);
    int error;

    if (!srd_id_enter(ibv))
        return -1;
    error = ibv->verbs && !ibv->qp ? 0 : EINVAL;
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd) {
        attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr->pd = ibv->pd;
    }
    if (!error && attr->pd->context->device != ibv->verbs->device)
        error = EINVAL;
    if (!error)
        error = make_qp(id, attr);
    if (error)
        drop_cqs(ibv);
    else
        ibv->pd = attr->pd;
    return srd_id_leave(ibv, error);
}

int srd_create_id_qp(struct rdma_cm_id *ibv, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    /* ibv_qp_init_attr_ex begins with the members of ibv_qp_init_attr, which ends in padding. */
    const size_t octets = offsetof(struct ibv_qp_init_attr_ex, comp_mask);
    struct ibv_qp_init_attr_ex extended = { .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd };
    int result;

    memcpy(&extended, attr, octets);
    result = srd_create_id_qp_ex(ibv, &extended);
    memcpy(attr, &extended, octets);
    return result;
}

void srd_destroy_id_qp(struct rdma_cm_id *ibv)
{
    struct ibv_qp *qp;

    if (!srd_id_enter(ibv))
        return;
    qp = ibv->qp;
    ibv->qp = NULL;
    lock_release(&srd_id_from(ibv)->lock);
    if (qp)
        srd_destroy_qp(qp);
    drop_cqs(ibv);
}
