/* SPDX-License-Identifier: MIT */
/* message.h - what the narrow and the wide FormatMessage share. Text is UTF-8 in between. */
#ifndef WINOBJ_MESSAGE_H
#define WINOBJ_MESSAGE_H

#include <windows.h>

/* The words for a code: Win32 error, HRESULT, NTSTATUS, ND code; NULL when there are none. */
const char *win_message_text(DWORD id);

/*
 * One insert: the printf directive (as "%s") with its arguments (the value last), as UTF-8 in memory of its own; NULL
 * with errno. The narrow and the wide function differ in what %s is.
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
