/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the regions that the checker knows, and what the entries of a request say about them.
 *
 * A region's name is its local token in version 2, its handle in version 1. Deregistered regions are remembered, so
 * that the checker can report a request that still names one.
 */
#ifndef NDSPI_CHECK_MEMORY_H
#define NDSPI_CHECK_MEMORY_H

#include "ndspi/check/object.h"

enum { ND_CHECK_GONE_MOST = 1024 }; /* deregistered regions that are remembered */

/* A registered or deregistered region. */
struct nd_check_region {
    struct list_node link;  /* node of its bucket, or of the list of deregistered regions */
    struct list_head named; /* entries of requests that name it (pending.c) */
    const struct nd_checked *object;  /* the region; in version 1 the adapter */
    const struct nd_checked *adapter; /* only compared: both may be freed */
    const struct nd_check_kind *kind; /* the object's */
    UINT64 name;
    const char *base;
    size_t length;
    ULONG flags;
    const char *made_by; /* the call that registered it */
    struct nd_check_place made_at;
    const char *ended_by; /* the call that deregistered it; NULL: it is registered */
};

/* An ND2_SGE or ND_SGE. */
struct nd_check_entry {
    const void *buffer;
    size_t length;
    UINT64 name;
};

/* What a request does with the memory that it lists. */
enum nd_check_use { ND_CHECK_READS, ND_CHECK_RECEIVES, ND_CHECK_FETCHES };

/*
 * nd_check_registered - the end of a call that registers a region.
 * hr     in: ND_PENDING: it was
 * flags  in: ND_MR_FLAG_*
 */
void nd_check_registered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const void *base, size_t length, ULONG flags);
struct nd_check_pending;
/*
 * nd_check_deregistered - the end of a call that deregisters a region.
 * name     in: the region's; 0: the only one of the call's object
 * pending  in: a request that named it when the call began
 */
void nd_check_deregistered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const struct nd_check_pending *pending);
/*
 * The call `name` is the last Release of an object, which deregisters its region. Regions of version 1 have no object:
 * they live as long as what uses the adapter.
 */
void nd_check_release_region_locked(struct nd_checked *object, const char *name);

/* The name of an IND2MemoryRegion; 0: it is not registered, or `given` is no such object. */
UINT64 nd_check_name_of(const void *given);

/*
 * The first finds the registered region of that name, preferably the adapter's; the second the object's (name 0: its
 * only one).
 */
struct nd_check_region *nd_check_region_locked(UINT64 name, const struct nd_checked *adapter);
struct nd_check_region *nd_check_region_of_locked(const struct nd_checked *object, UINT64 name);

/* Checks one entry of the call's request; index  in: its place in the list, from 0. */
void nd_check_entry(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use);

#endif
