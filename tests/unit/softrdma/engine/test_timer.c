/* SPDX-License-Identifier: MIT */
/* Deadlines of sources, without the thread that serves them: which is next, which have passed, in which order. */
#include "softrdma/engine/engine.h"
#include "util/clock.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT = 200 };

/* The clock, where a test has stopped it. */
static uint64_t stopped_ms;

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    if (!stopped_ms)
        return __real_clock_gettime(id, now);
    now->tv_sec = (time_t)(stopped_ms / 1000);
    now->tv_nsec = (long)(stopped_ms % 1000 * 1000000 + 999999); /* the end of the millisecond */
    return 0;
}

static struct srd_source sources[COUNT];
static uint64_t set_to[COUNT]; /* UINT64_MAX: not set */
static unsigned order[COUNT], expired_count;

static void expired(struct srd_source *source)
{
    order[expired_count++] = (unsigned)(source - sources);
    set_to[source - sources] = UINT64_MAX;
}

static void released(struct srd_source *source)
{
    (void)source;
    fail();
}

static const struct srd_source_ops ops = { .expired = expired, .free = released };

static uint64_t earliest(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < COUNT; i++)
        if (set_to[i] < least)
            least = set_to[i];
    return least;
}

static uint64_t next_ms(void)
{
    uint64_t until_ns = srd_timer_sleep_until(UINT64_MAX);

    return until_ns == UINT64_MAX ? UINT64_MAX : until_ns / 1000000;
}

static void set(int i, uint64_t deadline_ms)
{
    srd_source_deadline(&sources[i], deadline_ms);
    set_to[i] = deadline_ms;
    assert_int_equal(atomic_load(&sources[i].refs), deadline_ms == UINT64_MAX ? 1 : 2);
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(standby_init(&srd_engine.standby), 0);
    for (int i = 0; i < COUNT; i++) {
        srd_source_init(&sources[i], &ops, -1);
        set_to[i] = UINT64_MAX;
    }
    expired_count = 0;
    stopped_ms = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        srd_source_deadline(&sources[i], UINT64_MAX);
    assert_true(next_ms() == UINT64_MAX);
    standby_fini(&srd_engine.standby);
    return 0;
}

static void the_next_is_the_earliest(void **state)
{
    uint64_t far_ms = clock_now_ms() + 1000000;
    unsigned seed = 1;

    (void)state;
    assert_true(next_ms() == UINT64_MAX);
    for (int round = 0; round < 5000; round++) {
        int i = rand_r(&seed) % COUNT;

        set(i, rand_r(&seed) % 3 ? far_ms + (unsigned)rand_r(&seed) % 500 : UINT64_MAX);
        assert_true(next_ms() == earliest());
    }
}

static void those_that_have_passed_expire_in_order(void **state)
{
    uint64_t now_ms = clock_now_ms(), was[COUNT];
    unsigned seed = 2;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        set(i, was[i] = i % 4 ? now_ms - 1 - (unsigned)rand_r(&seed) % 50 : now_ms + 1000000);
    srd_timer_run();
    assert_int_equal(expired_count, COUNT * 3 / 4);
    for (unsigned k = 0; k < expired_count; k++) {
        assert_int_not_equal(order[k] % 4, 0);
        assert_int_equal(atomic_load(&sources[order[k]].refs), 1);
        assert_true(!k || was[order[k - 1]] <= was[order[k]]);
    }
    assert_true(next_ms() == earliest());
    srd_timer_run();
    assert_int_equal(expired_count, COUNT * 3 / 4); /* once */
}

/* The thread sleeps until what it was told is next: an earlier deadline wakes it, no later one does. */
static void an_earlier_deadline_wakes_who_waits(void **state)
{
    struct pollfd kicked = { .fd = srd_engine.standby.kick_fd, .events = POLLIN };
    uint64_t far_ms = clock_now_ms() + 1000000;

    (void)state;
    next_ms();
    set(0, far_ms);
    assert_int_equal(poll(&kicked, 1, 0), 1);
    standby_kicked(&srd_engine.standby);
    assert_int_equal(poll(&kicked, 1, 0), 0);
    assert_true(next_ms() == far_ms);
    set(1, far_ms + 1);
    set(0, UINT64_MAX);
    assert_int_equal(poll(&kicked, 1, 0), 0);
    set(2, far_ms - 1);
    assert_int_equal(poll(&kicked, 1, 0), 1);
}

static void soon(int i)
{
    srd_source_soon(&sources[i]);
    assert_true(srd_source_is_soon(&sources[i]));
    set_to[i] = atomic_load(&sources[i].deadline_ms);
}

