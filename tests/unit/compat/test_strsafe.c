/* SPDX-License-Identifier: MIT */
/* test_strsafe.c - the StringCch and StringCb functions. */
#include "tests/support/win32_test.h"

#define STRSAFE_NO_DEPRECATE
#include <strsafe.h>

#define TOO_SMALL ((HRESULT)SPEC_STRSAFE_E_INSUFFICIENT_BUFFER)
#define INVALID   ((HRESULT)SPEC_STRSAFE_E_INVALID_PARAMETER)

static char text[8];
static WCHAR wide[8];

static void test_copies(void **state)
{
    (void)state;
    assert_int_equal(StringCchCopyA(text, 8, "1234567"), S_OK);
    assert_string_equal(text, "1234567");
    assert_int_equal(StringCchCopyA(text, 4, "1234"), TOO_SMALL);
    assert_string_equal(text, "123");
    assert_int_equal(StringCchCopyA(text, 1, ""), S_OK);
    assert_string_equal(text, "");
    assert_int_equal(StringCchCopyW(wide, 8, L"1234567"), S_OK);
    assert_wide_equal(wide, L"1234567");
    assert_int_equal(StringCchCopyW(wide, 3, L"1234"), TOO_SMALL);
    assert_wide_equal(wide, L"12");
    assert_int_equal(StringCbCopyA(text, 3, "abc"), TOO_SMALL);
    assert_string_equal(text, "ab");
    assert_int_equal(StringCbCopyW(wide, 3 * sizeof(WCHAR) + 1, L"abc"), TOO_SMALL);
    assert_wide_equal(wide, L"ab");
    assert_int_equal(StringCbCopyW(wide, 4 * sizeof(WCHAR), L"abc"), S_OK);
    assert_wide_equal(wide, L"abc");
}

static void test_copies_of_a_part(void **state)
{
    (void)state;
    assert_int_equal(StringCchCopyNA(text, 8, "abcdef", 3), S_OK);
    assert_string_equal(text, "abc");
    assert_int_equal(StringCchCopyNA(text, 3, "abcdef", 3), TOO_SMALL);
    assert_string_equal(text, "ab");
    assert_int_equal(StringCchCopyNA(text, 8, "ab", 7), S_OK);
    assert_string_equal(text, "ab");
    assert_int_equal(StringCchCopyNW(wide, 8, L"abcdef", 0), S_OK);
    assert_wide_equal(wide, L"");
    assert_int_equal(StringCbCopyNA(text, 8, "abcdef", 4), S_OK);
    assert_string_equal(text, "abcd");
    assert_int_equal(StringCbCopyNW(wide, sizeof(wide), L"abcdef", 2 * sizeof(WCHAR)), S_OK);
    assert_wide_equal(wide, L"ab");
}

static void test_appending(void **state)
{
    (void)state;
    strcpy(text, "abc");
    assert_int_equal(StringCchCatA(text, 8, "de"), S_OK);
    assert_string_equal(text, "abcde");
    assert_int_equal(StringCchCatA(text, 8, "fgh"), TOO_SMALL);
    assert_string_equal(text, "abcdefg");
    assert_int_equal(StringCchCatA(text, 8, ""), S_OK);
    assert_int_equal(StringCchCatA(text, 8, "x"), TOO_SMALL);
    assert_string_equal(text, "abcdefg");
    wcscpy(wide, L"a");
    assert_int_equal(StringCchCatW(wide, 8, L"bc"), S_OK);
    assert_int_equal(StringCbCatW(wide, sizeof(wide), L"de"), S_OK);
    assert_wide_equal(wide, L"abcde");
    assert_int_equal(StringCchCatNW(wide, 8, L"xyz", 1), S_OK);
    assert_int_equal(StringCbCatNW(wide, sizeof(wide), L"yz", sizeof(WCHAR)), S_OK);
    assert_wide_equal(wide, L"abcdexy");
    strcpy(text, "");
    assert_int_equal(StringCchCatNA(text, 8, "abc", 2), S_OK);
    assert_int_equal(StringCbCatNA(text, 8, "cde", 1), S_OK);
    assert_int_equal(StringCbCatA(text, 8, "d"), S_OK);
    assert_string_equal(text, "abcd");
}

static HRESULT forward(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCchVPrintfA(to, room, format, arguments);
    va_end(arguments);
    if (hr != S_OK)
        return hr;
    va_start(arguments, format);
    hr = StringCbVPrintfA(to, room, format, arguments);
    va_end(arguments);
    return hr;
}

static HRESULT forward_wide(WCHAR *to, size_t room, const WCHAR *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCchVPrintfW(to, room, format, arguments);
    va_end(arguments);
    if (hr != S_OK)
        return hr;
    va_start(arguments, format);
    hr = StringCbVPrintfW(to, room * sizeof(WCHAR), format, arguments);
    va_end(arguments);
    return hr;
}

