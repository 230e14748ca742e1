/* SPDX-License-Identifier: MIT */
/* test_thread.c - threads and their handles. */
#include "tests/support/win32_test.h"

#include <process.h>

#include <errno.h>
#ifndef _WIN32
#include <pthread.h>
#endif

static DWORD WINAPI return_parameter(LPVOID parameter)
{
    return (DWORD)(ULONG_PTR)parameter;
}

static DWORD WINAPI exit_with_parameter(LPVOID parameter)
{
    ExitThread((DWORD)(ULONG_PTR)parameter);
}

static DWORD WINAPI wait_for_parameter(LPVOID parameter)
{
    return WaitForSingleObject(parameter, LONG_MS);
}

static DWORD WINAPI tell_id(LPVOID parameter)
{
    *(DWORD *)parameter = GetCurrentThreadId();
    return 0;
}

static unsigned __stdcall add_one(void *parameter)
{
    _endthreadex((unsigned)(ULONG_PTR)parameter + 1);
}

static void test_thread_handle_is_signalled_at_the_end(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE thread = CreateThread(NULL, 0, wait_for_parameter, event, 0, NULL);
    DWORD code = 0;

    (void)state;
    assert_non_null(thread);
    assert_wait(WaitForSingleObject(thread, 0), WAIT_TIMEOUT);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(thread, 0), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(event));
}

