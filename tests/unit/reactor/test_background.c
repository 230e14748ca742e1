/* SPDX-License-Identifier: MIT */
/*
 * test_background.c - the background thread: what it serves, what it leaves to others, how it sleeps, how it is woken.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

static void test_background_serves_when_nobody_else_does(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 1; i <= 50; i++) {
        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        probe_fire(&probe);
        probe_await(&probe);
        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        reactor_run(&probe.source);
        probe_await(&probe);
        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        reactor_deadline(&probe.source, clock_now_ns() + 100000); /* it sleeps without a limit */
        probe_await(&probe);
        assert_int_equal(probe.ready, i);
        assert_int_equal(probe.run, i);
        assert_int_equal(probe.expired, i);
        assert_int_equal(probe.how, REACTOR_BACKGROUND);
    }
    probe_remove(&probe);
}

static _Atomic uint64_t called_ns;

static void note_time(struct probe *probe)
{
    (void)probe;
    atomic_store(&called_ns, clock_now_ns());
}

/* A thread has polled since the background thread went to sleep: that waits for a tick whether it polls again. */
static void test_background_leaves_a_descriptor_to_who_has_polled(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    probe.then = note_time;
    for (int i = 1; i <= 20; i++) {
        uint64_t begin_ns;

        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        begin_ns = clock_now_ns();
        reactor_active();
        probe_fire(&probe);
        probe_await(&probe);
        assert_true(atomic_load(&called_ns) - begin_ns >= 400000);
        assert_int_equal(probe.ready, i);
    }
    probe_remove(&probe);
}

static void *poll_until(void *argument)
{
    atomic_bool *over = argument;

    while (!atomic_load(over))
        reactor_active();
    return NULL;
}

/*
 * A thread polls, but not these sources: requests and deadlines are served at once, a descriptor after it has been
 * ready for a tick.
 */
static void test_background_serves_what_a_thread_that_polls_does_not(void **state)
{
    atomic_bool over = false;
    struct probe probe;
    pthread_t poller;

    (void)state;
    probe_add(&probe);
    assert_int_equal(pthread_create(&poller, NULL, poll_until, &over), 0);
    for (int i = 1; i <= 20; i++) {
        reactor_run(&probe.source);
        probe_await(&probe);
        reactor_deadline(&probe.source, clock_now_ns());
        probe_await(&probe);
        probe_fire(&probe);
        probe_await(&probe);
        assert_int_equal(probe.run, i);
        assert_int_equal(probe.expired, i);
        assert_int_equal(probe.ready, i);
    }
    atomic_store(&over, true);
    pthread_join(poller, NULL);
    probe_remove(&probe);
}

/* A thread that waits drives, whatever the background thread did before; the latter is parked in the end. */
static void test_background_parks_while_a_thread_waits(void **state)
{
    struct sleeper sleeper;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 0; i < 10; i++) {
        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        sleeper_start(&sleeper);
        assert_true(driver_sleeps());
        assert_true(SETTLES(background_state() == BACKGROUND_PARKED));
        for (int k = 0; k < 10; k++) {
            probe_fire(&probe);
            probe_await(&probe);
            assert_int_equal(probe.how, REACTOR_WAITING);
            assert_true(SETTLES(driver_sleeps()));
            assert_int_equal(background_state(), BACKGROUND_PARKED);
        }
        /* Its wait ends, and no other thread waits: the background thread has to be woken. */
        atomic_store(&sleeper.done, true);
        reactor_signal(sleeper.waiter);
        pthread_join(sleeper.thread, NULL);
        probe_fire(&probe);
        probe_await(&probe);
        assert_int_equal(probe.how, REACTOR_BACKGROUND);
    }
    probe_remove(&probe);
}

/* With a follower to take over, the background thread stays parked. */
static void test_background_stays_parked_when_a_follower_takes_over(void **state)
{
    struct sleeper first, second;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    sleeper_start(&first);
    sleeper_start(&second);
    assert_true(SETTLES(background_state() == BACKGROUND_PARKED));
    sleeper_end(&first);
    assert_true(SETTLES(driver_sleeps()));
    assert_int_equal(background_state(), BACKGROUND_PARKED);
    sleeper_end(&second);
    assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
    probe_remove(&probe);
}

