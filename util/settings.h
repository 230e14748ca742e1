/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the values of the environment variables that the libraries read. Their names: setting_names.h.
 *
 * Each call reads the environment anew. Threads: any, as long as none changes the environment (getenv).
 */
#ifndef UTIL_SETTINGS_H
#define UTIL_SETTINGS_H

#include <stdbool.h>

/* NULL where the variable is not set, or empty. */
const char *setting_text(const char *name);

/*
 * setting_number - a number in decimal digits.
 * fallback  in: where it is not set
 * maximum   in: the largest that has a meaning
 * Anything else is taken as not set, with one warning for each variable.
 */
unsigned setting_number(const char *name, unsigned fallback, unsigned maximum);

/* A switch: 1 or 0, the default. Anything else is taken as not set, with one warning. */
bool setting_on(const char *name);

#endif
