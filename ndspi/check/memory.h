/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the regions that the checker knows, and what the entries of a request say about them.
 *
 * A region has a name: of version 2 its local token, of version 1 its handle. Regions that were taken back are
 * remembered, so that the checker can report a request that still names one.
 */
#ifndef NDSPI_CHECK_MEMORY_H
#define NDSPI_CHECK_MEMORY_H

#include "ndspi/check/object.h"

enum { ND_CHECK_GONE_MOST = 1024 }; /* regions that are remembered */

/* One that is, or was, registered. */
struct nd_check_region {
    struct list_node link;            /* of its bucket, or of those that were taken back */
    struct list_head named;           /* where requests name it (pending.c) */
    const struct nd_checked *object;  /* the region's; of version 1: the adapter */
    const struct nd_checked *adapter; /* only compared: both may be freed */
    const struct nd_check_kind *kind; /* of the object */
    UINT64 name;
    const char *base;
    size_t length;
    ULONG flags;
    const char *made_by; /* the call */
    struct nd_check_place made_at;
    const char *ended_by; /* the call; NULL: it is registered */
};

/* An entry of either version. */
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
 * The same of a call that takes it back.
 * name     in: 0: that of the object
 * pending  in: a request that named it then
 */
void nd_check_deregistered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const struct nd_check_pending *pending);
/* The last Release of an object, by a call of this name. Those of version 1 live as long as what uses the adapter. */
void nd_check_release_region_locked(struct nd_checked *object, const char *name);

/* The name of a region's object of version 2; 0: it is not registered, or no such object. */
UINT64 nd_check_name_of(const void *given);

/* A registered region: of this name, preferably of this adapter; or of this object (name 0: its only one). */
struct nd_check_region *nd_check_region_locked(UINT64 name, const struct nd_checked *adapter);
struct nd_check_region *nd_check_region_of_locked(const struct nd_checked *object, UINT64 name);

/* An entry of the call's request; index in: which. */
void nd_check_entry(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use);

#endif
