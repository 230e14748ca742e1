/* SPDX-License-Identifier: MIT */
/* registry.h - a driver's parameters, a part of ndkwdm.h: what the program that runs it was told (ndk_host -p). */
#ifndef NDKWDM_REGISTRY_H
#define NDKWDM_REGISTRY_H

#include <ndkwdm/string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#ifndef REG_NONE
#define REG_NONE  0
#define REG_SZ    1
#define REG_DWORD 4
#endif

#define RTL_REGISTRY_ABSOLUTE 0
#define RTL_REGISTRY_SERVICES 1

#define RTL_QUERY_REGISTRY_REQUIRED  0x00000004
#define RTL_QUERY_REGISTRY_DIRECT    0x00000020
#define RTL_QUERY_REGISTRY_TYPECHECK 0x00000100 /* has DIRECT check the type */
#define RTL_QUERY_REGISTRY_TYPECHECK_SHIFT 24   /* DefaultType has the type above this bit */
/* clang-format on */

typedef NTSTATUS RTL_QUERY_REGISTRY_ROUTINE(PWSTR ValueName, ULONG ValueType, PVOID ValueData,
    ULONG ValueLength, PVOID Context, PVOID EntryContext);
typedef RTL_QUERY_REGISTRY_ROUTINE *PRTL_QUERY_REGISTRY_ROUTINE;

/* A value that is looked for; the last of an array has neither QueryRoutine nor Name. */
typedef struct _RTL_QUERY_REGISTRY_TABLE {
    PRTL_QUERY_REGISTRY_ROUTINE QueryRoutine; /* NULL with RTL_QUERY_REGISTRY_DIRECT */
    ULONG Flags;
    PCWSTR Name;
    PVOID EntryContext; /* DIRECT's target: a ULONG for REG_DWORD, a UNICODE_STRING for REG_SZ */
    ULONG DefaultType;  /* REG_NONE: none; with TYPECHECK in its lower bits */
    PVOID DefaultData;
    ULONG DefaultLength; /* bytes */
} RTL_QUERY_REGISTRY_TABLE, *PRTL_QUERY_REGISTRY_TABLE;

/*
 * Passive. Stores values, or calls QueryRoutine with them. A value that is not there is the default, if there is one.
 * relative, path  in: not used: there is one set of parameters
 * table           in, out: a UNICODE_STRING of EntryContext without a Buffer gets one of pool memory, which
 *                 RtlFreeUnicodeString frees; else the text is stored there
 * context         in: for QueryRoutine
 * environment     in: not used
 * Returns STATUS_SUCCESS; STATUS_OBJECT_NAME_NOT_FOUND: a value with RTL_QUERY_REGISTRY_REQUIRED is not there;
 * STATUS_INVALID_PARAMETER: a row without a name, or of a flag that is not listed above; STATUS_BUFFER_TOO_SMALL: the
 * text does not fit; STATUS_OBJECT_TYPE_MISMATCH: by TYPECHECK; STATUS_NO_MEMORY; what QueryRoutine returned, if that
 * is a failure.
 */
NTSTATUS RtlQueryRegistryValues(ULONG relative, PCWSTR path, PRTL_QUERY_REGISTRY_TABLE table,
    PVOID context, PVOID environment) WINCOMPAT_WIDE("RtlQueryRegistryValues");

#ifdef __cplusplus
}
#endif

#endif
