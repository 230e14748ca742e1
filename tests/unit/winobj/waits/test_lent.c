/* SPDX-License-Identifier: MIT */
/* A service thread that is the provider's: sources run there, and its own descriptor is watched with theirs. */
#include "tests/unit/winobj/fake_source.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int lent_fd;
static pthread_t lent_thread;
static atomic_long runs, turns_after_runs, calls;

static void turn(bool readable)
{
    eventfd_t count;

    atomic_store(&turns_after_runs, atomic_load(&runs));
    if (readable && !eventfd_read(lent_fd, &count))
        atomic_fetch_add(&calls, (long)count);
}

static void *serve(void *arg)
{
    (void)arg;
    pthread_setname_np(pthread_self(), "ndspi-service"); /* as fake_source.c wants to see it */
    win_service_serve(turn);
    return NULL;
}

static void count_run(struct fake_source *fake, unsigned long count)
{
    (void)fake;
    (void)count;
    assert_true(pthread_equal(pthread_self(), lent_thread));
    atomic_fetch_add(&runs, 1);
}

static void assert_reaches(atomic_long *value, long wanted)
{
    DWORD end = GetTickCount() + LONG_MS;

    while (atomic_load(value) < wanted && (LONG)(GetTickCount() - end) < 0)
        sched_yield();
    assert_true(atomic_load(value) >= wanted);
}

static void test_lent_thread_runs_sources_and_has_its_turn_after_them(void **state)
{
    struct fake_source fake = { .taken = count_run };

    (void)state;
    fake_source_add(&fake);
    for (long i = 1; i <= 100; i++) {
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i));
        assert_reaches(&turns_after_runs, i);
    }
    assert_int_equal(fake.own_runs, 100);
    fake_source_remove(&fake);
}

static void test_lent_descriptor_calls_the_thread(void **state)
{
    (void)state;
    for (long i = 1; i <= 100; i++) {
        assert_int_equal(eventfd_write(lent_fd, 1), 0);
        assert_reaches(&calls, i);
    }
    assert_int_equal(calls, 100);
}

static void test_thread_is_lent_once(void **state)
{
    (void)state;
    assert_int_equal(win_service_lend(lent_fd), ERROR_BUSY);
}

static int lend(void **state)
{
    (void)state;
    lent_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return lent_fd < 0 || win_service_lend(lent_fd) != ERROR_SUCCESS ||
           pthread_create(&lent_thread, NULL, serve, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lent_thread_runs_sources_and_has_its_turn_after_them),
        cmocka_unit_test(test_lent_descriptor_calls_the_thread),
        cmocka_unit_test(test_thread_is_lent_once),
    };
    return cmocka_run_group_tests(tests, lend, NULL);
}