/* What is soon is due one millisecond later, however often it is said to be. */
static void what_is_soon_keeps_its_time(void **state)
{
    (void)state;
    stopped_ms = 5000;
    soon(0);
    assert_int_equal(next_ms(), 5001);
    srd_timer_run();
    assert_int_equal(expired_count, 0);
    stopped_ms = 5001;
    soon(0);
    assert_int_equal(next_ms(), 5001);
    srd_timer_run();
    assert_int_equal(expired_count, 1);
    assert_false(srd_source_is_soon(&sources[0]));
    assert_int_equal(atomic_load(&sources[0].refs), 1);
    soon(0);
    assert_int_equal(next_ms(), 5002);
}

/* Who is about to sleep serves what is soon, before its time, and nothing else. */
static void what_is_soon_is_served_before_a_sleep(void **state)
{
    (void)state;
    stopped_ms = 5000;
    set(0, 5002);
    soon(1);
    soon(2);
    srd_timer_run_soon();
    assert_int_equal(expired_count, 2);
    assert_int_equal(next_ms(), 5002);
    srd_timer_run_soon();
    assert_int_equal(expired_count, 2);
}

static bool busy[COUNT];

static bool is_idle(struct srd_source *source)
{
    return !busy[source - sources];
}

/* What has nothing to serve keeps its deadline, and does not stand in the way of others. */
static void what_is_idle_keeps_its_deadline(void **state)
{
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    for (int i = 0; i < 3; i++) {
        sources[i].ops = &idle_ops;
        soon(i);
    }
    srd_timer_run_soon();
    assert_int_equal(expired_count, 0);
    busy[2] = true;
    srd_timer_run_soon();
    assert_int_equal(expired_count, 1);
    assert_int_equal(order[0], 2);
    assert_true(srd_source_is_soon(&sources[0]));
    assert_true(srd_source_is_soon(&sources[1]));
    assert_int_equal(next_ms(), 5001);
    stopped_ms = 5001;
    srd_timer_run();
    assert_int_equal(expired_count, 3);
    busy[2] = false;
}

/* However many of them there are. */
static void what_is_soon_is_found_behind_many_that_are_idle(void **state)
{
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    for (int i = 0; i < 100; i++) {
        sources[i].ops = &idle_ops;
        soon(i);
    }
    busy[99] = true;
    srd_timer_run_soon();
    assert_false(srd_source_is_soon(&sources[99]));
    busy[99] = false;
}

static void again(struct srd_source *source)
{
    order[expired_count++] = (unsigned)(source - sources);
    srd_source_soon(source);
}

/* As a source does whose descriptor is busy: its turn comes again at the next sleep. */
static void what_is_soon_again_waits_for_its_next_turn(void **state)
{
    static const struct srd_source_ops again_ops = { .expired = again, .free = released };

    (void)state;
    stopped_ms = 5000;
    sources[0].ops = &again_ops;
    soon(0);
    srd_timer_run_soon();
    assert_int_equal(expired_count, 1);
    assert_true(srd_source_is_soon(&sources[0]));
    srd_timer_run();
    assert_int_equal(expired_count, 1);
    stopped_ms = 5001;
    srd_timer_run();
    assert_int_equal(expired_count, 2);
    assert_int_equal(next_ms(), 5002);
}

/* Another deadline of the source that comes first serves both, and one that comes later gives way. */
static void what_is_soon_and_another_deadline_are_one(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_due(&sources[0], 5000);
    srd_source_soon(&sources[0]);
    assert_int_equal(next_ms(), 5000);
    assert_false(srd_source_is_soon(&sources[0]));
    srd_timer_run_soon();
    assert_int_equal(expired_count, 0);
    srd_timer_run();
    assert_int_equal(expired_count, 1);
    srd_source_due(&sources[0], 9000);
    soon(0);
    assert_int_equal(next_ms(), 5001);
    srd_source_due(&sources[0], 9000);
    assert_int_equal(next_ms(), 5001);
}

/* A sleep that ends by itself, in time for what is soon, is not ended for it. */
static void a_sleep_that_is_short_enough_is_not_ended(void **state)
{
    struct pollfd kicked = { .fd = srd_engine.standby.kick_fd, .events = POLLIN };

    (void)state;
    stopped_ms = 5000;
    assert_true(srd_timer_sleep_until(5001300000) == 5001300000);
    soon(0);
    assert_int_equal(poll(&kicked, 1, 0), 0);
    assert_true(srd_timer_sleep_until(5001300000) == 5001000000);
    srd_timer_run_soon();
    assert_true(srd_timer_sleep_until(5002300000) == 5002300000);
    soon(0);
    assert_int_equal(poll(&kicked, 1, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_next_is_the_earliest, setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_have_passed_expire_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(an_earlier_deadline_wakes_who_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_keeps_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_is_served_before_a_sleep, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_idle_keeps_its_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_soon_is_found_behind_many_that_are_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_soon_again_waits_for_its_next_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_and_another_deadline_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_sleep_that_is_short_enough_is_not_ended, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
