/* SPDX-License-Identifier: MIT */
/*
 * softrdma.h - an RDMA device in user space: iWARP (RFC 5040, 5041, 5044, 6581) over TCP sockets.
 *
 * It uses the data structures of libibverbs and librdmacm. Each call below has the signature, the error convention and
 * the semantics of the call of the same name there: srd_create_qp is ibv_create_qp, srd_connect is rdma_connect, and
 * srd_create_id_qp is rdma_create_qp. What differs is said at the call. Data calls (post_send, post_recv,
 * post_srq_recv, poll_cq, req_notify_cq, alloc_mw, dealloc_mw, bind_mw) go through context->ops as always, with
 * libibverbs' own inline functions.
 *
 * Never hand one of these objects to an exported function of libibverbs or librdmacm: those look behind the public
 * structs.
 *
 * Threads: any thread may make any call. No call blocks longer than its counterpart.
 * Environment: NDSPI_SOFT_DEVICES="name=addr[,addr...][;name=...]" makes several devices; without it there is one,
 * softrdma0, with every address of the host. See docs/environment.md.
 */
#ifndef SOFTRDMA_H
#define SOFTRDMA_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SRD_API __attribute__((visibility("default")))

/* The verbs.h of rdma-core defines some of these names as macros over ABI helpers; ours are plain functions. */

/* device */
SRD_API struct ibv_device **srd_get_device_list(int *num_devices);
SRD_API void srd_free_device_list(struct ibv_device **list);
SRD_API const char *srd_get_device_name(struct ibv_device *device);
SRD_API __be64 srd_get_device_guid(struct ibv_device *device);
SRD_API struct ibv_context *srd_open_device(struct ibv_device *device);
SRD_API int srd_close_device(struct ibv_context *context);
SRD_API int srd_query_device(struct ibv_context *context, struct ibv_device_attr *attr);
SRD_API int srd_query_port(
    struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *attr);
SRD_API int srd_query_gid(
    struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
/* Returns 0; EINVAL; ENODATA: behind the last. */
SRD_API int srd_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
    struct ibv_gid_entry *entry, uint32_t flags, size_t entry_octets);
/* Returns the number of entries, or a negative errno. */
SRD_API ssize_t srd_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
    size_t max_entries, uint32_t flags, size_t entry_octets);
SRD_API int srd_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey);
SRD_API int srd_get_async_event(struct ibv_context *context, struct ibv_async_event *event);
SRD_API void srd_ack_async_event(struct ibv_async_event *event);

/* memory */
SRD_API struct ibv_pd *srd_alloc_pd(struct ibv_context *context);
SRD_API int srd_dealloc_pd(struct ibv_pd *pd);
SRD_API struct ibv_mr *srd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
SRD_API int srd_dereg_mr(struct ibv_mr *mr);

/*
 * Fast registration: libibverbs has no call for it (the kernel has ib_alloc_mr and IB_WR_REG_MR).
 */
enum {
    SRD_FAST_PAGE_OCTETS = 4096,
    SRD_MAX_FAST_PAGES = 4096,
    SRD_WC_FAST_REG = IBV_WC_DRIVER1, /* opcode of a fast registration's completion */
};

/* A request of srd_post_fast_reg. */
struct srd_fast_reg {
    uint64_t wr_id;
    struct ibv_mr *mr;
    const uint64_t *pages; /* addresses, multiples of SRD_FAST_PAGE_OCTETS; read during the call */
    uint32_t n_pages;
    uint32_t offset; /* offset of the first octet in the first page */
    uint64_t length; /* octets */
    uint64_t base;   /* address of the first octet for requests and peers: any */
    int access; /* IBV_ACCESS_LOCAL_WRITE, _REMOTE_READ, _REMOTE_WRITE (which needs local write) */
    unsigned send_flags;
};

/*
 * srd_alloc_fast_mr - a region for fast registration, which reaches nothing yet. Its memory is given by a request in
 * the send queue, page by page, and taken back by IBV_WR_LOCAL_INV or the peer's Send with Invalidate, any number of
 * times. Its lkey and rkey are the same and stay so for its life. Every queue pair of its domain may register, use and
 * invalidate it. srd_dereg_mr frees it in any state.
 * max_pages  in: pages it has room for, at most SRD_MAX_FAST_PAGES
 * Returns the region; NULL: it failed, with one of these as errno; EINVAL: no pages, or too many; ENOMEM; EIO: the
 * process has forked.
 */
SRD_API struct ibv_mr *srd_alloc_fast_mr(struct ibv_pd *pd, uint32_t max_pages);

