/* SPDX-License-Identifier: MIT */
/*
 * test_host.c - a driver that sleeps in a device's own set (reactor.h, watch and sleep). What happens elsewhere has to
 * reach it there. The background thread is lent and never serves, so what gets lost is a test that hangs.
 */
#include "tests/unit/reactor/probe.h"

#include <errno.h>

/* An epoll set over an eventfd; its sources share it. */
static struct {
    int set, moved_fd;
    atomic_int watched; /* descriptors of the reactor's: 0 or 1 */
    atomic_long sleeps;
    bool refuses;
} device;

struct hosted {
    struct probe probe;
    atomic_long moved;  /* events that sleep found, for ready to take */
    atomic_long sleeps; /* in the name of this source */
    atomic_long asked;  /* calls of ready without a descriptor */
};

static struct hosted *hosted_of(struct reactor_source *source)
{
    return container_of(probe_of(source), struct hosted, probe);
}

static int watch(struct reactor_source *source, int fd, bool watched)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    (void)source;
    if (!watched) {
        if (!epoll_ctl(device.set, EPOLL_CTL_DEL, fd, NULL))
            atomic_fetch_sub(&device.watched, 1);
        return 0;
    }
    if (device.refuses)
        return -ENOSPC;
    if (!epoll_ctl(device.set, EPOLL_CTL_ADD, fd, &event))
        atomic_fetch_add(&device.watched, 1);
    else if (errno != EEXIST)
        return -errno;
    return 0;
}

static bool sleep_in_device(struct reactor_source *source, int timeout_ms, bool *others)
{
    struct hosted *hosted = hosted_of(source);
    struct epoll_event events[2];
    eventfd_t moved = 0;
    int count;

    assert_true(timeout_ms);
    assert_ptr_equal(reactor.running, source);
    atomic_fetch_add(&device.sleeps, 1);
    atomic_fetch_add(&hosted->sleeps, 1);
    *others = false;
    count = epoll_wait(device.set, events, 2, timeout_ms);
    for (int i = 0; i < count; i++)
        if (events[i].data.fd != device.moved_fd)
            *others = true;
        else if (!eventfd_read(device.moved_fd, &moved))
            atomic_fetch_add(&hosted->moved, (long)moved);
    return moved;
}

static void hosted_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct hosted *hosted = hosted_of(source);

    if (events) {
        probe_ready(source, events, how);
        return;
    }
    atomic_fetch_add(&hosted->asked, 1);
    if (atomic_exchange(&hosted->moved, 0))
        probe_called(&hosted->probe, &hosted->probe.ready, how);
}

static const struct reactor_source_ops hosted_ops = {
    .ready = hosted_ready,
    .expired = probe_expired,
    .run = probe_run,
    .free = probe_free,
    .watch = watch,
    .sleep = sleep_in_device,
};

static void hosted_init(struct hosted *hosted)
{
    memset(hosted, 0, sizeof(*hosted));
    probe_init(&hosted->probe);
    hosted->probe.source.ops = &hosted_ops;
}

static void hosted_add(struct hosted *hosted)
{
    hosted_init(hosted);
    assert_int_equal(reactor_add(&hosted->probe.source, EPOLLIN), 0);
}

static int open_device(void **state)
{
    struct epoll_event event = { .events = EPOLLIN };

    (void)state;
    memset(&device, 0, sizeof(device));
    event.data.fd = device.moved_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    device.set = epoll_create1(EPOLL_CLOEXEC);
    return epoll_ctl(device.set, EPOLL_CTL_ADD, device.moved_fd, &event);
}

static int close_device(void **state)
{
    (void)state;
    assert_int_equal(device.watched, 0);
    close(device.moved_fd);
    close(device.set);
    return 0;
}

/* One event for the source in whose name the driver sleeps. */
static void move(void)
{
    assert_int_equal(eventfd_write(device.moved_fd, 1), 0);
}

static void signal_context(struct probe *probe)
{
    reactor_signal(probe->context);
}

static void test_device_wakes_the_driver(void **state)
{
    struct hosted hosted;

    (void)state;
    hosted_add(&hosted);
    hosted.probe.then = signal_context;
    hosted.probe.context = reactor_waiter_self();
    for (int i = 1; i <= 300; i++) {
        move();
        assert_int_equal(
            reactor_wait(hosted.probe.context, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE), 0);
        assert_int_equal(device.sleeps, i); /* one sleep, and no look besides */
        assert_int_equal(hosted.probe.how, REACTOR_WAITING);
    }
    assert_int_equal(
        reactor_wait(hosted.probe.context, clock_now_ns() + 2000000, PTHREAD_CANCEL_DISABLE),
        -ETIMEDOUT);
    probe_remove(&hosted.probe);
}

static void test_look_asks_the_device(void **state)
{
    struct hosted hosted;
    struct probe other;

    (void)state;
    hosted_add(&hosted);
    probe_add(&other);
    hosted.moved = 1;
    probe_fire(&other);
    reactor_look();
    assert_int_equal(hosted.probe.ready, 1);
    assert_int_equal(hosted.probe.how, REACTOR_LOOKING);
    assert_int_equal(other.ready, 1);
    probe_fire(&hosted.probe);
    reactor_look();
    assert_int_equal(hosted.probe.ready, 2);
    assert_int_equal(device.sleeps, 0);
    probe_remove(&hosted.probe);
    probe_remove(&other);
}

