/* SPDX-License-Identifier: MIT */
/*
 * memory.h - the regions that the checker knows, and what the entries of a request say about them.
 *
 * A region has a name: of version 2 its local token, of version 1 its handle. Regions that were taken back are
 * remembered, so that a request that still names one can be told of.
 */
#ifndef NDSPI_CHECK_MEMORY_H
#define NDSPI_CHECK_MEMORY_H

#include "ndspi/check/object.h"

enum { ND_CHECK_GONE_MOST = 1024 }; /* regions that are remembered */

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
/* The same of a call that takes it back. name in: 0: all of the object */
void nd_check_deregistered(const struct nd_check_call *call, HRESULT hr, UINT64 name);
/* The last Release of an object, by a call of this name. Those of version 1 live as long as what uses the adapter. */
void nd_check_release_regions_locked(const struct nd_checked *object, const char *name);

/* An entry of the call's request; index in: which. */
void nd_check_entry(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use);

#endif
