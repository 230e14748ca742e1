/* SPDX-License-Identifier: MIT */
/* passive.h - functions that block, and so must be called at PASSIVE_LEVEL, or with a fast mutex at APC_LEVEL. */
#ifndef NDK_VERIFIER_PASSIVE_H
#define NDK_VERIFIER_PASSIVE_H

#include "ndk/dispatch/level.h"

#include <stdbool.h>

/* Report a call above PASSIVE_LEVEL: see below. */
void ndk_not_passive(const char *call, const char *kind, const void *object);
void ndk_not_passive_at_all(const char *call, const char *kind, const void *object);

/*
 * ndk_passive_expected  a function that blocks was called. Above PASSIVE_LEVEL the checker reports it; without the
 *                       checker debug builds name the call and abort, other builds go on
 * ndk_wait_expected     does that for a function that a thread at APC_LEVEL may call, too
 * ndk_passive_required  the call would wait for the callback that it is made in: without the checker every build
 *                       aborts. Returns false where the checker only logs: the call must do nothing then
 * call          in: its name
 * kind, object  in: of the object: its type, its address
 */
static inline void ndk_passive_expected(const char *call, const char *kind, const void *object)
{
    if (ndk_level() != PASSIVE_LEVEL)
        ndk_not_passive(call, kind, object);
}

static inline void ndk_wait_expected(const char *call, const char *kind, const void *object)
{
    if (ndk_level() > APC_LEVEL)
        ndk_not_passive(call, kind, object);
}

static inline bool ndk_passive_required(const char *call, const char *kind, const void *object)
{
    if (ndk_level() == PASSIVE_LEVEL)
        return true;
    ndk_not_passive_at_all(call, kind, object);
    return false;
}

/* ndk_paged_expected - paged pool is allocated. At DISPATCH_LEVEL the checker reports it. */
void ndk_paged_expected(const char *call);

#endif
