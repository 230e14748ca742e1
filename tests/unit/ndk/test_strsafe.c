/* SPDX-License-Identifier: MIT */
/*
 * test_strsafe.c - ntstrsafe.h's functions of ndkwdm.h: units, codes, the text that was cut. Compiled for each width of
 * wchar_t. Sources: Microsoft's pages of the functions. What <strsafe.h> has in common is tested as its own
 * (tests/unit/compat).
 */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <stdlib.h>

#define OK       ((NTSTATUS)SPEC_STATUS_SUCCESS)
#define OVERFLOW ((NTSTATUS)SPEC_STATUS_BUFFER_OVERFLOW)
#define INVALID  ((NTSTATUS)SPEC_STATUS_INVALID_PARAMETER)

enum { ROOM = 8 };

static size_t length_of(const WCHAR *text)
{
    size_t length = 0;

    assert_int_equal(RtlStringCchLengthW(text, NTSTRSAFE_MAX_CCH, &length), OK);
    return length;
}

static void narrow_text_is_put_together(void **state)
{
    char text[ROOM];
    size_t length = 0;

    (void)state;
    assert_int_equal(RtlStringCbCopyA(text, sizeof(text), "ab"), OK);
    assert_int_equal(RtlStringCchCatA(text, ROOM, "cd"), OK);
    assert_int_equal(RtlStringCbCatNA(text, sizeof(text), "efgh", 2), OK);
    assert_string_equal(text, "abcdef");
    assert_int_equal(RtlStringCbLengthA(text, sizeof(text), &length), OK);
    assert_int_equal(length, 6);
    assert_int_equal(RtlStringCchCatA(text, ROOM, "ghi"), OVERFLOW);
    assert_string_equal(text, "abcdefg");
    assert_int_equal(RtlStringCbPrintfA(text, sizeof(text), "%s-%04X", "p", 0x2bu), OK);
    assert_string_equal(text, "p-002B");
    assert_int_equal(RtlStringCchPrintfA(text, 0, "x"), INVALID);
    assert_int_equal(RtlStringCchCopyA(NULL, ROOM, "x"), INVALID);
}

static void wide_text_counts_in_its_unit(void **state)
{
    WCHAR text[ROOM];
    size_t length = 0;

    (void)state;
    assert_int_equal(RtlStringCbCopyW(text, 4 * sizeof(WCHAR), L"abcdef"), OVERFLOW);
    assert_int_equal(length_of(text), 3);
    assert_int_equal(RtlStringCchCopyW(text, 4, L"abc"), OK);
    assert_int_equal(RtlStringCbCopyNW(text, sizeof(text), L"uvwxyz", 4 * sizeof(WCHAR)), OK);
    assert_int_equal(length_of(text), 4);
    assert_int_equal(RtlStringCbLengthW(text, sizeof(text), &length), OK);
    assert_int_equal(length, 4 * sizeof(WCHAR));
    assert_int_equal(RtlStringCchPrintfW(text, ROOM, L"%ws%d", L"n", 42), OK);
    assert_int_equal(length_of(text), 3);
    assert_int_equal(text[2], '2');
}

static void formats_arguments_of_the_caller(char *to, size_t room, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    assert_int_equal(RtlStringCbVPrintfA(to, room, format, arguments), OK);
    va_end(arguments);
}

static void ex_forms_tell_the_end(void **state)
{
    char text[ROOM], *end = NULL;
    WCHAR wide[ROOM], *wide_end = NULL;
    size_t left = 0;

    (void)state;
    assert_int_equal(RtlStringCbPrintfExA(text, sizeof(text), &end, &left, 0, "%d", 123), OK);
    assert_ptr_equal(end, text + 3);
    assert_int_equal(left, ROOM - 3);
    assert_int_equal(RtlStringCbCopyExW(wide, sizeof(wide), L"ab", &wide_end, &left, 0), OK);
    assert_ptr_equal(wide_end, wide + 2);
    assert_int_equal(left, sizeof(wide) - 2 * sizeof(WCHAR));
    assert_int_equal(
        RtlStringCchCatExA(text, ROOM, "456789", NULL, NULL, STRSAFE_NO_TRUNCATION), OVERFLOW);
    assert_string_equal(text, "123");
    assert_int_equal(RtlStringCchCopyExA(text, ROOM, NULL, NULL, NULL, STRSAFE_IGNORE_NULLS), OK);
    assert_string_equal(text, "");
    assert_int_equal(RtlStringCchCopyExA(text, ROOM, "x", NULL, NULL, 0x2000), INVALID);
    formats_arguments_of_the_caller(text, sizeof(text), "%s%u", "q", 7u);
    assert_string_equal(text, "q7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_text_is_put_together),
        cmocka_unit_test(wide_text_counts_in_its_unit),
        cmocka_unit_test(ex_forms_tell_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
