/* SPDX-License-Identifier: MIT */
/*
 * test_unhandled.c - SetUnhandledExceptionFilter. The program starts itself, with the name of a fault and of what its
 * filter does as arguments; Wine says what the filter is told, and how the process ends.
 */
#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>

enum { TOLD = 40, TOLD_OTHERWISE, WENT_ON };

static char self[MAX_PATH];
static volatile char *page;
static volatile DWORD expected_code, expected_count; /* as a fault finds them */
static volatile ULONG_PTR expected_access, expected_address;

static bool is_as_expected(const EXCEPTION_POINTERS *pointers)
{
    const EXCEPTION_RECORD *record = pointers->ExceptionRecord;

    if (record->ExceptionCode != expected_code || record->ExceptionFlags ||
        record->ExceptionRecord || !record->ExceptionAddress ||
        record->NumberParameters != expected_count)
        return false;
    return !expected_count || (record->ExceptionInformation[0] == expected_access &&
                                  record->ExceptionInformation[1] == expected_address);
}

static LONG WINAPI tell(PEXCEPTION_POINTERS pointers)
{
    TerminateProcess(GetCurrentProcess(), is_as_expected(pointers) ? TOLD : TOLD_OTHERWISE);
    return EXCEPTION_CONTINUE_SEARCH;
}

static LONG WINAPI take(PEXCEPTION_POINTERS pointers)
{
    (void)pointers;
    return EXCEPTION_EXECUTE_HANDLER;
}

static LONG WINAPI mend(PEXCEPTION_POINTERS pointers)
{
    DWORD before;

    (void)pointers;
    VirtualProtect((void *)page, 4096, PAGE_READWRITE, &before);
    return EXCEPTION_CONTINUE_EXECUTION;
}

static LONG WINAPI pass(PEXCEPTION_POINTERS pointers)
{
    return pointers->ExceptionRecord->ExceptionFlags ? 5 : EXCEPTION_CONTINUE_SEARCH;
}

/* x86 alone faults when it divides by zero; UBSan would look before. */
__attribute__((no_sanitize("undefined"))) static void divide(void)
{
    volatile int zero = 0, one = 1;

    one = one / zero;
}

static void expect_access(ULONG_PTR access, volatile char *address)
{
    expected_code = 0xC0000005;
    expected_count = 2;
    expected_access = access;
    expected_address = (ULONG_PTR)address;
}

static int child(const char *fault, const char *filter)
{
    page = VirtualAlloc(NULL, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_READONLY);
    SetUnhandledExceptionFilter(!strcmp(filter, "tell")   ? tell
                                : !strcmp(filter, "take") ? take
                                : !strcmp(filter, "mend") ? mend
                                                          : NULL);
    if (!strcmp(fault, "read")) {
        VirtualFree((void *)page, 0, MEM_RELEASE);
        expect_access(0, page + 5);
        return page[5];
    }
    if (!strcmp(fault, "write")) {
        expect_access(1, page + 7);
        page[7] = 'w';
        return page[7] == 'w' ? WENT_ON : 1;
    }
    if (!strcmp(fault, "divide")) {
        expected_code = 0xC0000094;
        divide();
    }
    if (!strcmp(fault, "illegal")) {
        expected_code = 0xC000001D;
#if defined(__x86_64__)
        __asm__ volatile("ud2");
#else
        __asm__ volatile(".inst 0");
#endif
    }
    if (!strcmp(fault, "break")) {
        expected_code = 0x80000003;
        expected_count = DIFFERS(0, 1, "a breakpoint: Wine tells a parameter, Linux knows none");
        DebugBreak();
    }
    return 1;
}

static DWORD end_of(const char *fault, const char *filter)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    char command[2 * MAX_PATH];
    DWORD code = 0;

    snprintf(command, sizeof(command), "\"%s\" %s %s", self, fault, filter);
    assert_true(
        CreateProcessA(self, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process));
    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process.hProcess, &code));
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(process.hProcess));
    return code;
}

