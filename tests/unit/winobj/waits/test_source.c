/* SPDX-License-Identifier: MIT */
/* test_source.c - which thread runs a source: a waiting one, a polling one, the background thread; its removal. */
#include "tests/unit/winobj/fake_source.h"

#include "tests/support/asleep.h"
#include "util/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void set_event(struct fake_source *fake, unsigned long count)
{
    (void)count;
    SetEvent(fake->context);
}

static HANDLE automatic(void)
{
    return CreateEventW(NULL, FALSE, FALSE, NULL);
}

static void test_source_is_run_by_the_thread_that_waits(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };

    (void)state;
    fake_source_add(&fake);
    for (int i = 0; i < 500; i++) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_int_equal(fake.events, 500);
    /* The background thread helps out where this thread was off the processor for long. */
    assert_true(fake.led_runs > 0);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

/* No thread is in a wait: the background thread serves; afterwards it is ready for the next. */
static void test_source_is_served_when_nobody_waits(void **state)
{
    struct fake_source fake = { 0 };

    (void)state;
    fake_source_add(&fake);
    for (long i = 1; i <= 200; i++) {
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i));
    }
    assert_int_equal(fake.own_runs, 200);
    fake_source_remove(&fake);
}

/* What fired while this thread polled, and was left to it, is served when it stops polling. */
static void test_source_is_taken_over_from_a_poller_that_stops(void **state)
{
    struct fake_source fake = { 0 };
    HANDLE event = automatic();

    (void)state;
    fake_source_add(&fake);
    for (long i = 1; i <= 50; i++) {
        uint64_t end = clock_now_ns() + 300000;

        while (clock_now_ns() < end)
            assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i));
    }
    fake_source_remove(&fake);
    assert_true(CloseHandle(event));
}

static atomic_int waiting; /* the thread that waits, when it is about to */

static void *wait_for_context(void *argument)
{
    struct fake_source *fake = argument;

    atomic_store(&waiting, thread_number());
    return (void *)(uintptr_t)WaitForSingleObject(fake->context, LONG_MS);
}

/*
 * The driver goes on through many events that do not end its wait; how many the background thread takes when the driver
 * is slow to wake is the scheduler's affair.
 */
static void test_source_driver_serves_while_its_own_wait_goes_on(void **state)
{
    struct fake_source fake = { .context = automatic() };
    pthread_t thread;
    void *result;

    (void)state;
    fake_source_add(&fake);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_context, &fake), 0);
    assert_true(
        SETTLES(atomic_load(&waiting) && thread_is_asleep(atomic_load(&waiting)))); /* it drives */
    for (long i = 1; i <= 300; i++) {
        fake_source_fire(&fake, 1);
        assert_true(fake_source_reached(&fake, i));
    }
    assert_true(SetEvent(fake.context));
    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
    assert_true(fake.led_runs > 0);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_source_added_while_threads_wait_is_run(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    pthread_t thread;
    void *result;

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_create(&thread, NULL, wait_for_context, &fake), 0);
        fake_source_add(&fake);
        fake_source_fire(&fake, 1);
        pthread_join(thread, &result);
        assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
        fake_source_remove(&fake);
    }
    assert_true(CloseHandle(fake.context));
}

/* A thread goes on waiting when the source it slept on goes, and drives the next one. */
static void test_source_removed_under_a_sleeping_driver(void **state)
{
    struct fake_source fakes[3], last = { .taken = set_event, .context = automatic() };
    pthread_t thread;
    void *result;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_context, &last), 0);
    for (int i = 0; i < 200; i++) {
        struct fake_source *fake = &fakes[i % 3];

        memset(fake, 0, sizeof(*fake));
        fake_source_add(fake);
        fake_source_fire(fake, 1);
        if (i % 2)
            assert_true(fake_source_reached(fake, 1));
        fake_source_remove(fake);
    }
    fake_source_add(&last);
    fake_source_fire(&last, 1);
    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
    fake_source_remove(&last);
    assert_true(CloseHandle(last.context));
}

/* A value of the background thread's status in /proc, by the format of its line. */
static uint64_t background_status(const char *format)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned long long value = 0;
    struct dirent *task;

    assert_non_null(tasks);
    while ((task = readdir(tasks))) {
        char path[300], line[128], name[64] = "";
        FILE *status;

        snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        if (task->d_name[0] == '.' || !(status = fopen(path, "r")))
            continue;
        while (fgets(line, sizeof(line), status)) {
            sscanf(line, "Name: %63s", name);
            if (!strcmp(name, "ndspi"))
                sscanf(line, format, &value);
        }
        fclose(status);
    }
    closedir(tasks);
    return value;
}

