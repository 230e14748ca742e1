/* SPDX-License-Identifier: MIT */
/* started.h - pipes to processes that CreateProcess starts, and their end. */
#ifndef TESTS_UNIT_WIN32_PROCESS_STARTED_H
#define TESTS_UNIT_WIN32_PROCESS_STARTED_H

#include "tests/support/win32_test.h"

/* A pipe; what the process writes comes out of *read_end. */
static inline void make_pipe(HANDLE *read_end, HANDLE *write_end)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };
    DWORD flags = 0;

    assert_true(CreatePipe(read_end, write_end, &inherited, 0));
    assert_true(GetHandleInformation(*read_end, &flags));
    assert_int_equal(flags, HANDLE_FLAG_INHERIT);
    assert_true(SetHandleInformation(*read_end, HANDLE_FLAG_INHERIT, 0));
    assert_true(GetHandleInformation(*read_end, &flags));
    assert_int_equal(flags, 0);
}

/* All that comes until the writers are gone, with an end. */
static inline void read_all(HANDLE from, char *text, DWORD room)
{
    DWORD done, have = 0;

    while (ReadFile(from, text + have, room - 1 - have, &done, NULL))
        have += done;
    assert_win_error(SPEC_ERROR_BROKEN_PIPE);
    text[have] = 0;
}

static inline DWORD wait_for(const PROCESS_INFORMATION *process)
{
    DWORD code = 0;

    assert_wait(WaitForSingleObject(process->hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(process->hThread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process->hProcess, &code));
    assert_int_equal(GetProcessId(process->hProcess), process->dwProcessId);
    assert_true(CloseHandle(process->hThread));
    assert_true(CloseHandle(process->hProcess));
    return code;
}

#endif
