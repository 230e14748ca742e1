/* SPDX-License-Identifier: MIT */
/*
 * watch_clock.h - the clock of the checker's watch (ndspi/check/debt.c), which sleeps by nanosleep of a second: that of
 * the program (watch_clock.c) stands in front of the C library's, and a test lets seconds pass at once.
 */
#ifndef TESTS_SUPPORT_WATCH_CLOCK_H
#define TESTS_SUPPORT_WATCH_CLOCK_H

#include "tests/support/settle.h"

/* One second passes, now or when the watch sleeps next. */
void watch_second(void);

/* Whether the watch has been through all seconds that were let pass, but for its look after the last. */
bool watch_is_up_to_date(void);

/* The child of a fork has seconds of its own. Before its watch starts. */
void watch_clock_forked(void);

#endif
