/* SPDX-License-Identifier: MIT */
/* wildcard.h - names with * and ? as Windows matches them. */
#ifndef WIN32_FILES_WILDCARD_H
#define WIN32_FILES_WILDCARD_H

#include <stdbool.h>

/* Whether a pattern has a character that stands for others. */
bool wildcard_is_in(const char *pattern);

/* Whether a name matches; exact: upper and lower case of ASCII letters differ, too. Both are UTF-8. */
bool wildcard_matches(const char *pattern, const char *name, bool exact);

#endif
