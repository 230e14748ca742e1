/* SPDX-License-Identifier: MIT */
/*
 * argument.h - reads and writes the program's memory that a call names by pointer. A pointer may be wrong, and a fault
 * ends the call where it is: Wine returns its exception code in place of the HRESULT, and locks that were held would
 * stay held. So the bridge copies the program's arguments before it calls the native method, and copies results back
 * after it, when no lock is held. Where the method itself has to write to the program's memory, at the end of an
 * overlapped request, it calls functions that report a fault.
 *
 * Threads: the program's, in a unix call.
 */
#ifndef WINE_ARGUMENT_H
#define WINE_ARGUMENT_H

#include "ndspi/core/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    ND_WINE_ENTRIES = 64,   /* the longest list of any adapter */
    ND_WINE_DATA = 1024,    /* more than any private data, or address */
    ND_WINE_RESULTS = 16,   /* the most results that one call of the native GetResults takes */
    ND_WINE_INLINE = 65536, /* more than any inline request */
};

/*
 * nd_wine_readable, nd_wine_writable - touch the program's octets, so that an access that faults does so here. NULL is
 * left alone: the native method has a code for it.
 */
static inline void nd_wine_readable(const void *at, size_t octets)
{
    const volatile char *first = at;

    if (!at || !octets)
        return;
    (void)first[0];
    (void)first[octets - 1];
}

/* Adding 0 atomically is a write that overwrites no other thread's. */
static inline void nd_wine_writable(void *at, size_t octets)
{
    char *first = at;

    if (!at || !octets)
        return;
    __atomic_fetch_add(first, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(first + octets - 1, 0, __ATOMIC_RELAXED);
}

/* Copies n entries, unless they are more than any method reads. Returns the list for the method. */
static inline const void *nd_wine_list(void *copy, const void *list, size_t n, size_t octets)
{
    if (!list || n > ND_WINE_ENTRIES)
        return list;
    memcpy(copy, list, n * octets);
    return copy;
}

/* Reads every page of an inline request's data, so that a fault comes here. */
void nd_wine_inline(const void *data, size_t octets);

/* nd_wine_inline for each inline entry: in version 2 for all, in version 1 for those without a handle. */
static inline void nd_wine_inline_v2(const ND2_SGE *list, size_t n)
{
    for (size_t i = 0; list && n <= ND_WINE_ENTRIES && i < n; i++)
        nd_wine_inline(list[i].Buffer, list[i].BufferLength);
}

static inline void nd_wine_inline_v1(const ND_SGE *list, size_t n)
{
    for (size_t i = 0; list && n <= ND_WINE_ENTRIES && i < n; i++)
        if (!list[i].hMr)
            nd_wine_inline(list[i].pAddr, list[i].Length);
}

/* Copies private data, unless it is more than any method reads. Returns the data for the method. */
static inline const void *nd_wine_data_in(void *copy, const void *data, size_t octets)
{
    if (!data || octets > ND_WINE_DATA)
        return data;
    memcpy(copy, data, octets);
    return copy;
}

/* Returns room, or ND_WINE_DATA if that is smaller. */
static inline size_t nd_wine_room(size_t room)
{
    return room < ND_WINE_DATA ? room : ND_WINE_DATA;
}

/* ---- functions that report a fault; any thread of the process, any lock ---- */

/* nd_wine_store - copies to the program's memory. False: some of it cannot be written; a part may be written. */
bool nd_wine_store(void *to, const void *from, size_t octets);

/* nd_wine_status - returns Internal of a structure (acquire); ND_ACCESS_VIOLATION where it cannot be read. */
HRESULT nd_wine_status(const OVERLAPPED *overlapped);

/* nd_wine_event - returns hEvent of a structure; NULL where it cannot be read. */
HANDLE nd_wine_event(const OVERLAPPED *overlapped);

/*
 * nd_wine_mark - stores the status of a request in its structure: InternalHigh is 0, Internal last (release).
 * event  out: hEvent, read before the status is stored; NULL where the structure cannot be read
 * False: the structure cannot be written.
 */
bool nd_wine_mark(OVERLAPPED *overlapped, ULONG_PTR status, HANDLE *event);

#endif
