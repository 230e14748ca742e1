/* SPDX-License-Identifier: MIT */
/*
 * deadline.h - deadlines that a starved process does not count. A deadline that is noticed DEADLINE_LATE_MS late begins
 * again, DEADLINE_AGAIN times at most: the process was not scheduled meanwhile, so the awaited answer may have arrived
 * unread.
 */
#ifndef UTIL_DEADLINE_H
#define UTIL_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

enum { DEADLINE_LATE_MS = 100, DEADLINE_AGAIN = 3 };

/*
 * again    in, out: how often it may still begin anew; DEADLINE_AGAIN when it is set
 * late_ns  in: for how long it has passed
 * Returns whether it begins anew.
 */
static inline bool deadline_begins_anew(unsigned *again, uint64_t late_ns)
{
    if (!*again || late_ns < DEADLINE_LATE_MS * (uint64_t)1000000u)
        return false;
    --*again;
    return true;
}

/* deadline_begins_anew, for a deadline in milliseconds. */
static inline bool deadline_ms_begins_anew(unsigned *again, uint64_t late_ms)
{
    return deadline_begins_anew(again, late_ms * 1000000u);
}

#endif
