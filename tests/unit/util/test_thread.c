/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

static struct {
    sem_t ran;
    void *argument;
    char name[16];
    int detached;
    int unblocked; /* signals that the thread would take */
} seen;

static void look(void *argument)
{
    pthread_attr_t attr;
    sigset_t blocked;

    seen.argument = argument;
    pthread_getname_np(pthread_self(), seen.name, sizeof(seen.name));
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getdetachstate(&attr, &seen.detached);
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    seen.unblocked = 0;
    for (int number = 1; number <= SIGRTMAX; number++)
        if (number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN))
            seen.unblocked +=
                (number == SIGSEGV || number == SIGBUS) == sigismember(&blocked, number);
    sem_post(&seen.ran);
}

static int setup(void **state)
{
    (void)state;
    return sem_init(&seen.ran, 0, 0);
}

static void wait_until_it_ran(void)
{
    struct timespec deadline;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 60;
    assert_int_equal(sem_timedwait(&seen.ran, &deadline), 0);
}

static void test_thread_is_named_detached_and_takes_no_signals(void **state)
{
    int argument;

    (void)state;
    assert_int_equal(thread_start_detached("fifteen-letters", look, &argument), 0);
    wait_until_it_ran();
    assert_ptr_equal(seen.argument, &argument);
    assert_string_equal(seen.name, "fifteen-letters");
    assert_int_equal(seen.detached, PTHREAD_CREATE_DETACHED);
    assert_int_equal(seen.unblocked, 0);
}

static void test_thread_start_leaves_the_callers_signals_and_name(void **state)
{
    sigset_t one, before, after;
    char name_before[16], name_after[16];

    (void)state;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    pthread_getname_np(pthread_self(), name_before, sizeof(name_before));
    assert_int_equal(thread_start_detached("other", look, NULL), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    pthread_getname_np(pthread_self(), name_after, sizeof(name_after));
    wait_until_it_ran();
    for (int number = 1; number < SIGRTMAX; number++)
        assert_int_equal(sigismember(&after, number), sigismember(&before, number));
    assert_int_equal(sigismember(&after, SIGUSR2), 1);
    assert_int_equal(sigismember(&after, SIGUSR1), 0);
    assert_string_equal(name_after, name_before);
}

static void test_thread_of_too_long_a_name_is_refused(void **state)
{
    (void)state;
    assert_int_equal(thread_start_detached("sixteen--letters", look, NULL), -EINVAL);
    assert_int_equal(sem_trywait(&seen.ran), -1);
}

/*
 * No address space holds such a stack, which is where pthread_create fails without a limit for other processes to feel.
 */
static void test_thread_that_cannot_start_is_told_and_leaves_the_signals(void **state)
{
    pthread_attr_t usual, huge;
    sigset_t after;

    (void)state;
    assert_int_equal(pthread_getattr_default_np(&usual), 0);
    assert_int_equal(pthread_attr_init(&huge), 0);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 47), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    assert_int_equal(thread_start_detached("too big", look, NULL), -EAGAIN);
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    pthread_attr_destroy(&huge);
    pthread_attr_destroy(&usual);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGUSR1), 0);
    assert_int_equal(sem_trywait(&seen.ran), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_is_named_detached_and_takes_no_signals),
        cmocka_unit_test(test_thread_start_leaves_the_callers_signals_and_name),
        cmocka_unit_test(test_thread_of_too_long_a_name_is_refused),
        cmocka_unit_test(test_thread_that_cannot_start_is_told_and_leaves_the_signals),
    };
    return cmocka_run_group_tests_name("thread", tests, setup, NULL);
}
