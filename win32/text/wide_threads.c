/* SPDX-License-Identifier: MIT */
/* wide_threads.c - descriptions of threads. Compiled for each width of wchar_t. */
#include "win32/text/wide_text.h"

#include "win32/threads/description.h"

/*
 * SetThreadDescription - names a thread for who looks at it: GetThreadDescription, and the first 15 octets of UTF-8 as
 * Linux' name of it.
 * thread   a handle, or GetCurrentThread()
 * text     [in]
 * Returns  S_OK; HRESULTs of ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY, ERROR_INVALID_PARAMETER (no text). Any
 *          thread.
 * Source: SetThreadDescription function (processthreadsapi.h).
 */
HRESULT WINAPI SetThreadDescription(HANDLE thread, PCWSTR text)
{
    char *copy = NULL;

    if (!text)
        return HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER);
    if (wide_narrow(text, &copy) && win_thread_describe(thread, copy))
        return S_OK;
    free(copy);
    return HRESULT_FROM_WIN32(GetLastError());
}

/*
 * GetThreadDescription - the description of a thread, which LocalFree frees; empty where it has none.
 * text     [out]
 * Returns  S_OK; HRESULTs of ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: GetThreadDescription function (processthreadsapi.h).
 */
HRESULT WINAPI GetThreadDescription(HANDLE thread, PWSTR *text)
{
    HRESULT result = S_OK;
    DWORD length;
    char *found;

    if (!win_thread_description(thread, &found))
        return HRESULT_FROM_WIN32(GetLastError());
    length = found ? wide_widen(NULL, 0, found) : 0;
    *text = found ? LocalAlloc(LMEM_FIXED, (length + 1) * sizeof(**text)) : NULL;
    if (*text)
        wide_widen(*text, length + 1, found);
    else
        result = HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY);
    free(found);
    return result;
}
