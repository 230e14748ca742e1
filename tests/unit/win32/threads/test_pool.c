/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c - BindIoCompletionCallback and CreateThreadpoolIo: every request's end is called back once, callbacks may
 * wait for each other, a wait for callbacks lasts until they have returned.
 */
#include "tests/support/win32_test.h"

#include <stdio.h>

/*
 * Requests that end when the test says so, in the order they began: of a file of this library; in the Windows build
 * Reads from a pipe, of which those that are to fail are cancelled.
 */
#ifdef _WIN32
struct file {
    HANDLE handle, peer;
};

static struct file file_open(void)
{
    static LONG count;
    struct file file;
    char name[64];

    sprintf(name, "\\\\.\\pipe\\pool.%lu.%ld", GetCurrentProcessId(), InterlockedIncrement(&count));
    file.handle = CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED,
        PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1, 65536, 65536, 0, NULL);
    file.peer = CreateFileA(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(file.handle != INVALID_HANDLE_VALUE && file.peer != INVALID_HANDLE_VALUE);
    return file;
}

static void file_close(struct file *file)
{
    CloseHandle(file->handle);
    CloseHandle(file->peer);
}

static void request_begin(struct file *file, OVERLAPPED *overlapped)
{
    static char buffer[512];

    assert_fails(
        ReadFile(file->handle, buffer, sizeof(buffer), NULL, overlapped), SPEC_ERROR_IO_PENDING);
}

static void request_end(struct file *file, OVERLAPPED *overlapped, BOOL good, DWORD bytes)
{
    static const char data[512];
    DWORD written;

    if (good)
        assert_true(WriteFile(file->peer, data, bytes, &written, NULL));
    else
        assert_true(CancelIoEx(file->handle, overlapped));
}
#else
#include "winobj/provider.h"

struct file {
    HANDLE handle;
    struct win_file *object;
};

static struct file file_open(void)
{
    static int owner;
    struct file file;

    assert_int_equal(win_file_create(&owner, NULL, &file.handle), ERROR_SUCCESS);
    assert_non_null(file.object = win_file_get(file.handle, &owner));
    return file;
}

static void file_close(struct file *file)
{
    win_file_unref(file->object);
    assert_true(CloseHandle(file->handle));
}

static void request_begin(struct file *file, OVERLAPPED *overlapped)
{
    assert_true(win_overlapped_start(file->object, overlapped));
}

static void request_end(struct file *file, OVERLAPPED *overlapped, BOOL good, DWORD bytes)
{
    win_overlapped_complete(
        file->object, overlapped, good ? 0 : (LONG)SPEC_STATUS_CANCELLED, bytes);
}
#endif

enum { REQUESTS = 100, CHAIN = 8 };

struct request {
    OVERLAPPED overlapped;
    DWORD number; /* odd ones fail */
};

static HANDLE done;
static volatile LONG calls, wrong;

static void count_end(const struct request *request, DWORD error, ULONG_PTR bytes)
{
    if (request->number % 2 ? error != ERROR_OPERATION_ABORTED || bytes != 0
                            : error != ERROR_SUCCESS || bytes != request->number + 1)
        InterlockedIncrement(&wrong);
    if (InterlockedIncrement(&calls) == REQUESTS)
        SetEvent(done);
}

static void WINAPI count_call(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    count_end((struct request *)(void *)overlapped, error, bytes);
}

static void CALLBACK count_io(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    if (!instance || context != &calls || !io)
        InterlockedIncrement(&wrong);
    count_end(overlapped, error, bytes);
}

static void expect_all_ends(struct file *file, PTP_IO io)
{
    static struct request requests[REQUESTS];

    memset(requests, 0, sizeof(requests));
    calls = wrong = 0;
    done = CreateEventA(NULL, TRUE, FALSE, NULL);
    for (DWORD i = 0; i < REQUESTS; i++) {
        requests[i].number = i;
        if (io)
            StartThreadpoolIo(io);
        request_begin(file, &requests[i].overlapped);
        request_end(file, &requests[i].overlapped, i % 2 == 0, i % 2 ? 0 : i + 1);
    }
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    if (io)
        WaitForThreadpoolIoCallbacks(io, FALSE);
    assert_int_equal(calls, REQUESTS);
    assert_int_equal(wrong, 0);
    CloseHandle(done);
}

static void test_every_end_is_called_back(void **state)
{
    struct file file = file_open();

    (void)state;
    assert_true(BindIoCompletionCallback(file.handle, count_call, 0));
    expect_all_ends(&file, NULL);
    file_close(&file);
}

static void test_every_end_is_called_back_with_its_context(void **state)
{
    struct file file = file_open();
    PTP_IO io = CreateThreadpoolIo(file.handle, count_io, (PVOID)&calls, NULL);

    (void)state;
    assert_non_null(io);
    expect_all_ends(&file, io);
    file_close(&file);
    CloseThreadpoolIo(io);
}

#ifndef _WIN32 /* Wine makes callbacks of BindIoCompletionCallback one after the other */
static HANDLE chain[CHAIN];

