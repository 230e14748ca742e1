/* SPDX-License-Identifier: MIT */
/*
 * ndktypes.h - what NDKPI's structures and functions are made of: base types, MDL, status codes.
 *
 * Natively the types are those of this project's <windows.h> where it is in the include path, and where it is not those
 * parts of it that are no more than types, annotations and inline functions (wincompat/): objects compiled either way
 * fit together. For Windows they are those of MinGW's <ddk/wdm.h>, so user-mode headers (<windows.h>) cannot be
 * included as well there.
 *
 * Source: the structures and NTSTATUS values of the same names in the Windows driver documentation.
 */
#ifndef NDKTYPES_H
#define NDKTYPES_H

#if defined(__MINGW32__)

#ifdef __cplusplus
/* MinGW's <ddk/wdm.h> has inline definitions of these two, which C++ refuses beside those of its <intrin.h>. */
#include <ntdef.h>
#include <intrin.h>
#define InterlockedBitTestAndSet   ndk_unused_bit_test_and_set
#define InterlockedBitTestAndReset ndk_unused_bit_test_and_reset
#endif
#include <ddk/wdm.h>
#ifdef __cplusplus
#undef InterlockedBitTestAndSet
#undef InterlockedBitTestAndReset
#endif
#include <ifdef.h>
#include <psdk_inc/_ip_types.h>

#else

#ifdef __has_include
#if __has_include(<windows.h>)
#define NDK_WINDOWS_H
#endif
#endif

#include <wincompat/interlocked_forms.h>
#include <wincompat/pragma.h>

#ifdef NDK_WINDOWS_H

#include <winsock2.h>
#include <ntstatus.h>

#else

#include <wincompat/types.h>
#include <wincompat/sal.h>
#include <wincompat/ntstatus.h>
#include <wincompat/guid.h>
#include <wincompat/interlocked.h>
#include <wincompat/inaddr.h>

/* Processors: bit n of Mask is processor 64 * Group + n. */
typedef struct _GROUP_AFFINITY {
    KAFFINITY Mask;
    USHORT Group;
    USHORT Reserved[3];
} GROUP_AFFINITY, *PGROUP_AFFINITY;

/* The system's own: sa_family has the values of its <sys/socket.h>. */
typedef struct sockaddr SOCKADDR, *PSOCKADDR;
typedef struct sockaddr_in SOCKADDR_IN, *PSOCKADDR_IN;
typedef struct sockaddr_in6 SOCKADDR_IN6, *PSOCKADDR_IN6;
typedef struct sockaddr_storage SOCKADDR_STORAGE, *PSOCKADDR_STORAGE;
typedef USHORT ADDRESS_FAMILY;

/* An address of either family. */
typedef union _SOCKADDR_INET {
    SOCKADDR_IN Ipv4;
    SOCKADDR_IN6 Ipv6;
    ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;

/* Whether a status counts as success: STATUS_PENDING does, STATUS_BUFFER_OVERFLOW does not. */
#define NT_SUCCESS(status)     (((NTSTATUS)(status)) >= 0)
/* The severity of the others. */
#define NT_INFORMATION(status) ((((ULONG)(status)) >> 30) == 1)
#define NT_WARNING(status)     ((((ULONG)(status)) >> 30) == 2)
#define NT_ERROR(status)       ((((ULONG)(status)) >> 30) == 3)

#endif

#ifndef STATUS_OBJECT_PATH_NOT_FOUND
#define STATUS_OBJECT_PATH_NOT_FOUND ((NTSTATUS)0xC000003Au)
#endif
#ifndef STATUS_DISK_FULL
#define STATUS_DISK_FULL ((NTSTATUS)0xC000007Fu)
#endif
#ifndef STATUS_FILE_IS_A_DIRECTORY
#define STATUS_FILE_IS_A_DIRECTORY ((NTSTATUS)0xC00000BAu)
#endif
#ifndef STATUS_OBJECT_PATH_SYNTAX_BAD
#define STATUS_OBJECT_PATH_SYNTAX_BAD ((NTSTATUS)0xC000003Bu)
#endif
#ifndef STATUS_IMPLEMENTATION_LIMIT
#define STATUS_IMPLEMENTATION_LIMIT ((NTSTATUS)0xC000042Bu) /* more pages than a region can have */
#endif

typedef short CSHORT;
typedef LARGE_INTEGER PHYSICAL_ADDRESS, *PPHYSICAL_ADDRESS;

/* Index of a network interface, as if_nametoindex tells it. */
typedef ULONG NET_IFINDEX, *PNET_IFINDEX;
typedef NET_IFINDEX IF_INDEX, *PIF_INDEX;

/*
 * Memory of one virtually contiguous range; several in a chain. The members are where Windows has them; no array of
 * page frames follows. Made by MmInitializeMdl or IoAllocateMdl (ndkwdm.h).
 */
typedef struct _MDL {
    struct _MDL *Next;
    CSHORT Size; /* this structure's, in bytes */
    CSHORT MdlFlags;
    USHORT AllocationProcessorNumber;
    USHORT Reserved;
    PVOID Process;
    PVOID MappedSystemVa; /* StartVa + ByteOffset */
    PVOID StartVa;        /* the address of the first page */
    ULONG ByteCount;
    ULONG ByteOffset; /* the offset of the first byte in that page */
} MDL, *PMDL;

/* The unit of page arrays, whatever the system's own page is. */
#ifndef PAGE_SIZE
#define PAGE_SIZE 0x1000
#endif
#ifndef PAGE_SHIFT
#define PAGE_SHIFT 12
#endif

#endif

#ifndef NDIS_STATUS_SUCCESS
#define NDIS_STATUS_SUCCESS   ((NTSTATUS)0x00000000u)
#define NDIS_STATUS_RESOURCES ((NTSTATUS)0xC000009Au)
#endif
#ifndef NDIS_STATUS_BAD_VERSION
#define NDIS_STATUS_BAD_VERSION                                                                    \
    ((NTSTATUS)0xC0010004u) /* no such major version, or not that minor */
#endif
#ifndef NDIS_STATUS_ADAPTER_NOT_READY
#define NDIS_STATUS_ADAPTER_NOT_READY ((NTSTATUS)0xC0010011u) /* cannot be opened at present */
#endif

#endif
