/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "tests/support/asleep.h"
#include "util/lock.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct lock counter_lock;
static unsigned counter;

static void *count(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        lock_acquire(&counter_lock);
        counter++;
        lock_release(&counter_lock);
    }
    return NULL;
}

static void test_lock_excludes_under_contention(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    lock_init(&counter_lock, LOCK_CQ, "counter");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counter, THREADS * ROUNDS);
}

static atomic_int sleeper;

static void *take_once(void *arg)
{
    atomic_store(&sleeper, thread_number());
    lock_acquire(arg);
    lock_release(arg);
    return NULL;
}

static void test_lock_release_wakes_who_sleeps(void **state)
{
    struct timespec end;
    struct lock lock;
    pthread_t thread;

    (void)state;
    lock_init(&lock, LOCK_CQ, "lock");
    for (int i = 0; i < 3; i++) {
        atomic_store(&sleeper, 0);
        lock_acquire(&lock);
        assert_int_equal(pthread_create(&thread, NULL, take_once, &lock), 0);
        assert_true(SETTLES(atomic_load(&sleeper) && thread_is_asleep(atomic_load(&sleeper))));
        lock_release(&lock);
        assert_int_equal(clock_gettime(CLOCK_REALTIME, &end), 0);
        end.tv_sec += 20;
        assert_int_equal(pthread_timedjoin_np(thread, NULL, &end), 0);
    }
}

static void test_lock_try_fails_on_a_taken_lock(void **state)
{
    struct lock lock;

    (void)state;
    lock_init(&lock, LOCK_CQ, "lock");
    assert_true(lock_try(&lock));
    assert_false(lock_try(&lock));
    lock_release(&lock);
    assert_true(lock_try(&lock));
    lock_release(&lock);
}

#ifndef NDEBUG

/* Runs a scenario in a child that has to die of SIGABRT. */
static void expect_abort(void (*scenario)(void))
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit no_core = { 0, 0 };
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        scenario();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void take_downwards(void)
{
    struct lock low, high;

    lock_init(&low, LOCK_ADAPTER, "low");
    lock_init(&high, LOCK_CQ, "high");
    lock_acquire(&high);
    lock_acquire(&low);
}

static void take_twice(void)
{
    struct lock lock;

    lock_init(&lock, LOCK_CQ, "lock");
    lock_acquire(&lock);
    lock_acquire(&lock);
}

static void assert_without_holding(void)
{
    struct lock lock;

    lock_init(&lock, LOCK_CQ, "lock");
    lock_assert_held(&lock);
}

static void test_lock_debug_build_aborts_on_misuse(void **state)
{
    (void)state;
    expect_abort(take_downwards);
    expect_abort(take_twice);
    expect_abort(assert_without_holding);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_excludes_under_contention),
        cmocka_unit_test(test_lock_release_wakes_who_sleeps),
        cmocka_unit_test(test_lock_try_fails_on_a_taken_lock),
#ifndef NDEBUG
        cmocka_unit_test(test_lock_debug_build_aborts_on_misuse),
#endif
    };

    return cmocka_run_group_tests_name("util.lock", tests, NULL, NULL);
}
