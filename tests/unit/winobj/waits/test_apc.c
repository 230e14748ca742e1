/* SPDX-License-Identifier: MIT */
/* test_apc.c - QueueUserAPC, and the waits that it ends. */
#include "tests/support/win32_test.h"

#include <stdio.h>

enum { MOST_CALLS = 8 };

static struct {
    unsigned count;
    ULONG_PTR data[MOST_CALLS];
    DWORD thread;
} calls;

static void CALLBACK note(ULONG_PTR data)
{
    if (calls.count < MOST_CALLS)
        calls.data[calls.count] = data;
    calls.count++;
    calls.thread = GetCurrentThreadId();
}

static void forget(void **state)
{
    (void)state;
    memset(&calls, 0, sizeof(calls));
}

static void queue_self(PAPCFUNC function, ULONG_PTR data)
{
    assert_int_equal(QueueUserAPC(function, GetCurrentThread(), data), 1);
}

static void test_alertable_sleep_calls_in_order(void **state)
{
    forget(state);
    assert_int_equal(SleepEx(1, TRUE), 0);
    assert_int_equal(SleepEx(0, TRUE), 0);
    queue_self(note, 7);
    queue_self(note, 5);
    queue_self(note, 6);
    assert_int_equal(SleepEx(0, FALSE), 0);
    Sleep(1);
    assert_int_equal(calls.count, 0);
    assert_int_equal(SleepEx(INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 3);
    assert_int_equal(calls.data[0], 7);
    assert_int_equal(calls.data[1], 5);
    assert_int_equal(calls.data[2], 6);
    assert_int_equal(calls.thread, GetCurrentThreadId());
    queue_self(note, 1);
    assert_int_equal(SleepEx(0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(SleepEx(0, TRUE), 0);
    assert_int_equal(calls.count, 4);
}

static void test_wait_that_is_not_alertable_calls_nothing(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    OVERLAPPED_ENTRY entry;
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    ULONG taken;

    forget(state);
    queue_self(note, 1);
    assert_wait(WaitForSingleObject(event, 1), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObjectEx(event, 0, FALSE), WAIT_TIMEOUT);
    assert_wait(WaitForMultipleObjectsEx(1, &event, TRUE, 1, FALSE), WAIT_TIMEOUT);
    assert_fails(GetQueuedCompletionStatusEx(port, &entry, 1, &taken, 1, FALSE), SPEC_WAIT_TIMEOUT);
    assert_int_equal(calls.count, 0);
    assert_int_equal(SleepEx(0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(event));
}

static void test_object_comes_before_what_is_queued(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL);

    forget(state);
    queue_self(note, 1);
    assert_wait(WaitForSingleObjectEx(event, INFINITE, TRUE), WAIT_OBJECT_0);
    assert_int_equal(calls.count, 0);
    assert_wait(WaitForSingleObjectEx(event, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    queue_self(note, 2);
    assert_wait(WaitForSingleObjectEx(event, 0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_wait(WaitForSingleObjectEx(event, 0, TRUE), WAIT_TIMEOUT);
    assert_int_equal(calls.count, 2);
    assert_true(CloseHandle(event));
}

static void test_wait_for_several_ends(void **state)
{
    HANDLE events[2] = { CreateEventW(NULL, FALSE, TRUE, NULL),
        CreateEventW(NULL, FALSE, FALSE, NULL) };

    forget(state);
    queue_self(note, 1);
    assert_wait(WaitForMultipleObjectsEx(2, events, TRUE, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    queue_self(note, 2);
    assert_wait(WaitForMultipleObjectsEx(2, events, FALSE, INFINITE, TRUE), WAIT_OBJECT_0);
    assert_wait(
        WaitForMultipleObjectsEx(2, events, FALSE, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 2);
    assert_true(CloseHandle(events[0]));
    assert_true(CloseHandle(events[1]));
}

/* The same rules for an object with a name, and SignalObjectAndWait. */
static void test_object_with_a_name_comes_before_what_is_queued(void **state)
{
    HANDLE event, both[2];
    char name[64];

    forget(state);
    snprintf(name, sizeof(name), "ndspi-apc-%u", (unsigned)GetCurrentProcessId());
    assert_non_null(event = CreateEventA(NULL, FALSE, TRUE, name));
    both[0] = event;
    assert_non_null(both[1] = CreateEventA(NULL, FALSE, FALSE, NULL));
    queue_self(note, 1);
    assert_wait(WaitForSingleObjectEx(event, INFINITE, TRUE), WAIT_OBJECT_0);
    assert_int_equal(calls.count, 0);
    assert_wait(WaitForSingleObjectEx(event, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    queue_self(note, 2);
    assert_wait(WaitForSingleObjectEx(event, 0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_wait(WaitForSingleObjectEx(event, 0, TRUE), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObjectEx(event, 1, TRUE), WAIT_TIMEOUT);
    assert_int_equal(calls.count, 2);
    queue_self(note, 3);
    assert_true(SetEvent(event));
    assert_wait(WaitForMultipleObjectsEx(2, both, TRUE, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 3);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(both[1]));
    assert_true(CloseHandle(event));
}

static void test_signal_and_wait_is_alertable_if_asked(void **state)
{
    HANDLE signal = CreateEventW(NULL, FALSE, FALSE, NULL);
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

    forget(state);
    queue_self(note, 1);
    assert_wait(SignalObjectAndWait(signal, event, 1, FALSE), WAIT_TIMEOUT);
    assert_int_equal(calls.count, 0);
    assert_wait(WaitForSingleObject(signal, 0), WAIT_OBJECT_0);
    assert_wait(SignalObjectAndWait(signal, event, INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    assert_wait(WaitForSingleObject(signal, 0), WAIT_OBJECT_0);
    queue_self(note, 2);
    assert_true(SetEvent(event));
    assert_wait(SignalObjectAndWait(signal, event, INFINITE, TRUE), WAIT_OBJECT_0);
    assert_int_equal(calls.count, 1);
    assert_int_equal(SleepEx(0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(signal));
}

static void test_wait_at_a_port_ends(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    OVERLAPPED_ENTRY entries[2];
    ULONG taken = 9;
    bool packet_first = DIFFERS(
        true, wine_major() == 8, "whether a packet comes before a queued function: not in Wine 10");

    forget(state);
    queue_self(note, 1);
    assert_fails(GetQueuedCompletionStatusEx(port, entries, 2, &taken, INFINITE, TRUE),
        SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    queue_self(note, 2);
    assert_fails(
        GetQueuedCompletionStatusEx(port, entries, 2, &taken, 0, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 2);
    queue_self(note, 3);
    assert_true(PostQueuedCompletionStatus(port, 11, 12, NULL));
    if (packet_first) {
        assert_true(GetQueuedCompletionStatusEx(port, entries, 2, &taken, INFINITE, TRUE));
        assert_int_equal(calls.count, 2);
        assert_int_equal(SleepEx(0, TRUE), SPEC_WAIT_IO_COMPLETION);
    } else {
        assert_fails(GetQueuedCompletionStatusEx(port, entries, 2, &taken, INFINITE, TRUE),
            SPEC_WAIT_IO_COMPLETION);
        assert_true(GetQueuedCompletionStatusEx(port, entries, 2, &taken, 0, TRUE));
    }
    assert_int_equal(calls.count, 3);
    assert_int_equal(taken, 1);
    assert_int_equal(entries[0].dwNumberOfBytesTransferred, 11);
    assert_true(CloseHandle(port));
}

static void CALLBACK queue_another(ULONG_PTR left)
{
    note(left);
    if (left)
        QueueUserAPC(queue_another, GetCurrentThread(), left - 1);
}

static void test_function_may_queue_another(void **state)
{
    forget(state);
    queue_self(queue_another, 3);
    assert_int_equal(SleepEx(INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 4);
    assert_int_equal(calls.data[3], 0);
    assert_int_equal(SleepEx(0, TRUE), 0);
}

static DWORD inner;

static void CALLBACK sleep_inside(ULONG_PTR data)
{
    note(data);
    inner = SleepEx(INFINITE, TRUE);
}

static void test_function_may_wait_alertably(void **state)
{
    forget(state);
    queue_self(sleep_inside, 1);
    queue_self(note, 2);
    assert_int_equal(SleepEx(INFINITE, TRUE), SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(inner, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 2);
    assert_int_equal(SleepEx(0, TRUE), 0);
}

static DWORD WINAPI count_calls(LPVOID unused)
{
    (void)unused;
    return calls.count;
}

static void test_thread_that_has_not_begun_calls_first(void **state)
{
    HANDLE thread = CreateThread(NULL, 0, count_calls, NULL, CREATE_SUSPENDED, NULL);
    DWORD code;

    forget(state);
    assert_int_equal(QueueUserAPC(note, thread, 1), 1);
    assert_int_equal(QueueUserAPC(note, thread, 2), 1);
    assert_int_equal(ResumeThread(thread), 1);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 2);
    assert_int_equal(calls.thread, GetThreadId(thread));
    SetLastError(0xdead);
    assert_int_equal(QueueUserAPC(note, thread, 3), 0); /* it has ended */
    assert_win_error(SPEC_ERROR_GEN_FAILURE);
    assert_true(CloseHandle(thread));
}

static void test_what_is_no_thread_is_refused(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    forget(state);
    assert_fails(QueueUserAPC(note, NULL, 1), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(QueueUserAPC(note, event, 1), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
#ifndef _WIN32 /* a function that is NULL: Windows calls it, and the program ends */
    assert_fails(QueueUserAPC(NULL, GetCurrentThread(), 1), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

/* Two threads that answer each other by APCs alone: one that wakes no sleeper would stop both for ever. */
enum { ROUNDS = 1000 };

struct player {
    HANDLE thread;
    struct player *other;
    unsigned played;
};

static void CALLBACK play(ULONG_PTR data)
{
    struct player *player = (struct player *)data;

    player->played++;
    QueueUserAPC(play, player->other->thread, (ULONG_PTR)player->other);
}

static DWORD WINAPI player_main(LPVOID argument)
{
    struct player *player = argument;

    while (player->played < ROUNDS)
        if (SleepEx(INFINITE, TRUE) != SPEC_WAIT_IO_COMPLETION)
            return 1;
    return 0;
}

static void test_no_wake_up_is_lost(void **state)
{
    struct player players[2] = { { .other = &players[1] }, { .other = &players[0] } };
    DWORD code;

    forget(state);
    for (int i = 0; i < 2; i++)
        players[i].thread = CreateThread(NULL, 0, player_main, &players[i], CREATE_SUSPENDED, NULL);
    for (int i = 0; i < 2; i++)
        ResumeThread(players[i].thread);
    assert_int_equal(QueueUserAPC(play, players[0].thread, (ULONG_PTR)&players[0]), 1);
    for (int i = 0; i < 2; i++) {
        assert_wait(WaitForSingleObject(players[i].thread, LONG_MS), WAIT_OBJECT_0);
        assert_true(GetExitCodeThread(players[i].thread, &code));
        assert_int_equal(code, 0);
        assert_true(players[i].played >= ROUNDS);
    }
    for (int i = 0; i < 2; i++)
        assert_true(CloseHandle(players[i].thread));
}

/* One thread waits alertably. Others give it units of a semaphore, packets and APCs: it gets each exactly once. */
enum { GIFTS = 1000 };

struct table {
    HANDLE semaphore, port, taker;
    unsigned by_apc;
};

static void CALLBACK gift(ULONG_PTR data)
{
    ((struct table *)data)->by_apc++;
}

static DWORD WINAPI take_units(LPVOID argument)
{
    struct table *table = argument;
    unsigned units = 0;

    while (units < GIFTS || table->by_apc < GIFTS) {
        DWORD result = WaitForSingleObjectEx(table->semaphore, INFINITE, TRUE);
        units += result == WAIT_OBJECT_0;
        if (result != WAIT_OBJECT_0 && result != SPEC_WAIT_IO_COMPLETION)
            return 1;
    }
    return WaitForSingleObject(table->semaphore, 0) == WAIT_TIMEOUT ? 0 : 2;
}

static DWORD WINAPI take_packets(LPVOID argument)
{
    struct table *table = argument;
    unsigned packets = 0;

    while (packets < GIFTS || table->by_apc < GIFTS) {
        OVERLAPPED_ENTRY entry;
        ULONG taken;

        if (GetQueuedCompletionStatusEx(table->port, &entry, 1, &taken, INFINITE, TRUE))
            packets += taken == 1 && entry.lpCompletionKey == 1;
        else if (GetLastError() != SPEC_WAIT_IO_COMPLETION)
            return 1;
    }
    return 0;
}

static DWORD WINAPI give(LPVOID argument)
{
    struct table *table = argument;

    for (int i = 0; i < GIFTS; i++)
        if (table->port ? !PostQueuedCompletionStatus(table->port, 0, 1, NULL)
                        : !ReleaseSemaphore(table->semaphore, 1, NULL))
            return 1;
    return 0;
}

static void everything_arrives(struct table *table, LPTHREAD_START_ROUTINE take)
{
    HANDLE giver = CreateThread(NULL, 0, give, table, CREATE_SUSPENDED, NULL);
    DWORD code;

    table->taker = CreateThread(NULL, 0, take, table, 0, NULL);
    ResumeThread(giver);
    for (int i = 0; i < GIFTS; i++)
        assert_int_equal(QueueUserAPC(gift, table->taker, (ULONG_PTR)table), 1);
    assert_wait(WaitForSingleObject(table->taker, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(table->taker, &code));
    assert_int_equal(code, 0);
    assert_int_equal(table->by_apc, GIFTS);
    assert_wait(WaitForSingleObject(giver, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(giver, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(giver));
    assert_true(CloseHandle(table->taker));
}

static void test_signals_and_calls_all_arrive(void **state)
{
    struct table table = { .semaphore = CreateSemaphoreW(NULL, 0, GIFTS, NULL) };

    forget(state);
    everything_arrives(&table, take_units);
    assert_true(CloseHandle(table.semaphore));
}

static void test_packets_and_calls_all_arrive(void **state)
{
    struct table table = { .port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0) };

    forget(state);
    everything_arrives(&table, take_packets);
    assert_true(CloseHandle(table.port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alertable_sleep_calls_in_order),
        cmocka_unit_test(test_wait_that_is_not_alertable_calls_nothing),
        cmocka_unit_test(test_object_comes_before_what_is_queued),
        cmocka_unit_test(test_wait_for_several_ends),
        cmocka_unit_test(test_object_with_a_name_comes_before_what_is_queued),
        cmocka_unit_test(test_signal_and_wait_is_alertable_if_asked),
        cmocka_unit_test(test_wait_at_a_port_ends),
        cmocka_unit_test(test_function_may_queue_another),
        cmocka_unit_test(test_function_may_wait_alertably),
        cmocka_unit_test(test_thread_that_has_not_begun_calls_first),
        cmocka_unit_test(test_what_is_no_thread_is_refused),
        cmocka_unit_test(test_no_wake_up_is_lost),
        cmocka_unit_test(test_signals_and_calls_all_arrive),
        cmocka_unit_test(test_packets_and_calls_all_arrive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
