/* SPDX-License-Identifier: MIT */
/* test_strsafe_ex.c - the Ex forms of StringCch and StringCb: where the text ends, what is left, flags. */
#include "tests/support/win32_test.h"

#define STRSAFE_NO_DEPRECATE
#include <strsafe.h>

#define TOO_SMALL ((HRESULT)SPEC_STRSAFE_E_INSUFFICIENT_BUFFER)
#define INVALID   ((HRESULT)SPEC_STRSAFE_E_INVALID_PARAMETER)

static char text[8], *end;
static WCHAR wide[8], *wide_end;
static size_t left;

static int setup(void **state)
{
    (void)state;
    memset(text, '#', sizeof(text));
    text[7] = 0;
    for (int i = 0; i < 7; i++)
        wide[i] = '#';
    wide[7] = 0;
    end = NULL;
    wide_end = NULL;
    left = 99;
    return 0;
}

#define assert_ends(offset, rest)                                                                  \
    do {                                                                                           \
        assert_ptr_equal(end, text + (offset));                                                    \
        assert_int_equal(left, rest);                                                              \
    } while (0)

static void test_copies(void **state)
{
    (void)state;
    assert_int_equal(StringCchCopyExA(text, 8, "abc", &end, &left, 0), S_OK);
    assert_string_equal(text, "abc");
    assert_ends(3, 5);
    assert_int_equal(text[4], '#');
    assert_int_equal(StringCchCopyExA(text, 3, "abc", &end, &left, 0), TOO_SMALL);
    assert_string_equal(text, "ab");
    assert_ends(2, 1);
    assert_int_equal(StringCchCopyNExA(text, 8, "abcdef", 4, &end, &left, 0), S_OK);
    assert_string_equal(text, "abcd");
    assert_ends(4, 4);
    assert_int_equal(StringCchCopyExW(wide, 8, L"abc", &wide_end, &left, 0), S_OK);
    assert_wide_equal(wide, L"abc");
    assert_ptr_equal(wide_end, wide + 3);
    assert_int_equal(left, 5);
    assert_int_equal(StringCchCopyNExW(wide, 8, L"abc", 2, &wide_end, NULL, 0), S_OK);
    assert_wide_equal(wide, L"ab");
    assert_int_equal(StringCbCopyExA(text, 8, "abc", &end, &left, 0), S_OK);
    assert_ends(3, 5);
    assert_int_equal(StringCbCopyNExA(text, 8, "abc", 1, &end, &left, 0), S_OK);
    assert_ends(1, 7);
    assert_int_equal(
        StringCbCopyExW(wide, 4 * sizeof(WCHAR) + 1, L"ab", &wide_end, &left, 0), S_OK);
    assert_ptr_equal(wide_end, wide + 2);
    assert_int_equal(left, 2 * sizeof(WCHAR) + 1);
    assert_int_equal(
        StringCbCopyNExW(wide, sizeof(wide), L"abc", sizeof(WCHAR), NULL, &left, 0), S_OK);
    assert_int_equal(left, 7 * sizeof(WCHAR));
    assert_int_equal(StringCchCopyEx(text, 8, "", &end, &left, 0), S_OK);
    assert_ends(0, 8);
}

