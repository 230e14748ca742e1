/* SPDX-License-Identifier: MIT */
/* Deadlines of sources, without the background thread: which is next, which have passed, in which order. */
#include "reactor/internal.h"
#include "softrdma/events/source.h"
#include "util/clock.h"

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

static uint32_t nothing_wanted(struct srd_source *source)
{
    (void)source;
    return 0;
}

static const struct srd_source_ops ops = {
    .expired = expired, .interest = nothing_wanted, .free = released
};

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
    uint64_t until_ns = atomic_load(&reactor.next_deadline_ns);

    return until_ns == REACTOR_NEVER ? UINT64_MAX : until_ns / 1000000;
}

static void set(int i, uint64_t deadline_ms)
{
    srd_source_deadline(&sources[i], deadline_ms);
    set_to[i] = deadline_ms;
}

static int group_setup(void **state)
{
    (void)state;
    return reactor_lend(); /* and no thread serves */
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        srd_source_init(&sources[i], &ops, -1);
        assert_int_equal(srd_source_add(&sources[i]), 0);
        set_to[i] = UINT64_MAX;
    }
    expired_count = 0;
    stopped_ms = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        srd_source_remove(&sources[i]);
        assert_int_equal(atomic_load(&sources[i].reactor.refs), 1);
    }
    stopped_ms = 0;
    reactor_look(); /* what was soon has passed */
    assert_true(next_ms() == UINT64_MAX);
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
    reactor_look();
    assert_int_equal(expired_count, COUNT * 3 / 4);
    for (unsigned k = 0; k < expired_count; k++) {
        assert_int_not_equal(order[k] % 4, 0);
        assert_true(!k || was[order[k - 1]] <= was[order[k]]);
    }
    assert_true(next_ms() == earliest());
    reactor_look();
    assert_int_equal(expired_count, COUNT * 3 / 4); /* once */
}

static void soon(int i)
{
    srd_source_soon(&sources[i]);
    assert_true(srd_source_is_soon(&sources[i]));
    set_to[i] = sources[i].soon_ms;
}

/* What is soon is due one millisecond after the first call, however many follow. */
static void what_is_soon_keeps_its_time(void **state)
{
    (void)state;
    stopped_ms = 5000;
    soon(0);
    assert_int_equal(next_ms(), 5001);
    reactor_look();
    assert_int_equal(expired_count, 0);
    stopped_ms = 5001;
    soon(0);
    assert_int_equal(next_ms(), 5001);
    reactor_look();
    assert_int_equal(expired_count, 1);
    assert_false(srd_source_is_soon(&sources[0]));
    soon(0);
    assert_int_equal(next_ms(), 5002);
}

/* A thread that is about to sleep serves what is soon, before its time, and nothing else. */
static void what_is_soon_is_served_before_a_sleep(void **state)
{
    (void)state;
    stopped_ms = 5000;
    set(0, 5002);
    soon(1);
    soon(2);
    srd_run_soon();
    assert_int_equal(expired_count, 2);
    srd_run_soon();
    assert_int_equal(expired_count, 2);
    stopped_ms = 5001; /* the list's time stays, and passes for nothing */
    reactor_look();
    assert_int_equal(expired_count, 2);
    assert_int_equal(next_ms(), 5002);
}

static bool busy[COUNT];

static unsigned idle_asked;

static bool is_idle(struct srd_source *source)
{
    idle_asked++;
    return !busy[source - sources];
}

/* What has nothing to serve keeps its deadline, and does not stand in the way of others. */
static void what_is_idle_keeps_its_deadline(void **state)
{
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .interest = nothing_wanted, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    for (int i = 0; i < 3; i++) {
        sources[i].ops = &idle_ops;
        soon(i);
    }
    srd_run_soon();
    assert_int_equal(expired_count, 0);
    busy[2] = true;
    srd_run_soon();
    assert_int_equal(expired_count, 1);
    assert_int_equal(order[0], 2);
    assert_true(srd_source_is_soon(&sources[0]));
    assert_true(srd_source_is_soon(&sources[1]));
    assert_int_equal(next_ms(), 5001);
    stopped_ms = 5001;
    reactor_look();
    assert_int_equal(expired_count, 3);
    busy[2] = false;
}

