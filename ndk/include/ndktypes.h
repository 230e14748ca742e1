/* SPDX-License-Identifier: MIT */
/*
 * ndktypes.h - what NDKPI's structures and functions are made of: base types, MDL, status codes.
 *
 * Natively the types are those of this project's <windows.h> where it is in the include path, and the same types
 * defined here where it is not: objects compiled either way fit together. For Windows they are those of MinGW's
 * <ddk/wdm.h>, so user-mode headers (<windows.h>) cannot be included as well there.
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

#ifdef NDK_WINDOWS_H

#include <winsock2.h>
#include <ntstatus.h>

#else

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID  void
#define NTAPI
#ifndef FALSE
#define FALSE 0
#endif
#ifndef TRUE
#define TRUE 1
#endif
#ifndef FORCEINLINE
#define FORCEINLINE static inline __attribute__((always_inline))
#endif

/* Annotations of parameters and functions, for checkers alone. */
#define _In_
#define _In_opt_
#define _In_reads_(n)
#define _In_reads_opt_(n)
#define _In_reads_bytes_(n)
#define _In_reads_bytes_opt_(n)
#define _Inout_
#define _Inout_opt_
#define _Out_
#define _Out_opt_
#define _Out_writes_(n)
#define _Out_writes_opt_(n)
#define _Out_writes_to_(n, c)
#define _Out_writes_bytes_opt_(n)
#define _Out_writes_bytes_to_opt_(n, c)
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Field_size_(n)
#define _Must_inspect_result_
#define _Use_decl_annotations_
#define _Function_class_(name)
#define _IRQL_requires_(level)
#define _IRQL_requires_max_(level)
#define _IRQL_requires_min_(level)
#define _IRQL_requires_same_
#define _When_(condition, annotation)

typedef char CHAR;
typedef unsigned char UCHAR, BYTE, BOOLEAN;
typedef short SHORT;
typedef unsigned short USHORT;
typedef int INT;
typedef unsigned int UINT;
typedef int32_t LONG, NTSTATUS, INT32;
typedef uint32_t ULONG, UINT32;
typedef uint8_t UINT8;
typedef uint16_t UINT16;
typedef long long LONGLONG, LONG64, INT64;
typedef unsigned long long ULONGLONG, ULONG64, UINT64;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, KAFFINITY;
typedef size_t SIZE_T;
typedef void *PVOID;
typedef CHAR *PCHAR;
typedef UCHAR *PUCHAR, *PBOOLEAN;
typedef USHORT *PUSHORT;
typedef LONG *PLONG;
typedef ULONG *PULONG;
typedef SIZE_T *PSIZE_T;

