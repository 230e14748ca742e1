/* SPDX-License-Identifier: MIT */
/*
 * test_overlapped.c - requests on files: start, completion to event and port, results. The provider here is the test.
 */
#include "tests/unit/winobj/fake_source.h"

#include "winobj/provider.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int owner;

static HANDLE file_new(struct win_file **file)
{
    HANDLE handle;

    assert_int_equal(win_file_create(&owner, NULL, &handle), ERROR_SUCCESS);
    assert_non_null(*file = win_file_get(handle, &owner));
    return handle;
}

static void file_end(HANDLE handle, struct win_file *file)
{
    assert_true(CloseHandle(handle));
    win_file_unref(file);
}

static void test_file_belongs_to_its_owner(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file);
    int other;

    (void)state;
    assert_null(win_file_get(handle, &other));
    assert_true(CloseHandle(handle));
    assert_null(win_file_get(handle, &owner));
    win_file_unref(file);
}

/* A provider's file tells of no request by itself: those of NetworkDirect are many at a time. */
static void test_file_of_a_provider_is_not_waited_for(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file);

    (void)state;
    assert_int_equal(WaitForSingleObject(handle, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    file_end(handle, file);
}

static void test_request_starts_pending_with_its_event_reset(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, TRUE, NULL), handle;
    OVERLAPPED overlapped = {
        .Internal = 5, .InternalHigh = 6, .hEvent = (HANDLE)((ULONG_PTR)event | 1)
    };
    struct win_file *file;

    (void)state;
    handle = file_new(&file);
    assert_true(win_overlapped_start(file, &overlapped));
    assert_int_equal(overlapped.Internal, 0x103);
    assert_int_equal(overlapped.InternalHigh, 0);
    assert_false(HasOverlappedIoCompleted(&overlapped));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(win_overlapped_result(file, &overlapped, FALSE), 0x103);
    win_overlapped_complete(file, &overlapped, 0, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(HasOverlappedIoCompleted(&overlapped));
    file_end(handle, file);
    assert_true(CloseHandle(event));
}

static void test_completion_goes_to_event_and_port(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL), handle, port;
    OVERLAPPED overlapped = { .hEvent = event }, *got;
    struct win_file *file;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    handle = file_new(&file);
    port = CreateIoCompletionPort(handle, NULL, 42, 0);
    assert_non_null(port);
    assert_true(win_overlapped_start(file, &overlapped));
    win_overlapped_complete(file, &overlapped, 0, 17);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
    assert_ptr_equal(got, &overlapped);
    assert_int_equal(key, 42);
    assert_int_equal(bytes, 17);
    assert_true(GetOverlappedResult(handle, &overlapped, &bytes, FALSE));
    assert_int_equal(bytes, 17);
    file_end(handle, file);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(port));
}

static void test_completion_tagged_event_makes_no_packet(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), handle, port;
    OVERLAPPED overlapped = { .hEvent = (HANDLE)((ULONG_PTR)event | 1) }, *got;
    struct win_file *file;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    handle = file_new(&file);
    port = CreateIoCompletionPort(handle, NULL, 42, 0);
    assert_true(win_overlapped_start(file, &overlapped));
    win_overlapped_complete(file, &overlapped, 0, 0);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0), SPEC_WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    file_end(handle, file);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(port));
}

