/* SPDX-License-Identifier: MIT */
/*
 * nt.h - Wine's own system calls, as the native sides of its modules use them: the process's ntdll.so exports them.
 * Only a thread in a unix call may use them.
 */
#ifndef WINE_NT_H
#define WINE_NT_H

#include "ndspi/core/base.h"

#define ND_NT __attribute__((ms_abi)) /* Windows' calling convention */

struct nt_iosb {
    union {
        LONG status;
        void *pointer;
    } u;
    ULONG_PTR information;
};

struct nt_string {
    USHORT length, room;  /* octets */
    const uint16_t *text; /* UTF-16, whatever WCHAR is natively */
};

struct nt_attributes {
    ULONG length;
    HANDLE root;
    const struct nt_string *name;
    ULONG attributes;
    void *security, *quality;
};

struct nt_basic_information {
    ULONG attributes, access, handles, pointers, reserved[10];
};

/* Each function's name and parameters; all return an NTSTATUS. */
#define NT_FUNCTIONS(X)                                                                            \
    X(NtOpenFile, HANDLE *file, ULONG access, const struct nt_attributes *attributes,              \
        struct nt_iosb *iosb, ULONG sharing, ULONG options)                                        \
    X(NtDuplicateObject, HANDLE from, HANDLE handle, HANDLE to, HANDLE *copy, ULONG access,        \
        ULONG attributes, ULONG options)                                                           \
    X(NtClose, HANDLE handle)                                                                      \
    X(NtCompareObjects, HANDLE a, HANDLE b)                                                        \
    X(NtQueryObject, HANDLE handle, int what, void *information, ULONG octets, ULONG *used)        \
    X(NtSetInformationFile, HANDLE file, struct nt_iosb *iosb, void *information, ULONG octets,    \
        int what)                                                                                  \
    X(NtSetEvent, HANDLE event, LONG *previous)                                                    \
    X(NtResetEvent, HANDLE event, LONG *previous)                                                  \
    X(NtWaitForSingleObject, HANDLE handle, BYTE alertable, const LONGLONG *timeout)               \
    X(NtReadFile, HANDLE file, HANDLE event, void *apc, void *context, struct nt_iosb *iosb,       \
        void *buffer, ULONG octets, const LONGLONG *offset, const ULONG *key)                      \
    X(NtDeviceIoControlFile, HANDLE file, HANDLE event, void *apc, void *context,                  \
        struct nt_iosb *iosb, ULONG code, const void *in, ULONG in_octets, void *out,              \
        ULONG out_octets)

/*
 * Wine 8's functions have Windows' calling convention, Wine 10's the system's: the other pointer is NULL. It is not a
 * union, since gcc 12's optimizer merges two calls of one pointer, even with different conventions.
 */
#define NT_MEMBER(name, ...)                                                                       \
    struct {                                                                                       \
        LONG ND_NT (*windows)(__VA_ARGS__);                                                        \
        LONG (*native)(__VA_ARGS__);                                                               \
    } name;
struct nt {
    NT_FUNCTIONS(NT_MEMBER)
};
#undef NT_MEMBER

extern struct nt nt;

/* NT(NtClose, handle) calls NtClose in the convention that it has. */
#define NT(name, ...) (nt.name.native ? nt.name.native(__VA_ARGS__) : nt.name.windows(__VA_ARGS__))

/* Looks the functions up, before the first use of NT; it may be called again. False: it failed, and logged why. */
bool nd_nt_init(void);

/*
 * Finds out, by its NtQuerySystemTime, whether ntdll.so's functions have the native convention. False: unknown, logged.
 */
bool nd_nt_convention(void *query_system_time, bool *native);

#endif
