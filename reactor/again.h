/* SPDX-License-Identifier: MIT */
/* again.h - has a function called after a while, to retry what failed for want of a resource. */
#ifndef REACTOR_AGAIN_H
#define REACTOR_AGAIN_H

#include "reactor/reactor.h"

#include "util/clock.h"

enum { REACTOR_AGAIN_MS = 100 };

/* All zeros at first, and again in the child of a fork. */
struct reactor_again {
    struct reactor_source source; /* must be first: ops cast it */
    bool added;
};

/*
 * reactor_again - has ops->expired called once, after REACTOR_AGAIN_MS. Where the reactor cannot add the source,
 * nothing happens, so the next function that needs the resource has to try, too.
 * again  in: an object that is never freed
 * ops    in: the same in each call for one again
 * Threads: calls for one again come one at a time. Locks as for reactor_add.
 */
static inline void reactor_again(struct reactor_again *again, const struct reactor_source_ops *ops)
{
    if (!again->added) {
        reactor_source_init(&again->source, ops, -1);
        again->added = !reactor_add(&again->source, 0);
    }
    if (again->added)
        reactor_deadline(&again->source, clock_now_ns() + REACTOR_AGAIN_MS * UINT64_C(1000000));
}

#endif
