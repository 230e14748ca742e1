/* SPDX-License-Identifier: MIT */
/*
 * context.h - the device, an open context of it, and what its contexts share: addresses, the tables of queue pairs and
 * STags.
 *
 * A device lives as long as the process. A queue pair can be found by its number from any context of its device, and a
 * connection belongs to the device that owns its local address.
 *
 * After fork the child has the parent's objects but none of its threads: generation says which process made a context;
 * calls on a parent's context fail with EIO. The child may open the device anew.
 */
#ifndef SOFTRDMA_CONTEXT_CONTEXT_H
#define SOFTRDMA_CONTEXT_CONTEXT_H

#include "softrdma/context/evq.h"
#include "softrdma/limits.h"
#include "softrdma/process.h"
#include "softrdma/softrdma.h"
#include "util/list.h"
#include "util/lock.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>

/* Returns error, and sets errno to it: verbs return "0 on success, or the value of errno on failure". */
static inline int srd_errno(int error)
{
    if (error)
        errno = error;
    return error;
}

struct srd_qp;
struct srd_stag_entry;

enum { SRD_STAG_GONE_KEYS = 64 };

/* The table in which stag.h finds the entry of a key. */
struct srd_stag_table {
    struct lock lock; /* LOCK_SRD_MEMORY */
    struct srd_stag_entry **buckets;
    uint32_t mask, count;
    struct list_head bound; /* the windows that are bound */
    struct srd_stag_entry *unused;
    /* the keys removed last, so that the log can tell a token that was valid once from one that never was */
    uint32_t gone[SRD_STAG_GONE_KEYS], n_gone;
};

struct srd_qp_slot {
    struct srd_qp *qp;
    uint8_t generation; /* the 7 bits of a number above the slot's: a stale number finds nothing */
    uint32_t next_free;
};

/* Numbers that name a TCP port: the port's 16 bits, of which the highest is set, and an 8-bit counter. */
enum { SRD_QP_PORT_QPS = 256, SRD_QP_PORT_MIN = 1 << 15 };
struct srd_qp_port {
    struct srd_qp_port *next;
    uint16_t number; /* host order */
    uint16_t users;  /* number of queue pairs that have not left the port */
    uint8_t at;      /* index at which the search for a free number begins */
    struct srd_qp *qps[SRD_QP_PORT_QPS];
};

struct srd_device {
    struct ibv_device ibv; /* must be first */
    uint8_t padding[128];  /* zero: some callers read beyond the public struct */
    uint64_t guid;         /* host order */
    bool strict; /* NDSPI_STRICT: refuse what any device family of docs/devices.md refuses */
    int n_addrs; /* 0: every address of the host */
    struct sockaddr_storage *addrs;
    struct srd_stag_table stags;
    struct lock qp_lock; /* LOCK_SRD_DEVICE */
    struct srd_qp_slot *qps;
    uint32_t n_qps;
    /* ends of the list of free slots: the slot that was freed first is used first */
    uint32_t free_qp, last_free_qp;
    struct srd_qp_port *ports;
    /* the context that rdma_cm ids have as verbs; opened on first use, never closed */
    struct srd_context *_Atomic shared;
    _Atomic uint64_t half_open_dropped; /* number of connections that sent nothing: cm/listen.c */
    struct ibv_pd *shared_pd; /* shared's domain for ids that name none; set before shared */
};

struct srd_context {
    struct srd_device *device;
    unsigned generation;
    atomic_uint users; /* number of PDs, CQs and channels */
    struct srd_evq async;
    struct list_head async_unacked;
    struct verbs_context verbs; /* its last member is the struct ibv_context that programs have */
};

static inline struct srd_context *srd_context_from(struct ibv_context *context)
{
    return container_of(context, struct srd_context, verbs.context);
}

static inline struct srd_device *srd_device_of(struct ibv_context *context)
{
    return (struct srd_device *)context->device;
}

/* Whether another process, a parent, made the context. */
static inline bool srd_stale(struct ibv_context *context)
{
    return __builtin_expect(srd_context_from(context)->generation != srd_generation, 0);
}

#endif
