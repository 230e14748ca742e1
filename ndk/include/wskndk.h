/* SPDX-License-Identifier: MIT */
/*
 * wskndk.h - how a client of Winsock Kernel opens adapters for NDKPI: WskControlClient (ndkwdm.h) with the code below
 * fills the client's table.
 *
 * Source: WSK_PROVIDER_NDK_DISPATCH, PFN_WSK_NDK_OPEN_ADAPTER and PFN_WSK_NDK_CLOSE_ADAPTER of the NDKPI documentation;
 * who has the table: the drivers that the test adapter.adapters_open_by_winsock_kernel names.
 */
#ifndef _WSKNDK_H_
#define _WSKNDK_H_

#include <ndktypes.h>
#include <ndkpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Control code; its output buffer is a WSK_PROVIDER_NDK_DISPATCH, which the provider fills. */
#define WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH 0x4E444B44

/* A registered client, from WskCaptureProviderNPI. */
typedef VOID WSK_CLIENT, *PWSK_CLIENT;

/*
 * Opens the adapter of a network interface. Passive. It blocks.
 * Client        in: the client
 * NdkVersion    in: major version, and the lowest minor version that will do
 * IfIndex       in: the interface
 * ppNdkAdapter  out: the adapter, the caller's until WskCloseNdkAdapter
 * Returns STATUS_SUCCESS; NDIS_STATUS_BAD_VERSION: another major version, or a minor version above the highest;
 * NDIS_STATUS_ADAPTER_NOT_READY: no device in use serves the interface, or it is gone; STATUS_INVALID_PARAMETER: no
 * place for the adapter; STATUS_INSUFFICIENT_RESOURCES.
 */
typedef NTSTATUS (*PFN_WSK_NDK_OPEN_ADAPTER)(
    PWSK_CLIENT Client, NDK_VERSION NdkVersion, NET_IFINDEX IfIndex, NDK_ADAPTER **ppNdkAdapter);

/*
 * Closes an adapter whose objects are all closed. Returns when every callback of all of them has returned, so it must
 * not be called in a callback. Passive.
 * Client       in: the client
 * pNdkAdapter  in: the adapter, invalid afterwards
 */
typedef VOID (*PFN_WSK_NDK_CLOSE_ADAPTER)(PWSK_CLIENT Client, NDK_ADAPTER *pNdkAdapter);

/* What WskControlClient fills: memory of the client. */
typedef struct _WSK_PROVIDER_NDK_DISPATCH {
    PFN_WSK_NDK_OPEN_ADAPTER WskOpenNdkAdapter;
    PFN_WSK_NDK_CLOSE_ADAPTER WskCloseNdkAdapter;
} WSK_PROVIDER_NDK_DISPATCH, *PWSK_PROVIDER_NDK_DISPATCH;

#ifdef __cplusplus
}
#endif

#endif
