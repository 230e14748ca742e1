/* SPDX-License-Identifier: MIT */
/* adapter.h - the objects that others are made from: adapter and protection domain. */
#ifndef NDK_OBJECT_ADAPTER_H
#define NDK_OBJECT_ADAPTER_H

#include "ndk/object/object.h"
#include "ndk/object/tokens.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/memory/pd.h"

struct ndk_lam;

/* The mappings that NdkBuildLAM made (memory/lam.h), by their starts. */
struct ndk_lams {
    struct lock lock; /* LOCK_NDK_MEMORY: everything below */
    size_t count, room;
    struct ndk_lam_place {
        struct ndk_lam *lam;
        uint64_t start, end; /* addresses */
        uint64_t most;       /* the greatest end up to here */
    } * at;
};

/* An open device, which all adapters of it in the process share (adapter/shared.h). */
struct ndk_shared {
    struct list_node link; /* shared.c's lock: link and users */
    unsigned users;
    struct nd_adapter core;
    struct ndk_lams lams;
    bool read_sinks; /* targets of Reads need a right that the privileged token never gives */
    _Atomic uint32_t ended; /* a futex: the core's last pin is gone */
};

struct ndk_adapter {
    struct ndk_object object; /* first; never closed by ndk_object_close */
    struct ndk_root root;
    struct ndk_pool pool; /* calls the callbacks of completion queues and shared receive queues */
    struct ndk_shared *shared;
    struct nd_adapter *core; /* shared->core */
    struct nd_object pins;   /* one for the consumer, one for each object that was made from it */
    _Atomic uint32_t ended;  /* a futex: the last of these is gone */
};

/* A queue pair in its domain's list. */
struct ndk_knower {
    struct list_node link;
    struct nd_qp *qp;
};

struct ndk_pd {
    struct ndk_object object; /* first */
    struct ndk_adapter *adapter;
    struct nd_pd core;
    struct ndk_tokens tokens;
    struct lock queues_lock;        /* LOCK_NDK_QUEUES: queues */
    struct list_head queues;        /* ndk_knower.link: they forget a token that is given back */
    struct list_head registrations; /* mappings that the privileged token names; lams.lock */
};

static inline struct ndk_adapter *ndk_adapter_from(NDK_ADAPTER *adapter)
{
    return (struct ndk_adapter *)adapter;
}

static inline struct ndk_pd *ndk_pd_from(NDK_PD *pd)
{
    return (struct ndk_pd *)pd;
}

#endif
