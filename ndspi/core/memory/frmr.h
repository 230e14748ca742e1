/* SPDX-License-Identifier: MIT */
/*
 * frmr.h - fast region: pages of the program's memory under one key for life. Requests register them on a queue pair
 * and invalidate them (core/queue/fast_register.c); a peer's Send with invalidation does that, too.
 *
 *   EMPTY --allocate--> FREE --FastRegister posted--> REGISTERED --Invalidate posted, or the peer's reported--> FREE
 *
 * The states follow the posts, because a client may go on posting without waiting. After the first failed request of a
 * region all later ones fail too, since their queue pair is in the error state: the first failure tells what the device
 * has (after a failed FastRegister nothing; after a flushed Invalidate what was registered), the later ones tell
 * nothing more. So each request gets a number, its record keeps that and the key, and a completion finds the region by
 * the key: one that was closed meanwhile is not found.
 *
 * The device registers pages itself (ND_FAST_DEVICE), or each FastRegister makes a registration, the backing, under the
 * address asked for and binds the region's window over it (ND_FAST_WINDOWS): then the pages have to follow each other;
 * the region belongs to the queue pair that it is registered on, and dies with it. A backing is freed when the
 * Invalidate has succeeded, or a Receive reports the peer's.
 *
 * All of it belongs to the adapter's memory lock; the keys are read without it.
 */
#ifndef NDSPI_CORE_MEMORY_FRMR_H
#define NDSPI_CORE_MEMORY_FRMR_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include <infiniband/verbs.h>

struct nd_adapter;
struct nd_backing;
struct nd_qp; /* belongs to a layer above; only compared here */

enum nd_frmr_state {
    ND_FRMR_EMPTY,
    ND_FRMR_FREE,
    ND_FRMR_REGISTERED,
    ND_FRMR_DEAD, /* window destroyed with its queue pair; device state unknown; or closed */
};

struct nd_frmr {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct ibv_pd *pd;
    uint32_t max_pages;
    bool remote; /* peers may have rights */
    enum nd_frmr_state state;
    atomic_uint key;            /* 0: not allocated */
    atomic_uint lkey;           /* 0: it is not registered */
    struct ibv_mr *ibv;         /* ND_FAST_DEVICE */
    struct ibv_mw *window;      /* ND_FAST_WINDOWS */
    struct nd_backing *backing; /* ND_FAST_WINDOWS: the registration under the window; NULL: none */
    struct nd_backing *released; /* released by Invalidates that have not succeeded yet */
    struct nd_qp *qp;            /* the queue pair that it was registered on last */
    uint64_t posted;             /* number of its last request */
    uint64_t failed;             /* all requests up to this number have failed, or will */
    uint64_t taken_back;         /* number of the Invalidate that the peer's overtook */
    struct nd_frmr *next;        /* nd_adapter.frmrs */
};

/* What a FastRegister asks for. */
struct nd_pages {
    const uint64_t *addresses; /* addresses of pages of ND_PAGE_OCTETS; read during the call */
    uint32_t count;
    uint32_t offset; /* where the first byte is in the first page */
    uint64_t length; /* bytes */
    /* address of the first byte for requests and peers: offset + n * ND_PAGE_OCTETS */
    uint64_t base;
};

/*
 * nd_frmr_init - pins the adapter. The client may set pd before it allocates; NULL: the adapter's.
 * nd_frmr_allocate - gets the device's object for that many pages; remote: whether FastRegisters may give peers rights.
 * Returns ND_SUCCESS; ND_INVALID_PARAMETER: no pages; ND_STATUS_IMPLEMENTATION_LIMIT: too many;
 * ND_INVALID_DEVICE_STATE: allocated already; ND_NOT_SUPPORTED: the device cannot; ND_INSUFFICIENT_RESOURCES;
 * ND_DEVICE_REMOVED.
 */
void nd_frmr_init(
    struct nd_frmr *frmr, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object));
HRESULT nd_frmr_allocate(struct nd_frmr *frmr, uint32_t pages, bool remote);
/* The last Release: nothing reaches the memory any more; drops the client's pin. No lock held. */
void nd_frmr_close(struct nd_frmr *frmr);
void nd_frmr_fini(struct nd_frmr *frmr);

/* The key for peers, host order; 0: not allocated. */
static inline uint32_t nd_frmr_key(const struct nd_frmr *frmr)
{
    return atomic_load_explicit(&frmr->key, memory_order_relaxed);
}

/*
 * The key by which requests of this end name memory of the region, at addresses from base on: for those posted while it
 * is registered. 0: it is not.
 */
static inline uint32_t nd_frmr_lkey(const struct nd_frmr *frmr)
{
    return atomic_load_explicit(&frmr->lkey, memory_order_relaxed);
}

bool nd_frmr_registered(struct nd_frmr *frmr);

/* ---- for core/queue/fast_register.c ---- */

/*
 * They check that it can be registered, or invalidated, now.
 * pd      in: of the queue pair; NULL: not to be looked at
 * access  in: IBV_ACCESS_*
 * Return ND_SUCCESS, ND_INVALID_PARAMETER, ND_ACCESS_VIOLATION, ND_INVALID_DEVICE_STATE.
 */
HRESULT nd_frmr_check_locked(const struct nd_frmr *frmr, const struct ibv_pd *pd, int access);
HRESULT nd_frmr_check_invalidate_locked(const struct nd_frmr *frmr, const struct nd_qp *qp);
/*
 * nd_frmr_back - ND_FAST_WINDOWS: a registration for the pages, pinned by the caller; no lock held.
 * Returns ND_SUCCESS; ND_NOT_SUPPORTED: they do not follow each other; ND_NO_MEMORY; or what the device says.
 */
HRESULT nd_frmr_back(const struct nd_frmr *frmr, const struct nd_pages *pages, int access,
    struct nd_backing **backing);
struct ibv_mr *nd_backing_mr(struct nd_backing *backing);
void nd_backing_unpin(struct nd_backing *backing);
/* The number of the request that is posted next. */
static inline uint64_t nd_frmr_next_number(const struct nd_frmr *frmr)
{
    return frmr->posted + 1;
}
/* A request was posted, and has that number now. backing: of a FastRegister, pinned for the region; or NULL. */
void nd_frmr_registered_locked(struct nd_frmr *frmr, struct nd_qp *qp, struct nd_backing *backing);
void nd_frmr_invalidating_locked(struct nd_frmr *frmr);

/* ---- completions; called under LOCK_CQ: backings that lose their last pin go to dead ---- */

/* A request of this key and number ended; registers: it is a FastRegister. */
void nd_frmr_ended(struct nd_adapter *adapter, uint32_t key, uint64_t number, bool registers,
    enum ibv_wc_status status, struct nd_dead *dead);
/* A peer invalidated this key. Returns whether it is that of a fast region. */
bool nd_frmr_taken_back(struct nd_adapter *adapter, uint32_t key, struct nd_dead *dead);

/* The result of a request of this key is lost: core no longer knows whether the device has it registered. */
void nd_frmr_forget(struct nd_adapter *adapter, uint32_t key);

/* A queue pair is about to be destroyed: a device may keep it while windows are bound on it. No lock held. */
void nd_frmr_qp_gone(struct nd_adapter *adapter, const struct nd_qp *qp);

#endif
