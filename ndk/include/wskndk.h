/* SPDX-License-Identifier: MIT */
/*
 * wskndk.h - how a client of Winsock Kernel opens adapters for NDKPI: WskControlClient (ndkwdm.h) with the code below
 * stores a pointer to the table below.
 *
 * Source: WSK_PROVIDER_NDK_DISPATCH of the NDKPI documentation.
 */
#ifndef _WSKNDK_H_
#define _WSKNDK_H_

#include <ndktypes.h>
#include <ndkpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Control code; its output buffer takes a pointer to a WSK_PROVIDER_NDK_DISPATCH, which is the provider's. */
#define WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH 0x4E444B44

/* A registered client, from WskCaptureProviderNPI. */
typedef VOID WSK_CLIENT, *PWSK_CLIENT;

/*
 * Opens the adapter of a network interface. Passive: it blocks.
 * Client        in: the client
 * NdkVersion    in: major version, and the lowest minor version that will do
 * IfIndex       in: the interface
 * ppNdkAdapter  out: the adapter, the caller's until WskCloseNdkAdapter
 * Returns STATUS_SUCCESS; NDIS_STATUS_BAD_VERSION: another major version, or a minor version above the highest;
 * NDIS_STATUS_ADAPTER_NOT_READY: no device in use serves the interface, or it is gone; STATUS_INVALID_PARAMETER: no
 * place for the adapter; STATUS_INSUFFICIENT_RESOURCES.
 */
typedef NTSTATUS (*PFN_WSK_OPEN_NDK_ADAPTER)(
    PWSK_CLIENT Client, NDK_VERSION NdkVersion, NET_IFINDEX IfIndex, NDK_ADAPTER **ppNdkAdapter);

/*
 * Closes an adapter whose objects are all closed. Returns when every callback of all of them has returned, so it must
 * not be called in a callback. Passive.
 * Client       in: the client
 * pNdkAdapter  in: the adapter, invalid afterwards
 */
typedef VOID (*PFN_WSK_CLOSE_NDK_ADAPTER)(PWSK_CLIENT Client, NDK_ADAPTER *pNdkAdapter);

/* What WskControlClient stores a pointer to. */
typedef struct _WSK_PROVIDER_NDK_DISPATCH {
    PFN_WSK_OPEN_NDK_ADAPTER WskOpenNdkAdapter;
    PFN_WSK_CLOSE_NDK_ADAPTER WskCloseNdkAdapter;
} WSK_PROVIDER_NDK_DISPATCH;

#ifdef __cplusplus
}
#endif

#endif