/* The time of what is spent ends no sleep; what is idle and not spent keeps it. */
static void what_is_spent_is_not_soon_in_a_sleep(void **state)
{
    static const struct srd_source_ops spent_ops = { .expired = expired,
        .interest = nothing_wanted,
        .idle = is_idle,
        .spent = is_idle,
        .free = released };
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .interest = nothing_wanted, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    sources[0].ops = sources[1].ops = &spent_ops;
    sources[2].ops = &idle_ops;
    soon(0);
    srd_run_soon();
    assert_int_equal(next_ms(), 5001); /* a thread that polls leaves it */
    srd_end_soon();
    assert_int_equal(expired_count, 0);
    assert_false(srd_source_is_soon(&sources[0]));
    assert_true(next_ms() == UINT64_MAX);
    soon(0);
    assert_int_equal(next_ms(), 5001); /* as the first time */
    soon(1);
    soon(2);
    srd_watch_set(
        &sources[1].watch, SRD_WATCH_PAUSED); /* it is looked at again when its time has come */
    srd_end_soon();
    assert_false(srd_source_is_soon(&sources[0]));
    assert_true(srd_source_is_soon(&sources[1]));
    assert_true(srd_source_is_soon(&sources[2]));
    assert_int_equal(expired_count, 0);
    assert_int_equal(next_ms(), 5001);
    busy[0] = true;
    soon(0);
    srd_end_soon();
    assert_int_equal(expired_count, 1);
    assert_int_equal(order[0], 0);
    busy[0] = false;
    srd_watch_clear(&sources[1].watch, SRD_WATCH_PAUSED);
}

/* However many of them there are. */
static void what_is_soon_is_found_behind_many_that_are_idle(void **state)
{
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .interest = nothing_wanted, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    for (int i = 0; i < 100; i++) {
        sources[i].ops = &idle_ops;
        soon(i);
    }
    busy[99] = true;
    srd_run_soon();
    assert_false(srd_source_is_soon(&sources[99]));
    busy[99] = false;
}

