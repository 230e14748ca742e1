/* SPDX-License-Identifier: MIT */
/*
 * setting_names.h - which environment variables that begin with NDSPI_ mean something.
 *
 * A new one is a row in the table of setting_names.c and in docs/environment.md; tests/structure compares
 * both with the sources.
 */
#ifndef UTIL_SETTING_NAMES_H
#define UTIL_SETTING_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The names that the libraries read, in the order of the table; NULL after the last. */
const char *setting_name(size_t index);

/* Where a name stands in the table; the number of names where it does not. */
size_t setting_index(const char *name);
enum { SETTINGS_MAX = 32 };

/*
 * setting_unknown - the next entry of an environment whose name begins with NDSPI_ and is not known: no setting, and
 * none of the names that the project's scripts and tests use.
 * at  inout: the place in the environment to go on from
 * Returns the entry (NAME=VALUE), or NULL at the end.
 */
const char *setting_unknown(char *const **at);

#endif
