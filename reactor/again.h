/* SPDX-License-Identifier: MIT */
/* again.h - tries something again a while after it failed for want of a resource. */
#ifndef REACTOR_AGAIN_H
#define REACTOR_AGAIN_H

#include "reactor/reactor.h"

#include "util/clock.h"

enum { REACTOR_AGAIN_MS = 100 };

/* All zeros at first, and again in the child of a fork. */
struct reactor_again {
    struct reactor_source source; /* first */
    bool added;
};

/*
 * reactor_again - has ops->expired called once, after REACTOR_AGAIN_MS. Where the reactor itself cannot be had, nothing
 * happens: so the next one who needs the resource has to try, too.
 * again  in: whose ops are the same each time; never freed
 * Calls for one again: one at a time. Locks as for reactor_add.
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
