/* SPDX-License-Identifier: MIT */
/*
 * device.h - the device, an open context of it, and what both share: addresses, the tables of queue
 * pairs and STags.
 *
 * A device lives as long as the process. A queue pair may be found by its number from any context
 * of its device, and a connection belongs to the device that owns its local address.
 *
 * After fork the child has the parent's objects but none of its threads: generation says which
 * process made a context; calls on an older one fail with EIO. The child may open the device anew.
 */
#ifndef SOFTRDMA_DEVICE_H
#define SOFTRDMA_DEVICE_H

#include "softrdma/evq.h"
#include "softrdma/limits.h"
#include "softrdma/process.h"
#include "softrdma/softrdma.h"
#include "softrdma/stag.h"
#include "util/list.h"
#include "util/lock.h"

#include <netinet/in.h>
#include <stdatomic.h>

struct srd_qp;

/*
 * srd_probe_memory - whether [addr, addr + length) is mapped with the wanted protection.
 * Returns 0, EFAULT, or the error of reading /proc/self/maps.
 */
int srd_probe_memory(const void *addr, size_t length, bool write);

struct srd_qp_slot {
    struct srd_qp *qp;
    uint8_t generation; /* upper octet of the 24-bit number: a stale number finds nothing */
    uint32_t next_free;
};

struct srd_device {
    struct ibv_device ibv; /* first */
    uint8_t padding[128];  /* zero: some callers look behind the public struct */
    uint64_t guid;         /* host order */
    int n_addrs;           /* 0: every address of the host */
    struct sockaddr_storage *addrs;
    struct srd_stag_table stags;
    struct lock qp_lock; /* LOCK_SRD_LOOP */
    struct srd_qp_slot *qps;
    uint32_t n_qps, free_qp;
    struct srd_context
        *_Atomic shared; /* what rdma_cm ids show as verbs; opened on first use, never closed */
    struct ibv_pd *shared_pd; /* of shared, set before it; the domain of ids that name none */
};

struct srd_context {
    struct srd_device *device;
    unsigned generation;
    atomic_uint users; /* PDs, CQs, channels */
    struct srd_evq async;
    struct list_head async_unacked;
    struct verbs_context verbs; /* its last member is the struct ibv_context programs see */
};

static inline struct srd_context *srd_context_from(struct ibv_context *context)
{
    return container_of(context, struct srd_context, verbs.context);
}

static inline struct srd_device *srd_device_of(struct ibv_context *context)
{
    return (struct srd_device *)context->device;
}

/* Whether the context came over a fork. */
static inline bool srd_stale(struct ibv_context *context)
{
    return __builtin_expect(srd_context_from(context)->generation != srd_generation, 0);
}

/* The device that owns a local address (port ignored); NULL: none of ours. */
struct srd_device *srd_device_by_addr(const struct sockaddr *addr);
/* The context that stands for the device in rdma_cm ids (NULL with errno), and its protection domain. */
struct ibv_context *srd_device_shared(struct srd_device *device, struct ibv_pd **pd);

/*
 * srd_device_add_qp - give a queue pair its 24-bit number. Returns 0 or ENOMEM (table full too).
 * srd_device_remove_qp - from here on it is not found any more.
 * srd_device_find_qp - by number, pinned (srd_qp_pin); NULL when there is none.
 */
int srd_device_add_qp(struct ibv_context *context, struct srd_qp *qp, uint32_t *qp_num);
void srd_device_remove_qp(struct ibv_context *context, uint32_t qp_num);
struct srd_qp *srd_device_find_qp(struct srd_device *device, uint32_t qp_num);

/*
 * srd_device_bind_conn - make conn the connection of a queue pair that was found: conn->qp has the caller's pin now,
 * qp->conn a reference. Returns 0, EINVAL (it was destroyed since), EISCONN.
 * srd_device_unbind_conn - take it off; the caller has the reference. NULL: there was none.
 */
struct srd_conn;
int srd_device_bind_conn(struct srd_device *device, struct srd_qp *qp, struct srd_conn *conn);
struct srd_conn *srd_device_unbind_conn(struct srd_qp *qp);

/* Users of a protection domain: regions, windows, queue pairs, shared receive queues. dealloc_pd is
 * EBUSY meanwhile. */
void srd_pd_get(struct ibv_pd *pd);
void srd_pd_put(struct ibv_pd *pd);

/* The window's entry in the STag table; only the address is computed. */
struct srd_stag_entry *srd_mw_entry(struct ibv_mw *mw);

/* context->ops: memory windows (mw.c) and completion queues (cq.c). Conventions of ibv_*. */
struct ibv_mw *srd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int srd_dealloc_mw(struct ibv_mw *mw);
int srd_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int srd_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int srd_req_notify_cq(struct ibv_cq *cq, int solicited_only);

#endif
