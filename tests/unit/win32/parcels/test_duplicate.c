/* SPDX-License-Identifier: MIT */
/* test_duplicate.c - DuplicateHandle. */
#include "tests/support/win32_test.h"

static HANDLE duplicate(HANDLE handle, DWORD options)
{
    HANDLE made = (HANDLE)99;

    assert_true(DuplicateHandle(GetCurrentProcess(), handle, GetCurrentProcess(), &made, 0, FALSE,
        options | DUPLICATE_SAME_ACCESS));
    assert_non_null(made);
    assert_true(
        made != handle || (options & DUPLICATE_CLOSE_SOURCE)); /* whose number is free then */
    return made;
}

static void test_duplicate_is_the_same_object_until_the_last_handle_is_closed(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL), other = duplicate(event, 0), both[2];
    HANDLE third;

    (void)state;
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(other, 0), WAIT_OBJECT_0);
    assert_true(ResetEvent(other));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    both[0] = event;
    both[1] = other;
    assert_int_equal(WaitForMultipleObjects(2, both, FALSE, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
    assert_fails(SetEvent(event), SPEC_ERROR_INVALID_HANDLE);
    third = duplicate(other, 0);
    assert_true(SetEvent(third));
    assert_true(CloseHandle(third));
    assert_wait(WaitForSingleObject(other, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(other));
    assert_fails(SetEvent(other), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CloseHandle(other), SPEC_ERROR_INVALID_HANDLE);
}

static void test_duplicate_may_close_its_source(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, TRUE, NULL),
           other = duplicate(event, DUPLICATE_CLOSE_SOURCE);

    (void)state;
    if (event != other)
        assert_fails(CloseHandle(event), SPEC_ERROR_INVALID_HANDLE);
    assert_wait(WaitForSingleObject(other, 0), WAIT_OBJECT_0);
#ifndef _WIN32 /* Wine makes a handle all the same, by the same number */
    assert_true(
        DuplicateHandle(GetCurrentProcess(), other, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE));
#else
    assert_true(CloseHandle(other));
#endif
    assert_fails(CloseHandle(other), SPEC_ERROR_INVALID_HANDLE);
}

static void test_duplicate_refuses(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL), none = (HANDLE)0x12345670,
           made = (HANDLE)99;
    HANDLE here = GetCurrentProcess();

    (void)state;
    assert_fails(DuplicateHandle(here, none, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_null(made);
    assert_fails(DuplicateHandle(here, NULL, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(none, event, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(here, event, none, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(here, none, here, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_INVALID_HANDLE);
    assert_true(SetEvent(event)); /* none of these closed it */
#ifndef _WIN32 /* Wine takes any option, and makes handles that it does not return */
    assert_fails(
        DuplicateHandle(here, event, here, &made, 0, FALSE, 4), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(DuplicateHandle(here, event, here, NULL, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_true(SetEvent(event));
    /* The source goes even so. */
    assert_fails(DuplicateHandle(here, event, none, &made, 0, FALSE, DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CloseHandle(event), SPEC_ERROR_INVALID_HANDLE);
}

static void test_duplicate_of_the_process_is_a_handle_of_it(void **state)
{
    HANDLE process = duplicate(GetCurrentProcess(), 0), other = duplicate(process, 0), made = NULL;
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL), poor;

    (void)state;
    assert_true(CloseHandle(process));
    assert_int_equal(GetProcessId(other), GetCurrentProcessId());
    assert_wait(WaitForSingleObject(other, 0), WAIT_TIMEOUT);
    assert_true(DuplicateHandle(other, event, other, &made, 0, FALSE, DUPLICATE_SAME_ACCESS));
    assert_true(SetEvent(made));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(made));
    assert_non_null(poor = OpenProcess(SYNCHRONIZE, FALSE, GetCurrentProcessId()));
    assert_fails(DuplicateHandle(poor, event, other, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_ACCESS_DENIED);
    assert_fails(DuplicateHandle(other, event, poor, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_ACCESS_DENIED);
    assert_null(made);
    assert_true(CloseHandle(poor));
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(other));
}

static void test_duplicate_of_a_port_keeps_it_open(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1),
           other = duplicate(port, 0);
    OVERLAPPED overlapped, *got = NULL;
    ULONG_PTR key = 0;
    DWORD bytes = 0;

    (void)state;
    assert_true(PostQueuedCompletionStatus(port, 7, 8, &overlapped));
    assert_true(CloseHandle(port));
    assert_true(GetQueuedCompletionStatus(other, &bytes, &key, &got, 0));
    assert_int_equal(bytes, 7);
    assert_int_equal(key, 8);
    assert_ptr_equal(got, &overlapped);
    assert_true(PostQueuedCompletionStatus(other, 7, 8, &overlapped));
    assert_true(CloseHandle(other));
    assert_fails(PostQueuedCompletionStatus(other, 7, 8, &overlapped), SPEC_ERROR_INVALID_HANDLE);
}

static void test_duplicate_of_a_mutex_and_of_a_mapping(void **state)
{
    HANDLE mutex = CreateMutexA(NULL, TRUE, NULL), other = duplicate(mutex, DUPLICATE_CLOSE_SOURCE);
    HANDLE mapping = CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 4096, NULL);
    char *first, *second;

    (void)state;
    assert_true(ReleaseMutex(other));
    assert_fails(ReleaseMutex(other), SPEC_ERROR_NOT_OWNER);
    assert_true(CloseHandle(other));
    assert_non_null(first = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, 0));
    mapping = duplicate(mapping, DUPLICATE_CLOSE_SOURCE);
    assert_non_null(second = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, 0));
    strcpy(first, "seen");
    assert_string_equal(second, "seen");
    assert_true(UnmapViewOfFile(first));
    assert_true(UnmapViewOfFile(second));
    assert_true(CloseHandle(mapping));
}

static HANDLE used(HANDLE first, HANDLE *other)
{
    *other = duplicate(first, 0);
    return first;
}

/* Set by one handle, which is closed, it signals by the other; whichever of the two is the first. */
static void test_duplicate_sets_a_timer_and_is_closed(void **state)
{
    LARGE_INTEGER due = { .QuadPart = -200000 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        HANDLE other, timer = used(CreateWaitableTimerA(NULL, FALSE, NULL), &other);
        HANDLE sets = i % 2 ? timer : other, waits = i % 2 ? other : timer;

        due.QuadPart = i < 2 ? -200000 : 1; /* from now on; of a date long ago */
        assert_true(SetWaitableTimer(sets, &due, 0, NULL, NULL, FALSE));
        assert_true(CloseHandle(sets));
        assert_wait(WaitForSingleObject(waits, LONG_MS), WAIT_OBJECT_0);
        assert_wait(WaitForSingleObject(waits, 0), WAIT_TIMEOUT);
        assert_true(SetWaitableTimer(waits, &due, 0, NULL, NULL, FALSE));
        assert_wait(WaitForSingleObject(waits, LONG_MS), WAIT_OBJECT_0);
        assert_true(CloseHandle(waits));
    }
}

/* A port and a mutex that were had by one handle are there by the other. */
static void test_duplicate_is_used_and_closed(void **state)
{
    HANDLE port, semaphore, mutex, other;
    OVERLAPPED *got = NULL;
    ULONG_PTR key = 0;
    DWORD bytes = 0;

    (void)state;
    port = used(CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1), &other);
    assert_true(PostQueuedCompletionStatus(other, 1, 2, NULL));
    assert_true(CloseHandle(other));
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
    assert_int_equal(key, 2);
    assert_true(CloseHandle(port));
    semaphore = used(CreateSemaphoreA(NULL, 0, 2, NULL), &other);
    assert_true(ReleaseSemaphore(other, 2, NULL));
    assert_true(CloseHandle(other));
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(semaphore));
    mutex = used(CreateMutexA(NULL, FALSE, NULL), &other);
    assert_wait(WaitForSingleObject(other, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(other));
    assert_true(ReleaseMutex(mutex));
    assert_fails(ReleaseMutex(mutex), SPEC_ERROR_NOT_OWNER);
    assert_true(CloseHandle(mutex));
}

struct worker {
    HANDLE self, told, end;
};

static DWORD WINAPI tell_who(LPVOID parameter)
{
    struct worker *worker = parameter;

    worker->self = duplicate(GetCurrentThread(), 0);
    SetEvent(worker->told);
    WaitForSingleObject(worker->end, LONG_MS);
    return 41;
}

static void test_duplicate_of_the_calling_thread_is_one_for_others(void **state)
{
    struct worker worker = { NULL, CreateEventA(NULL, FALSE, FALSE, NULL),
        CreateEventA(NULL, FALSE, FALSE, NULL) };
    DWORD id, code = 0;
    HANDLE thread = CreateThread(NULL, 0, tell_who, &worker, CREATE_SUSPENDED, &id);

    (void)state;
    assert_int_equal(ResumeThread(thread), 1);
    assert_true(CloseHandle(thread)); /* its last handle, until it makes one itself */
    assert_wait(WaitForSingleObject(worker.told, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(GetThreadId(worker.self), id);
    assert_wait(WaitForSingleObject(worker.self, 0), WAIT_TIMEOUT);
    assert_true(GetExitCodeThread(worker.self, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_true(SetEvent(worker.end));
    assert_wait(WaitForSingleObject(worker.self, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(worker.self, &code));
    assert_int_equal(code, 41);
    assert_true(CloseHandle(worker.self));
    assert_true(CloseHandle(worker.told));
    assert_true(CloseHandle(worker.end));
}

static void test_duplicate_of_the_first_thread(void **state)
{
    HANDLE first = duplicate(GetCurrentThread(), 0), second = duplicate(GetCurrentThread(), 0);
    HANDLE both[2] = { first, second };
    DWORD code = 0;

    (void)state;
    assert_int_equal(GetThreadId(first), GetCurrentThreadId());
    assert_int_equal(GetThreadId(second), GetCurrentThreadId());
    assert_int_equal(WaitForMultipleObjects(2, both, FALSE, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(first));
    assert_true(GetExitCodeThread(second, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_true(CloseHandle(second));
    first = duplicate(GetCurrentThread(), 0);
    assert_int_equal(GetThreadId(first), GetCurrentThreadId());
    assert_true(CloseHandle(first));
}

enum { RACERS = 4, ROUNDS = 2000 };
static HANDLE raced;

static DWORD WINAPI race(LPVOID parameter)
{
    HANDLE mine = duplicate(raced, 0);

    (void)parameter;
    for (int i = 0; i < ROUNDS; i++) {
        HANDLE next = duplicate(mine, i % 2 ? DUPLICATE_CLOSE_SOURCE : 0);

        if (!SetEvent(next) || WaitForSingleObject(next, 0) != WAIT_OBJECT_0)
            return 1;
        if (i % 2 == 0 && !CloseHandle(mine))
            return 2;
        mine = next;
    }
    return CloseHandle(mine) ? 0 : 3;
}

static void test_duplicates_come_and_go_in_many_threads(void **state)
{
    HANDLE threads[RACERS];
    DWORD code;

    (void)state;
    raced = CreateEventA(NULL, TRUE, FALSE, NULL);
    for (int i = 0; i < RACERS; i++)
        assert_non_null(threads[i] = CreateThread(NULL, 0, race, NULL, 0, NULL));
    for (int i = 0; i < RACERS; i++) {
        assert_wait(WaitForSingleObject(threads[i], LONG_MS), WAIT_OBJECT_0);
        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 0);
        assert_true(CloseHandle(threads[i]));
    }
    assert_wait(WaitForSingleObject(raced, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(raced));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duplicate_is_the_same_object_until_the_last_handle_is_closed),
        cmocka_unit_test(test_duplicate_may_close_its_source),
        cmocka_unit_test(test_duplicate_refuses),
        cmocka_unit_test(test_duplicate_of_the_process_is_a_handle_of_it),
        cmocka_unit_test(test_duplicate_of_a_port_keeps_it_open),
        cmocka_unit_test(test_duplicate_of_a_mutex_and_of_a_mapping),
        cmocka_unit_test(test_duplicate_sets_a_timer_and_is_closed),
        cmocka_unit_test(test_duplicate_is_used_and_closed),
        cmocka_unit_test(test_duplicate_of_the_calling_thread_is_one_for_others),
        cmocka_unit_test(test_duplicate_of_the_first_thread),
        cmocka_unit_test(test_duplicates_come_and_go_in_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
