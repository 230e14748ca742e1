/* SPDX-License-Identifier: MIT */
/* startup.c - GetStartupInfo: what CreateProcess was called with for this process (startup.h). */
#include "win32/spawn/startup.h"

#include "util/once.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This process's, written while the library is loaded. All zero: CreateProcess of this library has not started it. */
static STARTUPINFOA received;

static struct once path_once = ONCE_INIT;
static char path[4096];

static int path_find(void)
{
    GetModuleFileNameA(NULL, path, sizeof(path));
    return 0;
}

char *win_startup_text(const STARTUPINFOA *startup)
{
    char *text;

    if (asprintf(&text, "%u,%u,%u,%u,%u,%u,%u,%u,%u,%s", startup->dwFlags, startup->wShowWindow,
            startup->dwX, startup->dwY, startup->dwXSize, startup->dwYSize, startup->dwXCountChars,
            startup->dwYCountChars, startup->dwFillAttribute,
            startup->lpTitle ? startup->lpTitle : "") < 0)
        return NULL;
    return text;
}

void win_startup_receive(const char *text)
{
    STARTUPINFOA startup = { .cb = 0 };
    int title = 0;

    if (sscanf(text, "%u,%hu,%u,%u,%u,%u,%u,%u,%u,%n", &startup.dwFlags, &startup.wShowWindow,
            &startup.dwX, &startup.dwY, &startup.dwXSize, &startup.dwYSize, &startup.dwXCountChars,
            &startup.dwYCountChars, &startup.dwFillAttribute, &title) != 9 ||
        !title)
        return;
    received = startup;
    received.lpTitle = text[title] ? strdup(text + title) : NULL;
}

/*
 * GetStartupInfoA, GetStartupInfoW - the STARTUPINFO that CreateProcess had for this process. What it points to is the
 * library's. A process that another program started, such as a shell, has no flags and no standard handles in it: its
 * descriptors are what GetStdHandle returns.
 * startup  out: dwFlags, wShowWindow, places, sizes and colours as they were given; hStdInput, hStdOutput and hStdError
 *          as GetStdHandle returns them if dwFlags has STARTF_USESTDHANDLES, else NULL; lpTitle: the program's path
 *          where none was given. The rest is NULL or 0. Any thread.
 */
void WINAPI GetStartupInfoA(LPSTARTUPINFOA startup)
{
    *startup = received;
    startup->cb = sizeof(*startup);
    if (startup->dwFlags & STARTF_USESTDHANDLES) {
        startup->hStdInput = GetStdHandle(STD_INPUT_HANDLE);
        startup->hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
        startup->hStdError = GetStdHandle(STD_ERROR_HANDLE);
    }
    if (!startup->lpTitle) {
        once_run(&path_once, path_find);
        startup->lpTitle = path;
    }
}
