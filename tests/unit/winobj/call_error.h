/* SPDX-License-Identifier: MIT */
/* call_error.h - the errors of calls, as values, for tables of functions. */
#ifndef WINOBJ_TEST_CALL_ERROR_H
#define WINOBJ_TEST_CALL_ERROR_H

#include "tests/support/win32_test.h"

static inline DWORD error_if(bool failed)
{
    return failed ? GetLastError() : 0;
}

/* The error of a call that makes a handle, which is closed. */
static inline DWORD closed(HANDLE handle)
{
    const DWORD error = error_if(!handle || handle == INVALID_HANDLE_VALUE);

    if (!error)
        CloseHandle(handle);
    return error;
}

#endif
