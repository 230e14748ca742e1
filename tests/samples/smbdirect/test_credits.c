/* SPDX-License-Identifier: MIT */
/* test_credits.c - the arithmetic of credits. */
#include "tests/unit/util/cmocka_test.h"

#include "smbd_credits.h"

static void a_target_has_bounds(void **state)
{
    SMBD_CREDITS credits = { .Most = 100 };

    (void)state;
    SmbdCreditsAsked(&credits, 50);
    assert_int_equal(credits.Target, 50);
    SmbdCreditsAsked(&credits, 1);
    assert_int_equal(credits.Target, 8);
    SmbdCreditsAsked(&credits, 65535);
    assert_int_equal(credits.Target, 100);
}

static void each_message_takes_one_and_grants_what_is_there(void **state)
{
    SMBD_CREDITS credits = { .Posted = 10, .Granted = 4, .Send = 3 };

    (void)state;
    assert_int_equal(SmbdCreditsToGrant(&credits), 6);
    assert_int_equal(SmbdCreditsSent(&credits), 6);
    assert_int_equal(credits.Send, 2);
    assert_int_equal(credits.Granted, 10);
    assert_int_equal(SmbdCreditsSent(&credits), 0);
    assert_int_equal(credits.Send, 1);
}

static void the_last_is_for_one_that_grants(void **state)
{
    SMBD_CREDITS credits = { .Posted = 10, .Granted = 10, .Send = 2 };

    (void)state;
    assert_true(SmbdCreditsMaySend(&credits));
    credits.Send = 1;
    assert_false(SmbdCreditsMaySend(&credits));
    credits.Granted = 9;
    assert_true(SmbdCreditsMaySend(&credits));
    credits.Send = 0;
    assert_false(SmbdCreditsMaySend(&credits));
}

static void what_arrives_was_granted(void **state)
{
    SMBD_CREDITS credits = { .Posted = 10, .Granted = 1 };

    (void)state;
    assert_true(SmbdCreditsReceived(&credits, 7));
    assert_int_equal(credits.Posted, 9);
    assert_int_equal(credits.Granted, 0);
    assert_int_equal(credits.Send, 7);
    assert_false(SmbdCreditsReceived(&credits, 7));
    assert_int_equal(credits.Send, 7);
}

static void half_used_is_granted_again(void **state)
{
    SMBD_CREDITS credits = { .Target = 10, .Posted = 10, .Granted = 6, .Told = TRUE };

    (void)state;
    assert_false(SmbdCreditsGrantDue(&credits));
    credits.Granted = 5;
    assert_true(SmbdCreditsGrantDue(&credits));
    credits.Posted = 5;
    assert_false(SmbdCreditsGrantDue(&credits));
}

static void the_first_grant_waits_for_a_message(void **state)
{
    SMBD_CREDITS credits = { .Target = 10, .Posted = 10, .Send = 2 };

    (void)state;
    assert_false(SmbdCreditsGrantDue(&credits));
    assert_int_equal(SmbdCreditsSent(&credits), 10);
    credits.Granted = 0;
    assert_true(SmbdCreditsGrantDue(&credits));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_has_bounds),
        cmocka_unit_test(each_message_takes_one_and_grants_what_is_there),
        cmocka_unit_test(the_last_is_for_one_that_grants),
        cmocka_unit_test(what_arrives_was_granted),
        cmocka_unit_test(half_used_is_granted_again),
        cmocka_unit_test(the_first_grant_waits_for_a_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
