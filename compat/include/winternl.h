/* SPDX-License-Identifier: MIT */
/*
 * winternl.h - structures of the native interface, and what translates its status codes. Its other functions are the
 * kernel's own, and do not exist.
 */
#ifndef WINCOMPAT_WINTERNL_H
#define WINCOMPAT_WINTERNL_H

#include <wincompat/base.h>

typedef struct _UNICODE_STRING {
    USHORT Length; /* octets, without a terminating zero */
    USHORT MaximumLength;
    PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
    USHORT Length;
    USHORT MaximumLength;
    PCHAR Buffer;
} STRING, *PSTRING, ANSI_STRING, *PANSI_STRING, OEM_STRING, *POEM_STRING;
typedef const STRING *PCANSI_STRING;

typedef struct _OBJECT_ATTRIBUTES {
    ULONG Length;
    HANDLE RootDirectory;
    PUNICODE_STRING ObjectName;
    ULONG Attributes;
    PVOID SecurityDescriptor;
    PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;

typedef struct _IO_STATUS_BLOCK {
    __extension__ union {
        NTSTATUS Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

WINCOMPAT_BEGIN
/* The Win32 error of a status; ERROR_MR_MID_NOT_FOUND for one that has none. */
WINOBJ_API ULONG WINAPI RtlNtStatusToDosError(NTSTATUS status);
WINCOMPAT_END

#endif
