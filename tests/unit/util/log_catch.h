/* SPDX-License-Identifier: MIT */
/* log_catch.h - what the log writes to standard error between two calls; for tests with cmocka. */
#ifndef TESTS_UNIT_UTIL_LOG_CATCH_H
#define TESTS_UNIT_UTIL_LOG_CATCH_H

#include <unistd.h>

static int log_end, error_before;

static inline void log_catch(void)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    error_before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    log_end = ends[0];
}

/* What was written since; valid until the next call. No more than a pipe holds may be written meanwhile. */
static inline const char *log_caught(void)
{
    static char text[8192];
    ssize_t octets;

    dup2(error_before, STDERR_FILENO); /* the last writing end */
    close(error_before);
    octets = read(log_end, text, sizeof(text) - 1);
    close(log_end);
    text[octets > 0 ? octets : 0] = 0;
    return text;
}

#endif
