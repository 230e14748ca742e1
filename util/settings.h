/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the environment variables that the libraries read: their values, and which names that begin with NDSPI_
 * are known. Other programs, too, use names that begin with NDK_.
 *
 * A new one is a row in the table of settings.c and in docs/environment.md; tests/structure compares both with the
 * sources. Each call reads the environment anew. Threads: any, as long as none changes the environment (getenv).
 */
#ifndef UTIL_SETTINGS_H
#define UTIL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the value of a variable; NULL where it is not set, or empty. */
const char *setting_text(const char *name);

/*
 * setting_number - a number in decimal digits.
 * fallback  in: the number where the variable is not set
 * maximum   in: the largest number that has a meaning
 * Any other value is ignored, with one warning for each variable.
 */
unsigned setting_number(const char *name, unsigned fallback, unsigned maximum);

/*
 * Read a switch, 1 or 0. Any other value is ignored, with one warning.
 * setting_on   the default is 0; returns whether the switch is 1
 * setting_off  the default is 1; returns whether the switch is 0
 */
bool setting_on(const char *name);
bool setting_off(const char *name);

/*
 * setting_word - one of several words.
 * words  in: the default first; NULL behind the last
 * Returns the index of the word: 0 where the variable is not set. Any other value is ignored, with one warning.
 */
unsigned setting_word(const char *name, const char *const words[]);

/* The names that the libraries read, in the order of the table; NULL after the last. */
const char *setting_name(size_t index);

/* Returns the index of a name in the table; the number of names if the table does not have it. */
size_t setting_index(const char *name);

/*
 * setting_unknown - the next entry of an environment whose name begins with NDSPI_ and is not known: no setting, and
 * none of the names that the project's scripts and tests use.
 * at  inout: the place in the environment to go on from
 * Returns the entry (NAME=VALUE), or NULL at the end.
 */
const char *setting_unknown(char *const **at);

#endif
