/* SPDX-License-Identifier: MIT */
/*
 * test_before.c - what a thread finds when it looks before a wait (reactor_before_wait): the wait runs it, without
 * another thread and without a system call; and when the look has to end. The background thread is lent and never
 * serves.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>
#include <poll.h>

enum { RUNS_WITHOUT_A_LOOK = 15 };

/* What the function does in the waits of this thread. */
static _Thread_local void (*look)(struct reactor_waiter *waiter);
static struct probe *found;

static void before(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    (void)deadline_ns;
    if (look)
        look(waiter);
}

static void find(struct reactor_waiter *waiter)
{
    assert_false(reactor_is_wanted(waiter));
    reactor_run(&found->source);
    assert_true(reactor_is_wanted(waiter));
    assert_false(reactor_is_signalled(waiter));
}

static bool background_was_woken(void)
{
    struct pollfd fd = { .fd = reactor.background_fd, .events = POLLIN };

    return poll(&fd, 1, 0) > 0;
}

static void end_wait(struct probe *probe)
{
    assert_false(background_was_woken());
    reactor_signal(probe->context);
}

static void probe_add_for_waits(struct probe *probe)
{
    probe_add(probe);
    probe->then = end_wait;
    probe->context = reactor_waiter_self();
    found = probe;
    look = find;
}

static void test_what_a_look_finds_wakes_no_other_thread(void **state)
{
    struct probe probe;

    (void)state;
    probe_add_for_waits(&probe);
    lock_acquire(&reactor.lock);
    reactor.background = BACKGROUND_PARKED;
    lock_release(&reactor.lock);
    assert_false(background_was_woken());
    assert_int_equal(reactor_wait(probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    assert_int_equal(probe.run, 1);
    assert_int_equal(probe.how, REACTOR_WAITING);
    lock_acquire(&reactor.lock);
    reactor.background = BACKGROUND_AWAKE;
    lock_release(&reactor.lock);
    if (background_was_woken()) /* by the end of the wait: nobody drives then */
        reactor_drain(reactor.background_fd);
    look = NULL;
    probe_remove(&probe);
}

/* A descriptor that is ready waits for some such waits, and no longer. */
static void test_what_a_look_finds_is_run_without_a_look_at_the_set(void **state)
{
    struct probe probe, other;

    (void)state;
    probe_add(&other);
    probe_add_for_waits(&probe);
    probe.context = reactor_waiter_self();
    reactor_waiter_self()->runs = 0;
    probe_fire(&other);
    for (int i = 1; i <= RUNS_WITHOUT_A_LOOK; i++) {
        assert_int_equal(reactor_wait(probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
        assert_int_equal(probe.run, i);
        assert_int_equal(other.ready, 0);
    }
    assert_int_equal(reactor_wait(probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    assert_int_equal(other.ready, 1);
    look = NULL;
    probe_remove(&other);
    probe_remove(&probe);
}

static struct sleeper follower;

static void look_until_another_waits(struct reactor_waiter *waiter)
{
    assert_false(reactor_is_wanted(waiter));
    sleeper_start(&follower);
    assert_true(reactor_is_wanted(waiter));
    sleeper_end(&follower);
    assert_false(reactor_is_wanted(waiter));
    reactor_signal(waiter);
}

static void test_look_ends_where_another_thread_waits_for_this_one(void **state)
{
    struct probe probe;

    (void)state;
    probe_add(&probe);
    look = look_until_another_waits;
    assert_int_equal(reactor_wait(reactor_waiter_self(), REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
    look = NULL;
    probe_remove(&probe);
}

/* A thread that is about to sleep where the reactor does not see it. */
static void test_look_before_a_sleep_elsewhere(void **state)
{
    struct reactor_waiter *me = reactor_waiter_self();
    struct probe probe;

    (void)state;
    probe_add_for_waits(&probe);
    assert_true(reactor_wait_awake(me));
    assert_int_equal(probe.run, 1);
    assert_int_equal(probe.how, REACTOR_WAITING);
    assert_false(reactor_is_signalled(me)); /* it was taken */
    if (background_was_woken())
        reactor_drain(reactor.background_fd);
    look = NULL;
    assert_false(reactor_wait_awake(me)); /* and this does not sleep */
    probe_remove(&probe);
}

static void test_no_look_before_a_sleep_elsewhere_while_another_thread_drives(void **state)
{
    struct sleeper driver;
    struct probe probe;

    (void)state;
    probe_add_for_waits(&probe);
    sleeper_start(&driver);
    assert_false(reactor_wait_awake(reactor_waiter_self()));
    assert_int_equal(probe.run, 0);
    sleeper_end(&driver);
    look = NULL;
    probe_remove(&probe);
}

static unsigned exits;

static void count_exit(void)
{
    exits++;
}

static void test_process_that_ends_at_once_calls_what_is_to_be_done_before(void **state)
{
    (void)state;
    reactor_exits();
    reactor_before_exit(count_exit);
    reactor_exits();
    assert_int_equal(exits, 1);
    reactor_before_exit(NULL);
    reactor_exits();
    assert_int_equal(exits, 1);
}

static int set_up(void **state)
{
    (void)state;
    reactor_before_wait(before);
    return reactor_lend();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_look_finds_wakes_no_other_thread),
        cmocka_unit_test(test_what_a_look_finds_is_run_without_a_look_at_the_set),
        cmocka_unit_test(test_look_ends_where_another_thread_waits_for_this_one),
        cmocka_unit_test(test_look_before_a_sleep_elsewhere),
        cmocka_unit_test(test_no_look_before_a_sleep_elsewhere_while_another_thread_drives),
        cmocka_unit_test(test_process_that_ends_at_once_calls_what_is_to_be_done_before),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
