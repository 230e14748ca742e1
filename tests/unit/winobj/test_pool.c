/* SPDX-License-Identifier: MIT */
/* test_pool.c - BindIoCompletionCallback: every request's end is called back once, callbacks may wait for each other. */
#include "tests/unit/winobj/win_test.h"

#include "winobj/provider.h"

enum { REQUESTS = 100, CHAIN = 8 };

static HANDLE done;
static volatile LONG calls, wrong;
static HANDLE chain[CHAIN];

static void WINAPI count_call(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    /* The request's number is in Offset; odd ones failed. */
    if (overlapped->Offset % 2 ? error != ERROR_OPERATION_ABORTED || bytes != 0
                               : error != ERROR_SUCCESS || bytes != overlapped->Offset)
        InterlockedIncrement(&wrong);
    if (InterlockedIncrement(&calls) == REQUESTS)
        SetEvent(done);
}

static HANDLE open_file(struct win_file **file)
{
    HANDLE handle = NULL;

    assert_int_equal(win_file_create(&done, &handle), ERROR_SUCCESS);
    assert_non_null(*file = win_file_get(handle, &done));
    return handle;
}

static void test_every_end_is_called_back(void **state)
{
    static OVERLAPPED overlapped[REQUESTS];
    struct win_file *file;
    HANDLE handle = open_file(&file);

    (void)state;
    done = CreateEventA(NULL, TRUE, FALSE, NULL);
    assert_true(BindIoCompletionCallback(handle, count_call, 0));
    for (DWORD i = 0; i < REQUESTS; i++) {
        overlapped[i].Offset = i;
        assert_true(win_overlapped_start(file, &overlapped[i]));
        win_overlapped_complete(file, &overlapped[i], i % 2 ? (LONG)0xC0000120 : 0, i);
    }
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls, REQUESTS);
    assert_int_equal(wrong, 0);
    win_file_unref(file);
    CloseHandle(handle);
    CloseHandle(done);
}

/* Each callback waits for the next one's signal: all of them have to run at once. */
static void WINAPI wait_for_next(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    DWORD self = overlapped->Offset;

    (void)error;
    (void)bytes;
    if (self + 1 < CHAIN && WaitForSingleObject(chain[self + 1], LONG_MS) != WAIT_OBJECT_0)
        InterlockedIncrement(&wrong);
    SetEvent(chain[self]);
}

static void test_callbacks_may_wait_for_each_other(void **state)
{
    static OVERLAPPED overlapped[CHAIN];
    struct win_file *file;
    HANDLE handle = open_file(&file);

    (void)state;
    assert_true(BindIoCompletionCallback(handle, wait_for_next, 0));
    for (DWORD i = 0; i < CHAIN; i++)
        chain[i] = CreateEventA(NULL, TRUE, FALSE, NULL);
    for (DWORD i = 0; i < CHAIN; i++) {
        overlapped[i].Offset = i;
        assert_true(win_overlapped_start(file, &overlapped[i]));
        win_overlapped_complete(file, &overlapped[i], 0, 0);
    }
    assert_wait(WaitForMultipleObjects(CHAIN, chain, TRUE, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(wrong, 0);
    for (DWORD i = 0; i < CHAIN; i++)
        CloseHandle(chain[i]);
    win_file_unref(file);
    CloseHandle(handle);
}

static void test_wrong_arguments(void **state)
{
    struct win_file *file;
    HANDLE handle = open_file(&file), event = CreateEventA(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_fails(BindIoCompletionCallback(handle, NULL, 0), ERROR_INVALID_PARAMETER);
    assert_fails(BindIoCompletionCallback(handle, count_call, 1), ERROR_INVALID_PARAMETER);
    assert_fails(BindIoCompletionCallback(INVALID_HANDLE_VALUE, count_call, 0), ERROR_INVALID_PARAMETER);
    assert_fails(BindIoCompletionCallback(event, count_call, 0), ERROR_INVALID_HANDLE);
    assert_true(BindIoCompletionCallback(handle, count_call, 0));
    assert_fails(BindIoCompletionCallback(handle, count_call, 0), ERROR_INVALID_PARAMETER);
    win_file_unref(file);
    CloseHandle(handle);
    CloseHandle(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_end_is_called_back),
        cmocka_unit_test(test_callbacks_may_wait_for_each_other),
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
