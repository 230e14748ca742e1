/* SPDX-License-Identifier: MIT */
/*
 * settle.h - waits for work that a thread of the library finishes later without any event: destroying an id or an
 * adapter that its last user's thread must not destroy, closing a descriptor after a connection.
 */
#ifndef TESTS_SUPPORT_SETTLE_H
#define TESTS_SUPPORT_SETTLE_H

#include "util/clock.h"

#include <poll.h>
#include <stdbool.h>

enum { SETTLE_MS = 20000 };

/*
 * SETTLES_WITHIN(ms, condition) - tests the condition again and again until it holds; returns whether it did in that
 * time. Only for conditions without an event, a count or a descriptor on which a test could wait.
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
