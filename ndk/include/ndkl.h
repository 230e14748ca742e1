/* SPDX-License-Identifier: MIT */
/*
 * ndkl.h - how a Linux program opens adapters for NDKPI without Winsock Kernel (wskndk.h, ndkwdm.h have that).
 *
 * Passive: at PASSIVE_LEVEL alone. Functions of this project; Windows has none of these names.
 */
#ifndef NDKL_H
#define NDKL_H

#include <ndkpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * NdklOpenAdapter - opens the adapter of a network interface: the device that serves an address of it. Passive.
 * version  in: major version, and the lowest minor version that will do
 * index    in: the interface, as if_nametoindex tells it
 * adapter  out: the caller's until NdklCloseAdapter; untouched on failure
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: adapter is NULL; NDIS_STATUS_BAD_VERSION: no such major version, or
 * the device does not offer that minor; NDIS_STATUS_ADAPTER_NOT_READY: no device in use serves the interface, or it is
 * gone; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS NdklOpenAdapter(NDK_VERSION version, NET_IFINDEX index, NDK_ADAPTER **adapter);

/*
 * NdklCloseAdapter - closes an adapter whose objects have all been closed, or are being closed. Passive. It comes back
 * when every callback of all of them has returned: if a program calls it in a callback, abort() ends the program.
 * adapter  in: invalid afterwards
 */
VOID NdklCloseAdapter(NDK_ADAPTER *adapter);

/*
 * NdklSetParameter - sets a value that a driver finds in its registry, under any key (RtlQueryRegistryValues,
 * ZwQueryValueKey). It replaces one of the same name.
 * name   in: in any case
 * value  in: of REG_DWORD if it is a number, decimal or behind 0x, else of REG_SZ
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: one is missing; STATUS_INSUFFICIENT_RESOURCES.
 */
NTSTATUS NdklSetParameter(const char *name, const char *value);

#ifdef __cplusplus
}
#endif

#endif
