/* SPDX-License-Identifier: MIT */
/*
 * mingw_gaps.h - what MinGW's <ddk/wdm.h> lacks of what the library uses, as the Windows driver documentation has it:
 * Winsock Kernel's registration, and ExAllocatePool2. With it the library compiles for Windows, unchanged.
 */
#ifndef TESTS_SAMPLES_SMBDIRECT_MINGW_GAPS_H
#define TESTS_SAMPLES_SMBDIRECT_MINGW_GAPS_H

#include <ndktypes.h>

#define POOL_FLAG_UNINITIALIZED 0x0000000000000002ULL
#define POOL_FLAG_NON_PAGED     0x0000000000000040ULL
PVOID ExAllocatePool2(ULONG64 Flags, SIZE_T NumberOfBytes, ULONG Tag);

#define MAKE_WSK_VERSION(Mj, Mn) ((USHORT)((Mj) << 8) | (USHORT)((Mn)&0xff))
#define WSK_INFINITE_WAIT        0xffffffff

typedef struct _WSK_CLIENT_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    NTSTATUS (*WskClientEvent)(PVOID, ULONG, PVOID, SIZE_T);
} WSK_CLIENT_DISPATCH;

typedef struct _WSK_CLIENT_NPI {
    PVOID ClientContext;
    const WSK_CLIENT_DISPATCH *Dispatch;
} WSK_CLIENT_NPI;

typedef struct _WSK_REGISTRATION {
    ULONGLONG ReservedRegistrationState;
    PVOID ReservedRegistrationContext;
    KSPIN_LOCK ReservedRegistrationLock;
} WSK_REGISTRATION;

typedef struct _WSK_PROVIDER_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    PVOID WskSocket, WskSocketConnect;
    NTSTATUS (*WskControlClient)(PVOID, ULONG, SIZE_T, PVOID, SIZE_T, PVOID, SIZE_T *, PIRP);
} WSK_PROVIDER_DISPATCH;

typedef struct _WSK_PROVIDER_NPI {
    PVOID Client;
    const WSK_PROVIDER_DISPATCH *Dispatch;
} WSK_PROVIDER_NPI;

NTSTATUS WskRegister(WSK_CLIENT_NPI *Client, WSK_REGISTRATION *Registration);
NTSTATUS WskCaptureProviderNPI(
    WSK_REGISTRATION *Registration, ULONG WaitTimeout, WSK_PROVIDER_NPI *Provider);
VOID WskReleaseProviderNPI(WSK_REGISTRATION *Registration);
VOID WskDeregister(WSK_REGISTRATION *Registration);

#endif
