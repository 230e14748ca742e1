/* SPDX-License-Identifier: MIT */
/*
 * seh.cpp - __try, __except, __finally and __leave; the C++ library's headers are read behind their macros. With an
 * argument: a __try block that is left so that its __finally block cannot run.
 */
#include <windows.h>

#include <stdexcept>
#include <vector>

static int steps[16], count;

static void step(int which)
{
    steps[count++] = which;
}

/* Whether these steps were made, a digit each; the next begin anew. */
static bool were(int digits)
{
    int made = 0;

    for (int i = 0; i < count; i++)
        made = made * 10 + steps[i];
    count = 0;
    return made == digits;
}

static bool finally_blocks_run()
{
    bool good;

    __try {
        step(1);
    } __finally {
        step(_abnormal_termination() ? 9 : 2);
    }
    good = were(12);
    __try {
        __try {
            for (;;)
                while (1) {
                    step(1);
                    __leave;
                }
        } __finally {
            step(AbnormalTermination() ? 9 : 2);
        }
        step(3);
        __leave;
    } __finally {
        step(4);
    }
    return good && were(1234);
}

static int returns()
{
    __try {
        return 5;
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return 6;
    }
    return 7;
}

static int goes(int away)
{
    __try {
        if (away)
            goto out;
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return 6;
    }
    return 1;
out:
    return 2;
}

static bool jumps_leave_try()
{
    for (int i = 0; i < 5; i++) {
        __try {
            if (i == 1)
                continue;
            if (i == 3)
                break;
            step(i + 1);
        } __except (EXCEPTION_EXECUTE_HANDLER) {
            step(9);
        }
    }
    return were(13) && returns() == 5 && goes(0) == 1 && goes(1) == 2;
}

static int filter(EXCEPTION_POINTERS *pointers, DWORD code)
{
    EXCEPTION_RECORD *record = pointers->ExceptionRecord;

    step((int)record->NumberParameters);
    return record->ExceptionCode == code && record->ExceptionInformation[1] == 8
               ? EXCEPTION_EXECUTE_HANDLER
               : EXCEPTION_CONTINUE_SEARCH;
}

static bool raised_exceptions_are_handled()
{
    const ULONG_PTR parameters[] = { 7, 8 };
    bool good;

    __try {
        __try {
            RaiseException(0xE0000003, 0, 2, parameters);
        } __except (filter(GetExceptionInformation(), 0xE0000004)) {
            step(9);
        }
        step(9);
    } __except (filter(_exception_info(), 0xE0000003)) {
        step((int)(_exception_code() & 15));
    }
    good = were(223);
    __try {
        throw std::runtime_error("thrown");
    } __except (GetExceptionCode() == 0xE06D7363 ? EXCEPTION_EXECUTE_HANDLER : 0) {
        step(1);
    }
    __try {
        __try {
            RaiseException(1, 0, 0, NULL);
        } __except (EXCEPTION_CONTINUE_EXECUTION) {
            step(9);
        }
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        step(GetExceptionCode() == EXCEPTION_NONCONTINUABLE_EXCEPTION ? 2 : 9);
    }
    return good && were(12);
}

static bool the_library_still_throws()
{
    try {
        (void)std::vector<int>().at(0);
    } catch (const std::out_of_range &) {
        return true;
    }
    return false;
}

static DWORD WINAPI ends_itself(LPVOID)
{
    __try {
        ExitThread(7);
    } __except (EXCEPTION_EXECUTE_HANDLER) {
        return 8;
    }
    __try {
        ExitThread(9);
    } __finally {
        step(9);
    }
    return 10;
}

static bool a_thread_ends_in_try()
{
    HANDLE thread = CreateThread(NULL, 0, ends_itself, NULL, 0, NULL);
    DWORD code = 0;

    return thread && WaitForSingleObject(thread, INFINITE) == WAIT_OBJECT_0 &&
           GetExitCodeThread(thread, &code) && CloseHandle(thread) && code == 7 && were(0);
}

static LONG WINAPI last_filter(EXCEPTION_POINTERS *pointers)
{
    ExitProcess(filter(pointers, 0xE0000005) == EXCEPTION_EXECUTE_HANDLER ? 42 : 43);
}

/* Nobody takes it, main neither: noexcept. */
static void is_raised() noexcept
{
    const ULONG_PTR parameters[] = { 7, 8 };

    SetUnhandledExceptionFilter(last_filter);
    RaiseException(0xE0000005, 0, 2, parameters);
}

/* None returns. */
static int leaves_wrongly(const char *how)
{
    while (1) {
        __try {
            if (!strcmp(how, "return"))
                return 0;
            if (!strcmp(how, "goto"))
                goto out;
            if (!strcmp(how, "break"))
                break;
            if (!strcmp(how, "continue"))
                continue;
            if (!strcmp(how, "throw"))
                throw 1;
        } __finally {
            step(1);
        }
        return 0;
    }
out:
    return 0;
}

int main(int argc, char **argv)
{
    try { /* or nothing is unwound */
        if (argc > 1 && !strcmp(argv[1], "raise"))
            is_raised();
        else if (argc > 1)
            return leaves_wrongly(argv[1]);
    } catch (int) {
        return 0;
    }
    return !finally_blocks_run()              ? 1
           : !jumps_leave_try()               ? 2
           : !raised_exceptions_are_handled() ? 3
           : !the_library_still_throws()      ? 4
           : !a_thread_ends_in_try()          ? 5
                                              : 0;
}
