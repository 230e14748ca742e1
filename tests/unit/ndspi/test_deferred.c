/* SPDX-License-Identifier: MIT */
#include "tests/support/forks.h"
#include "tests/support/no_threads.h"
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/deferred.h"
#include "reactor/reactor.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
    struct nd_deferred job;
    int number;
    pthread_t caller;
};

static int order[8], ran;
static sem_t go;

static void note(struct nd_deferred *deferred)
{
    struct job *job = (struct job *)deferred;

    assert_false(pthread_equal(job->caller, pthread_self()));
    order[ran++] = job->number;
}

static void wait_to_go(struct nd_deferred *deferred)
{
    sem_wait(&go);
    note(deferred);
}

static unsigned threads(void)
{
    DIR *dir = opendir("/proc/self/task");
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void tell(struct nd_deferred *deferred)
{
    (void)deferred;
    sem_post(&go);
}

static struct nd_deferred lonely = { .run = tell };

static void defer_lonely(void)
{
    nd_defer(&lonely);
}

/* First: no thread has been started yet, and nobody defers more. The reactor has its thread, as with an adapter. */
static void test_deferred_thread_that_cannot_start_is_tried_again(void **state)
{
    static const struct reactor_source_ops none;
    static struct reactor_source source;
    struct timespec end;

    (void)state;
    sem_init(&go, 0, 0);
    reactor_source_init(&source, &none, -1);
    assert_int_equal(reactor_add(&source, 0), 0);
    if (!without_threads(defer_lonely))
        skip();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    assert_int_equal(sem_timedwait(&go, &end), 0);
}

static void test_deferred_runs_jobs_in_order_on_another_thread(void **state)
{
    struct job jobs[4];

    (void)state;
    sem_init(&go, 0, 0);
    ran = 0;
    for (int i = 0; i < 4; i++) {
        jobs[i] =
            (struct job){ .job.run = i ? note : wait_to_go, .number = i, .caller = pthread_self() };
        nd_defer(&jobs[i].job);
    }
    sem_post(&go); /* until now the first one blocked, and no nd_defer did */
    nd_deferred_drain();
    assert_int_equal(ran, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(order[i], i);
}

static void test_deferred_keeps_one_thread(void **state)
{
    struct job job = { .job.run = note, .number = 0, .caller = pthread_self() };
    unsigned before;

    (void)state;
    ran = 0;
    nd_defer(&job.job);
    nd_deferred_drain();
    before = threads();
    for (int i = 0; i < 1000; i++) {
        ran = 0;
        nd_defer(&job.job);
        nd_deferred_drain();
    }
    assert_int_equal(threads(), before);
}

static void block_check(struct nd_deferred *deferred)
{
    sigset_t blocked;

    (void)deferred;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    ran = sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGUSR1) &&
          sigismember(&blocked, SIGALRM);
}

static void test_deferred_thread_takes_no_signals(void **state)
{
    struct nd_deferred job = { .run = block_check };

    (void)state;
    ran = 0;
    nd_defer(&job);
    nd_deferred_drain();
    assert_int_equal(ran, 1);
}

/* The parent's thread is in a job, and another job waits behind it: neither is the child's. */
static void test_deferred_of_a_forked_child_has_a_thread_and_jobs_of_its_own(void **state)
{
    struct job jobs[3];
    int status;
    pid_t child;

    (void)state;
    ran = 0;
    for (int i = 0; i < 3; i++)
        jobs[i] =
            (struct job){ .job.run = i ? note : wait_to_go, .number = i, .caller = pthread_self() };
    nd_defer(&jobs[0].job);
    nd_defer(&jobs[1].job);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(60); /* ends a child that hangs */
        nd_deferred_drain();
        nd_defer(&jobs[2].job);
        nd_deferred_drain();
        _exit(ran != 1 || order[0] != 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    sem_post(&go);
    nd_deferred_drain();
    assert_int_equal(ran, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deferred_thread_that_cannot_start_is_tried_again),
        cmocka_unit_test(test_deferred_runs_jobs_in_order_on_another_thread),
        cmocka_unit_test(test_deferred_keeps_one_thread),
        cmocka_unit_test(test_deferred_thread_takes_no_signals),
        cmocka_unit_test(test_deferred_of_a_forked_child_has_a_thread_and_jobs_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