static void test_appending(void **state)
{
    (void)state;
    strcpy(text, "ab");
    assert_int_equal(StringCchCatExA(text, 8, "cd", &end, &left, 0), S_OK);
    assert_string_equal(text, "abcd");
    assert_ends(4, 4);
    assert_int_equal(StringCchCatNExA(text, 8, "efgh", 2, &end, &left, 0), S_OK);
    assert_string_equal(text, "abcdef");
    assert_ends(6, 2);
    assert_int_equal(
        StringCchCatExA(text, 8, "xyz", &end, &left, STRSAFE_NO_TRUNCATION), TOO_SMALL);
    assert_string_equal(text, "abcdef");
    assert_ends(6, 2);
    assert_int_equal(StringCchCatExA(text, 8, "xyz", &end, &left, 0), TOO_SMALL);
    assert_string_equal(text, "abcdefx");
    assert_ends(7, 1);
    assert_int_equal(StringCchCatExA(text, 7, "x", &end, &left, 0), INVALID); /* no end in 7 */
    wide[2] = 0;
    assert_int_equal(StringCchCatExW(wide, 8, L"cd", &wide_end, &left, 0), S_OK);
    assert_wide_equal(wide, L"##cd");
    assert_int_equal(StringCchCatNExW(wide, 8, L"ef", 1, &wide_end, &left, 0), S_OK);
    assert_int_equal(left, 3);
    strcpy(text, "ab");
    assert_int_equal(StringCbCatExA(text, 8, "c", &end, &left, 0), S_OK);
    assert_ends(3, 5);
    assert_int_equal(StringCbCatNExA(text, 8, "de", 1, &end, &left, 0), S_OK);
    assert_ends(4, 4);
    wide[1] = 0;
    assert_int_equal(StringCbCatExW(wide, sizeof(wide), L"b", &wide_end, &left, 0), S_OK);
    assert_int_equal(left, 6 * sizeof(WCHAR));
    assert_int_equal(
        StringCbCatNExW(wide, sizeof(wide), L"cd", sizeof(WCHAR), &wide_end, &left, 0), S_OK);
    assert_wide_equal(wide, L"#bc");
}

/* The names without A or W, which are those with A here. */
static HRESULT unmarked(size_t room, int bytes, const char *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = bytes ? StringCbVPrintfEx(text, room, &end, &left, 0, format, arguments)
               : StringCchVPrintfEx(text, room, &end, &left, 0, format, arguments);
    va_end(arguments);
    return hr;
}

static void test_names_without_a_kind(void **state)
{
    (void)state;
    assert_int_equal(StringCchCopyNEx(text, 8, "abc", 1, &end, &left, 0), S_OK);
    assert_int_equal(StringCchCatEx(text, 8, "b", &end, &left, 0), S_OK);
    assert_int_equal(StringCchCatNEx(text, 8, "cd", 1, &end, &left, 0), S_OK);
    assert_string_equal(text, "abc");
    assert_int_equal(StringCchPrintfEx(text, 8, &end, &left, 0, "%d", 12), S_OK);
    assert_ends(2, 6);
    assert_int_equal(StringCbCopyEx(text, 8, "abc", &end, &left, 0), S_OK);
    assert_int_equal(StringCbCopyNEx(text, 8, "abc", 1, &end, &left, 0), S_OK);
    assert_int_equal(StringCbCatEx(text, 8, "b", &end, &left, 0), S_OK);
    assert_int_equal(StringCbCatNEx(text, 8, "cd", 1, &end, &left, 0), S_OK);
    assert_string_equal(text, "abc");
    assert_int_equal(StringCbPrintfEx(text, 8, &end, &left, 0, "%d", 1), S_OK);
    assert_ends(1, 7);
    assert_int_equal(unmarked(8, 0, "%d", 123), S_OK);
    assert_ends(3, 5);
    assert_int_equal(unmarked(8, 1, "%d", 1234), S_OK);
    assert_ends(4, 4);
}

static HRESULT narrow_list(size_t room, DWORD flags, const char *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCchVPrintfExA(text, room, &end, &left, flags, format, arguments);
    va_end(arguments);
    return hr;
}

static HRESULT wide_list(size_t room, DWORD flags, const WCHAR *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCchVPrintfExW(wide, room, &wide_end, &left, flags, format, arguments);
    va_end(arguments);
    return hr;
}

static HRESULT bytes_list(size_t room, const char *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCbVPrintfExA(text, room, &end, &left, 0, format, arguments);
    va_end(arguments);
    return hr;
}

static HRESULT wide_bytes_list(size_t room, const WCHAR *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = StringCbVPrintfExW(wide, room, &wide_end, &left, 0, format, arguments);
    va_end(arguments);
    return hr;
}

