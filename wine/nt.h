/* SPDX-License-Identifier: MIT */
/*
 * nt.h - Wine's own system calls, as its modules' native sides use them: looked up in the ntdll.so of this process.
 * Only a thread that came in by a unix call may use them.
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

/* Name, parameters; all return an NTSTATUS. */
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
 * Wine 8 has them in Windows' calling convention, Wine 10 in the system's: the other pointer is NULL. This is no union:
 * gcc 12's optimizer merges two calls of one pointer, even with different conventions.
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

/* NT(NtClose, handle): calls it, in its convention. */
#define NT(name, ...) (nt.name.native ? nt.name.native(__VA_ARGS__) : nt.name.windows(__VA_ARGS__))

/* False: logged why. Call it first; it may be repeated. */
bool nd_nt_init(void);

/*
 * Finds out, by its NtQuerySystemTime, whether ntdll.so's functions have the native convention. False: unknown, logged.
 */
bool nd_nt_convention(void *query_system_time, bool *native);

#endif
