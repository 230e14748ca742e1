/* SPDX-License-Identifier: MIT */
/*
 * level.h - the level (IRQL) of the calling thread: PASSIVE_LEVEL, where it may block, or DISPATCH_LEVEL, inside a
 * callback or under a spin lock.
 */
#ifndef NDK_DISPATCH_LEVEL_H
#define NDK_DISPATCH_LEVEL_H

#include <ndkwdm.h>

extern _Thread_local KIRQL ndk_level_; /* only the functions below use it */

static inline KIRQL ndk_level(void)
{
    return ndk_level_;
}

/* Returns the level before, which the same thread gives back to ndk_level_restore. */
static inline KIRQL ndk_level_raise(KIRQL level)
{
    KIRQL before = ndk_level_;

    if (level > before)
        ndk_level_ = level;
    return before;
}

static inline void ndk_level_restore(KIRQL before)
{
    ndk_level_ = before;
}

#endif