#if CANCELS
static void test_canceled_driver_wakes_a_parked_background(void **state)
{
    struct sleeper sleeper;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    sleeper_begin(&sleeper, REACTOR_NEVER, PTHREAD_CANCEL_ENABLE, false);
    assert_true(SETTLES(background_state() == BACKGROUND_PARKED));
    pthread_cancel(sleeper.thread);
    pthread_join(sleeper.thread, NULL);
    probe_fire(&probe);
    probe_await(&probe);
    assert_int_equal(probe.how, REACTOR_BACKGROUND);
    probe_remove(&probe);
}

#endif

/*
 * A deadline that came while a thread drove is the background thread's when that thread is gone, also if it had not
 * moved.
 */
static void test_background_takes_over_a_deadline(void **state)
{
    struct sleeper sleeper;
    struct probe probe;

    (void)state;
    probe_add(&probe);
    for (int i = 1; i <= 10; i++) {
        assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS));
        sleeper_start(&sleeper);
        reactor_deadline(&probe.source, clock_now_ns() + 20000000);
        sleeper_end(&sleeper);
        probe_await(&probe);
        assert_int_equal(probe.expired, i);
    }
    probe_remove(&probe);
}

/* A thread comes to wait while the background thread is in a callback: it drives when that is over. */
static void test_background_hands_over(void **state)
{
    struct held held;
    struct sleeper sleeper;
    struct probe probe;

    (void)state;
    sem_init(&held.inside, 0, 0);
    sem_init(&held.go_on, 0, 0);
    probe_add(&probe);
    probe.then = hold;
    probe.context = &held;
    probe_fire(&probe);
    while (sem_wait(&held.inside))
        ;
    assert_int_equal(probe.how, REACTOR_BACKGROUND);
    sleeper_start(&sleeper);
    assert_int_equal(followers(), 1);
    sem_post(&held.go_on);
    assert_true(SETTLES(driver_sleeps()));
    probe_await(&probe);
    sleeper_end(&sleeper);
    probe.then = NULL;
    probe_remove(&probe);
    sem_destroy(&held.inside);
    sem_destroy(&held.go_on);
}

/* How often the background thread has slept, of all threads: a sanitizer has one, too. */
static unsigned long long switches(void)
{
    unsigned long long count = 0;
    glob_t tasks;

    assert_int_equal(glob("/proc/self/task/*/status", 0, NULL, &tasks), 0);
    for (size_t i = 0; i < tasks.gl_pathc; i++) {
        FILE *status = fopen(tasks.gl_pathv[i], "r");
        bool background = false;
        char line[128];

        while (status && fgets(line, sizeof(line), status)) {
            background |= strcmp(line, "Name:\tndspi\n") == 0;
            if (background)
                sscanf(line, "voluntary_ctxt_switches: %llu", &count);
        }
        if (status)
            fclose(status);
    }
    globfree(&tasks);
    return count;
}

/* Attending or parked, it does not wake by itself. */
static void test_background_sleeps_when_nothing_happens(void **state)
{
    struct probe probe;
    unsigned long long before;

    (void)state;
    probe_add(&probe);
    assert_true(SETTLES(background_state() == BACKGROUND_ATTENDS && switches() > 0));
    before = switches();
    assert_int_equal(
        reactor_wait(reactor_waiter_self(), clock_now_ns() + 100000000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT); /* longer than 100 ticks */
    /* It is sent away, ticks, and is parked. An emulator of the processor sleeps in its thread, too. */
    assert_in_range(switches() - before, 0, 50);
    probe_remove(&probe);
}

static void test_thread_cannot_be_lent_any_more(void **state)
{
    (void)state;
    assert_int_equal(reactor_lend(), -EBUSY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_background_sleeps_when_nothing_happens),
        cmocka_unit_test(test_background_serves_when_nobody_else_does),
        cmocka_unit_test(test_background_leaves_a_descriptor_to_who_has_polled),
        cmocka_unit_test(test_background_serves_what_a_thread_that_polls_does_not),
        cmocka_unit_test(test_background_parks_while_a_thread_waits),
        cmocka_unit_test(test_background_stays_parked_when_a_follower_takes_over),
#if CANCELS
        cmocka_unit_test(test_canceled_driver_wakes_a_parked_background),
#endif
        cmocka_unit_test(test_background_takes_over_a_deadline),
        cmocka_unit_test(test_background_hands_over),
        cmocka_unit_test(test_thread_cannot_be_lent_any_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
