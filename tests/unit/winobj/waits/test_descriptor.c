/* SPDX-License-Identifier: MIT */
/* test_descriptor.c - handles as descriptors: readable exactly while signalled. */
#include "tests/unit/winobj/fake_source.h"

#include <winobj_linux.h>

#include <fcntl.h>
#include <poll.h>

static bool readable(int fd, int timeout_ms)
{
    struct pollfd set = { .fd = fd, .events = POLLIN };

    return poll(&set, 1, timeout_ms) == 1 && (set.revents & POLLIN);
}

static void test_descriptor_follows_an_event(void **state)
{
    HANDLE events[2] = { CreateEventW(NULL, TRUE, TRUE, NULL),
        CreateEventW(NULL, FALSE, TRUE, NULL) };

    (void)state;
    for (int i = 0; i < 2; i++) {
        int fd = WinLinuxGetDescriptor(events[i]);

        assert_true(fd >= 0);
        assert_int_equal(WinLinuxGetDescriptor(events[i]), fd);
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        assert_true(readable(fd, 0));
        assert_true(ResetEvent(events[i]));
        assert_false(readable(fd, 0));
        assert_true(SetEvent(events[i]));
        assert_true(SetEvent(events[i]));
        assert_true(readable(fd, 0));
        assert_wait(WaitForSingleObject(events[i], 0), WAIT_OBJECT_0);
        assert_int_equal(readable(fd, 0), i == 0); /* an auto-reset event's signal is taken */
        assert_true(CloseHandle(events[i]));
        assert_int_equal(fcntl(fd, F_GETFD), -1);
    }
}

static void test_descriptor_follows_a_port(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;
    int fd;

    (void)state;
    assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
    assert_true((fd = WinLinuxGetDescriptor(port)) >= 0);
    assert_true(readable(fd, 0)); /* for what was there before */
    assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
    for (int i = 0; i < 2; i++) {
        assert_true(readable(fd, 0));
        assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0));
    }
    assert_false(readable(fd, 0));
    assert_true(CloseHandle(port));
}

static DWORD WINAPI wait_for_parameter(LPVOID parameter)
{
    return WaitForSingleObject(parameter, LONG_MS);
}

static void test_descriptor_of_a_thread_tells_its_end(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE thread = CreateThread(NULL, 0, wait_for_parameter, event, 0, NULL);
    int fd = WinLinuxGetDescriptor(thread);

    (void)state;
    assert_true(fd >= 0);
    assert_false(readable(fd, 0));
    assert_true(SetEvent(event));
    assert_true(readable(fd, LONG_MS));
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(event));
}

static void set_event(struct fake_source *fake, unsigned long count)
{
    (void)count;
    SetEvent(fake->context);
}

/*
 * A program that sleeps in poll alone is served by the background thread, and soon: looking once does not put it off.
 */
static void test_descriptor_wakes_a_program_that_polls_it(void **state)
{
    struct fake_source fake = { .taken = set_event,
        .context = CreateEventW(NULL, FALSE, FALSE, NULL) };
    int fd = WinLinuxGetDescriptor(fake.context);

    (void)state;
    fake_source_add(&fake);
    for (int i = 0; i < 200; i++) {
        fake_source_fire(&fake, 1);
        assert_true(readable(fd, LONG_MS));
        assert_wait(WaitForSingleObject(fake.context, 0), WAIT_OBJECT_0);
        assert_wait(WaitForSingleObject(fake.context, 0), WAIT_TIMEOUT);
    }
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_descriptor_of_something_else(void **state)
{
    HANDLE file;

    (void)state;
    SetLastError(0);
    assert_int_equal(WinLinuxGetDescriptor(NULL), -1);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(win_file_create(NULL, NULL, &file), 0);
    SetLastError(0);
    assert_int_equal(WinLinuxGetDescriptor(file), -1);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptor_follows_an_event),
        cmocka_unit_test(test_descriptor_follows_a_port),
        cmocka_unit_test(test_descriptor_of_a_thread_tells_its_end),
        cmocka_unit_test(test_descriptor_wakes_a_program_that_polls_it),
        cmocka_unit_test(test_descriptor_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
