/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"

#include "util/standby.h"

#include <poll.h>

static bool kicked(struct standby *standby)
{
    struct pollfd pfd = { .fd = standby->kick_fd, .events = POLLIN };

    return poll(&pfd, 1, 0) == 1;
}

static int setup(void **state)
{
    static struct standby standby;

    *state = &standby;
    return standby_init(&standby);
}

static int teardown(void **state)
{
    standby_fini(*state);
    return 0;
}

static void test_standby_is_quiet_only_without_activity_since_the_last_look(void **state)
{
    struct standby *standby = *state;
    unsigned seen = 0;

    assert_true(standby_quiet(standby, &seen));
    standby_active(standby);
    assert_false(standby_quiet(standby, &seen));
    assert_true(standby_quiet(standby, &seen));
}

static void test_standby_is_not_quiet_while_a_foreground_thread_sleeps(void **state)
{
    struct standby *standby = *state;
    unsigned seen = 0;

    standby_sleep_begin(standby);
    assert_false(standby_quiet(standby, &seen));
    assert_false(standby_quiet(standby, &seen));
    standby_sleep_end(standby);
    assert_false(standby_quiet(standby, &seen)); /* ending a sleep is activity */
    assert_true(standby_quiet(standby, &seen));
}

static void test_standby_parks_only_while_attended_and_the_last_sleeper_kicks(void **state)
{
    struct standby *standby = *state;

    assert_false(standby_park(standby));
    standby_sleep_begin(standby);
    standby_sleep_begin(standby);
    assert_true(standby_park(standby));
    standby_sleep_end(standby);
    assert_false(kicked(standby));
    standby_sleep_end(standby);
    assert_true(kicked(standby));
    standby_kicked(standby);
    assert_false(kicked(standby));
}

static void test_standby_sleeper_does_not_kick_a_background_thread_that_ticks(void **state)
{
    struct standby *standby = *state;

    standby_sleep_begin(standby);
    assert_true(standby_park(standby));
    standby_unpark(standby);
    standby_sleep_end(standby);
    assert_false(kicked(standby));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_standby_is_quiet_only_without_activity_since_the_last_look, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_standby_is_not_quiet_while_a_foreground_thread_sleeps, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_standby_parks_only_while_attended_and_the_last_sleeper_kicks, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_standby_sleeper_does_not_kick_a_background_thread_that_ticks, setup, teardown),
    };

    return cmocka_run_group_tests_name("util.standby", tests, NULL, NULL);
}
