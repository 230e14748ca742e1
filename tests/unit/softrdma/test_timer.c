/* SPDX-License-Identifier: MIT */
/* Deadlines of sources, without the thread that serves them: which is next, which have passed, in which order. */
#include "softrdma/engine.h"
#include "util/clock.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { COUNT = 200 };

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

static void set(int i, uint64_t deadline_ms)
{
    set_to[i] = deadline_ms;
    srd_source_deadline(&sources[i], deadline_ms);
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
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        srd_source_deadline(&sources[i], UINT64_MAX);
    assert_true(srd_timer_next() == UINT64_MAX);
    standby_fini(&srd_engine.standby);
    return 0;
}

static void the_next_is_the_earliest(void **state)
{
    uint64_t far_ms = clock_now_ms() + 1000000;
    unsigned seed = 1;

    (void)state;
    assert_true(srd_timer_next() == UINT64_MAX);
    for (int round = 0; round < 5000; round++) {
        int i = rand_r(&seed) % COUNT;

        set(i, rand_r(&seed) % 3 ? far_ms + (unsigned)rand_r(&seed) % 500 : UINT64_MAX);
        assert_true(srd_timer_next() == earliest());
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
    assert_true(srd_timer_next() == earliest());
    srd_timer_run();
    assert_int_equal(expired_count, COUNT * 3 / 4); /* once */
}

/* The thread sleeps until what it was told is next: an earlier deadline wakes it, no later one does. */
static void an_earlier_deadline_wakes_who_waits(void **state)
{
    struct pollfd kicked = { .fd = srd_engine.standby.kick_fd, .events = POLLIN };
    uint64_t far_ms = clock_now_ms() + 1000000;

    (void)state;
    srd_timer_next();
    set(0, far_ms);
    assert_int_equal(poll(&kicked, 1, 0), 1);
    standby_kicked(&srd_engine.standby);
    assert_int_equal(poll(&kicked, 1, 0), 0);
    assert_true(srd_timer_next() == far_ms);
    set(1, far_ms + 1);
    set(0, UINT64_MAX);
    assert_int_equal(poll(&kicked, 1, 0), 0);
    set(2, far_ms - 1);
    assert_int_equal(poll(&kicked, 1, 0), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_next_is_the_earliest, setup, teardown),
        cmocka_unit_test_setup_teardown(those_that_have_passed_expire_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(an_earlier_deadline_wakes_who_waits, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
