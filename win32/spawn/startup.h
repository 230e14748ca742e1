/* SPDX-License-Identifier: MIT */
/* startup.h - the STARTUPINFO with which a process was started, which comes to it in the variable WINOBJ_STARTED. */
#ifndef WIN32_SPAWN_STARTUP_H
#define WIN32_SPAWN_STARTUP_H

#include <windows.h>

/* The variable's value for a new process, which the caller frees; NULL: no memory. */
char *win_startup_text(const STARTUPINFOA *startup);

/* What the value says is this process's STARTUPINFO; a value of another form says nothing. While the library loads. */
void win_startup_receive(const char *text);

#endif
