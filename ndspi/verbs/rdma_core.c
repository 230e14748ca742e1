/* SPDX-License-Identifier: MIT */
/*
 * The verbs table of the system's libibverbs and librdmacm. If their headers define a name as a macro or an inline
 * function, a function of ours wraps it.
 */
#include "ndspi/verbs/verbs.h"

#include "util/fork.h"

#include <errno.h>

/* Over libibverbs' own lock, which a fork in that call would leave taken in the child. */
static struct lock listing_lock = LOCK_INIT(LOCK_RDMA_CORE, "rdma-core's list of devices");

FORK_HOLDS(&listing_lock, LOCK_RDMA_CORE);

static struct ibv_device **list_devices(int *num_devices)
{
    struct ibv_device **list;
    int error;

    lock_acquire(&listing_lock);
    list = ibv_get_device_list(num_devices);
    error = errno;
    lock_release(&listing_lock);
    errno = error;
    return list;
}

static int query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr)
{
    return ibv_query_port(context, port_num, attr);
}

static struct ibv_mr *register_memory(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr(pd, addr, length, access);
}

static struct ibv_mr *register_under(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    return ibv_reg_mr_iova(pd, addr, length, iova, access);
}

static __be16 src_port(struct rdma_cm_id *id)
{
    return rdma_get_src_port(id);
}

static __be16 dst_port(struct rdma_cm_id *id)
{
    return rdma_get_dst_port(id);
}

const struct nd_verbs nd_verbs_rdma_core = {
    .name = "rdma-core",
    .get_device_list = list_devices,
    .free_device_list = ibv_free_device_list,
    .get_device_name = ibv_get_device_name,
    .get_device_guid = ibv_get_device_guid,
    .open_device = ibv_open_device,
    .close_device = ibv_close_device,
    .query_device = ibv_query_device,
    .query_port = query_port,
    .query_gid = ibv_query_gid,
    .query_pkey = ibv_query_pkey,
    .get_async_event = ibv_get_async_event,
    .ack_async_event = ibv_ack_async_event,
    .alloc_pd = ibv_alloc_pd,
    .dealloc_pd = ibv_dealloc_pd,
    .reg_mr = register_memory,
    .reg_mr_iova = register_under,
    .dereg_mr = ibv_dereg_mr,
    .create_comp_channel = ibv_create_comp_channel,
    .destroy_comp_channel = ibv_destroy_comp_channel,
    .create_cq = ibv_create_cq,
    .resize_cq = ibv_resize_cq,
    .destroy_cq = ibv_destroy_cq,
    .get_cq_event = ibv_get_cq_event,
    .ack_cq_events = ibv_ack_cq_events,
    .create_srq = ibv_create_srq,
    .modify_srq = ibv_modify_srq,
    .query_srq = ibv_query_srq,
    .destroy_srq = ibv_destroy_srq,
    .create_qp = ibv_create_qp,
    .modify_qp = ibv_modify_qp,
    .query_qp = ibv_query_qp,
    .destroy_qp = ibv_destroy_qp,
    .create_event_channel = rdma_create_event_channel,
    .destroy_event_channel = rdma_destroy_event_channel,
    .create_id = rdma_create_id,
    .destroy_id = rdma_destroy_id,
    .bind_addr = rdma_bind_addr,
    .resolve_addr = rdma_resolve_addr,
    .resolve_route = rdma_resolve_route,
    .connect = rdma_connect,
    .listen = rdma_listen,
    .accept = rdma_accept,
    .reject = rdma_reject,
    .establish = rdma_establish,
    .notify = rdma_notify,
    .disconnect = rdma_disconnect,
    .get_cm_event = rdma_get_cm_event,
    .ack_cm_event = rdma_ack_cm_event,
    .init_qp_attr = rdma_init_qp_attr,
    .migrate_id = rdma_migrate_id,
    .set_option = rdma_set_option,
    .get_src_port = src_port,
    .get_dst_port = dst_port,
};