/* Another source, a run, a deadline, a signal of another thread. */
static void test_sleeper_in_a_device_is_told_of_everything(void **state)
{
    struct hosted hosted;
    struct probe other;
    struct sleeper sleeper;

    (void)state;
    hosted_add(&hosted);
    probe_add(&other);
    sleeper_start(&sleeper);
    for (int i = 0; i < 50; i++) {
        assert_true(SETTLES(driver_sleeps()));
        probe_fire(&other);
        probe_await(&other);
        assert_true(SETTLES(driver_sleeps()));
        move();
        probe_await(&hosted.probe);
        assert_true(SETTLES(driver_sleeps()));
        probe_fire(&hosted.probe);
        probe_await(&hosted.probe);
        assert_true(SETTLES(driver_sleeps()));
        reactor_run(&other.source);
        probe_await(&other);
        assert_true(SETTLES(driver_sleeps()));
        reactor_deadline(&other.source, clock_now_ns());
        probe_await(&other);
        assert_true(SETTLES(driver_sleeps()));
        reactor_signal(sleeper.waiter);
        assert_true(SETTLES(atomic_load(&sleeper.waits) == i + 1));
    }
    sleeper_end(&sleeper);
    probe_remove(&other);
    probe_remove(&hosted.probe);
}

/* A driver that sleeps elsewhere goes to sleep in the device, and elsewhere again when it is gone. */
static void test_device_comes_and_goes_under_a_sleeping_driver(void **state)
{
    struct sleeper sleeper;
    struct probe other;

    (void)state;
    probe_add(&other);
    sleeper_start(&sleeper);
    for (int i = 0; i < 100; i++) {
        struct hosted first, second;

        hosted_add(&first);
        if (i % 3 == 0)
            assert_true(SETTLES(atomic_load(&first.sleeps) > 0));
        if (i % 2)
            hosted_add(&second);
        if (i % 5 == 0) {
            move();
            probe_await(&first.probe);
        }
        probe_remove(&first.probe);
        if (i % 2)
            probe_remove(&second.probe);
        assert_int_equal(device.watched, 0);
        probe_fire(&other);
        probe_await(&other);
    }
    sleeper_end(&sleeper);
    probe_remove(&other);
}

/* Of two sources of a device the driver sleeps in the name of the one that has the events. */
static void test_host_is_the_source_that_is_busy(void **state)
{
    struct hosted idle, busy;
    struct sleeper sleeper;

    (void)state;
    hosted_add(&idle);
    hosted_add(&busy);
    sleeper_start(&sleeper);
    assert_int_equal(busy.sleeps, 0);
    probe_fire(&busy.probe);
    probe_await(&busy.probe);
    assert_true(SETTLES(atomic_load(&busy.sleeps) > 0));
    move();
    probe_await(&busy.probe);
    assert_int_equal(idle.probe.ready, 0);
    probe_remove(&busy.probe);
    assert_int_equal(device.watched, 1);
    move();
    probe_await(&idle.probe);
    sleeper_end(&sleeper);
    probe_remove(&idle.probe);
}

static void test_device_that_cannot_watch_is_refused(void **state)
{
    struct hosted hosted;

    (void)state;
    hosted_init(&hosted);
    device.refuses = true;
    assert_int_equal(reactor_add(&hosted.probe.source, EPOLLIN), -ENOSPC);
    assert_int_equal(hosted.probe.source.refs, 1);
    probe_fire(&hosted.probe);
    reactor_look();
    assert_int_equal(hosted.probe.ready, 0);
    device.refuses = false;
    assert_int_equal(reactor_add(&hosted.probe.source, EPOLLIN), 0);
    reactor_look();
    assert_int_equal(hosted.probe.ready, 1);
    probe_remove(&hosted.probe);
}

/* The thread whose wait ends is the driver: the next one goes to sleep in the device. */
static void test_driver_in_a_device_hands_over(void **state)
{
    struct hosted hosted;
    struct sleeper first, second;

    (void)state;
    hosted_add(&hosted);
    for (int i = 0; i < 50; i++) {
        sleeper_start(&first);
        sleeper_start(&second);
        sleeper_end(&first);
        move();
        probe_await(&hosted.probe);
        sleeper_end(&second);
    }
    probe_remove(&hosted.probe);
}

static int lend(void **state)
{
    (void)state;
    return reactor_lend();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_device_wakes_the_driver),
        TEST(test_look_asks_the_device),
        TEST(test_sleeper_in_a_device_is_told_of_everything),
        TEST(test_device_comes_and_goes_under_a_sleeping_driver),
        TEST(test_host_is_the_source_that_is_busy),
        TEST(test_device_that_cannot_watch_is_refused),
        TEST(test_driver_in_a_device_hands_over),
    };
    return cmocka_run_group_tests(tests, lend, NULL);
}
