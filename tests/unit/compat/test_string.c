/* SPDX-License-Identifier: MIT */
/* test_string.c - Windows' string functions: the _s forms and their errors, other spellings, aligned memory, bytes. */
#include "tests/support/win32_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies_that_fit),
        cmocka_unit_test(test_copies_that_do_not_fit),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_duplicates_and_comparisons),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_aligned_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