/* Failed exactly when the status is negative; the error is Windows' translation. */
static void test_completion_status_decides_the_dequeue(void **state)
{
    static const struct {
        LONG status;
        DWORD error;
    } rows[] = {
        { 0, 0 },
        { 0x102, 0 },
        { (LONG)SPEC_STATUS_BUFFER_OVERFLOW, SPEC_ERROR_MORE_DATA },
        { (LONG)SPEC_STATUS_CANCELLED, SPEC_ERROR_OPERATION_ABORTED },
        { (LONG)SPEC_STATUS_CONNECTION_REFUSED, SPEC_ERROR_CONNECTION_REFUSED },
        { (LONG)SPEC_STATUS_CONNECTION_ABORTED, SPEC_ERROR_CONNECTION_ABORTED },
        { (LONG)SPEC_STATUS_CONNECTION_INVALID, SPEC_ERROR_CONNECTION_INVALID },
        { (LONG)SPEC_STATUS_IO_TIMEOUT, SPEC_ERROR_SEM_TIMEOUT },
        { (LONG)SPEC_STATUS_DEVICE_REMOVED, SPEC_ERROR_DEVICE_REMOVED },
        { (LONG)SPEC_STATUS_BAD_NETWORK_NAME, SPEC_ERROR_BAD_NET_NAME },
        { (LONG)SPEC_STATUS_CONNECTION_DISCONNECTED, SPEC_ERROR_NETNAME_DELETED },
        { (LONG)SPEC_STATUS_ACCESS_VIOLATION, SPEC_ERROR_NOACCESS },
        { (LONG)SPEC_STATUS_INSUFFICIENT_RESOURCES, SPEC_ERROR_NO_SYSTEM_RESOURCES },
        { (LONG)0xCAFE0000, 317 },
    };
    struct win_file *file;
    HANDLE handle = file_new(&file), port = CreateIoCompletionPort(handle, NULL, 1, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        OVERLAPPED overlapped = { 0 }, *got = NULL;
        OVERLAPPED_ENTRY entry;
        ULONG removed;
        ULONG_PTR key;
        DWORD bytes;

        assert_true(win_overlapped_start(file, &overlapped));
        win_overlapped_complete(file, &overlapped, rows[i].status, 0);
        SetLastError(0);
        assert_int_equal(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0), !rows[i].error);
        assert_ptr_equal(got, &overlapped);
        assert_win_error(rows[i].error);
        assert_int_equal(win_overlapped_result(file, &overlapped, TRUE), rows[i].status);
        assert_int_equal(GetOverlappedResult(handle, &overlapped, &bytes, FALSE), !rows[i].error);

        assert_true(win_overlapped_start(file, &overlapped));
        win_overlapped_complete(file, &overlapped, rows[i].status, 0);
        assert_true(GetQueuedCompletionStatusEx(port, &entry, 1, &removed, 0, FALSE));
        assert_int_equal((LONG)entry.Internal, rows[i].status);
    }
    file_end(handle, file);
    assert_true(CloseHandle(port));
}

static void test_port_attached_while_a_request_runs_gets_it(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file),
           port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0), other;
    OVERLAPPED early = { 0 }, late = { 0 }, *got;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    assert_true(win_overlapped_start(file, &early));
    assert_true(win_overlapped_start(file, &late));
    win_overlapped_complete(file, &early, 0, 0);
    assert_ptr_equal(CreateIoCompletionPort(handle, port, 9, 0), port);
    win_overlapped_complete(file, &late, 0, 0);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
    assert_ptr_equal(got, &late);
    assert_int_equal(key, 9);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0), SPEC_WAIT_TIMEOUT);

    /* One port for the life of a file. */
    assert_fails(CreateIoCompletionPort(handle, port, 10, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateIoCompletionPort(handle, NULL, 10, 0), SPEC_ERROR_INVALID_PARAMETER);
    other = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    assert_fails(CreateIoCompletionPort(handle, other, 10, 0), SPEC_ERROR_INVALID_PARAMETER);
    file_end(handle, file);
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(other));
}

static void test_several_files_on_one_port_keep_their_keys(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0), handles[3];
    struct win_file *files[3];
    OVERLAPPED overlapped[3] = { { 0 } }, *got;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        handles[i] = file_new(&files[i]);
        assert_ptr_equal(CreateIoCompletionPort(handles[i], port, 100 + i, 0), port);
        assert_true(win_overlapped_start(files[i], &overlapped[i]));
    }
    for (unsigned i = 3; i-- > 0;)
        win_overlapped_complete(files[i], &overlapped[i], 0, 0);
    for (unsigned i = 3; i-- > 0;) {
        assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
        assert_ptr_equal(got, &overlapped[i]);
        assert_int_equal(key, 100 + i);
        file_end(handles[i], files[i]);
    }
    assert_true(CloseHandle(port));
}

/* Neither the file's handle nor the port's has to be open when a request ends. */
static void test_completion_after_handles_are_closed(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file), port = CreateIoCompletionPort(handle, NULL, 0, 0);
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    OVERLAPPED overlapped = { .hEvent = event };

    (void)state;
    assert_true(win_overlapped_start(file, &overlapped));
    assert_true(CloseHandle(handle));
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(event));
    win_overlapped_complete(file, &overlapped, (LONG)SPEC_STATUS_CANCELLED, 0);
    assert_int_equal((LONG)overlapped.Internal, (LONG)SPEC_STATUS_CANCELLED);
    win_file_unref(file);
}

/*
 * The order of the steps of an end, seen by memory that cannot be written: Internal is the last word of a page and
 * InternalHigh the first of the next. Each write faults, is noted with what could be seen then, and done again.
 */
