/* SPDX-License-Identifier: MIT */
/* message.h - what FormatMessageA and FormatMessageW share. It works on UTF-8. */
#ifndef WIN32_TEXT_MESSAGE_H
#define WIN32_TEXT_MESSAGE_H

#include <windows.h>

/* The words for a code: Win32 error, HRESULT, NTSTATUS, ND code; NULL when there are none. */
const char *win_message_text(DWORD id);

/*
 * Formats one insert by a printf directive (as "%s") with its arguments (the value last). Returns UTF-8, which the
 * caller frees; NULL with errno. FormatMessageA and FormatMessageW differ in the type of %s.
 */
typedef char *win_message_insert(const char *directive, const ULONG_PTR values[3], unsigned count);

/*
 * win_message_build - the whole text of a FormatMessage call.
 * source   the text, with FORMAT_MESSAGE_FROM_STRING
 * Returns  memory to free; NULL with the last error.
 */
char *win_message_build(
    DWORD flags, const char *source, DWORD id, va_list *arguments, win_message_insert *insert);

#endif
