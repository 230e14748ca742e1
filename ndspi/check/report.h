/* SPDX-License-Identifier: MIT */
/*
 * report.h - how the checker reports a misuse: one line on standard error, with the call, the object, what happened,
 * the rule, and what to do. It reports the same misuse of one call and object once.
 */
#ifndef NDSPI_CHECK_REPORT_H
#define NDSPI_CHECK_REPORT_H

#include "ndspi/check/rules.h"

#include <stdbool.h>

enum nd_check_mode { ND_CHECK_OFF, ND_CHECK_ABORT, ND_CHECK_LOG };

/* Reads the mode from the environment at each call. */
enum nd_check_mode nd_check_mode(void);

/*
 * nd_check_tell_locked - writes the line, with nd_check_lock held.
 * call    in: the method, a literal such as "IND2QueuePair::Send"
 * kind    in: what the object is, such as "IND2QueuePair"
 * object  in: its address, may be NULL
 * format  in: what happened, a format of printf
 */
__attribute__((format(printf, 5, 6))) void nd_check_tell_locked(enum nd_check_rule rule,
    const char *call, const char *kind, const void *object, const char *format, ...);

/* Called after the lines of one call: ends the program by abort(), unless NDSPI_CHECK is "log". */
void nd_check_told(void);

/* Writes the line, then ends the program as nd_check_told does. */
#define nd_check_report_locked(...) (nd_check_tell_locked(__VA_ARGS__), nd_check_told())

#endif