/*
 * srd_post_fast_reg - posts a request that registers memory with such a region.
 * reg  in: read during the call, with its pages
 *
 * Addresses from base on name the octets of the pages in their order, and work as in a region of srd_reg_mr. No window
 * can be bound over it. The peer may invalidate it if it has remote rights. IBV_SEND_FENCE and IBV_SEND_SIGNALED count.
 * Returns 0; EINVAL: no region of srd_alloc_fast_mr, more pages than it has room for, not the state to send; ENOMEM;
 * EIO. Everything else is checked in the request's turn, and fails with IBV_WC_MW_BIND_ERR: the region's domain; that
 * it is not registered; pages, offset, length, base and access. Whether the memory exists is not checked: accesses fail
 * if it does not, as they do where memory was unmapped.
 */
SRD_API int srd_post_fast_reg(struct ibv_qp *qp, const struct srd_fast_reg *reg);

/* completion */
SRD_API struct ibv_comp_channel *srd_create_comp_channel(struct ibv_context *context);
SRD_API int srd_destroy_comp_channel(struct ibv_comp_channel *channel);
SRD_API struct ibv_cq *srd_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector);
SRD_API int srd_resize_cq(struct ibv_cq *cq, int cqe);
SRD_API int srd_destroy_cq(struct ibv_cq *cq);
SRD_API int srd_get_cq_event(
    struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
SRD_API void srd_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);
enum { SRD_WC_SOLICITED = 1 << 30 };
/*
 * srd_mark_solicited - from now on a Receive's successful completion in this queue has SRD_WC_SOLICITED in wc_flags if
 * its Send was solicited. libibverbs does not know that bit, so it is off by default. Call it before the first
 * completion.
 */
SRD_API void srd_mark_solicited(struct ibv_cq *cq);

/* queues */
SRD_API struct ibv_srq *srd_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
SRD_API int srd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask);
SRD_API int srd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
SRD_API int srd_destroy_srq(struct ibv_srq *srq);
SRD_API struct ibv_qp *srd_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
/*
 * srd_create_exchange_qp - a queue pair that a program connects out of band, without ids, as InfiniBand programs do.
 * The parameters are those of ibv_create_qp. Each end tells the other its qp_num and a GID of its device, and names the
 * peer's with ibv_modify_qp to RTR (ah_attr.grh.dgid, grh.sgid_index, dest_qp_num, rq_psn). It works between
 * softrdma ends alone; docs/softrdma.md has what follows from TCP. srd_create_qp makes queue pairs for ids, whose
 * numbers have no meaning; the number of one of these is a TCP port and 8 bits more. For the first of each 256 the
 * process binds a port, on which it listens from the first move to RTR that names a peer until the last of them is
 * destroyed.
 * Returns the queue pair; NULL: it failed, with an errno of ibv_create_qp or one of these; EMFILE: no descriptor is
 * left; EADDRINUSE: no port is left.
 */
SRD_API struct ibv_qp *srd_create_exchange_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
/*
 * srd_create_exchange_qp_ex - srd_create_exchange_qp with the parameters of ibv_create_qp_ex. Returns as
 * srd_create_exchange_qp.
 */
