/* SPDX-License-Identifier: MIT */
/*
 * settle.h - for what a thread of the library's own does a little later and tells nobody: the end of an id or an
 * adapter that must not end in the thread that let go of it, a descriptor that is closed behind a connection.
 */
#ifndef TESTS_SUPPORT_SETTLE_H
#define TESTS_SUPPORT_SETTLE_H

#include "util/clock.h"

#include <poll.h>
#include <stdbool.h>

enum { SETTLE_MS = 20000 };

/*
 * SETTLES_WITHIN(ms, condition) - looks at the condition until it holds; whether it did in that time. There is nothing
 * to sleep on: only for what has no event, no count and no descriptor to be waited for.
 */
#define SETTLES_WITHIN(ms, condition)                                                              \
    __extension__({                                                                                \
        uint64_t settles_end_ms_ = clock_now_ms() + (ms);                                          \
        bool settles_over_;                                                                        \
        while (!(settles_over_ = (condition)) && clock_now_ms() < settles_end_ms_)                 \
            poll(NULL, 0, 1);                                                                      \
        settles_over_;                                                                             \
    })
#define SETTLES(condition) SETTLES_WITHIN(SETTLE_MS, condition)

#endif
