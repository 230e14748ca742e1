/* SPDX-License-Identifier: MIT */
/* verbs.c - libibverbs' names for the calls that softrdma has. refused.c has those that it lacks. */
#include "softrdma/preload/forward.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* verbs.h defines macros around the functions of these names. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/* A parameter list that is an argument of a macro looks like an expression to clang-format. */
/* clang-format off */

/* The oldest caller's struct ibv_port_attr ends here (verbs.h: struct _compat_ibv_port_attr). */
enum { COMPAT_PORT_OCTETS = offsetof(struct ibv_port_attr, port_cap_flags2) };

/* device */
FORWARD(struct ibv_device **, ibv_get_device_list, srd_get_device_list, (int *n), (n))
FORWARD_VOID(ibv_free_device_list, srd_free_device_list, (struct ibv_device **list), (list))
FORWARD(
    const char *, ibv_get_device_name, srd_get_device_name, (struct ibv_device *device), (device))
FORWARD(__be64, ibv_get_device_guid, srd_get_device_guid, (struct ibv_device *device), (device))
FORWARD(int, ibv_close_device, srd_close_device, (struct ibv_context *context), (context))
FORWARD(int, ibv_query_device, srd_query_device,
    (struct ibv_context *context, struct ibv_device_attr *attr), (context, attr))
FORWARD(int, ibv_query_gid, srd_query_gid,
    (struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid),
    (context, port, index, gid))
FORWARD(int, ibv_query_pkey, srd_query_pkey,
    (struct ibv_context *context, uint8_t port, int index, __be16 *pkey),
    (context, port, index, pkey))
FORWARD(int, ibv_get_async_event, srd_get_async_event,
    (struct ibv_context *context, struct ibv_async_event *event), (context, event))
FORWARD_VOID(ibv_ack_async_event, srd_ack_async_event, (struct ibv_async_event *event), (event))

/*
 * Cards make small queues larger, and programs rely on that: ib_send_lat -e asks for one entry, polls once for a Send's
 * completion, and posts the next Send even if the completion has not come yet.
 */
static uint32_t enough_entries(uint32_t cqe)
{
    enum { CQE_LEAST = 16 };

    return cqe > 0 && cqe < CQE_LEAST ? CQE_LEAST : cqe;
}

/* softrdma's own function, the same for each context. */
static struct ibv_cq_ex *(*_Atomic create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);

static struct ibv_cq_ex *create_larger_cq_ex(
    struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    struct ibv_cq_init_attr_ex larger = *attr;

    larger.cqe = enough_entries(attr->cqe);
    return create_cq_ex(context, &larger);
}

PRELOAD struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct ibv_context *context = srd_open_device(device);
    struct verbs_context *verbs = context ? verbs_get_ctx(context) : NULL;

    if (verbs) { /* ibv_create_qp_ex and ibv_create_cq_ex are inline functions that call these */
        create_cq_ex = verbs->create_cq_ex;
        verbs->create_cq_ex = create_larger_cq_ex;
        verbs->create_qp_ex = srd_create_exchange_qp_ex;
    }
    return context;
}

/* The device is not one of the kernel, so it has no index (ibv_get_device_index(3)). */
PRELOAD int ibv_get_device_index(struct ibv_device *device)
{
    (void)device;
    return -1;
}

PRELOAD int ibv_query_port(
    struct ibv_context *context, uint8_t port_num, struct _compat_ibv_port_attr *attr)
{
    struct ibv_port_attr full;
    int error = srd_query_port(context, port_num, &full);

    if (!error)
        memcpy(attr, &full, COMPAT_PORT_OCTETS);
    return error;
}

PRELOAD int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
    __be16 own;

    if (srd_query_pkey(context, port_num, 0, &own))
        return -1;
    if (own == pkey)
        return 0;
    errno = ENOENT;
    return -1;
}

FORWARD(int, _ibv_query_gid_ex, srd_query_gid_ex,
    (struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
        uint32_t flags, size_t octets),
    (context, port, index, entry, flags, octets))
