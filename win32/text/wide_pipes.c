/* SPDX-License-Identifier: MIT */
/* wide_pipes.c - wide forms of the functions with names of pipes; for both widths, as wide.c is. */
#include "win32/text/wide_text.h"

#include <stdbool.h>

HANDLE WINAPI CreateNamedPipeW(LPCWSTR name, DWORD open_mode, DWORD mode, DWORD most,
    DWORD out_bytes, DWORD in_bytes, DWORD wait_ms, LPSECURITY_ATTRIBUTES attributes)
{
    HANDLE handle = INVALID_HANDLE_VALUE;
    char *text;

    if (wide_narrow(name, &text))
        handle =
            CreateNamedPipeA(text, open_mode, mode, most, out_bytes, in_bytes, wait_ms, attributes);
    free(text);
    return handle;
}

BOOL WINAPI WaitNamedPipeW(LPCWSTR name, DWORD timeout_ms)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = WaitNamedPipeA(text, timeout_ms);
    free(text);
    return result;
}

BOOL WINAPI CallNamedPipeW(LPCWSTR name, LPVOID out, DWORD out_bytes, LPVOID in, DWORD in_bytes,
    LPDWORD read, DWORD timeout_ms)
{
    BOOL result = FALSE;
    char *text;

    if (wide_narrow(name, &text))
        result = CallNamedPipeA(text, out, out_bytes, in, in_bytes, read, timeout_ms);
    free(text);
    return result;
}

/* user is refused in either form. */
BOOL WINAPI GetNamedPipeHandleStateW(
    HANDLE pipe, LPDWORD mode, LPDWORD instances, LPDWORD most, LPDWORD ms, LPWSTR user, DWORD size)
{
    return GetNamedPipeHandleStateA(pipe, mode, instances, most, ms, (LPSTR)user, size);
}
