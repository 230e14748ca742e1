/* SPDX-License-Identifier: MIT */
/*
 * pointers.h - handles and pointers as numbers of 32 bits, and back. Functions, as on Windows: their names can be
 * qualified and their addresses taken.
 */
#ifndef WINCOMPAT_POINTERS_H
#define WINCOMPAT_POINTERS_H

#include <wincompat/types.h>

static inline ULONG HandleToULong(const void *handle)
{
    return (ULONG)(ULONG_PTR)handle;
}
static inline LONG HandleToLong(const void *handle)
{
    return (LONG)(LONG_PTR)handle;
}
static inline void *ULongToHandle(const ULONG number)
{
    return (void *)(ULONG_PTR)number;
}
static inline void *LongToHandle(const LONG number)
{
    return (void *)(LONG_PTR)number;
}
static inline ULONG PtrToUlong(const void *pointer)
{
    return (ULONG)(ULONG_PTR)pointer;
}
static inline LONG PtrToLong(const void *pointer)
{
    return (LONG)(LONG_PTR)pointer;
}
static inline UINT PtrToUint(const void *pointer)
{
    return (UINT)(UINT_PTR)pointer;
}
static inline INT PtrToInt(const void *pointer)
{
    return (INT)(INT_PTR)pointer;
}
static inline void *ULongToPtr(const ULONG number)
{
    return (void *)(ULONG_PTR)number;
}
static inline void *LongToPtr(const LONG number)
{
    return (void *)(LONG_PTR)number;
}
static inline void *UIntToPtr(const UINT number)
{
    return (void *)(UINT_PTR)number;
}
static inline void *IntToPtr(const INT number)
{
    return (void *)(INT_PTR)number;
}

#define HandleToUlong HandleToULong
#define UlongToHandle ULongToHandle
#define PtrToULong    PtrToUlong
#define UlongToPtr    ULongToPtr
#define UintToPtr     UIntToPtr
#define PtrToUInt     PtrToUint

#endif
