/* SPDX-License-Identifier: MIT */
/* own_command.c - the command line of the process itself, made of its arguments (own_command.h). */
#include "win32/process/own_command.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends an argument, so that the rules of Windows' C library give it back. At most 2 * length + 3 octets. */
static char *put_argument(char *to, const char *argument)
{
    bool quoted = !*argument || strpbrk(argument, " \t\"");
    size_t slashes = 0;

    if (quoted)
        *to++ = '"';
    for (; *argument; argument++) {
        if (*argument == '"')
            for (slashes++; slashes; slashes--)
                *to++ = '\\';
        slashes = *argument == '\\' ? slashes + 1 : 0;
        *to++ = *argument;
    }
    for (; quoted && slashes; slashes--)
        *to++ = '\\';
    if (quoted)
        *to++ = '"';
    return to;
}

/* All of /proc/self/cmdline: arguments, each with a 0 behind. The caller frees it. NULL: no memory, or no /proc. */
static char *read_arguments(size_t *length)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    char *text = NULL, *more;
    size_t room = 0;

    *length = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (!(more = realloc(text, room + 4096)))
            break;
        text = more;
        *length += fread(text + room, 1, 4096, file);
        room = *length;
    }
    if (file)
        fclose(file);
    return text;
}

static char *make_line(void)
{
    size_t length, at = 0;
    char *arguments = read_arguments(&length);
    char *line = arguments ? malloc(3 * length + 1) : NULL, *to = line;

    for (; line && at < length; at += strlen(arguments + at) + 1) {
        if (at)
            *to++ = ' ';
        to = put_argument(to, arguments + at);
    }
    if (line)
        *to = 0;
    free(arguments);
    return line;
}

const char *own_command_line(void)
{
    static _Atomic(char *) made;
    char *line = atomic_load(&made), *none = NULL;

    if (line || !(line = make_line()))
        return line ? line : "";
    if (!atomic_compare_exchange_strong(&made, &none, line)) {
        free(line);
        line = none;
    }
    return line;
}

/*
 * GetCommandLineA, GetCommandLineW - the process's command line, made of its arguments: quotes and backslashes stand
 * where Windows' C library needs them, whatever the one who started it wrote.
 * Returns  a text that stays as it is while the process runs. Any thread.
 */
LPSTR WINAPI GetCommandLineA(void)
{
    return (LPSTR)(uintptr_t)own_command_line();
}
