/* SPDX-License-Identifier: MIT */
/*
 * refused.c - calls of libibverbs and librdmacm for what an iWARP device in user space cannot do: datagrams and
 * multicast, vendors' extensions, objects of other processes. They fail as rdma-core's calls do for a provider without
 * the operation: EOPNOTSUPP. libibverbs' own functions would read beyond the public structs of our objects.
 */
#include "softrdma/preload/forward.h"

#include <errno.h>
#include <string.h>

/* A parameter list that is an argument of a macro looks like an expression to clang-format. */
/* clang-format off */

#define REFUSED(name, params)                                                                      \
    PRELOAD int name params                                                                        \
    {                                                                                              \
        return errno = EOPNOTSUPP;                                                                 \
    }

#define REFUSED_ERRNO(type, name, result, params)                                                  \
    PRELOAD type name params                                                                       \
    {                                                                                              \
        errno = EOPNOTSUPP;                                                                        \
        return result;                                                                             \
    }

#define UNUSED __attribute__((unused))

/* datagrams, multicast */
REFUSED_ERRNO(struct ibv_ah *, ibv_create_ah, NULL,
    (struct ibv_pd *pd UNUSED, struct ibv_ah_attr *attr UNUSED))
REFUSED_ERRNO(struct ibv_ah *, ibv_create_ah_from_wc, NULL,
    (struct ibv_pd *pd UNUSED, struct ibv_wc *wc UNUSED, struct ibv_grh *grh UNUSED,
        uint8_t port_num UNUSED))
REFUSED_ERRNO(int, ibv_init_ah_from_wc, -1,
    (struct ibv_context *context UNUSED, uint8_t port_num UNUSED, struct ibv_wc *wc UNUSED,
        struct ibv_grh *grh UNUSED, struct ibv_ah_attr *attr UNUSED))
REFUSED(ibv_destroy_ah, (struct ibv_ah *ah UNUSED))
REFUSED(ibv_attach_mcast,
    (struct ibv_qp *qp UNUSED, const union ibv_gid *gid UNUSED, uint16_t lid UNUSED))
REFUSED(ibv_detach_mcast,
    (struct ibv_qp *qp UNUSED, const union ibv_gid *gid UNUSED, uint16_t lid UNUSED))
REFUSED_ERRNO(int, ibv_resolve_eth_l2_from_gid, -1,
    (struct ibv_context *context UNUSED, struct ibv_ah_attr *attr UNUSED,
        uint8_t mac[ETHERNET_LL_SIZE] UNUSED, uint16_t *vid UNUSED))
REFUSED_ERRNO(int, rdma_join_multicast, -1,
    (struct rdma_cm_id *id UNUSED, struct sockaddr *addr UNUSED, void *context UNUSED))
REFUSED_ERRNO(int, rdma_join_multicast_ex, -1,
    (struct rdma_cm_id *id UNUSED, struct rdma_cm_join_mc_attr_ex *attr UNUSED,
        void *context UNUSED))
REFUSED_ERRNO(
    int, rdma_leave_multicast, -1, (struct rdma_cm_id *id UNUSED, struct sockaddr *addr UNUSED))

/* memory that this process does not map, and regions that change */
REFUSED_ERRNO(struct ibv_mr *, ibv_reg_dmabuf_mr, NULL,
    (struct ibv_pd *pd UNUSED, uint64_t offset UNUSED, size_t length UNUSED, uint64_t iova UNUSED,
        int fd UNUSED, int access UNUSED))
REFUSED_ERRNO(int, ibv_rereg_mr, IBV_REREG_MR_ERR_CMD,
    (struct ibv_mr *mr UNUSED, int flags UNUSED, struct ibv_pd *pd UNUSED, void *addr UNUSED,
        size_t length UNUSED, int access UNUSED))

/* objects of another process */
REFUSED_ERRNO(struct ibv_context *, ibv_import_device, NULL, (int cmd_fd UNUSED))
REFUSED_ERRNO(struct ibv_pd *, ibv_import_pd, NULL,
    (struct ibv_context *context UNUSED, uint32_t handle UNUSED))
REFUSED_ERRNO(
    struct ibv_mr *, ibv_import_mr, NULL, (struct ibv_pd *pd UNUSED, uint32_t handle UNUSED))
REFUSED_ERRNO(struct ibv_dm *, ibv_import_dm, NULL,
    (struct ibv_context *context UNUSED, uint32_t handle UNUSED))

/* vendors' options of a connection */
REFUSED(ibv_query_ece, (struct ibv_qp *qp UNUSED, struct ibv_ece *ece UNUSED))
REFUSED(ibv_set_ece, (struct ibv_qp *qp UNUSED, struct ibv_ece *ece UNUSED))
REFUSED_ERRNO(
    int, rdma_set_local_ece, -1, (struct rdma_cm_id *id UNUSED, struct ibv_ece *ece UNUSED))

/* Returns vendor 0, which means that the peer has sent no options. */
PRELOAD int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    (void)id;
    memset(ece, 0, sizeof(*ece));
    return 0;
}

FORWARD(int, rdma_reject_ece, srd_reject,
    (struct rdma_cm_id *id, const void *data, uint8_t octets), (id, data, octets))

/* Promises no order beyond that of ibv_post_send: the last octet of a message comes last. */
PRELOAD int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp, (void)op, (void)flags;
    return 0;
}