typedef union _LARGE_INTEGER {
    __extension__ struct {
        ULONG LowPart;
        LONG HighPart;
    };
    struct {
        ULONG LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart;
} LARGE_INTEGER, *PLARGE_INTEGER;

#ifndef GUID_DEFINED
#define GUID_DEFINED
typedef struct _GUID {
    ULONG Data1;
    USHORT Data2;
    USHORT Data3;
    UCHAR Data4[8];
} GUID;
#endif

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

#define MAXULONG                  ((ULONG)0xFFFFFFFFu)
#define UNREFERENCED_PARAMETER(p) ((void)(p))
#define CONTAINING_RECORD(address, type, field)                                                    \
    ((type *)((char *)(address) - __builtin_offsetof(type, field)))
#define RtlZeroMemory(p, n)       memset((p), 0, (n))
#define RtlCopyMemory(d, s, n)    memcpy((d), (s), (n))
#define RtlMoveMemory(d, s, n)    memmove((d), (s), (n))
#define RtlFillMemory(p, n, v)    memset((p), (v), (n))
/* Whether n bytes are the same. */
#define RtlEqualMemory(a, b, n)   (!memcmp((a), (b), (n)))
/* In bytes, of a field in its structure. */
#define FIELD_OFFSET(type, field) ((LONG) __builtin_offsetof(type, field))
#define MAXUSHORT                 ((USHORT)0xFFFF)

/* Whether a status counts as success: STATUS_PENDING does, STATUS_BUFFER_OVERFLOW does not. */
#define NT_SUCCESS(status)        (((NTSTATUS)(status)) >= 0)
/* The severity of the others. */
#define NT_INFORMATION(status)    ((((ULONG)(status)) >> 30) == 1)
#define NT_WARNING(status)        ((((ULONG)(status)) >> 30) == 2)
#define NT_ERROR(status)          ((((ULONG)(status)) >> 30) == 3)

/* clang-format off */
#define STATUS_SUCCESS                 ((NTSTATUS)0x00000000u)
#define STATUS_TIMEOUT                 ((NTSTATUS)0x00000102u) /* KeWaitForSingleObject: the time is over */
#define STATUS_PENDING                 ((NTSTATUS)0x00000103u) /* the completion callback tells the outcome */
#define STATUS_BUFFER_OVERFLOW         ((NTSTATUS)0x80000005u) /* message too long; completion queue overrun */
#define STATUS_UNSUCCESSFUL            ((NTSTATUS)0xC0000001u) /* failed for a reason without a code of its own */
#define STATUS_ACCESS_VIOLATION        ((NTSTATUS)0xC0000005u) /* memory, token or access rights do not allow it */
#define STATUS_INVALID_PARAMETER       ((NTSTATUS)0xC000000Du) /* an argument is out of range */
#define STATUS_INVALID_DEVICE_REQUEST  ((NTSTATUS)0xC0000010u) /* the peer found the request malformed */
#define STATUS_NO_MEMORY               ((NTSTATUS)0xC0000017u) /* out of host memory */
#define STATUS_BUFFER_TOO_SMALL        ((NTSTATUS)0xC0000023u) /* the length parameter has the size needed */
#define STATUS_INVALID_PARAMETER_MIX   ((NTSTATUS)0xC0000030u) /* arguments contradict each other */
#define STATUS_DATA_OVERRUN            ((NTSTATUS)0xC000003Cu) /* too many scatter/gather entries */
#define STATUS_SHARING_VIOLATION       ((NTSTATUS)0xC0000043u) /* the local address is in use */
#define STATUS_INSUFFICIENT_RESOURCES  ((NTSTATUS)0xC000009Au) /* out of device resources */
#define STATUS_DEVICE_NOT_READY        ((NTSTATUS)0xC00000A3u) /* the adapter cannot be used at present */
#define STATUS_IO_TIMEOUT              ((NTSTATUS)0xC00000B5u) /* the peer does not answer */
#define STATUS_NOT_SUPPORTED           ((NTSTATUS)0xC00000BBu) /* the adapter cannot do this */
#define STATUS_INTERNAL_ERROR          ((NTSTATUS)0xC00000E5u) /* a queue of the device failed */
#define STATUS_CANCELLED               ((NTSTATUS)0xC0000120u) /* flushed from its queue */
#define STATUS_REMOTE_RESOURCES        ((NTSTATUS)0xC000013Du) /* Read past the end of the peer's memory */
#define STATUS_INVALID_ADDRESS         ((NTSTATUS)0xC0000141u) /* not an address of this adapter */
#define STATUS_INVALID_DEVICE_STATE    ((NTSTATUS)0xC0000184u) /* the object's state does not allow the call */
#define STATUS_IO_DEVICE_ERROR         ((NTSTATUS)0xC0000185u) /* the device failed */
#define STATUS_INVALID_BUFFER_SIZE     ((NTSTATUS)0xC0000206u) /* an impossible length */
#define STATUS_TOO_MANY_ADDRESSES      ((NTSTATUS)0xC0000209u) /* no port is left */
#define STATUS_ADDRESS_ALREADY_EXISTS  ((NTSTATUS)0xC000020Au) /* these two addresses are connected already */
#define STATUS_CONNECTION_DISCONNECTED ((NTSTATUS)0xC000020Cu) /* the connection was ended */
#define STATUS_CONNECTION_REFUSED      ((NTSTATUS)0xC0000236u) /* rejected, or no program listens */
#define STATUS_CONNECTION_INVALID      ((NTSTATUS)0xC000023Au) /* not connected */
#define STATUS_CONNECTION_ACTIVE       ((NTSTATUS)0xC000023Bu) /* in use for another connection */
#define STATUS_NETWORK_UNREACHABLE     ((NTSTATUS)0xC000023Cu) /* no route to the network */
#define STATUS_HOST_UNREACHABLE        ((NTSTATUS)0xC000023Du) /* no answer to address resolution */
#define STATUS_CONNECTION_ABORTED      ((NTSTATUS)0xC0000241u) /* the peer gave up meanwhile */
#define STATUS_DEVICE_REMOVED          ((NTSTATUS)0xC00002B6u) /* the adapter is gone */
/* clang-format on */

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
    CSHORT Size; /* of this structure, in bytes */
    CSHORT MdlFlags;
    USHORT AllocationProcessorNumber;
    USHORT Reserved;
    PVOID Process;
    PVOID MappedSystemVa; /* StartVa + ByteOffset */
    PVOID StartVa;        /* of the first page */
    ULONG ByteCount;
    ULONG ByteOffset; /* of the first byte in that page */
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
