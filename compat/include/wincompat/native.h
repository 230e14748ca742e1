/* SPDX-License-Identifier: MIT */
/* native.h - structures of the native interface, which <winternl.h> and the headers for drivers have in common. */
#ifndef WINCOMPAT_NATIVE_H
#define WINCOMPAT_NATIVE_H

#include <wincompat/types.h>

/* Lengths are in octets; a text need not end with a zero. */
typedef struct _UNICODE_STRING {
    USHORT Length;        /* of the text */
    USHORT MaximumLength; /* of the memory at Buffer */
    PWSTR Buffer;
} UNICODE_STRING, *PUNICODE_STRING;
typedef const UNICODE_STRING *PCUNICODE_STRING;

typedef struct _STRING {
    USHORT Length;
    USHORT MaximumLength;
    PCHAR Buffer;
} STRING, *PSTRING, ANSI_STRING, *PANSI_STRING, OEM_STRING, *POEM_STRING;
typedef const STRING *PCANSI_STRING;

typedef const char *PCSZ;

typedef struct _OBJECT_ATTRIBUTES {
    ULONG Length;
    HANDLE RootDirectory;
    PUNICODE_STRING ObjectName;
    ULONG Attributes;
    PVOID SecurityDescriptor;
    PVOID SecurityQualityOfService;
} OBJECT_ATTRIBUTES, *POBJECT_ATTRIBUTES;

#define OBJ_CASE_INSENSITIVE 0x00000040
#define OBJ_KERNEL_HANDLE    0x00000200
#define InitializeObjectAttributes(attributes, name, flags, root, security)                        \
    do {                                                                                           \
        (attributes)->Length = sizeof(OBJECT_ATTRIBUTES);                                          \
        (attributes)->RootDirectory = (root);                                                      \
        (attributes)->ObjectName = (name);                                                         \
        (attributes)->Attributes = (flags);                                                        \
        (attributes)->SecurityDescriptor = (security);                                             \
        (attributes)->SecurityQualityOfService = NULL;                                             \
    } while (0)

typedef struct _IO_STATUS_BLOCK {
    __extension__ union {
        NTSTATUS Status;
        PVOID Pointer;
    };
    ULONG_PTR Information;
} IO_STATUS_BLOCK, *PIO_STATUS_BLOCK;

typedef struct _CLIENT_ID {
    HANDLE UniqueProcess;
    HANDLE UniqueThread;
} CLIENT_ID, *PCLIENT_ID;

#endif
