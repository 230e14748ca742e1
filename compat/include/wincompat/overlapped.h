/* SPDX-License-Identifier: MIT */
/* overlapped.h - OVERLAPPED and OVERLAPPED_ENTRY in Windows' layout, SECURITY_ATTRIBUTES. */
#ifndef WINCOMPAT_OVERLAPPED_H
#define WINCOMPAT_OVERLAPPED_H

#include <wincompat/types.h>

typedef struct _OVERLAPPED {
    ULONG_PTR Internal;
    ULONG_PTR InternalHigh;
    __extension__ union {
        __extension__ struct {
            DWORD Offset;
            DWORD OffsetHigh;
        };
        PVOID Pointer;
    };
    HANDLE hEvent;
} OVERLAPPED, *LPOVERLAPPED;

typedef struct _OVERLAPPED_ENTRY {
    ULONG_PTR lpCompletionKey;
    LPOVERLAPPED lpOverlapped;
    ULONG_PTR Internal;
    DWORD dwNumberOfBytesTransferred;
} OVERLAPPED_ENTRY, *LPOVERLAPPED_ENTRY;

typedef struct _SECURITY_ATTRIBUTES {
    DWORD nLength;
    LPVOID lpSecurityDescriptor;
    BOOL bInheritHandle;
} SECURITY_ATTRIBUTES, *PSECURITY_ATTRIBUTES, *LPSECURITY_ATTRIBUTES;

C_ASSERT(sizeof(OVERLAPPED) == 4 * sizeof(void *));
C_ASSERT(offsetof(OVERLAPPED, hEvent) == 3 * sizeof(void *));

#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)

/* Acquire: what the completion wrote before the status is visible after this said TRUE. */
#define HasOverlappedIoCompleted(overlapped)                                                       \
    ((DWORD)__atomic_load_n(&(overlapped)->Internal, __ATOMIC_ACQUIRE) != (DWORD)0x00000103u)

#endif
