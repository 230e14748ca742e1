/* SPDX-License-Identifier: MIT */
/* exceptions.h - what devices.h says about a row on a device. */
#ifndef TESTS_CONFORMANCE_EXCEPTIONS_H
#define TESTS_CONFORMANCE_EXCEPTIONS_H

#include <stdbool.h>

enum exception_result { FAILS, IN_PART, NOT_APPLICABLE };

struct exception {
    const char *device, *row;
    enum exception_result result;
    const char *reason;
};

/* Whether "suite.row", or "version.suite.row", means the row of this full name ("v1.connector.nobody_listens"). */
bool names_row(const char *asked, const char *full_name);

/* "fails", ... */
const char *exception_word(enum exception_result result);

/* Whether devices.h knows a device. */
bool device_is_known(const char *device);

/* What is said about a row (full name) on a device; NULL: that it passes. device: NULL = none. */
const struct exception *exception_of(const char *device, const char *full_name);

#endif
