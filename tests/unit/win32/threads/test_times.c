/* SPDX-License-Identifier: MIT */
/* test_times.c - when threads and processes began and ended, what they used of processors; descriptions of threads. */
#include "tests/support/win32_test.h"

#include <stdio.h>

static const char *program;
static HANDLE go;

#ifdef _WIN32 /* MinGW's headers lack these */
typedef HRESULT(WINAPI *describe_function)(HANDLE thread, PCWSTR text);
typedef HRESULT(WINAPI *description_function)(HANDLE thread, PWSTR *text);
static describe_function describe;
static description_function description;
#define SetThreadDescription describe
#define GetThreadDescription description

static void load(void)
{
    HMODULE kernel = GetModuleHandleA("kernel32.dll");

    describe = (describe_function)(ULONG_PTR)GetProcAddress(kernel, "SetThreadDescription");
    description = (description_function)(ULONG_PTR)GetProcAddress(kernel, "GetThreadDescription");
}
#else
static void load(void)
{
}
#endif

static ULONGLONG units(FILETIME time)
{
    return (ULONGLONG)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static ULONGLONG now(void)
{
    FILETIME time;

    GetSystemTimeAsFileTime(&time);
    return units(time);
}

/* Uses 60 ms of a processor, by its own account. */
static void work(void)
{
    FILETIME begun, ended, kernel, user;

    do
        for (volatile int i = 0; i < 100000; i++)
            ;
    while (GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user) &&
           units(kernel) + units(user) < 600000);
}

static DWORD WINAPI works(LPVOID unused)
{
    (void)unused;
    work();
    WaitForSingleObject(go, LONG_MS);
    return 0;
}

static void a_thread_has_times(void **state)
{
    FILETIME begun, ended, kernel, user;
    const ULONGLONG before = now();
    HANDLE thread;

    (void)state;
    assert_non_null(go = CreateEventA(NULL, TRUE, FALSE, NULL));
    assert_non_null(thread = CreateThread(NULL, 0, works, NULL, 0, NULL));
    assert_true(GetThreadTimes(thread, &begun, &ended, &kernel, &user));
    assert_true(units(begun) + 200000 >= before && units(begun) <= now());
    assert_int_equal(units(ended), 0);
    SetEvent(go);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetThreadTimes(thread, &begun, &ended, &kernel, &user));
    assert_true(units(ended) >= units(begun) && units(ended) <= now());
#ifndef _WIN32 /* Wine does not know what a thread that has ended used */
    assert_true(units(kernel) + units(user) >= 600000);
#endif
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(go));
    assert_fails(GetThreadTimes(thread, &begun, &ended, &kernel, &user), SPEC_ERROR_INVALID_HANDLE);
}

static void the_process_has_times(void **state)
{
    FILETIME begun, ended, kernel, user, later;

    (void)state;
    work();
    assert_true(GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user));
    assert_true(units(begun) <= now() && units(begun) + 36000000000 > now());
    assert_int_equal(units(ended), 0);
    assert_true(units(kernel) + units(user) >= 600000);
    work();
    assert_true(GetProcessTimes(GetCurrentProcess(), &later, &ended, &kernel, &user));
    assert_true(units(later) <= units(begun) + 1000000 && units(begun) <= units(later) + 1000000);
    assert_fails(GetProcessTimes((HANDLE)0x12345678, &begun, &ended, &kernel, &user),
        SPEC_ERROR_INVALID_HANDLE);
}

static void a_process_that_has_ended_has_times(void **state)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    FILETIME begun, ended, kernel, user;
    PROCESS_INFORMATION process;
    const ULONGLONG before = now();
    char command[2 * MAX_PATH];

    (void)state;
    snprintf(command, sizeof(command), "\"%s\" work", program);
    assert_true(
        CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process));
    assert_true(GetProcessTimes(process.hProcess, &begun, &ended, &kernel, &user));
    assert_true(units(begun) + 1000000 >= before);
    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetProcessTimes(process.hProcess, &begun, &ended, &kernel, &user));
    assert_true(units(begun) + 1000000 >= before);
    assert_true(units(ended) > units(begun) && units(ended) <= now());
#ifndef _WIN32 /* Wine does not know what a process that has ended used */
    assert_true(units(kernel) + units(user) >= 300000); /* in steps of 10 ms */
#endif
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(process.hProcess));
}

static void times_are_compared(void **state)
{
    const FILETIME early = { 0xffffffff, 1 }, late = { 0, 2 };

    (void)state;
    assert_int_equal(CompareFileTime(&early, &late), -1);
    assert_int_equal(CompareFileTime(&late, &early), 1);
    assert_int_equal(CompareFileTime(&late, &late), 0);
}

static void a_thread_has_a_description(void **state)
{
    HANDLE thread;
    PWSTR text = NULL;

    (void)state;
    assert_non_null(go = CreateEventA(NULL, TRUE, TRUE, NULL));
    assert_non_null(thread = CreateThread(NULL, 0, works, NULL, CREATE_SUSPENDED, NULL));
    assert_true(SUCCEEDED(GetThreadDescription(thread, &text)));
    assert_wide_equal(text, L"");
    LocalFree(text);
    assert_true(SUCCEEDED(SetThreadDescription(thread, L"a long description, gr\u00fc\u00df")));
    assert_true(SUCCEEDED(GetThreadDescription(thread, &text)));
    assert_wide_equal(text, L"a long description, gr\u00fc\u00df");
    LocalFree(text);
    assert_true(SUCCEEDED(SetThreadDescription(GetCurrentThread(), L"main")));
    assert_true(SUCCEEDED(SetThreadDescription(GetCurrentThread(), L"again")));
    assert_true(SUCCEEDED(GetThreadDescription(GetCurrentThread(), &text)));
    assert_wide_equal(text, L"again");
    LocalFree(text);
    ResumeThread(thread);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
#ifndef _WIN32 /* Wine forgets it with the thread */
    assert_true(SUCCEEDED(GetThreadDescription(thread, &text)));
    assert_wide_equal(text, L"a long description, gr\u00fc\u00df");
    LocalFree(text);
#endif
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(go));
#ifndef _WIN32 /* Wine's HRESULTs are of NTSTATUS */
    assert_int_equal(GetThreadDescription(thread, &text), (HRESULT)0x80070006);
    assert_int_equal(SetThreadDescription(GetCurrentThread(), NULL), (HRESULT)0x80070057);
#endif
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_times),
        cmocka_unit_test(the_process_has_times),
        cmocka_unit_test(a_process_that_has_ended_has_times),
        cmocka_unit_test(times_are_compared),
        cmocka_unit_test(a_thread_has_a_description),
    };

    program = argv[0];
    load();
    if (argc > 1) {
        work();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