static struct seen {
    BYTE *pages;
    HANDLE event, port;
    unsigned writes;
    struct {
        bool status, event, packet; /* which word; what else was there */
    } at[4];
} seen;

static void note_write(int signal, siginfo_t *info, void *context)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool second = (BYTE *)info->si_addr >= seen.pages + page;
    OVERLAPPED *got = NULL;
    ULONG_PTR key;
    DWORD bytes;

    (void)signal;
    (void)context;
    if ((BYTE *)info->si_addr < seen.pages || (BYTE *)info->si_addr >= seen.pages + 2 * page ||
        seen.writes == ARRAYSIZE(seen.at))
        abort();
    seen.at[seen.writes].status = !second;
    seen.at[seen.writes].event = WaitForSingleObject(seen.event, 0) == WAIT_OBJECT_0;
    GetQueuedCompletionStatus(seen.port, &bytes, &key, &got, 0);
    seen.at[seen.writes++].packet = got != NULL;
    if (mprotect(seen.pages + (second ? page : 0), page, PROT_READ | PROT_WRITE))
        abort();
}

static void test_completion_stores_the_status_after_the_length_and_before_it_tells(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct sigaction action = { .sa_sigaction = note_write, .sa_flags = SA_SIGINFO | SA_NODEFER },
                     before;
    OVERLAPPED *overlapped, *got = NULL;
    struct win_file *file;
    HANDLE handle;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    handle = file_new(&file);
    seen = (struct seen){ .event = CreateEventA(NULL, TRUE, FALSE, NULL),
        .port = CreateIoCompletionPort(handle, NULL, 3, 0),
        .pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) };
    assert_ptr_not_equal(seen.pages, MAP_FAILED);
    overlapped = (OVERLAPPED *)(seen.pages + page - 8);
    overlapped->hEvent = seen.event;
    assert_true(win_overlapped_start(file, overlapped));
    assert_int_equal(mprotect(seen.pages, 2 * page, PROT_READ), 0);
    assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
    win_overlapped_complete(file, overlapped, 0, 17);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    assert_int_equal(seen.writes, 2);
    assert_false(seen.at[0].status);
    assert_true(seen.at[1].status);
    for (unsigned i = 0; i < 2; i++) {
        assert_false(seen.at[i].event);
        assert_false(seen.at[i].packet);
    }
    assert_wait(WaitForSingleObject(seen.event, 0), WAIT_OBJECT_0);
    assert_true(GetQueuedCompletionStatus(seen.port, &bytes, &key, &got, 0));
    assert_ptr_equal(got, overlapped);
    assert_int_equal(bytes, 17);
    assert_true(CloseHandle(seen.event));
    assert_true(CloseHandle(seen.port));
    munmap(seen.pages, 2 * page);
    file_end(handle, file);
}

struct told {
    unsigned initialised, closed;
};
static struct told *room_of_last;

static void room_init(void *room)
{
    room_of_last = room;
    assert_int_equal(room_of_last->initialised++, 0);
}

static void room_closed(void *room)
{
    ((struct told *)room)->closed++;
}

/* The provider hears of the last handle's end, once, whichever handle that is, while the file is there. */
static void test_provider_is_told_when_the_last_handle_is_closed(void **state)
{
    static const struct win_file_ops ops = { sizeof(struct told), room_init, room_closed, NULL };
    HANDLE handle, other, here = GetCurrentProcess();
    struct win_file *file;
    struct told *told;

    (void)state;
    assert_int_equal(win_file_create(&owner, &ops, &handle), 0);
    file = win_file_get(handle, &owner);
    told = win_file_room(file);
    assert_ptr_equal(told, room_of_last);
    assert_int_equal(told->initialised, 1);
    assert_true(DuplicateHandle(here, handle, here, &other, 0, FALSE, DUPLICATE_SAME_ACCESS));
    assert_true(CloseHandle(handle));
    assert_int_equal(told->closed, 0);
    assert_true(CloseHandle(other));
    assert_int_equal(told->closed, 1);
    win_file_unref(file);
}

struct completion {
    struct win_file *file;
    OVERLAPPED *overlapped;
    HANDLE begin;
};

static void *complete_later(void *argument)
{
    struct completion *completion = argument;

    WaitForSingleObject(completion->begin, LONG_MS);
    win_overlapped_complete(
        completion->file, completion->overlapped, (LONG)SPEC_STATUS_IO_TIMEOUT, 3);
    return NULL;
}