/*
 * While threads come and go in waits the background thread does not look every 0.4 ms (250 times here) whether they
 * still do.
 */
static void test_background_thread_sleeps_while_drivers_keep_coming(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    uint64_t before, end = clock_now_ns() + 5000000;

    (void)state;
    fake_source_add(&fake);
    while (clock_now_ns() < end) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    before = background_status("voluntary_ctxt_switches: %llu");
    assert_true(before > 0);
    end = clock_now_ns() + 100000000;
    while (clock_now_ns() < end) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_true(background_status("voluntary_ctxt_switches: %llu") - before < 80);
    /* And is there again when they do not come. */
    before = (uint64_t)fake.events;
    fake_source_fire(&fake, 1);
    assert_true(fake_source_reached(&fake, (long)before + 1));
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

/*
 * What fires again each time it is armed, as the descriptors of a device do that the kernel moves, has it look: every
 * 3.2 ms, not every 0.4 ms (250 times here), for it shares the drivers' processors.
 */
static void test_background_thread_looks_rarely_while_drivers_are_at_work(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    uint64_t before, end = clock_now_ns() + 100000000;

    (void)state;
    fake_source_add(&fake);
    before = background_status("voluntary_ctxt_switches: %llu");
    while (clock_now_ns() < end) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_in_range(background_status("voluntary_ctxt_switches: %llu") - before, 1, 125);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_background_thread_takes_no_signal(void **state)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,
        SIGTERM, SIGCHLD, SIGIO, SIGPROF };
    /* blocked, they would end the process without a handler */
    static const int its_own[] = { SIGSEGV, SIGBUS };
    struct fake_source fake = { 0 };
    uint64_t blocked;

    (void)state;
    fake_source_add(&fake);
    blocked = background_status("SigBlk: %llx");
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        assert_true(blocked >> (signals[i] - 1) & 1);
    for (size_t i = 0; i < sizeof(its_own) / sizeof(its_own[0]); i++)
        assert_false(blocked >> (its_own[i] - 1) & 1);
    fake_source_remove(&fake);
}

static void test_descriptors_are_closed_on_exec(void **state)
{
    struct fake_source fake = { 0 };
    DIR *open_fds;
    struct dirent *entry;
    int looked_at = 0;

    (void)state;
    fake_source_add(&fake);
    assert_non_null(open_fds = opendir("/proc/self/fd"));
    while ((entry = readdir(open_fds))) {
        char path[300], target[64] = "";

        snprintf(path, sizeof(path), "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof(target) - 1) < 0 || strncmp(target, "anon_inode:", 11))
            continue;
        assert_true(fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC);
        looked_at++;
    }
    closedir(open_fds);
    assert_true(looked_at >= 4); /* the epoll set, two kicks, the test's one */
    fake_source_remove(&fake);
}

static uint64_t process_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Neither a thread that sleeps nor the background thread costs processor time. */
static void test_idle_costs_no_processor_time(void **state)
{
    struct fake_source fake = { 0 };
    HANDLE event = automatic();
    uint64_t before;

    (void)state;
    fake_source_add(&fake);
    fake_source_fire(&fake, 1);
    assert_wait(WaitForSingleObject(event, 20), WAIT_TIMEOUT);
    before = process_cpu_ns();
    assert_wait(WaitForSingleObject(event, 1000), WAIT_TIMEOUT);
    assert_true(process_cpu_ns() - before < 10000000); /* 1 % */
    fake_source_remove(&fake);
    assert_true(CloseHandle(event));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_is_run_by_the_thread_that_waits),
        cmocka_unit_test(test_source_is_served_when_nobody_waits),
        cmocka_unit_test(test_source_is_taken_over_from_a_poller_that_stops),
        cmocka_unit_test(test_source_driver_serves_while_its_own_wait_goes_on),
        cmocka_unit_test(test_source_added_while_threads_wait_is_run),
        cmocka_unit_test(test_source_removed_under_a_sleeping_driver),
        cmocka_unit_test(test_background_thread_sleeps_while_drivers_keep_coming),
        cmocka_unit_test(test_background_thread_looks_rarely_while_drivers_are_at_work),
        cmocka_unit_test(test_background_thread_takes_no_signal),
        cmocka_unit_test(test_descriptors_are_closed_on_exec),
        cmocka_unit_test(test_idle_costs_no_processor_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
