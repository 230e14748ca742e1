/* SPDX-License-Identifier: MIT */
/*
 * ndsupport.h - helper functions: from an IP address to an open adapter.
 *
 *     NdStartup();
 *     NdOpenAdapter(IID_IND2Adapter, address, length, (void **)&adapter);
 *     ...
 *     NdCleanup();
 *
 * Ports in addresses are ignored. Any thread may call any of them. On Linux they live in libndspi, which is also the
 * provider they find; on Windows in the static library ndutil, which searches the Winsock catalogue.
 */
#ifndef _NDSUPPORT_H_
#define _NDSUPPORT_H_

#include <ndspi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_HELPER_API __stdcall

/* Flags of NdQueryAddressList */
#define ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES 0x00000001 /* accepted, without effect */
#define ND_QUERY_EXCLUDE_NDv1_ADDRESSES     0x00000002
#define ND_QUERY_EXCLUDE_NDv2_ADDRESSES     0x00000004

/*
 * NdStartup - starts the helper layer, and with it Winsock (WSAStartup); counted.
 * Returns S_OK; ND_NO_MEMORY; HRESULT_FROM_WIN32 of what failed (Winsock).
 */
HRESULT ND_HELPER_API NdStartup(VOID);

/*
 * NdCleanup - takes back one NdStartup, and its WSAStartup. The last one unloads the providers: release their objects
 * before.
 * Returns S_OK; ND_DEVICE_NOT_READY without an NdStartup.
 */
HRESULT ND_HELPER_API NdCleanup(VOID);

/* NdFlushProviders - unloads providers that have no objects. Nothing to do without an NdStartup. */
VOID ND_HELPER_API NdFlushProviders(VOID);

/*
 * NdQueryAddressList - the local addresses of adapters: those of version 2, then those of version 1. Their devices can
 * be opened and have a network. It does not try whether this process can make queues and register memory on them (the
 * limit of locked memory, say): NdOpenAdapter, RegisterMemory and ndinfo show that.
 * flags           in: ND_QUERY_EXCLUDE_*
 * pAddressList    out: the list; its entries point into the same buffer. NULL with a length of 0 asks for the size
 * pcbAddressList  in: bytes at pAddressList; out: bytes needed after ND_BUFFER_OVERFLOW, 0 when there is no address
 * Returns ND_SUCCESS, also when there is no address; ND_BUFFER_OVERFLOW, the list untouched; ND_DEVICE_NOT_READY;
 * ND_NO_MEMORY; ND_INVALID_PARAMETER_1, _3: unknown flag, no length.
 */
HRESULT ND_HELPER_API NdQueryAddressList(
    DWORD flags, SOCKET_ADDRESS_LIST *pAddressList, SIZE_T *pcbAddressList);

/*
 * NdResolveAddress - the local address from which a remote one is reached.
 * pRemoteAddress, cbRemoteAddress  in: the peer, bytes
 * pLocalAddress                    out: local address, port 0
 * pcbLocalAddress                  in: bytes at pLocalAddress; out: bytes used or needed
 * Returns S_OK; ND_BUFFER_OVERFLOW; ND_INVALID_ADDRESS: pRemoteAddress is malformed, or no adapter has the local
 * address; ND_NETWORK_UNREACHABLE, ND_HOST_UNREACHABLE: no route; ND_UNSUCCESSFUL; ND_DEVICE_NOT_READY.
 */
HRESULT ND_HELPER_API NdResolveAddress(const struct sockaddr *pRemoteAddress,
    SIZE_T cbRemoteAddress, struct sockaddr *pLocalAddress, SIZE_T *pcbLocalAddress);

/*
 * NdCheckAddress - whether an adapter has this local address.
 * Returns ND_SUCCESS; ND_INVALID_ADDRESS: none has, or the family is neither AF_INET nor AF_INET6;
 * ND_INVALID_PARAMETER_2: cbAddress is too small for the family; ND_DEVICE_NOT_READY.
 */
HRESULT ND_HELPER_API NdCheckAddress(const struct sockaddr *pAddress, SIZE_T cbAddress);

/*
 * NdOpenAdapter - opens the adapter that has a local address.
 * iid        in: IID_IND2Adapter, or IID_INDAdapter for version 1
 * pAddress   in: one of NdQueryAddressList's, cbAddress bytes
 * ppAdapter  out: the interface, one reference; NULL on failure
 * Returns ND_SUCCESS; as NdCheckAddress; E_NOINTERFACE: another iid; ND_NO_MEMORY; ND_INSUFFICIENT_RESOURCES.
 */
HRESULT ND_HELPER_API NdOpenAdapter(
    REFIID iid, const struct sockaddr *pAddress, SIZE_T cbAddress, VOID **ppAdapter);

/* NdOpenV1Adapter - NdOpenAdapter with IID_INDAdapter. Returns as NdOpenAdapter. */
HRESULT ND_HELPER_API NdOpenV1Adapter(
    const struct sockaddr *pAddress, SIZE_T cbAddress, INDAdapter **ppAdapter);

#ifdef __cplusplus
}
#endif
#endif
