/* SPDX-License-Identifier: MIT */
/*
 * verbs.h - the one table of verbs control calls, and its two providers.
 *
 * Every member has the signature, error convention and meaning of the libibverbs or librdmacm call of its name.
 * nd_verbs_rdma_core calls the system's libraries, nd_verbs_soft the embedded device (softrdma/softrdma.h). Data calls
 * are not here: they go through context->ops, by libibverbs' own inline functions, on both.
 *
 * The last groups have no counterpart in rdma-core, and are NULL in tables that do not need them. With one group a
 * waiting thread drives the embedded device (softrdma.h); hardware or the kernel drives others. mark_solicited, also of
 * the embedded device: from then on the completion of a Receive whose Send was solicited has ND_WC_SOLICITED in
 * wc_flags. query_path, too: the path of a connection's octets (softrdma.h); query_counters and
 * query_half_open_dropped: its counters. alloc_fast_mr and post_fast_reg are its fast registration; with keep_posted
 * the peer's orderly end flushes nothing, and the core moves the queue pair to the error state when it is told of it.
 * attempt_ended, of the shim (shim/shim.h): the attempt to connect the queue pair succeeded or failed; after a failure
 * the queue pair may have another number.
 */
#ifndef NDSPI_VERBS_VERBS_H
#define NDSPI_VERBS_VERBS_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

enum { ND_WC_SOLICITED = 1 << 30 };

struct reactor_source;

/* A fast registration: the members of struct srd_fast_reg. */
struct nd_fast_reg {
    uint64_t wr_id;
    struct ibv_mr *mr;
    const uint64_t *pages;
    uint32_t n_pages, offset;
    uint64_t length, base;
    int access;
    unsigned send_flags;
};

/* What the device has counted of a queue pair: the members of struct srd_counters. */
struct nd_wire_counts {
    uint64_t rx_octets, tx_octets, rx_frames, tx_frames;
    uint64_t rx_acks, tx_acks, rnr_waits;
    uint64_t rx_terminates, tx_terminates;
    uint32_t rx_terminate, tx_terminate;
    uint64_t retransmits;
};

/* Messages of the peer that had no Receive: other members of struct srd_counters. */
struct nd_rnr {
    uint64_t waits;
    bool now, ended;
    uint64_t messages; /* messages of the peer that have come, with a Receive or without */
};

struct nd_verbs {
    const char *name;
    bool absent; /* its libraries were left out of the build (NDSPI_RDMA_CORE) */

    struct ibv_device **(*get_device_list)(int *num_devices);
    void (*free_device_list)(struct ibv_device **list);
    const char *(*get_device_name)(struct ibv_device *device);
    __be64 (*get_device_guid)(struct ibv_device *device);
    struct ibv_context *(*open_device)(struct ibv_device *device);
    int (*close_device)(struct ibv_context *context);
    int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
    int (*query_port)(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);
    int (*query_gid)(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
    int (*query_pkey)(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
    int (*get_async_event)(struct ibv_context *context, struct ibv_async_event *event);
    void (*ack_async_event)(struct ibv_async_event *event);

    struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
    int (*dealloc_pd)(struct ibv_pd *pd);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access);
    /* NULL: the device cannot */
    struct ibv_mr *(*reg_mr_iova)(
        struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access);
    int (*dereg_mr)(struct ibv_mr *mr);

    struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
    int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
    struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context,
        struct ibv_comp_channel *channel, int comp_vector);
    int (*resize_cq)(struct ibv_cq *cq, int cqe);
    int (*destroy_cq)(struct ibv_cq *cq);
    int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
    void (*ack_cq_events)(struct ibv_cq *cq, unsigned int nevents);

    struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
    int (*modify_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
    int (*query_srq)(struct ibv_srq *srq, struct ibv_srq_attr *attr);
    int (*destroy_srq)(struct ibv_srq *srq);
    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
    int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
        struct ibv_qp_init_attr *init_attr);
    int (*destroy_qp)(struct ibv_qp *qp);

    struct rdma_event_channel *(*create_event_channel)(void);
    void (*destroy_event_channel)(struct rdma_event_channel *channel);
    int (*create_id)(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
        enum rdma_port_space ps);
    int (*destroy_id)(struct rdma_cm_id *id);
    int (*bind_addr)(struct rdma_cm_id *id, struct sockaddr *addr);
    int (*resolve_addr)(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
        int timeout_ms);
    int (*resolve_route)(struct rdma_cm_id *id, int timeout_ms);
    int (*connect)(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
    int (*listen)(struct rdma_cm_id *id, int backlog);
    int (*accept)(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
    int (*reject)(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
    int (*establish)(struct rdma_cm_id *id);
    int (*notify)(struct rdma_cm_id *id, enum ibv_event_type event);
    int (*disconnect)(struct rdma_cm_id *id);
    int (*get_cm_event)(struct rdma_event_channel *channel, struct rdma_cm_event **event);
    int (*ack_cm_event)(struct rdma_cm_event *event);
    int (*init_qp_attr)(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *attr_mask);
    int (*migrate_id)(struct rdma_cm_id *id, struct rdma_event_channel *channel);
    int (*set_option)(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);
    __be16 (*get_src_port)(struct rdma_cm_id *id);
    __be16 (*get_dst_port)(struct rdma_cm_id *id);

    void (*progress_attach)(struct ibv_comp_channel *channel, struct reactor_source *source);
    void (*progress_leave)(struct ibv_cq *cq);

    void (*mark_solicited)(struct ibv_cq *cq);
    const char *(*query_path)(struct ibv_qp *qp);
    void (*keep_posted)(struct ibv_qp *qp);
    /* rnr out: may be NULL */
    void (*query_counters)(struct ibv_qp *qp, struct nd_wire_counts *counts, struct nd_rnr *rnr);
    uint64_t (*query_half_open_dropped)(struct ibv_context *context);

    struct ibv_mr *(*alloc_fast_mr)(struct ibv_pd *pd, uint32_t max_pages);
    int (*post_fast_reg)(struct ibv_qp *qp, const struct nd_fast_reg *reg);

    void (*attempt_ended)(struct ibv_qp *qp, bool connected);
};

extern const struct nd_verbs nd_verbs_rdma_core;
extern const struct nd_verbs nd_verbs_soft;

#endif
