/* SPDX-License-Identifier: MIT */
/* test_memory.c - every call that makes something, with each of its allocations failing in turn. */
#include "tests/unit/winobj/fake_source.h"

#include <errno.h>
#include <sys/epoll.h>

#include <stdlib.h>

static _Thread_local long fail_at; /* 0: none; counts down to the allocation that fails */

static bool fails_now(void)
{
    if (fail_at <= 0 || --fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

#pragma GCC visibility push(default) /* the library's calls are to come here too */

void *malloc(size_t size)
{
    extern void *__libc_malloc(size_t);

    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    extern void *__libc_calloc(size_t, size_t);

    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    extern void *__libc_realloc(void *, size_t);

    return fails_now() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    extern void *__libc_memalign(size_t, size_t);

    return fails_now() ? NULL : __libc_memalign(alignment, size);
}

#pragma GCC visibility pop

static int owner;

static HANDLE make_event(void)
{
    return CreateEventW(NULL, TRUE, FALSE, NULL);
}

static HANDLE make_port(void)
{
    return CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
}

static HANDLE make_heap(void)
{
    return HeapCreate(0, 0, 0);
}

static DWORD WINAPI return_at_once(LPVOID parameter)
{
    (void)parameter;
    return 0;
}

static HANDLE make_thread(void)
{
    return CreateThread(NULL, 0, return_at_once, NULL, 0, NULL);
}

static HANDLE make_file(void)
{
    HANDLE handle = NULL;
    DWORD error = win_file_create(&owner, NULL, &handle);

    SetLastError(error);
    return error ? NULL : handle;
}

/* Fails with "no memory" as often as it allocates, then succeeds. */
static unsigned fail_each(HANDLE (*make)(void), BOOL(WINAPI *end)(HANDLE))
{
    for (long n = 1;; n++) {
        HANDLE made;

        SetLastError(0);
        fail_at = n;
        made = make();
        if (made) {
            bool all_done = fail_at > 0;

            fail_at = 0;
            assert_true(end(made));
            if (all_done)
                return (unsigned)n - 1;
            continue; /* did without */
        }
        fail_at = 0;
        assert_true(GetLastError() == SPEC_ERROR_NOT_ENOUGH_MEMORY ||
                    GetLastError() == SPEC_ERROR_NO_SYSTEM_RESOURCES);
    }
}

static void test_create_functions_survive_failed_allocations(void **state)
{
    (void)state;
    assert_true(fail_each(make_event, CloseHandle) >= 1);
    assert_true(fail_each(make_port, CloseHandle) >= 1);
    assert_true(fail_each(make_file, CloseHandle) >= 1);
    assert_true(fail_each(make_thread, CloseHandle) >= 1);
    assert_true(fail_each(make_heap, HeapDestroy) >= 1);
}

static void test_requests_and_packets_survive_failed_allocations(void **state)
{
    HANDLE handle = make_file(), port;
    struct win_file *file = win_file_get(handle, &owner);
    OVERLAPPED overlapped = { .Internal = 1 }, *got;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(handle, NULL, 0, 0));
    fail_at = 1;
    assert_false(win_overlapped_start(file, &overlapped));
    assert_int_equal(fail_at, 0);
    assert_int_equal(overlapped.Internal, 1); /* nothing began */
    fail_at = 1;
    assert_fails(PostQueuedCompletionStatus(port, 0, 0, NULL), SPEC_ERROR_NOT_ENOUGH_MEMORY);
    assert_int_equal(fail_at, 0);

    fail_at = 1;
    assert_false(win_overlapped_reserve(file));
    /* What has been reserved begins and ends without memory, and may not begin after all. */
    assert_true(win_overlapped_reserve(file));
    fail_at = 1;
    win_overlapped_begin(&overlapped);
    win_overlapped_complete(file, &overlapped, 0, 0);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
    assert_int_equal(fail_at, 1);
    fail_at = 0;
    assert_true(win_overlapped_reserve(file));
    win_overlapped_unreserve(file);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0), SPEC_WAIT_TIMEOUT);
    /* What has begun ends without memory. */
    assert_true(win_overlapped_start(file, &overlapped));
    fail_at = 1;
    win_overlapped_complete(file, &overlapped, 0, 0);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
    assert_int_equal(fail_at, 1);
    fail_at = 0;
    assert_ptr_equal(got, &overlapped);
    win_file_unref(file);
    assert_true(CloseHandle(handle));
    assert_true(CloseHandle(port));
}

/* A packet that no thread fetched serves the next request; two requests at a time need two packets. */
static void test_request_after_request_needs_no_memory(void **state)
{
    HANDLE handle = make_file();
    struct win_file *file = win_file_get(handle, &owner);
    OVERLAPPED one = { 0 }, other = { 0 };

    (void)state;
    assert_true(win_overlapped_start(file, &one));
    fail_at = 1;
    assert_false(win_overlapped_start(file, &other));
    assert_int_equal(fail_at, 0);
    win_overlapped_complete(file, &one, 0, 0);
    fail_at = 1;
    for (int i = 0; i < 3; i++) {
        assert_true(win_overlapped_start(file, &one));
        win_overlapped_complete(file, &one, 0, 0);
        assert_true(win_overlapped_reserve(file));
        win_overlapped_unreserve(file);
    }
    assert_int_equal(fail_at, 1);
    assert_true(win_overlapped_start(file, &one));
    assert_false(win_overlapped_start(file, &other));
    assert_int_equal(fail_at, 0);
    assert_true(win_overlapped_start(file, &other));
    win_overlapped_complete(file, &other, 0, 0);
    win_overlapped_complete(file, &one, 0, 0);
    win_file_unref(file);
    assert_true(CloseHandle(handle));
}

/* Whatever of it fails, nothing is left, and the next attempt gets further. */
static void test_source_survives_failed_allocations(void **state)
{
    struct fake_source fake = { 0 };
    int error, attempts = 0;

    (void)state;
    do {
        fail_at = ++attempts;
        if (attempts == 1)
            fake_source_prepare(&fake);
        if ((error = reactor_add(&fake.source, EPOLLIN)))
            assert_true(error == -ENOMEM || error == -EAGAIN); /* that: of the thread */
    } while (error);
    assert_true(attempts > 2);
    fail_at = 0;
    fake_source_fire(&fake, 1);
    assert_true(fake_source_reached(&fake, 1));
    fake_source_remove(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_functions_survive_failed_allocations),
        cmocka_unit_test(test_requests_and_packets_survive_failed_allocations),
        cmocka_unit_test(test_request_after_request_needs_no_memory),
        cmocka_unit_test(test_source_survives_failed_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
