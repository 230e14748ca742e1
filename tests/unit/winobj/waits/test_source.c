/* SPDX-License-Identifier: MIT */
/* test_source.c - who runs a source: a waiting thread, a polling one, the service thread; and how it goes away. */
#include "tests/unit/winobj/fake_source.h"

#include "util/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
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
    /* The service thread helps out where this thread was off the processor for long. */
    assert_true(fake.led_runs > 0);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_source_lead_descriptor_wakes_a_leader(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };

    (void)state;
    fake_source_add(&fake);
    for (int i = 0; i < 50; i++) {
        fake_source_fire_lead(&fake);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_int_equal(fake.own_runs, 0); /* the service thread does not even look at it */
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_source_is_run_by_polling_calls(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    fake_source_add(&fake);
    fake_source_fire_lead(&fake);
    assert_wait(WaitForSingleObject(fake.context, 0), WAIT_OBJECT_0);
    fake_source_fire_lead(&fake);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0), 258);
    assert_int_equal(fake.events, 2);
    assert_int_equal(fake.led_runs, 2);
    assert_int_equal(fake.prepares, 0); /* nobody meant to sleep */
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
    assert_true(CloseHandle(port));
}

/* No thread is in a wait: the service thread serves; afterwards it is ready for the next. */
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

struct held {
    sem_t inside, go_on;
    bool once;
};

static void hold_once(struct fake_source *fake, unsigned long count)
{
    struct held *held = fake->context;

    (void)count;
    if (held->once)
        return;
    held->once = true;
    sem_post(&held->inside);
    sem_wait(&held->go_on);
}

/* A leader that finds the service thread in a run has it run again as a leader would. */
static void test_source_is_run_again_for_a_leader(void **state)
{
    struct held held = { .once = false };
    struct fake_source fake = { .taken = hold_once, .context = &held };
    HANDLE event = automatic();

    (void)state;
    assert_int_equal(sem_init(&held.inside, 0, 0), 0);
    assert_int_equal(sem_init(&held.go_on, 0, 0), 0);
    fake_source_add(&fake);
    fake_source_fire(&fake, 1);
    assert_int_equal(sem_wait(&held.inside), 0); /* the service thread: nobody waits */
    fake_source_fire_lead(&fake);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(fake.led_runs, 0);
    sem_post(&held.go_on);
    assert_true(fake_source_reached(&fake, 2));
    assert_int_equal(fake.own_runs, 1);
    assert_int_equal(fake.led_runs, 1);
    fake_source_remove(&fake);
    assert_true(CloseHandle(event));
    sem_destroy(&held.inside);
    sem_destroy(&held.go_on);
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

static void *wait_for_context(void *argument)
{
    struct fake_source *fake = argument;

    return (void *)(uintptr_t)WaitForSingleObject(fake->context, LONG_MS);
}

/* The leader goes on through many events that do not end its wait; how many the service thread takes when the leader is
 * slow to wake is the scheduler's affair. */
static void test_source_leader_serves_while_its_own_wait_goes_on(void **state)
{
    struct fake_source fake = { .context = automatic() };
    pthread_t thread;
    void *result;

    (void)state;
    fake_source_add(&fake);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_context, &fake), 0);
    while (!atomic_load(&fake.prepared)) /* it leads */
        sched_yield();
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

static void test_source_that_is_busy_keeps_the_leader_awake(void **state)
{
    struct fake_source busy = { .busy = true },
                       fake = { .taken = set_event, .context = automatic() };

    (void)state;
    fake_source_add(&busy);
    fake_source_add(&fake);
    for (int i = 0; i < 50; i++) {
        fake_source_fire_lead(&fake);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS),
            WAIT_OBJECT_0); /* not starved by the busy one */
    }
    assert_wait(WaitForSingleObject(fake.context, 5), WAIT_TIMEOUT);
    fake_source_remove(&fake);
    fake_source_remove(&busy);
    assert_true(CloseHandle(fake.context));
}

static void test_source_added_while_threads_wait_is_led(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    pthread_t thread;
    void *result;

    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(pthread_create(&thread, NULL, wait_for_context, &fake), 0);
        fake_source_add(&fake);
        fake_source_fire_lead(&fake); /* only a leader sees it */
        pthread_join(thread, &result);
        assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
        fake_source_remove(&fake);
    }
    assert_true(CloseHandle(fake.context));
}

/* A thread goes on waiting when the source it slept on goes, and leads the next one. */
static void test_source_removed_under_a_sleeping_leader(void **state)
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
    fake_source_fire_lead(&last);
    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
    fake_source_remove(&last);
    assert_true(CloseHandle(last.context));
}

static void test_source_descriptor_that_cannot_be_polled_is_refused(void **state)
{
    struct fake_source good = { 0 }, bad;

    (void)state;
    fake_source_add(&good);
    bad = good;
    bad.source.fd = -1;
    assert_int_equal(win_source_add(&bad.source), ERROR_NO_SYSTEM_RESOURCES);
    fake_source_fire(&good, 1); /* is as it was */
    assert_true(fake_source_reached(&good, 1));
    fake_source_remove(&good);
}

