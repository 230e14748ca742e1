/* SPDX-License-Identifier: MIT */
/*
 * wsk.h - as much of Winsock Kernel as opens adapters (wskndk.h), a part of ndkwdm.h. MinGW has none of it: it is here
 * for Windows, too.
 */
#ifndef NDKWDM_WSK_H
#define NDKWDM_WSK_H

#include <ndktypes.h>
#ifndef __MINGW32__
#include <ndkwdm/driver.h>
#include <ndkwdm/lock.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MAKE_WSK_VERSION(major, minor) ((USHORT)(((USHORT)(major) << 8) | ((minor)&0xff)))
#define WSK_NO_WAIT                    0
#define WSK_INFINITE_WAIT              0xffffffff

typedef struct _NPIID *PNPIID;

/* The client's own function; never called, since there are no sockets. */
typedef NTSTATUS (*PFN_WSK_CLIENT_EVENT)(
    PVOID ClientContext, ULONG EventType, PVOID Information, SIZE_T InformationLength);

/* The client's functions. */
typedef struct _WSK_CLIENT_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    PFN_WSK_CLIENT_EVENT WskClientEvent;
} WSK_CLIENT_DISPATCH, *PWSK_CLIENT_DISPATCH;

/* A client, for WskRegister. */
typedef struct _WSK_CLIENT_NPI {
    PVOID ClientContext;
    const WSK_CLIENT_DISPATCH *Dispatch;
} WSK_CLIENT_NPI, *PWSK_CLIENT_NPI;

/* The members are the library's. */
typedef struct _WSK_REGISTRATION {
    ULONGLONG ReservedRegistrationState;
    PVOID ReservedRegistrationContext;
    KSPIN_LOCK ReservedRegistrationLock;
} WSK_REGISTRATION, *PWSK_REGISTRATION;

/*
 * Answers control codes of the client; here one: WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH.
 * client          in: of WskCaptureProviderNPI
 * code            in
 * input, ...      in: not used by that code
 * output_size     in: bytes at output
 * output          out
 * returned        out, optional: bytes stored
 * irp             in: NULL
 * Returns STATUS_SUCCESS; STATUS_NOT_SUPPORTED: another code; STATUS_INVALID_PARAMETER: an irp, no output, or no room
 * for the table. Never STATUS_PENDING.
 */
typedef NTSTATUS (*PFN_WSK_CONTROL_CLIENT)(PVOID client, ULONG code, SIZE_T input_size, PVOID input,
    SIZE_T output_size, PVOID output, SIZE_T *returned, PIRP irp);

/* What the provider can do. */
typedef struct _WSK_PROVIDER_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    PVOID WskSocket, WskSocketConnect; /* NULL: there are no sockets */
    PFN_WSK_CONTROL_CLIENT WskControlClient;
} WSK_PROVIDER_DISPATCH, *PWSK_PROVIDER_DISPATCH;

/* Stored by WskCaptureProviderNPI: the client, and the provider's functions. */
typedef struct _WSK_PROVIDER_NPI {
    PVOID Client;
    const WSK_PROVIDER_DISPATCH *Dispatch;
} WSK_PROVIDER_NPI, *PWSK_PROVIDER_NPI;

/*
 * Becomes a client.
 * client        in: stays as it is until WskDeregister
 * registration  out: the client's memory
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: one is missing, or the client's Dispatch.
 */
NTSTATUS WskRegister(PWSK_CLIENT_NPI client, PWSK_REGISTRATION registration);
/*
 * Takes the provider, which is always there.
 * registration  in
 * wait          in: not used: there is nothing to wait for
 * provider      out: valid until WskReleaseProviderNPI, which has to follow once
 * Returns STATUS_SUCCESS; STATUS_DEVICE_NOT_READY: not registered, or being deregistered.
 */
NTSTATUS WskCaptureProviderNPI(
    PWSK_REGISTRATION registration, ULONG wait, PWSK_PROVIDER_NPI provider);
/* Gives the provider of one WskCaptureProviderNPI back. */
VOID WskReleaseProviderNPI(PWSK_REGISTRATION registration);
/* Passive. Ends the registration; returns when every provider that was captured has been released. */
VOID WskDeregister(PWSK_REGISTRATION registration);

#ifdef __cplusplus
}
#endif

#endif