/* Each callback waits for the next one's signal: all of them have to run at once. */
static void WINAPI wait_for_next(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    DWORD self = ((struct request *)(void *)overlapped)->number;

    (void)error;
    (void)bytes;
    if (self + 1 < CHAIN && WaitForSingleObject(chain[self + 1], LONG_MS) != WAIT_OBJECT_0)
        InterlockedIncrement(&wrong);
    SetEvent(chain[self]);
}

static void test_callbacks_may_wait_for_each_other(void **state)
{
    static struct request requests[CHAIN];
    struct file file = file_open();

    (void)state;
    wrong = 0;
    assert_true(BindIoCompletionCallback(file.handle, wait_for_next, 0));
    for (DWORD i = 0; i < CHAIN; i++)
        chain[i] = CreateEventA(NULL, TRUE, FALSE, NULL);
    for (DWORD i = 0; i < CHAIN; i++) {
        requests[i].number = i;
        request_begin(&file, &requests[i].overlapped);
        request_end(&file, &requests[i].overlapped, TRUE, 1);
    }
    assert_wait(WaitForMultipleObjects(CHAIN, chain, TRUE, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(wrong, 0);
    for (DWORD i = 0; i < CHAIN; i++)
        CloseHandle(chain[i]);
    file_close(&file);
}
#endif

struct gate {
    HANDLE began, go, waited, freed;
    PTP_IO io;
    volatile LONG returned, seen;
};

static void CALLBACK pass_gate(PTP_CALLBACK_INSTANCE instance, PVOID context, PVOID overlapped,
    ULONG error, ULONG_PTR bytes, PTP_IO io)
{
    struct gate *gate = context;

    (void)instance, (void)overlapped, (void)error, (void)bytes, (void)io;
    SetEvent(gate->began);
    WaitForSingleObject(gate->go, LONG_MS);
    InterlockedIncrement(&gate->returned);
}

static DWORD WINAPI wait_for_callbacks(LPVOID argument)
{
    struct gate *gate = argument;

    WaitForThreadpoolIoCallbacks(gate->io, FALSE);
    gate->seen = gate->returned;
    SetEvent(gate->waited);
    return 0;
}

static struct gate gate_new(struct file *file, struct gate *gate)
{
    struct gate made = { .began = CreateEventA(NULL, TRUE, FALSE, NULL),
        .go = CreateEventA(NULL, TRUE, FALSE, NULL),
        .waited = CreateEventA(NULL, TRUE, FALSE, NULL),
        .freed = CreateEventA(NULL, TRUE, FALSE, NULL),
        .io = CreateThreadpoolIo(file->handle, pass_gate, gate, NULL) };

    assert_non_null(made.io);
    return made;
}

static void gate_close(struct gate *gate)
{
    CloseHandle(gate->began);
    CloseHandle(gate->go);
    CloseHandle(gate->waited);
    CloseHandle(gate->freed);
}

static void test_a_wait_lasts_until_the_callback_has_returned(void **state)
{
    struct file file = file_open();
    struct request request = { .number = 0 };
    struct gate gate = gate_new(&file, &gate);
    HANDLE thread;

    (void)state;
    WaitForThreadpoolIoCallbacks(gate.io, FALSE); /* nothing was started */
    StartThreadpoolIo(gate.io);
    CancelThreadpoolIo(gate.io);
    WaitForThreadpoolIoCallbacks(gate.io, FALSE); /* nor will it end */
    WaitForThreadpoolIoCallbacks(gate.io, TRUE);

    StartThreadpoolIo(gate.io);
    request_begin(&file, &request.overlapped);
    thread = CreateThread(NULL, 0, wait_for_callbacks, &gate, 0, NULL);
    assert_wait(WaitForSingleObject(gate.waited, 20), WAIT_TIMEOUT);
    request_end(&file, &request.overlapped, TRUE, 1);
    assert_wait(WaitForSingleObject(gate.began, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(gate.waited, 20), WAIT_TIMEOUT);
    SetEvent(gate.go);
    assert_wait(WaitForSingleObject(gate.waited, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(gate.seen, 1);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
    file_close(&file);
    CloseThreadpoolIo(gate.io);
    gate_close(&gate);
}

/* A request that was started before CloseThreadpoolIo still calls back. */
static void test_closing_lets_started_requests_call_back(void **state)
{
    struct file file = file_open();
    struct request request = { .number = 0 };
    static struct gate gate; /* the callback may end after this */

    (void)state;
    gate = gate_new(&file, &gate);
    SetEvent(gate.go);
    StartThreadpoolIo(gate.io);
    request_begin(&file, &request.overlapped);
    CloseThreadpoolIo(gate.io);
    request_end(&file, &request.overlapped, TRUE, 1);
    assert_wait(WaitForSingleObject(gate.began, LONG_MS), WAIT_OBJECT_0);
    file_close(&file);
}

#ifndef _WIN32 /* the pool has too many threads there to keep all of them busy */
enum { POOL_THREADS = 64, ROUNDS = 100 };

static void WINAPI block(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    struct gate *gate = ((struct request *)(void *)overlapped)->overlapped.Pointer;
    HANDLE freed = gate->freed;

    (void)error, (void)bytes;
    if (InterlockedIncrement(&gate->seen) == POOL_THREADS)
        SetEvent(gate->began);
    WaitForSingleObject(gate->go, LONG_MS);
    if (!InterlockedDecrement(&gate->seen))
        SetEvent(freed);
}

static DWORD WINAPI drop_callbacks(LPVOID argument)
{
    struct gate *gate = argument;

    SetEvent(gate->waited);
    WaitForThreadpoolIoCallbacks(gate->io, TRUE);
    return (DWORD)gate->returned;
}

/*
 * One round: all threads busy, a callback due, a wait that leaves it out, threads free again. Whether it was left out.
 */
static bool callback_is_left_out(void)
{
    static struct request busy[POOL_THREADS];
    struct file blocked = file_open(), file = file_open();
    struct request request = { .number = 0 };
    struct gate gate = gate_new(&file, &gate);
    DWORD at_return = 0;
    HANDLE thread;
    LONG ran;

    assert_true(BindIoCompletionCallback(blocked.handle, block, 0));
    for (int i = 0; i < POOL_THREADS; i++) {
        request_begin(&blocked, &busy[i].overlapped);
        busy[i].overlapped.Pointer = &gate;
        request_end(&blocked, &busy[i].overlapped, TRUE, 1);
    }
    assert_wait(WaitForSingleObject(gate.began, LONG_MS), WAIT_OBJECT_0);
    StartThreadpoolIo(gate.io);
    request_begin(&file, &request.overlapped);
    request_end(&file, &request.overlapped, TRUE, 1);
    thread = CreateThread(NULL, 0, drop_callbacks, &gate, 0, NULL);
    assert_wait(WaitForSingleObject(gate.waited, LONG_MS), WAIT_OBJECT_0);
    SwitchToThread();
    SetEvent(gate.go);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &at_return));
    ran = gate.returned;
    assert_int_equal(ran, at_return); /* none begins later */
    assert_wait(WaitForSingleObject(gate.freed, LONG_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
    file_close(&file);
    file_close(&blocked);
    CloseThreadpoolIo(gate.io);
    gate_close(&gate);
    return !ran;
}

/* Whether the thread has come as far as leaving out cannot be seen from outside: some of many rounds must hit it. */
static void test_a_wait_may_leave_out_callbacks_not_begun(void **state)
{
    bool left_out = false;

    (void)state;
    for (int i = 0; i < ROUNDS && !left_out; i++)
        left_out = callback_is_left_out();
    assert_true(left_out);
}

static void test_an_end_nobody_started_is_no_harm(void **state)
{
    struct file file = file_open();
    struct request request = { .number = 0 };
    struct gate gate = gate_new(&file, &gate);

    (void)state;
    CloseThreadpoolIo(gate.io);
    request_begin(&file, &request.overlapped);
    request_end(&file, &request.overlapped, TRUE, 1);
    file_close(&file);
    file = file_open(); /* the pool is alive */
    assert_true(BindIoCompletionCallback(file.handle, count_call, 0));
    expect_all_ends(&file, NULL);
    assert_int_equal(gate.returned, 0);
    file_close(&file);
    gate_close(&gate);
}
#endif

static void test_wrong_arguments(void **state)
{
    struct file file = file_open();
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL);
    PTP_IO io;

    (void)state;
    assert_fails(
        BindIoCompletionCallback(INVALID_HANDLE_VALUE, count_call, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(
        CreateThreadpoolIo(INVALID_HANDLE_VALUE, count_io, NULL, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(BindIoCompletionCallback(event, count_call, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateThreadpoolIo(event, count_io, NULL, NULL), SPEC_ERROR_INVALID_HANDLE);
#ifndef _WIN32 /* Wine takes any function and flag */
    assert_fails(CreateThreadpoolIo(file.handle, NULL, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(BindIoCompletionCallback(file.handle, NULL, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        BindIoCompletionCallback(file.handle, count_call, 1), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_non_null(io = CreateThreadpoolIo(file.handle, count_io, NULL, NULL));
    assert_fails(
        CreateThreadpoolIo(file.handle, count_io, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        BindIoCompletionCallback(file.handle, count_call, 0), SPEC_ERROR_INVALID_PARAMETER);
    file_close(&file);
    CloseThreadpoolIo(io);
    CloseHandle(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_end_is_called_back),
        cmocka_unit_test(test_every_end_is_called_back_with_its_context),
        cmocka_unit_test(test_a_wait_lasts_until_the_callback_has_returned),
        cmocka_unit_test(test_closing_lets_started_requests_call_back),
#ifndef _WIN32
        cmocka_unit_test(test_callbacks_may_wait_for_each_other),
        cmocka_unit_test(test_a_wait_may_leave_out_callbacks_not_begun),
        cmocka_unit_test(test_an_end_nobody_started_is_no_harm),
#endif
        cmocka_unit_test(test_wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