FORWARD(ssize_t, _ibv_query_gid_table, srd_query_gid_table,
    (struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
        size_t octets),
    (context, entries, max, flags, octets))

/* rdma-core's private call, which its ibv_devinfo uses; enum ibv_gid_type_sysfs is in no public header. */
int ibv_query_gid_type(struct ibv_context *, uint8_t, unsigned, unsigned *);
PRELOAD int ibv_query_gid_type(
    struct ibv_context *context, uint8_t port_num, unsigned index, unsigned *type)
{
    union ibv_gid gid;

    *type = 0; /* IBV_GID_TYPE_SYSFS_IB_ROCE_V1, as iWARP devices of the kernel */
    return srd_query_gid(context, port_num, (int)index, &gid);
}

/* memory */
FORWARD(struct ibv_pd *, ibv_alloc_pd, srd_alloc_pd, (struct ibv_context *context), (context))
FORWARD(int, ibv_dealloc_pd, srd_dealloc_pd, (struct ibv_pd *pd), (pd))
FORWARD(struct ibv_mr *, ibv_reg_mr, srd_reg_mr,
    (struct ibv_pd *pd, void *addr, size_t length, int access), (pd, addr, length, access))
FORWARD(int, ibv_dereg_mr, srd_dereg_mr, (struct ibv_mr *mr), (mr))

/* Fails unless iova is the address, by which alone the device names memory. */
PRELOAD struct ibv_mr *ibv_reg_mr_iova2(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
    if (iova != (uintptr_t)addr) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return srd_reg_mr(pd, addr, length, (int)access);
}

PRELOAD struct ibv_mr *ibv_reg_mr_iova(
    struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned int)access);
}

/* completion */
FORWARD(struct ibv_comp_channel *, ibv_create_comp_channel, srd_create_comp_channel,
    (struct ibv_context *context), (context))
FORWARD(int, ibv_destroy_comp_channel, srd_destroy_comp_channel,
    (struct ibv_comp_channel *channel), (channel))

PRELOAD struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *arg,
    struct ibv_comp_channel *channel, int vector)
{
    return srd_create_cq(
        context, cqe > 0 ? (int)enough_entries((uint32_t)cqe) : cqe, arg, channel, vector);
}

FORWARD(int, ibv_resize_cq, srd_resize_cq, (struct ibv_cq *cq, int cqe), (cq, cqe))
FORWARD(int, ibv_destroy_cq, srd_destroy_cq, (struct ibv_cq *cq), (cq))
FORWARD(int, ibv_get_cq_event, srd_get_cq_event,
    (struct ibv_comp_channel *channel, struct ibv_cq **cq, void **arg), (channel, cq, arg))
FORWARD_VOID(ibv_ack_cq_events, srd_ack_cq_events, (struct ibv_cq *cq, unsigned int n), (cq, n))

/* queues */
FORWARD(struct ibv_srq *, ibv_create_srq, srd_create_srq,
    (struct ibv_pd *pd, struct ibv_srq_init_attr *attr), (pd, attr))
FORWARD(int, ibv_modify_srq, srd_modify_srq,
    (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), (srq, attr, mask))
FORWARD(int, ibv_query_srq, srd_query_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr),
    (srq, attr))
FORWARD(int, ibv_destroy_srq, srd_destroy_srq, (struct ibv_srq *srq), (srq))
FORWARD(struct ibv_qp *, ibv_create_qp, srd_create_exchange_qp,
    (struct ibv_pd *pd, struct ibv_qp_init_attr *attr), (pd, attr))
FORWARD(struct ibv_qp_ex *, ibv_qp_to_qp_ex, srd_qp_to_qp_ex, (struct ibv_qp *qp), (qp))
FORWARD(int, ibv_modify_qp, srd_modify_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask),
    (qp, attr, mask))
FORWARD(int, ibv_query_qp, srd_query_qp,
    (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
    (qp, attr, mask, init))
FORWARD(int, ibv_destroy_qp, srd_destroy_qp, (struct ibv_qp *qp), (qp))
