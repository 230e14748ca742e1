/* SPDX-License-Identifier: MIT */
/* test_duplicate_process.c - DuplicateHandle between processes. It starts itself. */
#include "tests/unit/win32/parcels/servant.h"

static SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

static HANDLE checked(HANDLE handle)
{
    assert_true(handle && handle != INVALID_HANDLE_VALUE);
    return handle;
}

static HANDLE give(struct servant *servant, HANDLE handle, BOOL inherit, DWORD options)
{
    HANDLE made = NULL;

    assert_true(DuplicateHandle(GetCurrentProcess(), handle, servant->process.hProcess, &made, 0,
        inherit, options | DUPLICATE_SAME_ACCESS));
    return checked(made);
}

static HANDLE take(struct servant *servant, HANDLE handle, DWORD options)
{
    HANDLE made = NULL;

    assert_true(DuplicateHandle(servant->process.hProcess, handle, GetCurrentProcess(), &made, 0,
        FALSE, options | DUPLICATE_SAME_ACCESS));
    return checked(made);
}

static void test_an_event_is_one_in_both_processes(void **state)
{
    struct servant servant = servant_start();
    HANDLE event = checked(CreateEventA(&inherited, FALSE, FALSE, NULL));
    HANDLE there = give(&servant, event, FALSE, 0);

    (void)state;
    servant_does(&servant, ORDER_SET, there, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(event));
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, LONG_MS), WAIT_OBJECT_0);
    assert_true(SetEvent(event));
    assert_true(CloseHandle(event)); /* the other process's handle keeps it, signalled */
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_OBJECT_0);
    servant_does(&servant, ORDER_CLOSE, there, 0);
    assert_int_equal(servant_order(&servant, ORDER_SET, there, 0).error, SPEC_ERROR_INVALID_HANDLE);
    servant_end(&servant);
}

/* The handle goes at once, while the process that gets it may still be loading. */
static void test_a_process_that_is_starting_gets_handles(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        HANDLE event = checked(CreateEventA(&inherited, TRUE, FALSE, NULL)), there;
        struct servant servant = servant_start();

        there = give(&servant, event, FALSE, DUPLICATE_CLOSE_SOURCE);
        assert_fails(SetEvent(event), SPEC_ERROR_INVALID_HANDLE);
        servant_does(&servant, ORDER_SET, there, 0);
        assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_OBJECT_0);
        servant_end(&servant);
    }
}

static void test_a_mutex_and_a_semaphore(void **state)
{
    struct servant servant = servant_start();
    HANDLE mutex = checked(CreateMutexA(&inherited, TRUE, NULL)), its_mutex;
    HANDLE semaphore = checked(CreateSemaphoreA(&inherited, 0, 2, NULL)), its_semaphore;
    LONG before = 77;

    (void)state;
    its_mutex = give(&servant, mutex, FALSE, 0);
    its_semaphore = give(&servant, semaphore, FALSE, 0);
    assert_int_equal(servant_does(&servant, ORDER_WAIT, its_mutex, 0), WAIT_TIMEOUT);
    assert_int_equal(
        servant_order(&servant, ORDER_LET_GO, its_mutex, 0).error, SPEC_ERROR_NOT_OWNER);
    assert_true(ReleaseMutex(mutex)); /* the thread here has stayed its owner */
    assert_int_equal(servant_does(&servant, ORDER_WAIT, its_mutex, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_TIMEOUT);
    servant_does(&servant, ORDER_LET_GO, its_mutex, 0);
    assert_wait(WaitForSingleObject(mutex, 0), WAIT_OBJECT_0);
    assert_true(ReleaseMutex(mutex));
    servant_does(&servant, ORDER_RELEASE, its_semaphore, 0);
    servant_does(&servant, ORDER_RELEASE, its_semaphore, 0);
    assert_int_equal(
        servant_order(&servant, ORDER_RELEASE, its_semaphore, 0).error, SPEC_ERROR_TOO_MANY_POSTS);
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
    assert_true(ReleaseSemaphore(semaphore, 1, &before));
    assert_int_equal(before, 1);
    assert_int_equal(servant_does(&servant, ORDER_WAIT, its_mutex, 0), WAIT_OBJECT_0);
    servant_end(&servant); /* which owns the mutex */
    assert_wait(WaitForSingleObject(mutex, LONG_MS), WAIT_ABANDONED);
    assert_true(ReleaseMutex(mutex));
    assert_true(CloseHandle(mutex));
    assert_true(CloseHandle(semaphore));
}

static void test_memory(void **state)
{
    const char *const names[] = { NULL, own_name("ndspi-duplicate-memory") };
    struct servant servant = servant_start();

    (void)state;
    for (int i = 0; i < 2; i++) {
        HANDLE mapping = checked(
            CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 65536, names[i]));
        HANDLE there = give(&servant, mapping, FALSE, 0);
        char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);

        assert_non_null(view);
        view[65535] = 'a';
        servant_does(&servant, ORDER_MAP, there, 0);
        assert_int_equal(view[65535], 'b');
        servant_does(&servant, ORDER_CLOSE, there, 0);
        assert_true(UnmapViewOfFile(view));
        assert_true(CloseHandle(mapping));
    }
    assert_null(OpenFileMappingA(FILE_MAP_WRITE, FALSE, names[1]));
    servant_end(&servant);
}

