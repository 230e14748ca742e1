/* SPDX-License-Identifier: MIT */
/* command_line.h - Windows' command lines: one text, which the started program splits. */
#ifndef WIN32_SPAWN_COMMAND_LINE_H
#define WIN32_SPAWN_COMMAND_LINE_H

#include <windows.h>

/*
 * command_split - the arguments of a command line, as Windows' C library finds them. One block of memory, which the
 * caller frees; the last one is NULL, and there is always one before it. NULL: no memory.
 */
char **command_split(const char *command);

/*
 * command_find - the path of the program to start.
 * program  as it was given, or NULL: word is searched for
 * path     out: the caller frees it
 * Returns  a Win32 error.
 */
DWORD command_find(const char *program, const char *word, char **path);

#endif
