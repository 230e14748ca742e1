/* SPDX-License-Identifier: MIT */
/* rdmacm.c - librdmacm's names for the calls that softrdma has. refused.c has those that it lacks. */
#include "softrdma/preload/forward.h"

#include <errno.h>
#include <rdma/rdma_verbs.h>

/* A parameter list that is an argument of a macro looks like an expression to clang-format. */
/* clang-format off */

/* channels and ids */
FORWARD(
    struct rdma_event_channel *, rdma_create_event_channel, srd_create_event_channel, (void), ())
FORWARD_VOID(rdma_destroy_event_channel, srd_destroy_event_channel,
    (struct rdma_event_channel *channel), (channel))
FORWARD(int, rdma_create_id, srd_create_id,
    (struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
        enum rdma_port_space ps),
    (channel, id, context, ps))
FORWARD(int, rdma_destroy_id, srd_destroy_id, (struct rdma_cm_id *id), (id))
FORWARD(int, rdma_migrate_id, srd_migrate_id,
    (struct rdma_cm_id *id, struct rdma_event_channel *channel), (id, channel))
FORWARD(int, rdma_set_option, srd_set_option,
    (struct rdma_cm_id *id, int level, int name, void *value, size_t octets),
    (id, level, name, value, octets))
FORWARD(int, rdma_get_cm_event, srd_get_cm_event,
    (struct rdma_event_channel *channel, struct rdma_cm_event **event), (channel, event))
FORWARD(int, rdma_ack_cm_event, srd_ack_cm_event, (struct rdma_cm_event *event), (event))
FORWARD(struct ibv_context **, rdma_get_devices, srd_get_devices, (int *n), (n))
FORWARD_VOID(rdma_free_devices, srd_free_devices, (struct ibv_context **list), (list))

/* addresses */
FORWARD(
    int, rdma_bind_addr, srd_bind_addr, (struct rdma_cm_id *id, struct sockaddr *addr), (id, addr))
FORWARD(int, rdma_resolve_addr, srd_resolve_addr,
    (struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst, int timeout_ms),
    (id, src, dst, timeout_ms))
FORWARD(int, rdma_resolve_route, srd_resolve_route, (struct rdma_cm_id *id, int timeout_ms),
    (id, timeout_ms))
FORWARD(__be16, rdma_get_src_port, srd_get_src_port, (struct rdma_cm_id *id), (id))
FORWARD(__be16, rdma_get_dst_port, srd_get_dst_port, (struct rdma_cm_id *id), (id))

/* connections */
FORWARD(int, rdma_listen, srd_listen, (struct rdma_cm_id *id, int backlog), (id, backlog))
FORWARD(int, rdma_connect, srd_connect, (struct rdma_cm_id *id, struct rdma_conn_param *param),
    (id, param))
FORWARD(int, rdma_accept, srd_accept, (struct rdma_cm_id *id, struct rdma_conn_param *param),
    (id, param))
FORWARD(int, rdma_reject, srd_reject, (struct rdma_cm_id *id, const void *data, uint8_t octets),
    (id, data, octets))
FORWARD(int, rdma_establish, srd_establish, (struct rdma_cm_id *id), (id))
FORWARD(
    int, rdma_notify, srd_notify, (struct rdma_cm_id *id, enum ibv_event_type event), (id, event))
FORWARD(int, rdma_disconnect, srd_disconnect, (struct rdma_cm_id *id), (id))
FORWARD(int, rdma_get_request, srd_get_request,
    (struct rdma_cm_id *listen, struct rdma_cm_id **id), (listen, id))

/* queues on an id, endpoints */
FORWARD(int, rdma_create_qp, srd_create_id_qp,
    (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr), (id, pd, attr))
FORWARD(int, rdma_create_qp_ex, srd_create_id_qp_ex,
    (struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr), (id, attr))
FORWARD_VOID(rdma_destroy_qp, srd_destroy_id_qp, (struct rdma_cm_id *id), (id))
FORWARD(int, rdma_init_qp_attr, srd_init_qp_attr,
    (struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask), (id, attr, mask))
FORWARD(int, rdma_create_srq, srd_create_id_srq,
    (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr), (id, pd, attr))
FORWARD_VOID(rdma_destroy_srq, srd_destroy_id_srq, (struct rdma_cm_id *id), (id))
FORWARD(int, rdma_create_ep, srd_create_ep,
    (struct rdma_cm_id * *id, struct rdma_addrinfo *res, struct ibv_pd *pd,
        struct ibv_qp_init_attr *attr),
    (id, res, pd, attr))
FORWARD_VOID(rdma_destroy_ep, srd_destroy_ep, (struct rdma_cm_id *id), (id))

PRELOAD int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    struct ibv_srq_init_attr basic = { .srq_context = attr->srq_context, .attr = attr->attr };
    bool typed = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE;
    int result;

    if ((typed && attr->srq_type != IBV_SRQT_BASIC) ||
        attr->comp_mask & ~(uint32_t)(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    result =
        srd_create_id_srq(id, attr->comp_mask & IBV_SRQ_INIT_ATTR_PD ? attr->pd : NULL, &basic);
    attr->attr = basic.attr;
    return result;
}