static void test_thread_exit_codes(void **state)
{
    HANDLE threads[3];
    DWORD code = 0;

    (void)state;
    threads[0] = CreateThread(NULL, 65536, return_parameter, (LPVOID)7, 0, NULL);
    threads[1] = CreateThread(
        NULL, 1, exit_with_parameter, (LPVOID)8, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    threads[2] = (HANDLE)_beginthreadex(NULL, 0, add_one, (void *)8, 0, NULL);
    assert_wait(WaitForMultipleObjects(3, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    for (DWORD i = 0; i < 3; i++) {
        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 7 + i);
        assert_true(CloseHandle(threads[i]));
    }
}

/* The compiler leaves none of the octets out. */
static size_t use_stack(volatile char *octets, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 1024)
        octets[i] = 1;
    return bytes;
}

static DWORD WINAPI use_half_a_mebioctet(LPVOID parameter)
{
    char room[512 << 10];

    (void)parameter;
    return (DWORD)use_stack(room, sizeof(room));
}

static unsigned __stdcall use_half_a_mebioctet_c(void *parameter)
{
    return use_half_a_mebioctet(parameter);
}

static DWORD WINAPI ask_for_an_address(LPVOID parameter)
{
    struct addrinfo *found = NULL;

    (void)parameter;
    if (getaddrinfo("localhost", "80", NULL, &found))
        return 1;
    freeaddrinfo(found);
    return 0;
}

static DWORD code_of(HANDLE thread)
{
    DWORD code = 0;

    assert_non_null(thread);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_true(CloseHandle(thread));
    return code;
}

/* A size without STACK_SIZE_PARAM_IS_A_RESERVATION is what is committed at first: the stack grows beyond it. */
static void test_thread_stack_grows_beyond_its_size(void **state)
{
    WSADATA data;

    (void)state;
    assert_int_equal(
        code_of(CreateThread(NULL, 16384, use_half_a_mebioctet, NULL, 0, NULL)), 512 << 10);
    assert_int_equal(
        code_of((HANDLE)_beginthreadex(NULL, 16384, use_half_a_mebioctet_c, NULL, 0, NULL)),
        512 << 10);
    assert_int_equal(
        code_of(CreateThread(NULL, 0, use_half_a_mebioctet, NULL, 0, NULL)), 512 << 10);
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    assert_int_equal(code_of(CreateThread(NULL, 16384, ask_for_an_address, NULL, 0, NULL)), 0);
    assert_int_equal(code_of(CreateThread(NULL, 16384, ask_for_an_address, NULL,
                         STACK_SIZE_PARAM_IS_A_RESERVATION, NULL)),
        0);
    assert_int_equal(WSACleanup(), 0);
}

static DWORD WINAPI use_parameter(LPVOID parameter)
{
    const size_t bytes = (size_t)parameter;

    return (DWORD)use_stack(__builtin_alloca(bytes), bytes);
}

/* Each stack has room for the size that was asked for, less what Windows keeps of it (its guard, some pages). */
static void test_thread_stack_has_room(void **state)
{
    static const struct {
        size_t asked;
        DWORD flags;
        size_t used;
    } rows[] = {
        { 1, STACK_SIZE_PARAM_IS_A_RESERVATION, 40 << 10 }, /* rounded up to 64 KiB */
        { 65 << 10, STACK_SIZE_PARAM_IS_A_RESERVATION, 100 << 10 },
        { 1 << 20, STACK_SIZE_PARAM_IS_A_RESERVATION, 1000 << 10 },
        { 3 << 20, STACK_SIZE_PARAM_IS_A_RESERVATION, 3000 << 10 },
        { 3 << 20, 0, 3000 << 10 },
        { (15 << 20) + 1, 0, 15300 << 10 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(code_of(CreateThread(NULL, rows[i].asked, use_parameter,
                             (LPVOID)rows[i].used, rows[i].flags, NULL)),
            rows[i].used);
#ifndef _WIN32 /* a stack of all memory: Wine makes a small one */
    assert_null(CreateThread(NULL, (SIZE_T)-1, return_parameter, NULL, 0, NULL));
    assert_win_error(SPEC_ERROR_NOT_ENOUGH_MEMORY);
#endif
}

static void test_thread_id_is_the_threads_own(void **state)
{
    DWORD told = 0, id = 0;
    HANDLE thread = CreateThread(NULL, 0, tell_id, &told, 0, &id);

    (void)state;
    assert_int_not_equal(id, 0);
    assert_int_not_equal(id, GetCurrentThreadId());
    assert_int_equal(GetThreadId(thread), id);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(told, id);
    assert_true(CloseHandle(thread));
}

static void test_thread_handle_may_be_closed_at_once(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL),
           done = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    for (int i = 0; i < 200; i++) {
        HANDLE thread = CreateThread(NULL, 0, return_parameter, NULL, 0, NULL);

        assert_non_null(thread);
        assert_true(CloseHandle(thread));
    }
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(done));
}

static void test_thread_suspended_begins_with_resume(void **state)
{
    DWORD told = 0;
    HANDLE thread = CreateThread(NULL, 0, tell_id, &told, CREATE_SUSPENDED, NULL);

    (void)state;
    assert_wait(WaitForSingleObject(thread, 20), WAIT_TIMEOUT);
    assert_int_equal(told, 0);
    assert_int_equal(ResumeThread(thread), 1);
    assert_int_equal(ResumeThread(thread), 0);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_not_equal(told, 0);
    assert_true(CloseHandle(thread));
}

/* GetCurrentThread() and GetCurrentProcess(): no handles to close, and a thread never sees its own signalled. */
static void test_thread_pseudo_handles(void **state)
{
    HANDLE thread = GetCurrentThread(), process = GetCurrentProcess();
    HANDLE event = CreateEventA(NULL, TRUE, TRUE, NULL), three[3] = { thread, process, event };
    DWORD code = 0;

    (void)state;
    assert_wait(WaitForSingleObject(thread, 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(process, 1), WAIT_TIMEOUT);
    assert_int_equal(WaitForMultipleObjects(3, three, FALSE, LONG_MS), WAIT_OBJECT_0 + 2);
    assert_int_equal(WaitForMultipleObjects(3, three, TRUE, 1), WAIT_TIMEOUT);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_fails(GetExitCodeThread(process, &code), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(ResumeThread(thread), 0);
    for (int i = 0; i < 3; i++) { /* as often as one likes */
        assert_true(CloseHandle(thread));
        assert_true(CloseHandle(process));
    }
    assert_true(CloseHandle((HANDLE)(LONG_PTR)-6)); /* the last of them, a token */
    assert_fails(CloseHandle((HANDLE)(LONG_PTR)-7), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(SetEvent(thread), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(ReleaseMutex(process), SPEC_ERROR_INVALID_HANDLE);
    assert_wait(WaitForSingleObject(thread, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

#ifndef _WIN32 /* there is no pthread_exit */
static DWORD WINAPI leave_by_pthread_exit(LPVOID parameter)
{
    pthread_exit(parameter);
}

static void test_thread_that_left_by_pthread_exit_is_over(void **state)
{
    HANDLE thread = CreateThread(NULL, 0, leave_by_pthread_exit, &thread, 0, NULL);
    DWORD code = 99;

    (void)state;
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
}
#endif

static void test_thread_bad_arguments(void **state)
{
    (void)state;
#ifndef _WIN32 /* Windows starts a thread without a function, which ends the program; Wine ignores flag and size */
    assert_fails(CreateThread(NULL, 0, NULL, NULL, 0, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateThread(NULL, 0, return_parameter, NULL, 0x80000000, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateThread(NULL, SIZE_MAX, return_parameter, NULL, 0, NULL),
        SPEC_ERROR_NOT_ENOUGH_MEMORY);
    errno = 0;
    assert_int_equal(_beginthreadex(NULL, 0, NULL, NULL, 0, NULL), 0);
    assert_int_equal(errno, EINVAL);
#endif
    SetLastError(0);
    assert_int_equal(ResumeThread(NULL), (DWORD)-1);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
}

static DWORD WINAPI set_last_error(LPVOID parameter)
{
    (void)parameter;
    SetLastError(1234);
    return GetLastError();
}

static void test_last_error_is_each_threads_own(void **state)
{
    HANDLE thread;
    DWORD code;

    (void)state;
    SetLastError(99);
    thread = CreateThread(NULL, 0, set_last_error, NULL, 0, NULL);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_win_error(99);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 1234);
    assert_true(CloseHandle(thread));
}

static void test_sleep_lasts_as_long(void **state)
{
    LARGE_INTEGER begin, end, frequency;

    (void)state;
    assert_true(QueryPerformanceFrequency(&frequency));
    assert_true(QueryPerformanceCounter(&begin));
    Sleep(20);
    Sleep(0);
    SwitchToThread();
    assert_true(QueryPerformanceCounter(&end));
    /* Two clocks: one percent of room between them. */
    assert_true((end.QuadPart - begin.QuadPart) * 1000 >= frequency.QuadPart * 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_handle_is_signalled_at_the_end),
        cmocka_unit_test(test_thread_exit_codes),
        cmocka_unit_test(test_thread_stack_grows_beyond_its_size),
        cmocka_unit_test(test_thread_stack_has_room),
        cmocka_unit_test(test_thread_id_is_the_threads_own),
        cmocka_unit_test(test_thread_handle_may_be_closed_at_once),
        cmocka_unit_test(test_thread_suspended_begins_with_resume),
        cmocka_unit_test(test_thread_pseudo_handles),
#ifndef _WIN32
        cmocka_unit_test(test_thread_that_left_by_pthread_exit_is_over),
#endif
        cmocka_unit_test(test_thread_bad_arguments),
        cmocka_unit_test(test_last_error_is_each_threads_own),
        cmocka_unit_test(test_sleep_lasts_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
