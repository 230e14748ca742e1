/* SPDX-License-Identifier: MIT */
/*
 * mr.h - memory region: one buffer at a time, registered and deregistered any number of times.
 *
 * Registering happens in the caller's thread and is complete when the call returns. State and `bound` belong to the
 * adapter's memory lock; the tokens are read without it. Each bound window pins its region. A region of an adapter's
 * table (core/adapter/region_table.h) has no requests of its own and does not pin its adapter.
 */
#ifndef NDSPI_CORE_MEMORY_MR_H
#define NDSPI_CORE_MEMORY_MR_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"
#include "ndspi/core/pending.h"

#include <infiniband/verbs.h>

struct nd_adapter;

enum nd_mr_state { ND_MR_EMPTY, ND_MR_CHANGING, ND_MR_REGISTERED };

struct nd_mr {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned, unless the region is in a table */
    struct nd_pending pending;  /* has no file if the region is in a table */
    enum nd_mr_state state;
    struct ibv_pd *pd; /* the adapter's, unless changed before it is registered */
    struct ibv_mr *ibv;
    uint64_t octets;                       /* registered */
    uint32_t flags;                        /* ND_MR_FLAG_* of the registration */
    unsigned bound;                        /* how many windows are bound to it */
    atomic_uint local_token, remote_token; /* remote: network order */
};

/* file  in: where its requests end; NULL: the region is in a table. */
void nd_mr_init(struct nd_mr *mr, struct nd_adapter *adapter, struct nd_sink_file *file,
    void (*destroy)(struct nd_object *object));
/* The last Release: drops the application's pin. */
void nd_mr_close(struct nd_mr *mr);
void nd_mr_fini(struct nd_mr *mr);

/*
 * nd_mr_enter - Returns ND_SUCCESS; ND_INVALID_PARAMETER: NULL buffer, too large, unknown flags;
 * ND_INVALID_BUFFER_SIZE: length 0; ND_ACCESS_VIOLATION: memory not mapped or not writable; ND_INVALID_DEVICE_STATE:
 * registered already; ND_INSUFFICIENT_RESOURCES; ND_DEVICE_REMOVED.
 */
HRESULT nd_mr_enter(struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags);
/* nd_mr_enter for local access alone: read and write, or only read where the memory cannot be written. */
HRESULT nd_mr_enter_local(struct nd_mr *mr, const void *buffer, size_t length);
/* Returns ND_SUCCESS; ND_DEVICE_BUSY: a window is bound; ND_INVALID_DEVICE_STATE: not registered. */
HRESULT nd_mr_leave(struct nd_mr *mr);

/* One window fewer is bound. The caller then unpins the region. Memory lock held. */
void nd_mr_unbound_locked(struct nd_mr *mr);

/* Returns the status for a registration that the device refused with this error. Logs. */
HRESULT nd_mr_refused(const void *buffer, size_t length, int error);

/*
 * nd_mr_enter and nd_mr_leave as overlapped requests. They return ND_PENDING, or what those return; also
 * ND_INVALID_PARAMETER: no overlapped; ND_NO_MEMORY.
 */
HRESULT nd_mr_register(
    struct nd_mr *mr, const void *buffer, size_t length, uint32_t flags, OVERLAPPED *overlapped);
HRESULT nd_mr_deregister(struct nd_mr *mr, OVERLAPPED *overlapped);
/* Ends its requests with ND_CANCELED. */
void nd_mr_cancel(struct nd_mr *mr);

/* ---- version 1: regions that clients name by handle, in their adapter's table ---- */

/*
 * nd_region_register - registers memory for local access; peers get access through windows.
 * handle  out: on success
 * Returns as nd_mr_enter, and ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES: the table is full.
 */
HRESULT nd_region_register(
    struct nd_adapter *adapter, const void *buffer, size_t length, void **handle);
/* Returns ND_SUCCESS; ND_INVALID_HANDLE; ND_DEVICE_BUSY: a window is bound; or what the device says. */
HRESULT nd_region_deregister(struct nd_adapter *adapter, void *handle);
/* The region, pinned; NULL: no handle of this adapter. */
struct nd_mr *nd_region_pin(struct nd_adapter *adapter, const void *handle);

#endif
