/* SPDX-License-Identifier: MIT */
/*
 * test_cost.c - what a wait costs one thread that loops {wait; work}: one epoll_wait when it has to sleep, nothing when
 * it has not (count_calls.h). There is no background thread: sending that away, or waking it, is a call in some ticks.
 */
#include "tests/unit/winobj/fake_source.h"

#include "tests/support/asleep.h"
#include "tests/support/count_calls.h"
#include "util/clock.h"

#include <pthread.h>
#include <stdio.h>

static void complete_here(struct fake_source *fake, unsigned long count)
{
    (void)count;
    SetEvent(fake->context);
}

static void post_here(struct fake_source *fake, unsigned long count)
{
    (void)count;
    PostQueuedCompletionStatus(fake->context, 0, 1, NULL);
}

/* Fires only once the thread that waits sleeps. */
struct peer {
    struct fake_source *fake;
    long rounds;
    int sleeper;
};

static void *fire_at_sleepers(void *argument)
{
    struct peer *peer = argument;

    for (long i = 0; i < peer->rounds; i++) {
        while (!thread_is_asleep(peer->sleeper))
            sched_yield();
        fake_source_fire(peer->fake, 1);
        if (!fake_source_reached(peer->fake, i + 1))
            return peer;
    }
    return NULL;
}

enum { ROUNDS = 2000 };

static void wait_rounds(struct fake_source *fake, bool port)
{
    struct peer peer = { fake, ROUNDS, thread_number() };
    pthread_t thread;
    void *failed;
    uint64_t begin;

    fake_source_add(fake);
    assert_wait(WaitForSingleObject(fake->context, 0),
        port ? WAIT_FAILED : WAIT_TIMEOUT); /* this thread's memory is made */
    assert_int_equal(pthread_create(&thread, NULL, fire_at_sleepers, &peer), 0);
    memset(&calls, 0, sizeof(calls));
    begin = clock_now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        OVERLAPPED *overlapped;
        ULONG_PTR key;
        DWORD bytes;

        if (port)
            assert_true(
                GetQueuedCompletionStatus(fake->context, &bytes, &key, &overlapped, INFINITE));
        else
            assert_wait(WaitForSingleObject(fake->context, INFINITE), WAIT_OBJECT_0);
    }
    print_message("%s: %.1f us a round, %u epoll, %u read, %u write, %u other\n",
        port ? "port" : "event", (double)(clock_now_ns() - begin) / ROUNDS / 1000, calls.epolls,
        calls.reads, calls.writes, calls.others);
    assert_int_equal(calls.epolls, ROUNDS);
    assert_int_equal(calls.writes, 0);
    assert_int_equal(calls.reads, 0);
    assert_int_equal(calls.others, ROUNDS); /* a futex call of the test's own: it wakes the peer */
    pthread_join(thread, &failed);
    assert_null(failed);
    fake_source_remove(fake);
    assert_true(CloseHandle(fake->context));
}

static void test_wait_that_sleeps_costs_one_system_call(void **state)
{
    struct fake_source fake = { .taken = complete_here,
        .context = CreateEventW(NULL, FALSE, FALSE, NULL) };

    (void)state;
    wait_rounds(&fake, false);
}

static void test_port_wait_that_sleeps_costs_one_system_call(void **state)
{
    struct fake_source fake = { .taken = post_here,
        .context = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0) };

    (void)state;
    wait_rounds(&fake, true);
}

static void test_wait_that_need_not_sleep_costs_none(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL),
           port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct fake_source fake = { 0 };
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    fake_source_add(&fake);
    memset(&calls, 0, sizeof(calls));
    for (int i = 0; i < 1000; i++) {
        assert_true(SetEvent(event));
        assert_wait(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
        assert_true(PostQueuedCompletionStatus(port, 0, 0, NULL));
        assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, INFINITE));
    }
    assert_int_equal(calls.epolls + calls.reads + calls.writes + calls.others, 0);
    fake_source_remove(&fake);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_that_sleeps_costs_one_system_call),
        cmocka_unit_test(test_port_wait_that_sleeps_costs_one_system_call),
        cmocka_unit_test(test_wait_that_need_not_sleep_costs_none),
    };
    return cmocka_run_group_tests(tests, fake_source_alone, NULL);
}
