/* SPDX-License-Identifier: MIT */
/* info.h - what an adapter reports about itself. */
#ifndef NDK_ADAPTER_INFO_H
#define NDK_ADAPTER_INFO_H

#include "ndk/object/adapter.h"

/*
 * Whether peers can invalidate windows and fast-registered regions of this device, and the device reports it. False: it
 * has no fast registration either; caps.no_fast_register says why.
 */
bool ndk_invalidates(const struct nd_port *port);

/* Whether the local target of a Read needs a right of its own. */
bool ndk_needs_read_sinks(const struct nd_port *port);

/* NdkQueryAdapterInfo, as NDK_FN_QUERY_ADAPTER_INFO describes it. */
NTSTATUS ndk_query_adapter_info(NDK_ADAPTER *adapter, NDK_ADAPTER_INFO *info, ULONG *size);

#endif