static void test_a_file_and_the_end_of_a_pipe(void **state)
{
    struct servant servant = servant_start();
    HANDLE file = checked(CreateFileA(own_name("ndspi_duplicate_file"),
        GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL));
    HANDLE there = give(&servant, file, FALSE, 0), read_end, write_end;
    LARGE_INTEGER at;
    char text[8];
    DWORD done = 0;

    (void)state;
    assert_true(WriteFile(file, "12", 2, &done, NULL));
    servant_does(&servant, ORDER_WRITE, there, 0); /* one place for both */
    assert_true(SetFilePointerEx(file, (LARGE_INTEGER){ .QuadPart = 0 }, &at, FILE_CURRENT));
    assert_int_equal(at.QuadPart, 7);
    servant_does(&servant, ORDER_CLOSE, there, 0);
    assert_true(CloseHandle(file));
    assert_int_equal(GetFileAttributesA(own_name("ndspi_duplicate_file")), INVALID_FILE_ATTRIBUTES);
    assert_true(CreatePipe(&read_end, &write_end, NULL, 0));
    there = give(&servant, write_end, FALSE, DUPLICATE_CLOSE_SOURCE);
    servant_does(&servant, ORDER_WRITE, there, 0);
    assert_true(ReadFile(read_end, text, 8, &done, NULL));
    assert_int_equal(done, 5);
    assert_memory_equal(text, "hello", 5);
    servant_does(&servant, ORDER_CLOSE, there, 0); /* the last one that can write */
    assert_fails(ReadFile(read_end, text, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_true(CloseHandle(read_end));
    servant_end(&servant);
}

static void test_handles_of_processes(void **state)
{
    struct servant servant = servant_start(), other = servant_start();
    HANDLE there = give(&servant, GetCurrentProcess(), FALSE, 0), itself;

    (void)state;
    assert_int_equal(servant_does(&servant, ORDER_ID, there, 0), GetCurrentProcessId());
    there = give(&servant, other.process.hProcess, FALSE, 0);
    assert_int_equal(servant_does(&servant, ORDER_ID, there, 0), other.process.dwProcessId);
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_TIMEOUT);
    servant_end(&other);
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, LONG_MS), WAIT_OBJECT_0);
    there = give(&servant, servant.process.hProcess, FALSE, 0);
    itself = take(&servant, there, 0);
    assert_int_equal(GetProcessId(itself), servant.process.dwProcessId);
    servant_end(&servant);
    assert_wait(WaitForSingleObject(itself, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(itself));
}

static void test_a_handle_is_fetched_from_another_process(void **state)
{
    struct servant servant = servant_start();
    HANDLE there = servant_makes(&servant, ORDER_EVENT, 1), event = take(&servant, there, 0), file;
    char text[8];
    DWORD done;

    (void)state;
    assert_true(SetEvent(event));
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_OBJECT_0);
    servant_does(&servant, ORDER_SET, there, 0);
    servant_does(&servant, ORDER_CLOSE, there, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0); /* as it was */
    assert_true(CloseHandle(event));
    there = servant_makes(&servant, ORDER_EVENT, 1);
    event = take(&servant, there, DUPLICATE_CLOSE_SOURCE);
    assert_int_equal(servant_order(&servant, ORDER_SET, there, 0).error, SPEC_ERROR_INVALID_HANDLE);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
    there = servant_makes(&servant, ORDER_FILE, 0);
    servant_does(&servant, ORDER_WRITE, there, 0);
    file = take(&servant, there, 0);
    assert_true(SetFilePointerEx(file, (LARGE_INTEGER){ .QuadPart = 1 }, NULL, FILE_BEGIN));
    assert_true(ReadFile(file, text, 8, &done, NULL));
    assert_int_equal(done, 4);
    assert_memory_equal(text, "ello", 4);
    assert_true(CloseHandle(file));
    servant_end(&servant);
}