static void the_filter_is_told_what_the_fault_is(void **state)
{
    (void)state;
    assert_int_equal(end_of("read", "tell"), TOLD);
    assert_int_equal(end_of("write", "tell"), TOLD);
#if defined(__x86_64__)
    assert_int_equal(end_of("divide", "tell"), TOLD);
#endif
    assert_int_equal(end_of("illegal", "tell"), TOLD);
    assert_int_equal(end_of("break", "tell"), TOLD);
}

static void what_the_filter_mends_goes_on(void **state)
{
    (void)state;
    assert_int_equal(end_of("write", "mend"), WENT_ON);
}

static void a_fault_that_it_takes_ends_the_process_by_its_code(void **state)
{
    (void)state;
    assert_int_equal(end_of("read", "take"), SPEC_STATUS_ACCESS_VIOLATION);
    assert_int_equal(end_of("illegal", "take"), 0xC000001D);
    assert_int_equal(end_of("break", "take"), 0x80000003);
#if defined(__x86_64__)
    assert_int_equal(end_of("divide", "take"), SPEC_STATUS_INTEGER_DIVIDE_BY_ZERO);
#endif
#ifndef _WIN32 /* Wine starts its debugger */
    assert_int_equal(end_of("read", "none"), SPEC_STATUS_ACCESS_VIOLATION);
#endif
}

static void the_filter_before_is_returned(void **state)
{
    LPTOP_LEVEL_EXCEPTION_FILTER first = SetUnhandledExceptionFilter(take);

    (void)state;
    /* The C runtime of Windows has one. */
    assert_true(DIFFERS(!first, first != NULL, "the first filter: MinGW's start code sets one"));
    assert_true(SetUnhandledExceptionFilter(mend) == take);
    assert_true(SetUnhandledExceptionFilter(NULL) == mend);
    assert_null(SetUnhandledExceptionFilter(first));
}

static void the_default_filter_asks_it(void **state)
{
    EXCEPTION_RECORD record = { .ExceptionCode = 0xE0000001, .ExceptionFlags = 1 };
    EXCEPTION_POINTERS pointers = { &record, NULL };
    LPTOP_LEVEL_EXCEPTION_FILTER first = SetUnhandledExceptionFilter(take);

    (void)state;
    assert_int_equal(UnhandledExceptionFilter(&pointers), EXCEPTION_EXECUTE_HANDLER);
    SetUnhandledExceptionFilter(pass);
    assert_int_equal(UnhandledExceptionFilter(&pointers), 5);
    record.ExceptionFlags = 0;
#ifndef _WIN32 /* Wine starts its debugger */
    assert_int_equal(UnhandledExceptionFilter(&pointers), EXCEPTION_EXECUTE_HANDLER);
    SetUnhandledExceptionFilter(NULL);
    assert_int_equal(UnhandledExceptionFilter(&pointers), EXCEPTION_EXECUTE_HANDLER);
#endif
    SetUnhandledExceptionFilter(first);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_is_told_what_the_fault_is),
        cmocka_unit_test(what_the_filter_mends_goes_on),
        cmocka_unit_test(a_fault_that_it_takes_ends_the_process_by_its_code),
        cmocka_unit_test(the_filter_before_is_returned),
        cmocka_unit_test(the_default_filter_asks_it),
    };

    if (argc > 2)
        return child(argv[1], argv[2]);
    /* Of a child: the sanitizers' own handlers come before any filter, which here may call all that it likes. */
    SetEnvironmentVariableA("ASAN_OPTIONS",
        "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0");
    SetEnvironmentVariableA("TSAN_OPTIONS", "report_signal_unsafe=0:handle_segv=0:handle_sigbus=0:"
                                            "handle_sigfpe=0:handle_sigill=0:handle_sigtrap=0");
    if (!GetModuleFileNameA(NULL, self, sizeof(self)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
