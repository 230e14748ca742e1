/* SPDX-License-Identifier: MIT */
/* uuid_text.h - UUIDs as text of 36 characters, 01234567-89ab-cdef-0123-456789abcdef. */
#ifndef WIN32_TEXT_UUID_TEXT_H
#define WIN32_TEXT_UUID_TEXT_H

#include <windows.h>

#include <stdbool.h>

#define UUID_LENGTH 36

/* uuid_print - writes the text, in small letters or in capitals, and a 0 behind it. */
void uuid_print(const UUID *uuid, bool capitals, char text[UUID_LENGTH + 1]);

/* uuid_parse - reads that text; letters may be of either kind. False where it has another form; uuid is unchanged. */
bool uuid_parse(const char *text, UUID *uuid);

#endif