static void result_waits(HANDLE event, bool shared)
{
    struct win_file *file;
    HANDLE handle = file_new(&file);
    OVERLAPPED overlapped = { .hEvent = event };
    struct completion completion = { file, &overlapped, CreateEventW(NULL, FALSE, FALSE, NULL) };

    for (int i = 0; i < 100; i++) {
        pthread_t thread;

        assert_true(win_overlapped_start(file, &overlapped));
        if (shared)
            assert_true(SetEvent(event)); /* by someone else: means nothing */
        assert_int_equal(pthread_create(&thread, NULL, complete_later, &completion), 0);
        assert_true(SetEvent(completion.begin));
        assert_int_equal(
            win_overlapped_result(file, &overlapped, TRUE), (LONG)SPEC_STATUS_IO_TIMEOUT);
        assert_int_equal(overlapped.InternalHigh, 3);
        pthread_join(thread, NULL);
    }
    file_end(handle, file);
    assert_true(CloseHandle(completion.begin));
}

static void test_result_waits_without_an_event(void **state)
{
    (void)state;
    result_waits(NULL, false);
}

static void test_result_waits_with_any_event(void **state)
{
    HANDLE manual = CreateEventW(NULL, TRUE, FALSE, NULL),
           automatic = CreateEventW(NULL, FALSE, FALSE, NULL);

    (void)state;
    result_waits(manual, false);
    result_waits(manual, true);
    result_waits(automatic, false);
    result_waits(automatic, true);
    assert_true(CloseHandle(manual));
    assert_true(CloseHandle(automatic));
}

static void complete_in_run(struct fake_source *fake, unsigned long count)
{
    struct completion *completion = fake->context;

    (void)count;
    win_overlapped_complete(completion->file, completion->overlapped, 0, 0);
}

/* Had to wait: the signal of the auto-reset event is taken. Over already: it is not. */
static void test_result_takes_the_signal_only_if_it_waited(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), handle;
    OVERLAPPED overlapped = { .hEvent = event };
    struct fake_source fake = { .taken = complete_in_run };
    struct completion completion;
    struct win_file *file;

    (void)state;
    handle = file_new(&file);
    completion = (struct completion){ file, &overlapped, NULL };
    assert_true(win_overlapped_start(file, &overlapped));
    win_overlapped_complete(file, &overlapped, 0, 0);
    assert_int_equal(win_overlapped_result(file, &overlapped, TRUE), 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);

    /* What is ready runs when this thread sleeps, and completes what it sleeps for. */
    fake.context = &completion;
    fake_source_add(&fake);
    assert_true(win_overlapped_start(file, &overlapped));
    fake_source_fire(&fake, 1);
    assert_int_equal(win_overlapped_result(file, &overlapped, TRUE), 0);
    assert_int_equal(fake.led_runs, 1);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    fake_source_remove(&fake);
    file_end(handle, file);
    assert_true(CloseHandle(event));
}

static void test_get_overlapped_result_codes(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file);
    OVERLAPPED overlapped = { 0 };
    DWORD bytes = 0;

    (void)state;
    assert_true(win_overlapped_start(file, &overlapped));
    assert_fails(GetOverlappedResult(handle, &overlapped, &bytes, FALSE), SPEC_ERROR_IO_INCOMPLETE);
    assert_fails(GetOverlappedResult(handle, NULL, &bytes, FALSE), SPEC_ERROR_INVALID_PARAMETER);
    win_overlapped_complete(file, &overlapped, (LONG)SPEC_STATUS_CANCELLED, 0);
    assert_fails(
        GetOverlappedResult(handle, &overlapped, &bytes, TRUE), SPEC_ERROR_OPERATION_ABORTED);
    file_end(handle, file);
}

static void CALLBACK count_call(ULONG_PTR data)
{
    ++*(unsigned *)data;
}