/* A process that only has the number of another: by OpenProcess. */
static void test_a_process_gives_to_one_that_it_opened(void **state)
{
    struct servant servant = servant_start();
    HANDLE there = servant_makes(&servant, ORDER_EVENT, 1), here;

    (void)state;
    here = (HANDLE)(uintptr_t)servant_does(&servant, ORDER_GIVE, there, GetCurrentProcessId());
    assert_true(SetEvent(here));
    assert_int_equal(servant_does(&servant, ORDER_WAIT, there, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(here));
    servant_end(&servant);
}

static void test_between_two_other_processes(void **state)
{
    struct servant first = servant_start(), second = servant_start();
    HANDLE event = servant_makes(&first, ORDER_EVENT, 1), there = NULL, again = NULL;

    (void)state;
    assert_true(DuplicateHandle(first.process.hProcess, event, second.process.hProcess, &there, 0,
        FALSE, DUPLICATE_SAME_ACCESS));
    servant_does(&second, ORDER_SET, there, 0);
    assert_int_equal(servant_does(&first, ORDER_WAIT, event, 0), WAIT_OBJECT_0);
    /* Within one, as it would itself: also what no other process can have. */
    event = servant_makes(&first, ORDER_EVENT, 0);
    assert_true(DuplicateHandle(first.process.hProcess, event, first.process.hProcess, &again, 0,
        FALSE, DUPLICATE_CLOSE_SOURCE | DUPLICATE_SAME_ACCESS));
    servant_does(&first, ORDER_SET, again, 0);
    assert_int_equal(servant_does(&first, ORDER_WAIT, again, 0), WAIT_OBJECT_0);
    if (event != again)
        assert_int_equal(
            servant_order(&first, ORDER_SET, event, 0).error, SPEC_ERROR_INVALID_HANDLE);
    servant_end(&first);
    servant_does(&second, ORDER_SET, there, 0);
    assert_int_equal(servant_does(&second, ORDER_WAIT, there, 0), WAIT_OBJECT_0);
    servant_end(&second);
}

static void test_a_handle_is_closed_in_another_process(void **state)
{
    struct servant servant = servant_start();
    HANDLE there = servant_makes(&servant, ORDER_EVENT, 1), none = (HANDLE)0x12345670;

    (void)state;
#ifndef _WIN32 /* Wine makes a handle all the same, by the same number */
    assert_true(DuplicateHandle(
        servant.process.hProcess, there, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE));
#else
    servant_does(&servant, ORDER_CLOSE, there, 0);
#endif
    assert_int_equal(servant_order(&servant, ORDER_SET, there, 0).error, SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(
                     servant.process.hProcess, there, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(
                     servant.process.hProcess, none, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_INVALID_HANDLE);
    /* Also where the duplication fails. */
    there = servant_makes(&servant, ORDER_EVENT, 1);
    assert_fails(DuplicateHandle(servant.process.hProcess, there, none, &none, 0, FALSE,
                     DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_INVALID_HANDLE);
    assert_null(none);
    assert_int_equal(servant_order(&servant, ORDER_SET, there, 0).error,
        DIFFERS(SPEC_ERROR_INVALID_HANDLE, 0,
            "Windows closes the source whatever happens; Wine does not, of another process"));
    servant_end(&servant);
}

static void test_the_duplicate_may_be_inherited(void **state)
{
    struct servant servant = servant_start();
    HANDLE event = checked(CreateEventA(&inherited, FALSE, FALSE, NULL)), there;
    DWORD flags = 77;

    (void)state;
    there = give(&servant, event, FALSE, 0); /* the flag is not the source's */
    assert_int_equal(servant_does(&servant, ORDER_FLAGS, there, 0), 0);
    there = give(&servant, event, TRUE, 0);
    assert_int_equal(servant_does(&servant, ORDER_FLAGS, there, 0), HANDLE_FLAG_INHERIT);
    assert_true(CloseHandle(event));
    event = take(&servant, there, 0);
    assert_true(GetHandleInformation(event, &flags));
    assert_int_equal(flags, 0);
    assert_true(CloseHandle(event));
    servant_end(&servant);
}

static void test_what_is_refused(void **state)
{
    struct servant servant = servant_start();
    HANDLE event = checked(CreateEventA(&inherited, FALSE, FALSE, NULL)), none = (HANDLE)0x12345670;
    HANDLE poor = checked(OpenProcess(SYNCHRONIZE, FALSE, servant.process.dwProcessId));
    HANDLE here = GetCurrentProcess(), there = servant.process.hProcess, made = (HANDLE)99;
    HANDLE its = servant_makes(&servant, ORDER_EVENT, 1);

    (void)state;
    assert_fails(DuplicateHandle(here, event, poor, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_ACCESS_DENIED);
    assert_null(made);
    assert_fails(DuplicateHandle(poor, its, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_ACCESS_DENIED);
    assert_fails(DuplicateHandle(poor, its, NULL, NULL, 0, FALSE, DUPLICATE_CLOSE_SOURCE),
        SPEC_ERROR_ACCESS_DENIED);
    assert_fails(DuplicateHandle(here, none, there, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(there, none, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DuplicateHandle(there, none, there, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_HANDLE);
#ifndef _WIN32 /* Wine takes any option, and makes handles that it does not return */
    assert_fails(
        DuplicateHandle(here, event, there, &made, 0, FALSE, 4), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(DuplicateHandle(there, its, here, NULL, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_INVALID_PARAMETER);
#endif
    servant_does(&servant, ORDER_SET, its, 0); /* none of these closed it */
    assert_true(SetEvent(event));
    assert_true(CloseHandle(poor));
    poor = checked(OpenProcess(PROCESS_DUP_HANDLE, FALSE, servant.process.dwProcessId));
    servant_end(&servant);
    assert_wait(WaitForSingleObject(poor, 0),
        DIFFERS(WAIT_OBJECT_0, WAIT_FAILED, "every handle of a process may be waited for"));
    assert_fails(DuplicateHandle(here, event, poor, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_ACCESS_DENIED);
    assert_fails(DuplicateHandle(poor, its, here, &made, 0, FALSE, DUPLICATE_SAME_ACCESS),
        DIFFERS(SPEC_ERROR_ACCESS_DENIED, SPEC_ERROR_INVALID_HANDLE,
            "Windows says so for both; Wine finds no handle"));
    assert_true(CloseHandle(poor));
    assert_true(CloseHandle(event));
}

enum { PAIRS = 3, ROUNDS = 60 };

struct ferry {
    struct servant *servant;
    HANDLE event;
};

/* There and back again; the first handle is still the same event at the end. */
static DWORD WINAPI ferry(LPVOID parameter)
{
    const struct ferry *way = parameter;
    HANDLE here = way->event, there, next;

    for (int i = 0; i < ROUNDS; i++) {
        if (!DuplicateHandle(GetCurrentProcess(), here, way->servant->process.hProcess, &there, 0,
                FALSE, DUPLICATE_SAME_ACCESS | (i ? DUPLICATE_CLOSE_SOURCE : 0)))
            return GetLastError();
        if (!DuplicateHandle(way->servant->process.hProcess, there, GetCurrentProcess(), &next, 0,
                FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE))
            return GetLastError();
        here = next;
    }
    return SetEvent(here) && CloseHandle(here) ? 0 : 9999;
}

static void test_many_threads_duplicate_at_once(void **state)
{
    struct servant servant = servant_start();
    struct ferry ways[PAIRS];
    HANDLE threads[PAIRS];
    DWORD code;

    (void)state;
    for (int i = 0; i < PAIRS; i++) {
        ways[i] = (struct ferry){ &servant, checked(CreateEventA(&inherited, FALSE, FALSE, NULL)) };
        threads[i] = checked(CreateThread(NULL, 0, ferry, &ways[i], 0, NULL));
    }
    for (int i = 0; i < PAIRS; i++) {
        assert_wait(WaitForSingleObject(threads[i], LONG_MS), WAIT_OBJECT_0);
        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 0);
        assert_wait(WaitForSingleObject(ways[i].event, 0), WAIT_OBJECT_0);
        assert_true(CloseHandle(ways[i].event));
        assert_true(CloseHandle(threads[i]));
    }
    servant_end(&servant);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_event_is_one_in_both_processes),
        cmocka_unit_test(test_a_process_that_is_starting_gets_handles),
        cmocka_unit_test(test_a_mutex_and_a_semaphore),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_a_file_and_the_end_of_a_pipe),
        cmocka_unit_test(test_handles_of_processes),
        cmocka_unit_test(test_a_handle_is_fetched_from_another_process),
        cmocka_unit_test(test_a_process_gives_to_one_that_it_opened),
        cmocka_unit_test(test_between_two_other_processes),
        cmocka_unit_test(test_a_handle_is_closed_in_another_process),
        cmocka_unit_test(test_the_duplicate_may_be_inherited),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_many_threads_duplicate_at_once),
    };

    if (count == 4 && !strcmp(arguments[1], "servant"))
        return servant_main(arguments);
    if (!GetModuleFileNameA(NULL, servant_program, sizeof(servant_program)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