static void test_formats(void **state)
{
    (void)state;
    assert_int_equal(StringCchPrintfA(text, 8, "%d %S", 42, L"w"), S_OK);
    assert_string_equal(text, "42 w");
    assert_int_equal(StringCchPrintfA(text, 8, "%I64d", 1234567LL), S_OK);
    assert_string_equal(text, "1234567");
    assert_int_equal(StringCchPrintfA(text, 8, "%s", "12345678"), TOO_SMALL);
    assert_string_equal(text, "1234567");
    assert_int_equal(StringCchPrintfW(wide, 8, L"%s %S", L"a", "b"), S_OK);
    assert_wide_equal(wide, L"a b");
    assert_int_equal(StringCchPrintfW(wide, 4, L"%d", 12345), TOO_SMALL);
    assert_wide_equal(wide, L"123");
    assert_int_equal(StringCbPrintfA(text, 4, "%d", 12345), TOO_SMALL);
    assert_string_equal(text, "123");
    assert_int_equal(StringCbPrintfW(wide, 3 * sizeof(WCHAR), L"%d", 12345), TOO_SMALL);
    assert_wide_equal(wide, L"12");
    assert_int_equal(forward(text, 8, "%s-%u", "x", 7u), S_OK);
    assert_string_equal(text, "x-7");
    assert_int_equal(forward_wide(wide, 8, L"%s-%u", L"x", 7u), S_OK);
    assert_wide_equal(wide, L"x-7");
}

static void test_lengths(void **state)
{
    size_t length = 9;

    (void)state;
    assert_int_equal(StringCchLengthA("abc", 4, &length), S_OK);
    assert_int_equal(length, 3);
    assert_int_equal(StringCchLengthA("abc", 3, &length), INVALID);
    assert_int_equal(length, 0);
    assert_int_equal(StringCchLengthA("abc", STRSAFE_MAX_CCH, NULL), S_OK);
    assert_int_equal(StringCchLengthA(NULL, 4, &length), INVALID);
    assert_int_equal(StringCchLengthA("abc", (size_t)STRSAFE_MAX_CCH + 1, &length), INVALID);
    assert_int_equal(StringCchLengthW(L"abc", 4, &length), S_OK);
    assert_int_equal(length, 3);
    assert_int_equal(StringCbLengthA("abc", 4, &length), S_OK);
    assert_int_equal(length, 3);
    assert_int_equal(StringCbLengthW(L"abc", 4 * sizeof(WCHAR), &length), S_OK);
    assert_int_equal(length, 3 * sizeof(WCHAR));
    assert_int_equal(StringCbLengthW(L"abc", 3 * sizeof(WCHAR) + 1, &length), INVALID);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    strcpy(text, "abc");
    assert_int_equal(StringCchCopyA(text, 0, "x"), INVALID);
    assert_string_equal(text, "abc");
    assert_int_equal(StringCchPrintfA(text, 0, "x"), INVALID);
    assert_int_equal(StringCchCatA(text, 3, "x"), INVALID); /* no end within these */
    assert_string_equal(text, "abc");
    assert_int_equal(StringCbCopyW(wide, 1, L"x"), INVALID); /* not one character */
    assert_int_equal(StringCchCopyA(text, (size_t)STRSAFE_MAX_CCH + 1, "x"), INVALID);
    assert_int_equal(StringCchCopyNA(text, 8, "x", (size_t)STRSAFE_MAX_CCH + 1), INVALID);
    assert_int_equal(StringCchCatNA(text, 8, "x", (size_t)STRSAFE_MAX_CCH + 1),
        DIFFERS(INVALID, S_OK, "CatN: MinGW's header takes any count"));
#ifndef _WIN32 /* NULL texts and formats that do not exist end the program there */
    assert_int_equal(StringCchCopyA(text, 8, NULL), INVALID);
    assert_int_equal(StringCchCopyW(NULL, 8, L"x"), INVALID);
    strcpy(text, "abc");
    assert_int_equal(StringCchCatA(text, 8, NULL), INVALID);
    strcpy(text, "abc");
    assert_int_equal(StringCchPrintfA(text, 8, "ab%n", NULL), INVALID);
    assert_string_equal(text, "");
    assert_int_equal(StringCchPrintfW(wide, 8, NULL), INVALID);
#endif
}

/* The names without A and W are the A or W ones, as TCHAR is. */
static void test_names(void **state)
{
    TCHAR chars[8];
    size_t length;

    (void)state;
    assert_int_equal(StringCchCopy(chars, 8, TEXT("ab")), S_OK);
    assert_int_equal(StringCchCopyN(chars, 8, TEXT("ab"), 1), S_OK);
    assert_int_equal(StringCchCat(chars, 8, TEXT("b")), S_OK);
    assert_int_equal(StringCchCatN(chars, 8, TEXT("cx"), 1), S_OK);
    assert_int_equal(StringCchLength(chars, 8, &length), S_OK);
    assert_int_equal(length, 3);
    assert_int_equal(StringCchPrintf(chars, 8, TEXT("%d"), 5), S_OK);
    assert_int_equal(StringCbCopy(chars, sizeof(chars), TEXT("ab")), S_OK);
    assert_int_equal(StringCbCopyN(chars, sizeof(chars), TEXT("ab"), sizeof(TCHAR)), S_OK);
    assert_int_equal(StringCbCat(chars, sizeof(chars), TEXT("b")), S_OK);
    assert_int_equal(StringCbCatN(chars, sizeof(chars), TEXT("cx"), sizeof(TCHAR)), S_OK);
    assert_int_equal(StringCbLength(chars, sizeof(chars), &length), S_OK);
    assert_int_equal(length, 3 * sizeof(TCHAR));
    assert_int_equal(StringCbPrintf(chars, sizeof(chars), TEXT("%d"), 5), S_OK);
    assert_true(StringCchVPrintf == StringCchVPrintfA);
    assert_true(StringCbVPrintf == StringCbVPrintfA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_copies_of_a_part),
        cmocka_unit_test(test_appending),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
