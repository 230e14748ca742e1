/* SPDX-License-Identifier: MIT */
/*
 * argument.h - what a program hands in by pointer. A pointer may be wrong, and a fault ends the call where it is: Wine
 * returns its exception code in place of the HRESULT, and locks that were held would stay held. So what the caller has
 * is read before the native method is called and written after it, from and to copies, when no lock is held. What the
 * method itself has to write, at the end of an overlapped request, is written by functions that may fail.
 *
 * Threads: of the program, in a unix call.
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
    ND_WINE_RESULTS = 16,   /* of one call of the native GetResults */
    ND_WINE_INLINE = 65536, /* more than any inline request */
};

/* Fault here if they are to. NULL is none of theirs: the native method has a code for it. */
static inline void nd_wine_readable(const void *at, size_t octets)
{
    const volatile char *first = at;

    if (!at || !octets)
        return;
    (void)first[0];
    (void)first[octets - 1];
}

/* Adding 0 atomically overwrites nothing of another thread's. */
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

/* Every page of what an inline request reads. */
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

/* Copies private data of the program's, as above. */
static inline const void *nd_wine_data_in(void *copy, const void *data, size_t octets)
{
    if (!data || octets > ND_WINE_DATA)
        return data;
    memcpy(copy, data, octets);
    return copy;
}

/* The smaller one. */
static inline size_t nd_wine_room(size_t room)
{
    return room < ND_WINE_DATA ? room : ND_WINE_DATA;
}

/* ---- by functions that may fail; any thread of the process, any lock ---- */

/* nd_wine_store - octets to memory of the program's. False: some of it cannot be written; a part may have been. */
bool nd_wine_store(void *to, const void *from, size_t octets);

/* nd_wine_status - Internal of a structure (acquire); ND_ACCESS_VIOLATION where it cannot be read. */
HRESULT nd_wine_status(const OVERLAPPED *overlapped);

/* nd_wine_event - hEvent of a structure; NULL where it cannot be read. */
HANDLE nd_wine_event(const OVERLAPPED *overlapped);

/*
 * nd_wine_mark - stores the status of a request in its structure: InternalHigh is 0, Internal last (release).
 * event  out: hEvent, read before; NULL where the structure cannot be read
 * False: the structure cannot be written.
 */
bool nd_wine_mark(OVERLAPPED *overlapped, ULONG_PTR status, HANDLE *event);

#endif
