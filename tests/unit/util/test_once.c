/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "tests/support/asleep.h"
#include "util/once.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 8, PATIENCE_S = 60 };

/* What the tests' preparation does, and has done. */
static struct {
    sem_t begun, go_on;
    atomic_int calls;
    int fails; /* so many calls fail first */
    bool waits;
    atomic_int threads, number[THREADS]; /* those that run */
} work;

static void wait_for(sem_t *sem)
{
    struct timespec deadline;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += PATIENCE_S;
    while (sem_timedwait(sem, &deadline))
        if (errno != EINTR)
            abort();
}

static int prepare(void)
{
    int call = atomic_fetch_add(&work.calls, 1) + 1;

    if (work.waits) {
        sem_post(&work.begun);
        wait_for(&work.go_on);
    }
    return call <= work.fails ? ENOMEM : 0;
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&work.calls, 0);
    atomic_store(&work.threads, 0);
    for (int i = 0; i < THREADS; i++)
        atomic_store(&work.number[i], 0);
    work.fails = 0;
    work.waits = false;
    return sem_init(&work.begun, 0, 0) || sem_init(&work.go_on, 0, 0);
}

static void *run(void *once)
{
    atomic_store(&work.number[atomic_fetch_add(&work.threads, 1)], thread_number());
    return (void *)(intptr_t)once_run(once, prepare);
}

static void join_well(pthread_t thread)
{
    void *error;

    assert_int_equal(pthread_join(thread, &error), 0);
    assert_null(error);
}

static void test_failure_is_returned_and_the_next_call_tries_again(void **state)
{
    struct once once = ONCE_INIT;

    (void)state;
    work.fails = 2;
    assert_int_equal(once_run(&once, prepare), ENOMEM);
    assert_false(once_done(&once));
    assert_int_equal(once_run(&once, prepare), ENOMEM);
    assert_int_equal(once_run(&once, prepare), 0);
    assert_true(once_done(&once));
    assert_int_equal(once_run(&once, prepare), 0);
    assert_int_equal(work.calls, 3);
}

static void test_other_threads_wait_for_the_first(void **state)
{
    struct once once = ONCE_INIT;
    pthread_t threads[THREADS];

    (void)state;
    work.waits = true;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &once), 0);
    wait_for(&work.begun);
    assert_false(once_done(&once));
    sem_post(&work.go_on);
    for (int i = 0; i < THREADS; i++)
        join_well(threads[i]);
    assert_int_equal(work.calls, 1);
}

static bool all_sleep(void)
{
    for (int i = 0; i < THREADS; i++)
        if (!atomic_load(&work.number[i]) || !thread_is_asleep(work.number[i]))
            return false;
    return true;
}

/* The first fails while the others sleep: one of them has to try, or they would sleep for ever. */
static void test_those_that_waited_try_after_a_failure(void **state)
{
    struct once once = ONCE_INIT;
    pthread_t threads[THREADS];
    int failed = 0;

    (void)state;
    work.waits = true;
    work.fails = 1;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, &once), 0);
    assert_true(SETTLES(all_sleep()));
    sem_post(&work.go_on);
    sem_post(&work.go_on);
    for (int i = 0; i < THREADS; i++) {
        void *error;

        assert_int_equal(pthread_join(threads[i], &error), 0);
        failed += error == (void *)(intptr_t)ENOMEM;
    }
    assert_int_equal(failed, 1);
    assert_int_equal(work.calls, 2);
    assert_true(once_done(&once));
}

/* The thread that prepares is not in the child: the child does it itself, and the parent's goes on. */
static void test_child_of_a_fork_does_not_wait_for_a_thread_of_its_parent(void **state)
{
    struct once once = ONCE_INIT;
    pthread_t thread;
    pid_t child;
    int status;

    (void)state;
    work.waits = true;
    assert_int_equal(pthread_create(&thread, NULL, run, &once), 0);
    wait_for(&work.begun);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(PATIENCE_S); /* ends a child that waits */
        work.waits = false;
        _exit(once_run(&once, prepare) || !once_done(&once) || work.calls != 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(once_done(&once));
    sem_post(&work.go_on);
    join_well(thread);
    assert_true(once_done(&once));
    assert_int_equal(work.calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_failure_is_returned_and_the_next_call_tries_again, setup),
        cmocka_unit_test_setup(test_other_threads_wait_for_the_first, setup),
        cmocka_unit_test_setup(test_those_that_waited_try_after_a_failure, setup),
        cmocka_unit_test_setup(
            test_child_of_a_fork_does_not_wait_for_a_thread_of_its_parent, setup),
    };
    return cmocka_run_group_tests_name("once", tests, NULL, NULL);
}
