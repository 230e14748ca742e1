/* SPDX-License-Identifier: MIT */
/* test_fork.c - the table of what is done around a fork: its order, and what the child finds. */
#include "cmocka_test.h"

#include "util/fork.h"
#include "util/lock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What was called, in its order. */
static char calls[16];

static void note(char call)
{
    size_t n = strlen(calls);

    if (n + 1 < sizeof(calls))
        calls[n] = call;
}

static struct lock low_lock = LOCK_INIT(LOCK_QP, "low"), high_lock = LOCK_INIT(LOCK_CQ, "high");

static void low_prepare(void)
{
    note('l');
}

static void high_prepare(void)
{
    note('h');
}

static void low_ended(void)
{
    lock_assert_held(&low_lock);
    note('L');
}

static void high_ended(void)
{
    lock_assert_held(&high_lock);
    note('H');
}

static void high_child(void)
{
    lock_assert_held(&high_lock);
    lock_assert_held(&low_lock);
    note('C');
}

static void child_first(void)
{
    note('f');
}

/* Not in the order of their places. */
FORK_ROW(.place = LOCK_CQ, .lock = &high_lock, .prepare = high_prepare, .parent = high_ended,
    .child = high_child);
FORK_CHILD(child_first);
FORK_ROW(.place = LOCK_QP, .lock = &low_lock, .prepare = low_prepare, .parent = low_ended);

static void test_rows_prepare_upwards_and_end_downwards(void **state)
{
    int status;
    pid_t child;

    (void)state;
    memset(calls, 0, sizeof(calls));
    child = fork();
    assert_true(child >= 0);
    if (!child)
        _exit(strcmp(calls, "lhfCL") != 0 || !lock_try(&low_lock) || !lock_try(&high_lock));
    assert_string_equal(calls, "lhHL");
    assert_true(lock_try(&low_lock));
    assert_true(lock_try(&high_lock));
    lock_release(&high_lock);
    lock_release(&low_lock);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Its place is among those that are held already when it is taken. */
static struct lock forked_lock = LOCK_INIT(LOCK_PROVIDER, "lock of a program that forks");
static atomic_bool stop;

FORK_HOLDS(&forked_lock, LOCK_CQ);

static void *hold_nearly_always(void *unused)
{
    while (!atomic_load(&stop)) {
        lock_acquire(&forked_lock);
        sched_yield();
        lock_release(&forked_lock);
    }
    return unused;
}

static void test_lock_held_over_a_fork_is_free_in_the_child(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, hold_nearly_always, NULL), 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (!child)
            _exit(!lock_try(&forked_lock));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    atomic_store(&stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_prepare_upwards_and_end_downwards),
        cmocka_unit_test(test_lock_held_over_a_fork_is_free_in_the_child),
    };

    return cmocka_run_group_tests_name("util.fork", tests, NULL, NULL);
}