static void test_formatting(void **state)
{
    (void)state;
    assert_int_equal(StringCchPrintfExA(text, 8, &end, &left, 0, "%d-%s", 12, "ab"), S_OK);
    assert_string_equal(text, "12-ab");
    assert_ends(5, 3);
    assert_int_equal(StringCchPrintfExA(text, 4, &end, &left, 0, "%d", 12345), TOO_SMALL);
    assert_string_equal(text, "123");
    assert_ends(3, 1);
    assert_int_equal(
        StringCchPrintfExA(text, 4, &end, &left, STRSAFE_NO_TRUNCATION, "%d", 12345), TOO_SMALL);
    assert_string_equal(text, "");
    assert_ends(0, 4);
    assert_int_equal(narrow_list(8, 0, "%d", 77), S_OK);
    assert_ends(2, 6);
    assert_int_equal(wide_list(8, 0, L"%d", 77), S_OK);
    assert_wide_equal(wide, L"77");
    assert_int_equal(StringCchPrintfExW(wide, 8, &wide_end, &left, 0, L"%d", 123), S_OK);
    assert_ptr_equal(wide_end, wide + 3);
    assert_int_equal(StringCbPrintfExA(text, 8, &end, &left, 0, "%d", 1), S_OK);
    assert_ends(1, 7);
    assert_int_equal(StringCbPrintfExW(wide, sizeof(wide), &wide_end, &left, 0, L"%d", 1), S_OK);
    assert_int_equal(left, 7 * sizeof(WCHAR));
    assert_int_equal(bytes_list(8, "%d", 12), S_OK);
    assert_ends(2, 6);
    assert_int_equal(wide_bytes_list(sizeof(wide), L"%d", 12), S_OK);
    assert_int_equal(left, 6 * sizeof(WCHAR));
}

static void test_flags(void **state)
{
    (void)state;
    assert_int_equal(
        StringCchCopyExA(text, 7, "ab", &end, &left, STRSAFE_FILL_BEHIND_NULL | '+'), S_OK);
    assert_memory_equal(text, "ab\0++++", 7);
    assert_int_equal(text[7], 0);
    assert_int_equal(
        StringCchCopyExA(text, 4, "abcdef", &end, &left, STRSAFE_FILL_ON_FAILURE | '-'), TOO_SMALL);
    assert_memory_equal(text, "---", 4);
    assert_ends(3, 1);
    assert_int_equal(
        StringCchCopyExA(text, 4, "abcdef", &end, &left, STRSAFE_FILL_ON_FAILURE), TOO_SMALL);
    assert_memory_equal(text, "\0\0\0", 4);
    assert_ends(0, 4);
    assert_int_equal(
        StringCchCopyExA(text, 4, "abcdef", &end, &left, STRSAFE_NULL_ON_FAILURE), TOO_SMALL);
    assert_string_equal(text, "");
    assert_ends(0, 4);
    strcpy(text, "abc");
    assert_int_equal(
        StringCchCatExA(text, 4, "d", &end, &left, STRSAFE_NULL_ON_FAILURE), TOO_SMALL);
    assert_string_equal(text, "");
    assert_int_equal(StringCchCopyExA(text, 8, NULL, &end, &left, STRSAFE_IGNORE_NULLS), S_OK);
    assert_ends(0, 8);
    end = text;
    assert_int_equal(StringCchCopyExA(NULL, 0, NULL, &end, &left, STRSAFE_IGNORE_NULLS), S_OK);
    assert_null(end);
    assert_int_equal(left, 0);
    assert_int_equal(StringCchCopyExA(NULL, 0, "a", &end, &left, STRSAFE_IGNORE_NULLS), INVALID);
    left = 99;
    assert_int_equal(StringCchCopyExA(text, 8, "a", &end, &left, 0x2000), INVALID);
    assert_int_equal(left, 99);
    assert_int_equal(StringCchCopyExA(text, 0, "a", NULL, NULL, 0), TOO_SMALL);
    assert_int_equal(StringCchCopyExA(text, 0, "", NULL, NULL, 0), S_OK);
    assert_int_equal(
        StringCchCopyExA(text, (size_t)STRSAFE_MAX_CCH + 1, "", NULL, NULL, 0), INVALID);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, NULL)
    const struct CMUnitTest tests[] = {
        ROW(test_copies),
        ROW(test_appending),
        ROW(test_formatting),
        ROW(test_flags),
        ROW(test_names_without_a_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
