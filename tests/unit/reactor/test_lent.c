/* SPDX-License-Identifier: MIT */
/* test_lent.c - a background thread that is lent: it has a turn of its own after each of the reactor's. */
#include "tests/unit/reactor/probe.h"

static pthread_t lent;
static struct probe *served;
static atomic_int seen; /* callbacks of served, at the last turn */

static int callbacks(struct probe *probe)
{
    return atomic_load(&probe->ready) + atomic_load(&probe->run) + atomic_load(&probe->expired);
}

static void turn_ended(void)
{
    assert_false(reactor_in_turn());
    if (served)
        atomic_store(&seen, callbacks(served));
}

static void *serve(void *unused)
{
    (void)unused;
    reactor_serve(turn_ended);
    return NULL;
}

static void check_thread(struct probe *probe)
{
    (void)probe;
    assert_true(pthread_equal(pthread_self(), lent));
}

/* What came before the thread did is not lost. */
static void test_lent_thread_serves_and_has_its_turn(void **state)
{
    static struct probe probe;

    (void)state;
    probe_add(&probe);
    probe.then = check_thread;
    served = &probe;
    reactor_run(&probe.source);
    assert_int_equal(pthread_create(&lent, NULL, serve, NULL), 0);
    for (int i = 1; i <= 100; i++) {
        probe_await(&probe);
        assert_true(SETTLES(atomic_load(&seen) == i));
        if (i % 3 == 0)
            reactor_run(&probe.source);
        else if (i % 3 == 1)
            probe_fire(&probe);
        else
            reactor_deadline(&probe.source, clock_now_ns() + 1000);
    }
    probe_await(&probe);
    assert_int_equal(callbacks(&probe), 101);
    probe_remove(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lent_thread_serves_and_has_its_turn),
    };
    if (reactor_is_lent())
        return 1;
    return reactor_lend() || !reactor_is_lent() || cmocka_run_group_tests(tests, NULL, NULL);
}
