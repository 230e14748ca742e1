/* SPDX-License-Identifier: MIT */
/*
 * test_host.c - leaders that sleep in a device (provider.h, watch and wait). What happens elsewhere must reach them
 * there: signals of other threads, other sources, sources that come and go. What only a leader sees makes a lost one a
 * test that hangs.
 */
#include "tests/unit/winobj/fake_source.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 300 };

static void set_event(struct fake_source *fake, unsigned long count)
{
    (void)count;
    SetEvent(fake->context);
}

static HANDLE automatic(void)
{
    return CreateEventW(NULL, FALSE, FALSE, NULL);
}

static void *wait_for_event(void *argument)
{
    return (void *)(uintptr_t)WaitForSingleObject(argument, LONG_MS);
}

static void join(pthread_t thread)
{
    void *result;

    pthread_join(thread, &result);
    assert_int_equal((uintptr_t)result, WAIT_OBJECT_0);
}

static void until_asleep(struct fake_device *device, long waits)
{
    while (atomic_load(&device->waits) < waits)
        sched_yield();
}

static void test_host_device_wakes_the_leader(void **state)
{
    struct fake_device device;
    struct fake_source fake = { .taken = set_event, .context = automatic(), .device = &device };

    (void)state;
    fake_device_open(&device);
    fake_source_add(&fake);
    for (int i = 1; i <= ROUNDS; i++) {
        fake_device_move(&device);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
        assert_int_equal(fake.led_runs, i);
        assert_int_equal(device.waits, i); /* one sleep, and no look besides */
    }
    assert_int_equal(fake.own_runs, 0);
    fake_source_remove(&fake);
    fake_device_close(&device);
    assert_true(CloseHandle(fake.context));
}

static void test_host_sleep_ends_at_the_deadline(void **state)
{
    struct fake_device device;
    struct fake_source fake = { .context = automatic(), .device = &device };

    (void)state;
    fake_device_open(&device);
    fake_source_add(&fake);
    assert_wait(WaitForSingleObject(fake.context, 5), WAIT_TIMEOUT);
    assert_true(device.waits > 0);
    fake_source_remove(&fake);
    fake_device_close(&device);
    assert_true(CloseHandle(fake.context));
}

static void test_host_sleep_ends_when_another_thread_signals(void **state)
{
    struct fake_device device;
    struct fake_source fake = { .context = automatic(), .device = &device };
    pthread_t thread;

    (void)state;
    fake_device_open(&device);
    fake_source_add(&fake);
    for (int i = 0; i < ROUNDS; i++) {
        long waits = atomic_load(&device.waits);

        assert_int_equal(pthread_create(&thread, NULL, wait_for_event, fake.context), 0);
        if (i % 2)
            until_asleep(&device, waits + 1);
        assert_true(SetEvent(fake.context));
        join(thread);
    }
    fake_source_remove(&fake);
    fake_device_close(&device);
    assert_true(CloseHandle(fake.context));
}

/* The descriptors of all sources, and the lead_fd of one that cannot be slept in, or of a second device that could. */
static void test_host_sleep_sees_the_other_sources(void **state)
{
    struct fake_device device, second;
    HANDLE event = automatic();
    struct fake_source fakes[] = {
        { .taken = set_event, .context = event, .device = &device },
        { .taken = set_event, .context = event },
    };
    struct fake_source other = { .taken = set_event, .context = event, .device = &second };

    (void)state;
    fake_device_open(&device);
    fake_device_open(&second);
    for (int i = 0; i < 2; i++)
        fake_source_add(&fakes[i]);
    fake_source_add(&other);
    assert_int_equal(second.watched, 0);
    for (int i = 0; i < ROUNDS; i++) {
        fake_source_fire_lead(&fakes[1]);
        assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
        fake_device_move(&device);
        assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
        fake_source_fire(&fakes[i % 2], 1);
        assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    }
    assert_int_equal(second.waits, 0);
    fake_source_remove(&other);
    fake_source_remove(&fakes[0]); /* nothing to sleep in is left */
    assert_int_equal(device.watched, 0);
    fake_source_fire_lead(&fakes[1]);
    assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    fake_source_remove(&fakes[1]);
    fake_device_close(&device);
    fake_device_close(&second);
    assert_true(CloseHandle(event));
}

/* One source has work at once, so nobody sleeps; the device is moved all the same. */
static void test_host_is_run_beside_a_busy_source(void **state)
{
    struct fake_device device;
    struct fake_source fake = { .taken = set_event, .context = automatic(), .device = &device };
    struct fake_source busy = { .busy = true };

    (void)state;
    fake_device_open(&device);
    fake_source_add(&fake);
    fake_source_add(&busy);
    for (int i = 0; i < 50; i++) {
        atomic_fetch_add(&fake.moved, 1);
        assert_wait(WaitForSingleObject(fake.context, LONG_MS), WAIT_OBJECT_0);
    }
    assert_int_equal(device.waits, 0);
    fake_source_remove(&busy);
    fake_source_remove(&fake);
    fake_device_close(&device);
    assert_true(CloseHandle(fake.context));
}

