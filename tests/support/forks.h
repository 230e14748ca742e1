/* SPDX-License-Identifier: MIT */
/* forks.h - for a test, in one of its files, whose child of a fork starts threads although the parent had several. */
#ifndef TESTS_SUPPORT_FORKS_H
#define TESTS_SUPPORT_FORKS_H

#ifdef __SANITIZE_THREAD__
/* Read by libtsan. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}
#endif

#endif