static void test_get_overlapped_result_ex_codes(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file), self = GetCurrentThread();
    OVERLAPPED overlapped = { 0 };
    unsigned called = 0;
    DWORD bytes = 0;

    (void)state;
    assert_true(win_overlapped_start(file, &overlapped));
    assert_int_equal(QueueUserAPC(count_call, self, (ULONG_PTR)&called), 1);
    assert_fails(
        GetOverlappedResultEx(handle, &overlapped, &bytes, 0, TRUE), SPEC_ERROR_IO_INCOMPLETE);
    assert_fails(GetOverlappedResultEx(handle, &overlapped, &bytes, 1, FALSE), SPEC_WAIT_TIMEOUT);
    assert_int_equal(called, 0);
    assert_fails(GetOverlappedResultEx(handle, &overlapped, &bytes, INFINITE, TRUE),
        SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(called, 1);
    assert_fails(GetOverlappedResultEx(handle, &overlapped, &bytes, 1, TRUE), SPEC_WAIT_TIMEOUT);
    assert_fails(
        GetOverlappedResultEx(handle, NULL, &bytes, INFINITE, TRUE), SPEC_ERROR_INVALID_PARAMETER);
    win_overlapped_complete(file, &overlapped, (LONG)SPEC_STATUS_CANCELLED, 0);
    assert_int_equal(QueueUserAPC(count_call, self, (ULONG_PTR)&called), 1);
    assert_fails(GetOverlappedResultEx(handle, &overlapped, &bytes, INFINITE, TRUE),
        SPEC_ERROR_OPERATION_ABORTED);
    assert_int_equal(called, 1);
    assert_int_equal(SleepEx(0, TRUE), SPEC_WAIT_IO_COMPLETION);
    file_end(handle, file);
    assert_fails(GetOverlappedResultEx(handle, &overlapped, &bytes, INFINITE, TRUE),
        SPEC_ERROR_OPERATION_ABORTED);
}

/* A thread calls, another one completes: each request ends once, whichever comes first. */
static void test_result_and_calls_all_arrive(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file);
    OVERLAPPED overlapped = { 0 };
    struct completion completion = { file, &overlapped, CreateEventW(NULL, FALSE, FALSE, NULL) };
    unsigned called = 0;
    DWORD bytes;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        pthread_t thread;

        assert_true(win_overlapped_start(file, &overlapped));
        assert_int_equal(pthread_create(&thread, NULL, complete_later, &completion), 0);
        assert_int_equal(QueueUserAPC(count_call, GetCurrentThread(), (ULONG_PTR)&called), 1);
        if (i & 1)
            assert_true(SetEvent(completion.begin));
        SetLastError(0);
        assert_false(GetOverlappedResultEx(handle, &overlapped, &bytes, INFINITE, TRUE));
        if (!(i & 1)) {
            assert_win_error(SPEC_WAIT_IO_COMPLETION);
            assert_true(SetEvent(completion.begin));
        }
        while (GetLastError() == SPEC_WAIT_IO_COMPLETION)
            assert_false(GetOverlappedResultEx(handle, &overlapped, &bytes, INFINITE, TRUE));
        assert_win_error(SPEC_ERROR_SEM_TIMEOUT); /* of STATUS_IO_TIMEOUT */
        SleepEx(0, TRUE);
        assert_int_equal(called, i + 1);
        pthread_join(thread, NULL);
    }
    file_end(handle, file);
    assert_true(CloseHandle(completion.begin));
}

static void test_notification_modes(void **state)
{
    struct win_file *file;
    HANDLE handle = file_new(&file), event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_true(SetFileCompletionNotificationModes(handle, 3));
    assert_fails(SetFileCompletionNotificationModes(handle, 8), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetFileCompletionNotificationModes(event, 3), SPEC_ERROR_INVALID_HANDLE);
    file_end(handle, file);
    assert_true(CloseHandle(event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_belongs_to_its_owner),
        cmocka_unit_test(test_file_of_a_provider_is_not_waited_for),
        cmocka_unit_test(test_request_starts_pending_with_its_event_reset),
        cmocka_unit_test(test_completion_goes_to_event_and_port),
        cmocka_unit_test(test_completion_tagged_event_makes_no_packet),
        cmocka_unit_test(test_completion_status_decides_the_dequeue),
        cmocka_unit_test(test_port_attached_while_a_request_runs_gets_it),
        cmocka_unit_test(test_several_files_on_one_port_keep_their_keys),
        cmocka_unit_test(test_completion_after_handles_are_closed),
        cmocka_unit_test(test_completion_stores_the_status_after_the_length_and_before_it_tells),
        cmocka_unit_test(test_provider_is_told_when_the_last_handle_is_closed),
        cmocka_unit_test(test_result_waits_without_an_event),
        cmocka_unit_test(test_result_waits_with_any_event),
        cmocka_unit_test(test_result_takes_the_signal_only_if_it_waited),
        cmocka_unit_test(test_get_overlapped_result_codes),
        cmocka_unit_test(test_get_overlapped_result_ex_codes),
        cmocka_unit_test(test_result_and_calls_all_arrive),
        cmocka_unit_test(test_notification_modes),
    };
    return cmocka_run_group_tests(tests, fake_source_alone, NULL);
}