/* Of two sources of a device the leader sleeps in the name of the one that has the events. */
static void test_host_is_the_source_that_is_busy(void **state)
{
    struct fake_device device;
    HANDLE event = automatic();
    struct fake_source idle = { .device = &device },
                       busy = { .taken = set_event, .context = event, .device = &device };

    (void)state;
    fake_device_open(&device);
    fake_source_add(&idle);
    fake_source_add(&busy);
    assert_wait(WaitForSingleObject(event, 1), WAIT_TIMEOUT);
    assert_true(idle.hosted > 0);
    assert_int_equal(busy.hosted, 0);
    for (int i = 0; i < 2 || !busy.hosted; i++) {
        fake_source_fire(&busy, 1);
        assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    }
    fake_device_move(&device);
    assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    fake_source_remove(&busy);
    assert_int_equal(device.watched, 1); /* idle's still */
    assert_wait(WaitForSingleObject(event, 1), WAIT_TIMEOUT);
    fake_source_remove(&idle);
    fake_device_close(&device);
    assert_true(CloseHandle(event));
}

/* Every source goes while a thread sleeps in its device, and the thread sleeps on in the next, or in none. */
static void test_host_removed_under_a_sleeping_leader(void **state)
{
    struct fake_device device;
    HANDLE event = automatic();
    struct fake_source plain = { .taken = set_event, .context = event };
    pthread_t thread;

    (void)state;
    fake_device_open(&device);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, event), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct fake_source first = { .device = &device }, second = { .device = &device };
        long waits = atomic_load(&device.waits);

        fake_source_add(&first);
        if (i % 3 == 0)
            until_asleep(&device, waits + 1);
        if (i % 2)
            fake_source_add(&second);
        fake_source_remove(&first);
        if (i % 2)
            fake_source_remove(&second);
        assert_int_equal(device.watched, 0);
    }
    fake_source_add(&plain);
    fake_source_fire_lead(&plain);
    join(thread);
    fake_source_remove(&plain);
    fake_device_close(&device);
    assert_true(CloseHandle(event));
}

static int refuse_to_watch(struct win_source *source, int fd, bool watched)
{
    (void)source, (void)fd;
    return watched ? -ENOSPC : 0;
}

static void test_host_device_that_cannot_watch_is_refused(void **state)
{
    struct fake_device device;
    struct fake_source good = { 0 }, bad = { .device = &device };

    (void)state;
    fake_device_open(&device);
    fake_source_add(&good);
    bad.source = good.source;
    bad.source.fd = dup(good.source.fd);
    bad.source.lead_fd = device.set;
    bad.source.watch = refuse_to_watch;
    assert_int_equal(win_source_add(&bad.source), ERROR_NO_SYSTEM_RESOURCES);
    close(bad.source.fd);
    fake_source_fire(&good, 1); /* is as it was */
    assert_true(fake_source_reached(&good, 1));
    fake_source_remove(&good);
    fake_device_close(&device);
}

struct member {
    HANDLE event;
    bool failed;
};

static void *wait_rounds(void *argument)
{
    struct member *member = argument;

    for (int i = 0; i < ROUNDS; i++)
        member->failed |= WaitForSingleObject(member->event, LONG_MS) != WAIT_OBJECT_0;
    return NULL;
}

static void release_all_in_turn(struct fake_source *fake, unsigned long count)
{
    struct member *members = fake->context;

    while (count--)
        SetEvent(members[(fake->events + (long)count) % THREADS].event);
}

/* The thread whose wait ends is often the leader: the next one goes to sleep in the device. */
static void test_host_handover_between_threads(void **state)
{
    struct fake_device device;
    struct member members[THREADS];
    struct fake_source fake = {
        .taken = release_all_in_turn, .context = members, .device = &device
    };
    pthread_t threads[THREADS];

    (void)state;
    fake_device_open(&device);
    fake_source_add(&fake);
    for (int i = 0; i < THREADS; i++) {
        members[i] = (struct member){ .event = automatic() };
        assert_int_equal(pthread_create(&threads[i], NULL, wait_rounds, &members[i]), 0);
    }
    for (long i = 1; i <= THREADS * ROUNDS; i++) {
        HANDLE event = members[(i - 1) % THREADS].event;

        fake_device_move(&device);
        assert_true(fake_source_reached(&fake, i));
        while (WaitForSingleObject(event, 0) == WAIT_OBJECT_0 && SetEvent(event))
            SwitchToThread();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(members[i].failed);
        assert_true(CloseHandle(members[i].event));
    }
    fake_source_remove(&fake);
    fake_device_close(&device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_device_wakes_the_leader),
        cmocka_unit_test(test_host_sleep_ends_at_the_deadline),
        cmocka_unit_test(test_host_sleep_ends_when_another_thread_signals),
        cmocka_unit_test(test_host_sleep_sees_the_other_sources),
        cmocka_unit_test(test_host_is_run_beside_a_busy_source),
        cmocka_unit_test(test_host_is_the_source_that_is_busy),
        cmocka_unit_test(test_host_removed_under_a_sleeping_leader),
        cmocka_unit_test(test_host_device_that_cannot_watch_is_refused),
        cmocka_unit_test(test_host_handover_between_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
