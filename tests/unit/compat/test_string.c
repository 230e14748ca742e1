/* SPDX-License-Identifier: MIT */
/* test_string.c - Windows' string functions: the _s forms and their errors, other spellings, aligned memory, bytes. */
#include "tests/support/win32_test.h"

#include <limits.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static void test_copies_that_fit(void **state)
{
    char text[8];
    WCHAR wide[8];

    (void)state;
    assert_int_equal(strcpy_s(text, sizeof(text), "abc"), 0);
    assert_int_equal(strcat_s(text, sizeof(text), "def"), 0);
    assert_string_equal(text, "abcdef");
    assert_int_equal(strncpy_s(text, sizeof(text), "abcdef", 2), 0);
    assert_int_equal(strncat_s(text, sizeof(text), "cdefgh", 3), 0);
    assert_string_equal(text, "abcde");
    assert_int_equal(wcscpy_s(wide, 8, L"abc"), 0);
    assert_int_equal(wcscat_s(wide, 8, L"def"), 0);
    assert_wide_equal(wide, L"abcdef");
    assert_int_equal(wcsncpy_s(wide, 8, L"abcdef", 2), 0);
    assert_int_equal(wcsncat_s(wide, 8, L"cdefgh", 3), 0);
    assert_wide_equal(wide, L"abcde");
    assert_int_equal(memcpy_s(text, sizeof(text), "xyz", 4), 0);
    assert_string_equal(text, "xyz");
    assert_int_equal(memmove_s(text + 1, sizeof(text) - 1, text, 4), 0);
    assert_string_equal(text, "xxyz");
}

static void test_copies_that_do_not_fit(void **state)
{
    char text[4] = "ab";
    WCHAR wide[4] = L"ab";

    (void)state;
    assert_int_equal(strcpy_s(text, sizeof(text), "abcd"), ERANGE);
    assert_string_equal(text, "");
    strcpy_s(text, sizeof(text), "ab");
    assert_int_equal(strcat_s(text, sizeof(text), "cd"), ERANGE);
    assert_string_equal(text, "");
    assert_int_equal(strncpy_s(text, sizeof(text), "abcdef", 4), ERANGE);
    assert_int_equal(strncpy_s(text, sizeof(text), "abcdef", _TRUNCATE), STRUNCATE);
    assert_string_equal(text, "abc");
    assert_int_equal(strncpy_s(text, sizeof(text), "ab", _TRUNCATE), 0);
    assert_int_equal(strncat_s(text, sizeof(text), "cdef", _TRUNCATE), STRUNCATE);
    assert_string_equal(text, "abc");
    assert_int_equal(wcscpy_s(wide, 4, L"abcd"), ERANGE);
    assert_int_equal(wide[0], 0);
    assert_int_equal(strcpy_s(NULL, 4, "a"), EINVAL);
    strcpy_s(text, sizeof(text), "ab");
    assert_int_equal(strcpy_s(text, sizeof(text), NULL), EINVAL);
    assert_string_equal(text, "");
    assert_int_equal(strcpy_s(text, 0, "a"), EINVAL);
    strcpy_s(text, sizeof(text), "ab");
    assert_int_equal(memcpy_s(text, 2, "abc", 3), ERANGE);
    assert_int_equal(text[0], 0);
    assert_int_equal(text[1], 0);
    assert_int_equal(memcpy_s(NULL, 2, "abc", 1), EINVAL);
}

static void test_tokens(void **state)
{
    char text[] = ",,a,bc", *rest = NULL;
    WCHAR wide[] = L"a b", *wide_rest = NULL;

    (void)state;
    assert_string_equal(strtok_s(text, ",", &rest), "a");
    assert_string_equal(strtok_s(NULL, ",", &rest), "bc");
    assert_null(strtok_s(NULL, ",", &rest));
    assert_wide_equal(wcstok_s(wide, L" ", &wide_rest), L"a");
    assert_wide_equal(wcstok_s(NULL, L" ", &wide_rest), L"b");
    assert_null(wcstok_s(NULL, L" ", &wide_rest));
}

static void test_duplicates_and_comparisons(void **state)
{
    char *copy = _strdup("text");
    WCHAR *wide = _wcsdup(L"text");

    (void)state;
    assert_string_equal(copy, "text");
    assert_wide_equal(wide, L"text");
    free(copy);
    free(wide);
    assert_int_equal(_stricmp("Name", "nAME"), 0);
    assert_int_equal(_strnicmp("NameA", "nameB", 4), 0);
    assert_int_equal(_strcmpi("a", "A"), 0);
    assert_true(_stricmp("a", "b") < 0);
    assert_int_equal(_wcsicmp(L"Name", L"nAME"), 0);
    assert_int_equal(_wcsnicmp(L"NameA", L"nameB", 4), 0);
}

static void test_numbers(void **state)
{
    WCHAR *wide_end;
    char *end;

    (void)state;
    assert_int_equal(_atoi64("-12345678901"), -12345678901LL);
    assert_int_equal(_strtoi64("12345678901x", &end, 10), 12345678901LL);
    assert_string_equal(end, "x");
    assert_int_equal(_strtoui64("ffffffffffffffff", NULL, 16), ~0ull);
    assert_int_equal(_wtoi(L"42"), 42);
    assert_int_equal(_wtol(L"-7"), -7);
    assert_int_equal(sizeof(_wtol(L"1")), 4);
    assert_int_equal(_wtoi64(L"1099511627776"), 1099511627776LL);
    assert_int_equal(_wcstoi64(L"-5", &wide_end, 10), -5);
    assert_int_equal(_wcstoui64(L"18446744073709551615", NULL, 10), ~0ull);
    assert_int_equal(_byteswap_ushort(0x1234), 0x3412);
    assert_int_equal(_byteswap_ulong(0x12345678), 0x78563412);
    assert_int_equal(_byteswap_uint64(0x0123456789abcdefull), 0xefcdab8967452301ull);
}