/* A thread that sleeps again and again passes a few of them each time, not all. */
static void many_that_are_idle_are_passed_once(void **state)
{
    static const struct srd_source_ops idle_ops = {
        .expired = expired, .interest = nothing_wanted, .idle = is_idle, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    for (int i = 0; i < 100; i++) {
        sources[i].ops = &idle_ops;
        soon(i);
    }
    srd_run_soon();
    assert_int_equal(expired_count, 84);
    assert_true(srd_source_is_soon(&sources[15]));
    assert_false(srd_source_is_soon(&sources[16]));
    idle_asked = 0;
    srd_run_soon();
    assert_int_equal(idle_asked, 16);
    assert_int_equal(expired_count, 84);
}

static void again(struct srd_source *source)
{
    order[expired_count++] = (unsigned)(source - sources);
    srd_source_soon(source);
}

/* As a source does whose descriptor is busy: its turn comes again at the next sleep. */
static void what_is_soon_again_waits_for_its_next_turn(void **state)
{
    static const struct srd_source_ops again_ops = {
        .expired = again, .interest = nothing_wanted, .free = released
    };

    (void)state;
    stopped_ms = 5000;
    sources[0].ops = &again_ops;
    soon(0);
    srd_run_soon();
    assert_int_equal(expired_count, 1);
    assert_true(srd_source_is_soon(&sources[0]));
    reactor_look();
    assert_int_equal(expired_count, 1);
    stopped_ms = 5001;
    reactor_look();
    assert_int_equal(expired_count, 2);
    assert_int_equal(next_ms(), 5002);
}

/* What is soon and another deadline of the source are two, whichever comes first. */
static void what_is_soon_and_another_deadline_are_two(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_due(&sources[0], 5000);
    soon(0);
    assert_int_equal(next_ms(), 5000);
    reactor_look();
    assert_int_equal(expired_count, 1);
    assert_true(srd_source_is_soon(&sources[0]));
    srd_run_soon();
    assert_int_equal(expired_count, 2);
    srd_source_due(&sources[0], 9000);
    soon(0);
    assert_int_equal(next_ms(), 5001);
    srd_source_due(&sources[0], 9001); /* later: no change */
    stopped_ms = 9000;
    reactor_look();
    assert_int_equal(expired_count, 4);
}

static unsigned served;
static bool taken; /* by another thread, or it is in the middle of it */

static bool serve(struct srd_source *source, uint32_t events, bool background)
{
    (void)source, (void)events, (void)background;
    served++;
    return !taken;
}

/* The reactor finds its descriptor ready. Returns whether it is paused then. */
static bool pauses(int i, enum reactor_how how)
{
    static const struct srd_source_ops ready_ops = {
        .ready = serve, .expired = expired, .interest = nothing_wanted, .free = released
    };

    sources[i].ops = &ready_ops;
    served = 0;
    sources[i].reactor.ops->ready(&sources[i].reactor, 1, how);
    return srd_watch_has(&sources[i].watch, SRD_WATCH_PAUSED);
}

/* One that is polled all the time is looked at once a millisecond, and no more. */
static void what_is_polled_stays_paused(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_polled(&sources[0]);
    assert_true(pauses(0, REACTOR_BACKGROUND));
    assert_int_equal(served, 0);
    for (stopped_ms = 5001; stopped_ms < 5010; stopped_ms++) {
        srd_source_polled(&sources[0]);
        reactor_look();
        assert_true(srd_watch_has(&sources[0].watch, SRD_WATCH_PAUSED));
        srd_run_soon(); /* it is idle, or served: still paused */
        assert_true(srd_watch_has(&sources[0].watch, SRD_WATCH_PAUSED));
    }
    stopped_ms++;
    reactor_look();
    stopped_ms++;
    reactor_look();
    assert_false(srd_watch_has(&sources[0].watch, SRD_WATCH_PAUSED));
}

/* A thread that waits may be the one that polled: it is another when that has taken what was there. */
static void what_is_polled_is_served_by_a_wait(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_polled(&sources[0]);
    assert_false(pauses(0, REACTOR_WAITING));
    assert_int_equal(served, 1);
    taken = true;
    assert_false(pauses(0, REACTOR_WAITING));
    srd_source_polled(&sources[0]);
    assert_true(pauses(0, REACTOR_WAITING));
    assert_int_equal(served, 1);
    assert_true(pauses(1, REACTOR_BACKGROUND)); /* the program is in the middle of it */
    taken = false;
}

/* A thread that polls and finds it in the set needs it there, whatever other threads do with it. */
static void what_a_poll_finds_in_the_set_is_not_paused(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_polled(&sources[0]);
    assert_false(pauses(0, REACTOR_LOOKING));
    assert_int_equal(served, 1);
    assert_false(pauses(0, REACTOR_BACKGROUND));
    assert_int_equal(served, 1);
    srd_source_polled(&sources[0]); /* and found there no more */
    assert_true(pauses(0, REACTOR_BACKGROUND));
    assert_int_equal(served, 0);
}

/* The thread that leaves it has it watched again at once. */
static void what_is_left_is_not_paused(void **state)
{
    (void)state;
    stopped_ms = 5000;
    srd_source_polled(&sources[0]);
    assert_true(pauses(0, REACTOR_BACKGROUND));
    srd_source_leave(&sources[0]);
    assert_false(srd_watch_has(&sources[0].watch, SRD_WATCH_PAUSED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_next_is_the_earliest, setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_have_passed_expire_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_keeps_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_is_served_before_a_sleep, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_idle_keeps_its_deadline, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_spent_is_not_soon_in_a_sleep, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_soon_is_found_behind_many_that_are_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(many_that_are_idle_are_passed_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_soon_again_waits_for_its_next_turn, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_soon_and_another_deadline_are_two, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_polled_stays_paused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_polled_is_served_by_a_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_a_poll_finds_in_the_set_is_not_paused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_left_is_not_paused, setup, teardown),
    };

    return cmocka_run_group_tests(tests, group_setup, NULL);
}
