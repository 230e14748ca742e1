/* SPDX-License-Identifier: MIT */
/* test_com_error.c - _com_error of comdef.h; under Wine MinGW's. */
#include "tests/support/win32_test.h"
#include "tests/unit/compat/com_error.h"

static void it_has_the_code_and_its_text(void **state)
{
    struct com_error_answers answers = { 0 };

    (void)state;
    com_error_ask(&answers);
    assert_int_equal(answers.error, (HRESULT)SPEC_E_OUTOFMEMORY);
    assert_int_equal(answers.copied, (HRESULT)SPEC_E_OUTOFMEMORY);
    assert_int_equal(answers.assigned, (HRESULT)SPEC_E_FAIL);
    assert_null(answers.information);
    assert_true(strlen(answers.text) > 5);
    assert_null(strpbrk(answers.text, "\r\n"));
    assert_ptr_equal(answers.text_again, answers.text_before);
    assert_string_equal(answers.unknown, "Unknown error 0x8FFF1234");
    assert_string_equal(answers.of_code_text, "IDispatch error #7664");
}

static void codes_of_interfaces_are_told(void **state)
{
    struct com_error_answers answers = { 0 };

    (void)state;
    com_error_ask(&answers);
    assert_int_equal(answers.none, 0);
    assert_int_equal(answers.first, 3);
    assert_int_equal(answers.beyond, 0);
    assert_int_equal(answers.of_code, (HRESULT)0x80040203);
    assert_int_equal(answers.of_large_code, (HRESULT)0x8004FFFF);
}

static void it_is_thrown_for_failures(void **state)
{
    struct com_error_answers answers = { 0 };

    (void)state;
    com_error_ask(&answers);
    assert_int_equal(answers.thrown, (HRESULT)SPEC_E_POINTER);
    assert_int_equal(answers.raised, (HRESULT)SPEC_E_ABORT);
    assert_int_equal(answers.last, 1); /* nothing was thrown */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_the_code_and_its_text),
        cmocka_unit_test(codes_of_interfaces_are_told),
        cmocka_unit_test(it_is_thrown_for_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
