/* SPDX-License-Identifier: MIT */
/*
 * nd1_memory.h - the registrations of a version 1 adapter, known to clients by handles (ND_MR_HANDLE).
 *
 * A registration does not pin its adapter: what a client leaves behind goes with the adapter.
 */
#ifndef NDSPI_V1_ND1_MEMORY_H
#define NDSPI_V1_ND1_MEMORY_H

#include "ndspi/core/pending.h"

#include <ndspi.h>

struct nd1_adapter;

struct nd1_memory {
    struct nd_pending
        pending; /* RegisterMemory and DeregisterMemory; CancelOverlappedRequests of the adapter */
};

/* The adapter's core and file are there. Returns ND_SUCCESS or ND_NO_MEMORY. */
HRESULT nd1_memory_init(struct nd1_adapter *adapter);
/* The adapter is destroyed: deregisters what is left. */
void nd1_memory_fini(struct nd1_adapter *adapter);

/* INDAdapter::RegisterMemory, DeregisterMemory. */
HRESULT nd1_memory_register(struct nd1_adapter *adapter, const void *buffer, SIZE_T octets,
    OVERLAPPED *overlapped, ND_MR_HANDLE *handle);
HRESULT nd1_memory_deregister(
    struct nd1_adapter *adapter, ND_MR_HANDLE handle, OVERLAPPED *overlapped);

#endif
