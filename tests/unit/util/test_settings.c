/* SPDX-License-Identifier: MIT */
#include "cmocka_test.h"
#include "log_catch.h"

#include "util/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_text_is_null_where_nothing_is_set(void **state)
{
    (void)state;
    unsetenv("NDSPI_DEVICE");
    assert_null(setting_text("NDSPI_DEVICE"));
    setenv("NDSPI_DEVICE", "", 1);
    assert_null(setting_text("NDSPI_DEVICE"));
    setenv("NDSPI_DEVICE", "soft", 1);
    assert_string_equal(setting_text("NDSPI_DEVICE"), "soft");
}

static void test_numbers_are_digits_in_range(void **state)
{
    (void)state;
    unsetenv("NDSPI_SOFT_SPEAK_MS");
    assert_int_equal(setting_number("NDSPI_SOFT_SPEAK_MS", 7, 1000), 7);
    setenv("NDSPI_SOFT_SPEAK_MS", "", 1);
    assert_int_equal(setting_number("NDSPI_SOFT_SPEAK_MS", 7, 1000), 7);
    setenv("NDSPI_SOFT_SPEAK_MS", "0", 1);
    assert_int_equal(setting_number("NDSPI_SOFT_SPEAK_MS", 7, 1000), 0);
    setenv("NDSPI_SOFT_SPEAK_MS", "1000", 1);
    assert_int_equal(setting_number("NDSPI_SOFT_SPEAK_MS", 7, 1000), 1000);
}

static void test_a_bad_number_is_warned_of_once_and_counts_as_not_set(void **state)
{
    static const char *const bad[] = { "5s", "-1", "+1", " 1", "0x10", "1001", "many",
        "99999999999999999999" };

    (void)state;
    log_catch();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("NDSPI_SOFT_PATIENCE_MS", bad[i], 1);
        assert_int_equal(setting_number("NDSPI_SOFT_PATIENCE_MS", 7, 1000), 7);
    }
    assert_string_equal(log_caught(),
        "ndspi: warn: device: NDSPI_SOFT_PATIENCE_MS=5s: expected a number from 0 to 1000, in "
        "digits alone; ignored\n");
}

static void test_a_switch_is_0_or_1(void **state)
{
    (void)state;
    unsetenv("NDSPI_SOFT_CRC");
    assert_false(setting_on("NDSPI_SOFT_CRC"));
    setenv("NDSPI_SOFT_CRC", "1", 1);
    assert_true(setting_on("NDSPI_SOFT_CRC"));
    setenv("NDSPI_SOFT_CRC", "0", 1);
    assert_false(setting_on("NDSPI_SOFT_CRC"));
    log_catch();
    for (int i = 0; i < 2; i++) {
        setenv("NDSPI_SOFT_CRC", "no", 1);
        assert_false(setting_on("NDSPI_SOFT_CRC"));
        setenv("NDSPI_SOFT_CRC", "10", 1);
        assert_false(setting_on("NDSPI_SOFT_CRC"));
    }
    assert_string_equal(
        log_caught(), "ndspi: warn: device: NDSPI_SOFT_CRC=no: expected 0 or 1; ignored\n");
}

static void test_a_switch_may_be_on_by_default(void **state)
{
    (void)state;
    unsetenv("NDSPI_SOFT_SHM");
    assert_false(setting_off("NDSPI_SOFT_SHM"));
    setenv("NDSPI_SOFT_SHM", "", 1);
    assert_false(setting_off("NDSPI_SOFT_SHM"));
    setenv("NDSPI_SOFT_SHM", "1", 1);
    assert_false(setting_off("NDSPI_SOFT_SHM"));
    setenv("NDSPI_SOFT_SHM", "0", 1);
    assert_true(setting_off("NDSPI_SOFT_SHM"));
    log_catch();
    setenv("NDSPI_SOFT_SHM", "off", 1);
    assert_false(setting_off("NDSPI_SOFT_SHM"));
    assert_string_equal(
        log_caught(), "ndspi: warn: device: NDSPI_SOFT_SHM=off: expected 0 or 1; ignored\n");
}

static void test_a_word_is_one_of_several(void **state)
{
    static const char *const words[] = { "0", "1", "log", NULL };

    (void)state;
    unsetenv("NDK_VERIFIER");
    assert_int_equal(setting_word("NDK_VERIFIER", words), 0);
    setenv("NDK_VERIFIER", "", 1);
    assert_int_equal(setting_word("NDK_VERIFIER", words), 0);
    setenv("NDK_VERIFIER", "0", 1);
    assert_int_equal(setting_word("NDK_VERIFIER", words), 0);
    setenv("NDK_VERIFIER", "1", 1);
    assert_int_equal(setting_word("NDK_VERIFIER", words), 1);
    setenv("NDK_VERIFIER", "log", 1);
    assert_int_equal(setting_word("NDK_VERIFIER", words), 2);
    log_catch();
    for (int i = 0; i < 2; i++) {
        setenv("NDK_VERIFIER", "logs", 1);
        assert_int_equal(setting_word("NDK_VERIFIER", words), 0);
    }
    assert_string_equal(log_caught(),
        "ndspi: warn: device: NDK_VERIFIER=logs: expected one of 0, 1, log; ignored\n");
}

static void test_unknown_names_are_found(void **state)
{
    char *const variables[] = { "PATH=/bin", "NDSPI_DEVCIE=soft", "NDSPI_DEVICE=soft", "NDSPI=1",
        "NDSPI_LOG", "NDSPI_LOGS=1", "NDSPI_TEST_ANY=1", "NDSPI_WINE=/wine", "NDSPI_=", NULL };
    char *const *at = variables;

    (void)state;
    assert_string_equal(setting_unknown(&at), "NDSPI_DEVCIE=soft");
    assert_string_equal(setting_unknown(&at), "NDSPI_LOGS=1");
    assert_string_equal(setting_unknown(&at), "NDSPI_=");
    assert_null(setting_unknown(&at));
    assert_null(setting_unknown(&at));
}

static void test_names_have_their_places(void **state)
{
    size_t count = 0;

    (void)state;
    for (; setting_name(count); count++)
        assert_int_equal(setting_index(setting_name(count)), count);
    assert_true(count > 0 && count <= 32);
    assert_int_equal(setting_index("NDSPI_DEVCIE"), count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_null_where_nothing_is_set),
        cmocka_unit_test(test_numbers_are_digits_in_range),
        cmocka_unit_test(test_a_bad_number_is_warned_of_once_and_counts_as_not_set),
        cmocka_unit_test(test_a_switch_is_0_or_1),
        cmocka_unit_test(test_a_switch_may_be_on_by_default),
        cmocka_unit_test(test_a_word_is_one_of_several),
        cmocka_unit_test(test_unknown_names_are_found),
        cmocka_unit_test(test_names_have_their_places),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