SRD_API struct ibv_qp *srd_create_exchange_qp_ex(
    struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
/* Returns the same queue pair; NULL: it was not made by srd_create_id_qp_ex or ibv_create_qp_ex with send_ops_flags. */
SRD_API struct ibv_qp_ex *srd_qp_to_qp_ex(struct ibv_qp *qp);
SRD_API int srd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
SRD_API int srd_query_qp(
    struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr);
/*
 * srd_query_path - how the octets of a queue pair's connection go. The text is never freed.
 * Returns "shm": through memory that both ends share; "tcp": through the socket; NULL: it has no connection, or that
 * has not begun or has ended.
 */
SRD_API const char *srd_query_path(struct ibv_qp *qp);
/*
 * srd_keep_posted - from now on the peer's orderly end of a connection flushes nothing: DISCONNECTED is reported, the
 * queue pair stays in RTS and takes requests, none of which can be done any more. They end when it is moved to the
 * error state, reset or destroyed. An end is orderly if it is a FIN between messages. All others flush as ever: a
 * reset, a FIN within a message, a Terminate, a failed request, and srd_disconnect of a connection that is up. The call
 * is for an owner that flushes by itself when the end is reported; verbs' programs expect a flush.
 */
SRD_API void srd_keep_posted(struct ibv_qp *qp);

/*
 * What a queue pair has counted since it was made, over all its connections. Octets are those of the stream from the
 * first FPDU on, with headers, pads and CRCs; a retransmission of TCP counts in tcp_retransmits alone, in segments.
 */
struct srd_counters {
    uint64_t rx_octets, tx_octets, rx_fpdus, tx_fpdus;
    uint64_t rx_acks, tx_acks; /* softrdma's own acknowledgements (docs/wire.md) */
    uint64_t rnr_waits;        /* messages of the peer's that waited for a Receive */
    uint64_t rx_terminates, tx_terminates;
    uint32_t rx_terminate, tx_terminate; /* the last: layer << 12 | type << 8 | code */
    uint64_t tcp_retransmits;
    uint32_t rnr_now; /* 1: one of the peer's messages waits for a Receive now */
    /* 1: a message waited in vain and ended the last connection, which the peer had not closed */
    uint32_t rnr_ended;
    /* Sends, Writes, Reads and Atomics of the peer's on this connection; no RTR */
    uint64_t rx_messages;
};
/*
 * srd_query_counters - what a queue pair has counted. Takes the locks of both sides of the connection for a moment. No
 * thread may be destroying the queue pair.
 * counters  out: what the library does not know is 0, as everything is in a forked child
 * octets    in: of counters, as the caller knows the struct
 */
SRD_API void srd_query_counters(struct ibv_qp *qp, struct srd_counters *counters, size_t octets);
/*
 * srd_query_half_open_dropped - how many connections to the device's listeners in this process were closed because they
 * sent no request, and there were too many. Returns their number.
 */
SRD_API uint64_t srd_query_half_open_dropped(struct ibv_context *context);
SRD_API int srd_destroy_qp(struct ibv_qp *qp);

/* connection manager */
SRD_API struct rdma_event_channel *srd_create_event_channel(void);
SRD_API void srd_destroy_event_channel(struct rdma_event_channel *channel);
SRD_API int srd_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space ps);
SRD_API int srd_destroy_id(struct rdma_cm_id *id);
SRD_API int srd_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr);
SRD_API int srd_resolve_addr(
    struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms);
SRD_API int srd_resolve_route(struct rdma_cm_id *id, int timeout_ms);
SRD_API int srd_create_id_qp(
    struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
SRD_API int srd_create_id_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr);
SRD_API void srd_destroy_id_qp(struct rdma_cm_id *id);
SRD_API int srd_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
SRD_API int srd_listen(struct rdma_cm_id *id, int backlog);
SRD_API int srd_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param);
SRD_API int srd_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len);
SRD_API int srd_establish(struct rdma_cm_id *id);
SRD_API int srd_notify(struct rdma_cm_id *id, enum ibv_event_type event);
SRD_API int srd_disconnect(struct rdma_cm_id *id);
SRD_API int srd_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
SRD_API int srd_ack_cm_event(struct rdma_cm_event *event);
SRD_API int srd_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *attr_mask);
/* An id made or migrated with channel NULL is synchronous, as with rdma_create_id. */
SRD_API int srd_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel);
SRD_API int srd_set_option(
    struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen);
SRD_API __be16 srd_get_src_port(struct rdma_cm_id *id);
SRD_API __be16 srd_get_dst_port(struct rdma_cm_id *id);
SRD_API struct ibv_context **srd_get_devices(int *num_devices);
SRD_API void srd_free_devices(struct ibv_context **list);
SRD_API int srd_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *attr);
SRD_API void srd_destroy_ep(struct rdma_cm_id *id);
SRD_API int srd_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id);
SRD_API int srd_create_id_srq(
    struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
SRD_API void srd_destroy_id_srq(struct rdma_cm_id *id);

/*
 * Progress. The program's threads drive the device inside these calls: poll_cq, post_send, the blocking
 * srd_get_cq_event and srd_get_cm_event. Otherwise the library's background thread does. The calls below are for
 * libraries of this project, which wait in the reactor themselves (reactor/reactor.h).
 */
struct reactor_source;

/*
 * srd_progress_attach - from now on (source NULL: no longer) events of the channel schedule source (reactor_run); they
 * neither make its descriptor readable nor wake blocked threads. run takes one event; while there are more the reactor
 * calls it again.
 */
SRD_API void srd_progress_attach(struct ibv_comp_channel *channel, struct reactor_source *source);
/*
 * srd_progress_leave - the calling thread goes to sleep somewhere else, with this queue armed: where it polled the
 * queue, the background thread takes over at once, not only after a while without polls.
 */
SRD_API void srd_progress_leave(struct ibv_cq *cq);

#ifdef __cplusplus
}
#endif
#endif
