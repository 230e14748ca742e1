/* SPDX-License-Identifier: MIT */
/* names.h - CreateFile of a named pipe. */
#ifndef WIN32_PIPES_NAMES_H
#define WIN32_PIPES_NAMES_H

#include <windows.h>

#include <stdbool.h>

/* The part of a path behind \\.\pipe\; NULL: it is no pipe's. */
const char *pipe_name_of(LPCSTR path);

/* Opens the client's end of a pipe. access and flags: CreateFile's. Returns a Win32 error. */
DWORD pipe_client(const char *name, DWORD access, DWORD flags, bool inherit, HANDLE *handle);

#endif
