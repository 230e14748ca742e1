/* SPDX-License-Identifier: MIT */
/* error.c - the last error of each thread. */
#include <windows.h>

static _Thread_local DWORD last_error;

/* GetLastError - the error of this thread's last failed call. Successful calls leave it alone. */
DWORD WINAPI GetLastError(void)
{
    return last_error;
}

void WINAPI SetLastError(DWORD error)
{
    last_error = error;
}