static void test_aligned_memory(void **state)
{
    char *memory = _aligned_malloc(100, 4096);

    (void)state;
    assert_non_null(memory);
    assert_int_equal((ULONG_PTR)memory % 4096, 0);
    strcpy_s(memory, 100, "contents");
    assert_non_null(memory = _aligned_realloc(memory, 10000, 4096));
    assert_int_equal((ULONG_PTR)memory % 4096, 0);
    assert_string_equal(memory, "contents");
    _aligned_free(memory);
    _aligned_free(NULL);
    errno = 0;
    assert_null(_aligned_malloc(100, 3));
    assert_int_equal(errno, EINVAL);
}

static void test_text_of_numbers(void **state)
{
    char text[80];
    WCHAR wide[80];

    (void)state;
    assert_int_equal(_itoa_s(-42, text, sizeof(text), 10), 0);
    assert_string_equal(text, "-42");
    assert_int_equal(_itoa_s(-1, text, sizeof(text), 16), 0);
    assert_string_equal(text, "ffffffff");
    assert_int_equal(_itow_s(INT_MIN, wide, 80, 10), 0);
    assert_wide_equal(wide, L"-2147483648");
    assert_int_equal(_itow_s(35, wide, 80, 36), 0);
    assert_wide_equal(wide, L"z");
    assert_int_equal(_ultoa_s(0xfffffffful, text, sizeof(text), 2), 0);
    assert_string_equal(text, "11111111111111111111111111111111");
    assert_int_equal(_ultow_s(0, wide, 80, 10), 0);
    assert_wide_equal(wide, L"0");
    assert_int_equal(_i64toa_s(-1099511627776LL, text, sizeof(text), 10), 0);
    assert_string_equal(text, "-1099511627776");
    assert_int_equal(_i64tow_s(-1, wide, 80, 8), 0);
    assert_wide_equal(wide, L"1777777777777777777777");
    assert_int_equal(_ui64toa_s(~0ull, text, sizeof(text), 10), 0);
    assert_string_equal(text, "18446744073709551615");
    assert_int_equal(_ui64tow_s(~0ull, wide, 80, 16), 0);
    assert_wide_equal(wide, L"ffffffffffffffff");
#ifndef _WIN32 /* they end the program there, as long as it sets no handler */
    assert_int_equal(_itow_s(100, wide, 3, 10), ERANGE);
    assert_wide_equal(wide, L"");
    assert_int_equal(_itow_s(-10, wide, 3, 10), ERANGE);
    assert_int_equal(_itoa_s(1, text, sizeof(text), 37), EINVAL);
    assert_int_equal(_itoa_s(1, text, 0, 10), EINVAL);
    assert_int_equal(_itoa_s(1, NULL, 9, 10), EINVAL);
#endif
    assert_int_equal(_itow_s(10, wide, 3, 10), 0);
    assert_wide_equal(wide, L"10");
}

static void test_numbers_in_wide_text(void **state)
{
    static const WCHAR *const text = L"\t -12x";
    WCHAR *end;

    (void)state;
    assert_int_equal(_wcstoi64(text, &end, 10), -12);
    assert_ptr_equal(end, text + 5);
    assert_int_equal(_wcstoi64(L"0x1Fg", &end, 0), 31);
    assert_int_equal(*end, 'g');
    assert_int_equal(_wcstoi64(L"0x1F", NULL, 16), 31);
    assert_int_equal(_wcstoi64(L"017", NULL, 0), 15);
    assert_int_equal(_wcstoi64(L"zZ", NULL, 36), 35 * 36 + 35);
    assert_int_equal(_wcstoi64(text + 5, &end, 10), 0);
    assert_ptr_equal(end, text + 5);
    errno = 0;
    assert_true(_wcstoi64(L"9223372036854775807", NULL, 10) == INT64_MAX);
    assert_true(_wcstoi64(L"-9223372036854775808", NULL, 10) == INT64_MIN);
    assert_int_equal(errno, 0);
    assert_true(_wcstoi64(L"9223372036854775808", NULL, 10) == INT64_MAX);
    assert_int_equal(errno, ERANGE);
    errno = 0;
    assert_true(_wcstoui64(L"18446744073709551616", NULL, 10) == UINT64_MAX);
    assert_int_equal(errno, ERANGE);
    assert_true(_wcstoui64(L"-1", NULL, 10) == UINT64_MAX);
    assert_int_equal(_wtoi(L"x"), 0);
    assert_int_equal(_wtoi(L"+7 "), 7);
    assert_true(_wcsicmp(L"abc", L"ABD") < 0);
    assert_true(_wcsicmp(L"abcd", L"ABC") > 0);
    assert_int_equal(_wcsnicmp(L"abcd", L"ABCE", 3), 0);
    assert_true(_wcsnicmp(L"abcd", L"ABCE", 4) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_that_fit),
        cmocka_unit_test(test_copies_that_do_not_fit),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_duplicates_and_comparisons),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_aligned_memory),
        cmocka_unit_test(test_text_of_numbers),
        cmocka_unit_test(test_numbers_in_wide_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
