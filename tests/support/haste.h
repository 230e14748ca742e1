/* SPDX-License-Identifier: MIT */
/*
 * haste.h - clocks of a test program that go faster for a while: calls of clock_gettime, ppoll and those that sleep in
 * epoll come to the program (haste.c), also those of the libraries.
 */
#ifndef TESTS_SUPPORT_HASTE_H
#define TESTS_SUPPORT_HASTE_H

#include <stdint.h>

/*
 * From now on clocks go `rate` times as fast, and sleeps, also those that have begun, end by them; 0: clocks stand, so
 * that no deadline expires, however slow the host is. haste_begin and haste_end are called by one thread.
 */
void haste_begin(unsigned rate);
/* The clocks go as those of the world again, and keep what they have gained. */
void haste_end(void);
/* The clocks go on by so much at once. By the thread of haste_begin. */
void haste_skip_ms(unsigned ms);
/* By a clock of the world. */
uint64_t haste_real_ms(void);

#endif
