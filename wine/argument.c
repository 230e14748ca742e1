/* SPDX-License-Identifier: MIT */
#include "wine/argument.h"

#include "util/guard.h"

#include <stdatomic.h>

void nd_wine_inline(const void *data, size_t octets)
{
    enum { PAGE_OCTETS = 4096 };
    size_t read = octets < ND_WINE_INLINE ? octets : ND_WINE_INLINE;

    nd_wine_readable(data, read);
    for (size_t at = PAGE_OCTETS; data && at < read; at += PAGE_OCTETS)
        nd_wine_readable((const char *)data + at, 1);
}

__attribute__((noinline)) bool nd_wine_store(void *to, const void *from, size_t octets)
{
    struct guard guard;

    if (_setjmp(guard.env))
        return false;
    guard_begin(&guard, to, octets);
    memcpy(to, from, octets);
    guard_end();
    return true;
}

__attribute__((noinline)) HRESULT nd_wine_status(const OVERLAPPED *overlapped)
{
    struct guard guard;
    HRESULT status;

    if (_setjmp(guard.env))
        return ND_ACCESS_VIOLATION;
    guard_begin(&guard, overlapped, sizeof(*overlapped));
    status = (HRESULT)atomic_load_explicit(
        (_Atomic(ULONG_PTR) *)(ULONG_PTR)&overlapped->Internal, memory_order_acquire);
    guard_end();
    return status;
}

__attribute__((noinline)) HANDLE nd_wine_event(const OVERLAPPED *overlapped)
{
    struct guard guard;
    HANDLE event;

    if (_setjmp(guard.env))
        return NULL;
    guard_begin(&guard, overlapped, sizeof(*overlapped));
    event = overlapped->hEvent;
    guard_end();
    return event;
}

__attribute__((noinline)) bool nd_wine_mark(OVERLAPPED *overlapped, ULONG_PTR status, HANDLE *event)
{
    struct guard guard;

    *event = NULL;
    if (_setjmp(guard.env))
        return false;
    guard_begin(&guard, overlapped, sizeof(*overlapped));
    *event = overlapped->hEvent;
    overlapped->InternalHigh = 0;
    atomic_store_explicit(
        (_Atomic(ULONG_PTR) *)(ULONG_PTR)&overlapped->Internal, status, memory_order_release);
    guard_end();
    return true;
}
