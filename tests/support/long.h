/* SPDX-License-Identifier: MIT */
/*
 * long.h - how often a test repeats what it repeats for confidence: some seconds of it are part of each run of the
 * tests; with NDSPI_TEST_LONG=1 (.ci/full) it is as much as was once found to be enough.
 */
#ifndef TESTS_SUPPORT_LONG_H
#define TESTS_SUPPORT_LONG_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool test_is_long(void)
{
    const char *text = getenv("NDSPI_TEST_LONG");

    return text && strcmp(text, "1") == 0;
}

#endif
