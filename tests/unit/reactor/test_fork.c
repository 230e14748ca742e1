/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - the child of a fork has a reactor of its own, empty; the parent's threads and sources stay the
 * parent's.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>
#include <sys/wait.h>

/* In the child: ends it with a status that names the line. */
#define child_assert(e)                                                                            \
    do {                                                                                           \
        if (!(e))                                                                                  \
            _exit(__LINE__ % 250 + 1);                                                             \
    } while (0)

static void signal_context(struct probe *probe)
{
    reactor_signal(probe->context);
}

static void child_uses_its_own(struct probe *parents)
{
    struct probe probe;

    alarm(60);
    /* The parent's is none here. */
    reactor_run(&parents->source);
    reactor_deadline(&parents->source, 1);
    child_assert(!reactor_update(&parents->source, 0));
    reactor_look();
    child_assert(!parents->run && !parents->expired);
    reactor_remove_sync(&parents->source);
    /* No thread drives. */
    probe_add(&probe);
    probe.then = signal_context;
    probe.context = reactor_waiter_self();
    probe_fire(&probe);
    child_assert(!reactor_wait(probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE));
    child_assert(probe.ready == 1);
    probe.then = NULL;
    probe_fire(&probe);
    sem_wait(&probe.ended); /* of the first */
    probe_await(&probe);    /* its own background thread's */
    child_assert(probe.how == REACTOR_BACKGROUND);
    reactor_remove_sync(&probe.source);
    _exit(0);
}

static void test_child_starts_empty(void **state)
{
    struct sleeper driver, follower;
    struct probe probe;
    int status;

    (void)state;
    assert_non_null(reactor_waiter_self());
    probe_add(&probe);
    sleeper_start(&driver);
    sleeper_start(&follower);
    for (int i = 0; i < 20; i++) {
        pid_t child;

        if (i == 10)
            assert_true(SETTLES(background_state() == BACKGROUND_PARKED));
        probe_fire(&probe); /* so that threads are in the middle of something */
        if (!(child = fork()))
            child_uses_its_own(&probe);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_true(SETTLES(driver_sleeps()));
    probe_fire(&probe);
    assert_true(SETTLES(atomic_load(&probe.ready) > 0));
    sleeper_end(&driver);
    sleeper_end(&follower);
    probe_remove(&probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_child_starts_empty) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