static void test_sources_of_one_device_share_their_lead_descriptor(void **state)
{
    struct fake_source first = { .taken = set_event, .context = automatic() }, second;
    int own;

    (void)state;
    second = first;
    fake_source_add(&first);
    fake_source_add(&second);
    win_source_remove(&second.source);
    own = second.source.lead_fd;
    second.source.lead_fd = first.source.lead_fd;
    assert_int_equal(win_source_add(&second.source), ERROR_SUCCESS);
    fake_source_fire_lead(&first);
    assert_wait(WaitForSingleObject(first.context, LONG_MS), WAIT_OBJECT_0);
    win_source_remove(&first.source);
    fake_source_fire_lead(&first);
    assert_wait(WaitForSingleObject(first.context, LONG_MS), WAIT_OBJECT_0);
    win_source_remove(&second.source);
    close(own);
    close(first.source.fd);
    close(first.source.lead_fd);
    close(second.source.fd);
    assert_true(CloseHandle(first.context));
}

/* A value of the service thread's status in /proc, by the format of its line. */
static uint64_t service_status(const char *format)
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
            if (!strcmp(name, "ndspi-service"))
                sscanf(line, format, &value);
        }
        fclose(status);
    }
    closedir(tasks);
    return value;
}

/*
 * What fired once while leaders come and go is left to them, and then costs nothing: the service thread does not look
 * every 0.4 ms (250 times here) whether they still do.
 */
static void test_service_thread_sleeps_while_leaders_keep_coming(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    uint64_t before, end = clock_now_ns() + 5000000;

    (void)state;
    fake_source_add(&fake);
    while (clock_now_ns() < end) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    before = service_status("voluntary_ctxt_switches: %llu");
    assert_true(before > 0);
    end = clock_now_ns() + 100000000;
    while (clock_now_ns() < end) {
        fake_source_fire_lead(&fake);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_true(service_status("voluntary_ctxt_switches: %llu") - before < 80);
    /* And is there again when they do not come. */
    before = (uint64_t)fake.events;
    fake_source_fire(&fake, 1);
    assert_true(fake_source_reached(&fake, (long)before + 1));
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

/*
 * What fires again each time it is armed, as the descriptors of a device do that the kernel moves, has it look: every
 * 3.2 ms, not every 0.4 ms (250 times here), for it shares the leaders' processors.
 */
static void test_service_thread_looks_rarely_while_leaders_are_at_work(void **state)
{
    struct fake_source fake = { .taken = set_event, .context = automatic() };
    uint64_t before, end = clock_now_ns() + 100000000;

    (void)state;
    fake_source_add(&fake);
    before = service_status("voluntary_ctxt_switches: %llu");
    while (clock_now_ns() < end) {
        fake_source_fire(&fake, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_in_range(service_status("voluntary_ctxt_switches: %llu") - before, 1, 125);
    fake_source_remove(&fake);
    assert_true(CloseHandle(fake.context));
}

static void test_service_thread_takes_no_signal(void **state)
{
    static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM,
        SIGTERM, SIGCHLD, SIGIO, SIGPROF };
    /* blocked, they would end the process without a handler */
    static const int its_own[] = { SIGSEGV, SIGBUS };
    struct fake_source fake = { 0 };
    uint64_t blocked;

    (void)state;
    fake_source_add(&fake);
    blocked = service_status("SigBlk: %llx");
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
    assert_true(looked_at >= 6); /* two epoll sets, two kicks, the test's two */
    fake_source_remove(&fake);
}

static uint64_t process_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Neither a thread that sleeps nor the service thread with something aside costs processor time. */
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
        cmocka_unit_test(test_source_lead_descriptor_wakes_a_leader),
        cmocka_unit_test(test_source_is_run_by_polling_calls),
        cmocka_unit_test(test_source_is_served_when_nobody_waits),
        cmocka_unit_test(test_source_is_run_again_for_a_leader),
        cmocka_unit_test(test_source_is_taken_over_from_a_poller_that_stops),
        cmocka_unit_test(test_source_leader_serves_while_its_own_wait_goes_on),
        cmocka_unit_test(test_source_that_is_busy_keeps_the_leader_awake),
        cmocka_unit_test(test_source_added_while_threads_wait_is_led),
        cmocka_unit_test(test_source_removed_under_a_sleeping_leader),
        cmocka_unit_test(test_source_descriptor_that_cannot_be_polled_is_refused),
        cmocka_unit_test(test_sources_of_one_device_share_their_lead_descriptor),
        cmocka_unit_test(test_service_thread_sleeps_while_leaders_keep_coming),
        cmocka_unit_test(test_service_thread_looks_rarely_while_leaders_are_at_work),
        cmocka_unit_test(test_service_thread_takes_no_signal),
        cmocka_unit_test(test_descriptors_are_closed_on_exec),
        cmocka_unit_test(test_idle_costs_no_processor_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
