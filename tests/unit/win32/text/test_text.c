/* SPDX-License-Identifier: MIT */
/* test_text.c - code pages and the base's strings. Characters above 16 bits: two units on Windows, one here. */
#include "tests/support/win32_test.h"

static char text[64];
static WCHAR wide[64];

enum { ABOVE = sizeof(WCHAR) == 2 ? 2 : 1 };

static void test_to_wide(void **state)
{
    (void)state;
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "a\xc3\xbc\xe2\x82\xac", -1, wide, 64), 4);
    assert_wide_equal(wide, L"a\u00fc\u20ac");
    wide[2] = L'x';
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "a\xc3\xbc|", 3, wide, 64), 2);
    assert_int_equal(wide[2], L'x'); /* no end */
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "\xf0\x9f\x98\x80", 4, wide, 64), ABOVE);
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "\xf0\x9f\x98\x80", -1, NULL, 0), ABOVE + 1);
    assert_int_equal(MultiByteToWideChar(CP_ACP, MB_PRECOMPOSED, "abc", -1, wide, 64), 4);
    assert_wide_equal(wide, L"abc");
    assert_int_equal(MultiByteToWideChar(CP_OEMCP, 0, "abc", 3, NULL, 0), 3);
    assert_int_equal(MultiByteToWideChar(CP_THREAD_ACP, 0, "abc", 3, NULL, 0), 3);
    assert_int_equal(MultiByteToWideChar(CP_UTF8, 0, "a\0b", 3, wide, 64), 3);
    assert_int_equal(wide[2], L'b');
#ifndef _WIN32 /* the code page of the system is not UTF-8 there */
    assert_int_equal(MultiByteToWideChar(CP_ACP, 0, "\xc3\xbc", 2, wide, 64), 1);
    assert_int_equal(wide[0], 0xfc);
#endif
}

static void test_to_wide_of_what_is_no_character(void **state)
{
    static const struct {
        const char *bytes;
        int replacements;
    } rows[] = { { "\x80", 1 }, { "\xc3", 1 }, { "\xc0\x80", 2 }, { "\xe2\x82", 1 },
        { "\xf0\x9f\x98", 1 }, { "\xf5\x80", 2 }, { "\xff", 1 },
        { "\xe0\x80\x80",
            DIFFERS(3, 2, "a byte that cannot be a character's second: Wine takes it") },
        { "\xed\xa0\x80",
            DIFFERS(3, 2, "a byte that cannot be a character's second: Wine takes it") },
        { "\xf4\x90\x80\x80",
            DIFFERS(4, 3, "a byte that cannot be a character's second: Wine takes it") } };

    (void)state;
    for (size_t i = 0; i < _countof(rows); i++) {
        int count = MultiByteToWideChar(CP_UTF8, 0, rows[i].bytes, -1, wide, 64);

        if (count != rows[i].replacements + 1)
            fail_msg("row %u: %d", (unsigned)i, count);
        for (int j = 0; j < count - 1; j++)
            assert_int_equal(wide[j], 0xfffd);
        assert_fails(
            MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, rows[i].bytes, -1, wide, 64),
            SPEC_ERROR_NO_UNICODE_TRANSLATION);
    }
    assert_int_equal(
        MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, "\xf4\x8f\xbf\xbf", 4, NULL, 0), ABOVE);
}

static void test_to_wide_refuses(void **state)
{
    (void)state;
    assert_fails(
        MultiByteToWideChar(CP_UTF8, 0, "abc", -1, wide, 3), SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_fails(MultiByteToWideChar(CP_UTF8, 0, "abc", 0, wide, 3), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(MultiByteToWideChar(CP_UTF8, 0, NULL, -1, wide, 3), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(MultiByteToWideChar(CP_UTF8, 0, "abc", -1, NULL, 3), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        MultiByteToWideChar(CP_UTF8, 0, "abc", -1, wide, -1), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(MultiByteToWideChar(12345, 0, "abc", -1, wide, 64), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        MultiByteToWideChar(CP_UTF8, 0x100, "abc", -1, wide, 64), SPEC_ERROR_INVALID_FLAGS);
    assert_fails(MultiByteToWideChar(CP_ACP, 0x100, "abc", -1, wide, 64), SPEC_ERROR_INVALID_FLAGS);
#ifndef _WIN32 /* Wine takes MB_PRECOMPOSED with CP_UTF8, Windows does not */
    assert_fails(MultiByteToWideChar(CP_UTF8, MB_PRECOMPOSED, "abc", -1, wide, 64),
        SPEC_ERROR_INVALID_FLAGS);
#endif
}

static void test_from_wide(void **state)
{
    BOOL replaced = TRUE;

    (void)state;
    assert_int_equal(
        WideCharToMultiByte(CP_UTF8, 0, L"a\u00fc\u20ac", -1, text, 64, NULL, NULL), 7);
    assert_string_equal(text, "a\xc3\xbc\xe2\x82\xac");
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, L"a\u00fc", 2, NULL, 0, NULL, NULL), 3);
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, L"\U0001F600", -1, text, 64, NULL, NULL), 5);
    assert_string_equal(text, "\xf0\x9f\x98\x80");
    assert_int_equal(
        WideCharToMultiByte(CP_ACP, WC_NO_BEST_FIT_CHARS, L"abc", -1, text, 64, "?", &replaced), 4);
    assert_string_equal(text, "abc");
    assert_false(replaced);
    text[2] = 'x';
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, L"abc", 2, text, 64, NULL, NULL), 2);
    assert_int_equal(text[2], 'x'); /* no end */
}

static void test_from_wide_of_what_is_no_character(void **state)
{
    static const WCHAR half[] = { 0xd83d, 'x', 0 }, last[] = { 'x', 0xd83d };
    BOOL replaced = FALSE;

    (void)state;
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, half, -1, text, 64, NULL, NULL), 5);
    assert_string_equal(text, "\xef\xbf\xbdx");
    assert_int_equal(WideCharToMultiByte(CP_UTF8, 0, last, 2, text, 64, NULL, NULL), 4);
    assert_fails(WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, half, -1, text, 64, NULL, NULL),
        SPEC_ERROR_NO_UNICODE_TRANSLATION);
    assert_int_equal(WideCharToMultiByte(CP_ACP, 0, half, -1, text, 64, "!", &replaced), 3);
    assert_string_equal(text, "!x");
    assert_true(replaced);
}

static void test_from_wide_refuses(void **state)
{
    BOOL replaced;

    (void)state;
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"\u00fc", -1, text, 2, NULL, NULL),
        SPEC_ERROR_INSUFFICIENT_BUFFER);
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"abc", 0, text, 64, NULL, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, NULL, -1, text, 64, NULL, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"abc", -1, NULL, 64, NULL, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"abc", -1, text, -1, NULL, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(WideCharToMultiByte(12345, 0, L"abc", -1, text, 64, NULL, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine takes these with CP_UTF8, Windows does not */
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"abc", -1, text, 64, "?", NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(WideCharToMultiByte(CP_UTF8, 0, L"abc", -1, text, 64, NULL, &replaced),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        WideCharToMultiByte(CP_UTF8, WC_NO_BEST_FIT_CHARS, L"abc", -1, text, 64, NULL, NULL),
        SPEC_ERROR_INVALID_FLAGS);
#else
    (void)replaced;
#endif
}

static void test_strings(void **state)
{
    (void)state;
    assert_int_equal(lstrlenA("a\xc3\xbc"), 3);
    assert_int_equal(lstrlenW(L"a\u00fc"), 2);
    assert_int_equal(lstrlenA(NULL), 0);
    assert_int_equal(lstrlenW(NULL), 0);
    assert_ptr_equal(lstrcpyA(text, "one"), text);
    assert_ptr_equal(lstrcatA(text, " two"), text);
    assert_string_equal(text, "one two");
    assert_ptr_equal(lstrcpynA(text, "three", 3), text);
    assert_string_equal(text, "th");
    assert_ptr_equal(lstrcpyW(wide, L"one"), wide);
    assert_ptr_equal(lstrcatW(wide, L" two"), wide);
    assert_wide_equal(wide, L"one two");
    assert_ptr_equal(lstrcpynW(wide, L"three", 10), wide);
    assert_wide_equal(wide, L"three");
    assert_null(lstrcpyA(text, NULL));
    assert_null(lstrcpyW(NULL, L"x"));
    assert_null(lstrcatA(NULL, "x"));
    assert_true(lstrlen == lstrlenA && lstrcpy == lstrcpyA && lstrcpyn == lstrcpynA &&
                lstrcat == lstrcatA && lstrcmp == lstrcmpA && lstrcmpi == lstrcmpiA);
}

static void test_string_comparisons(void **state)
{
    (void)state;
    assert_int_equal(lstrcmpA("abc", "abc"), 0);
    assert_int_equal(lstrcmpA("a", "b"), -1);
    assert_int_equal(lstrcmpA("a", "B"), -1); /* letters in their order whatever their case */
    assert_int_equal(lstrcmpA("B", "a"), 1);
    assert_int_equal(lstrcmpA("a", "A"), -1);
    assert_int_equal(lstrcmpA("Ab", "aa"), 1); /* the letter counts more than the case before it */
    assert_int_equal(lstrcmpA("ab", "abc"), -1);
    assert_int_equal(lstrcmpA("1", "a"), -1);
    assert_int_equal(lstrcmpA("", ""), 0);
    assert_int_equal(lstrcmpA(NULL, "a"), -1);
    assert_int_equal(lstrcmpA("a", NULL), 1);
    assert_int_equal(lstrcmpA(NULL, NULL), 0);
    assert_int_equal(lstrcmpW(L"a", L"A"), -1);
    assert_int_equal(lstrcmpW(L"z", L"B"), 1);
    assert_int_equal(lstrcmpiA("aBc", "AbC"), 0);
    assert_int_equal(lstrcmpiA("a", "B"), -1);
    assert_int_equal(lstrcmpiW(L"\u00dcber", L"\u00fcBER"), 0);
    assert_int_equal(lstrcmpiW(L"x", L"y"), -1);
#ifndef _WIN32 /* the code page of the system is not UTF-8 there */
    assert_int_equal(lstrcmpiA("\xc3\x9c", "\xc3\xbc"), 0);
#endif
}

enum { LESS = 1, EQUAL, GREATER };

static void test_compare_string(void **state)
{
    const LCID invariant = 0x7F;
    const WCHAR pair[] = { 'a', 0xd83d, 0xde00, 0 };

    (void)state;
    assert_int_equal(LOCALE_INVARIANT, invariant);
    assert_int_equal(CompareStringA(invariant, NORM_IGNORECASE, "aBc", -1, "AbC", -1), EQUAL);
    assert_int_equal(CompareStringA(invariant, NORM_IGNORECASE, "aBc", -1, "AbD", -1), LESS);
    assert_int_equal(CompareStringA(invariant, 0, "a", -1, "A", -1), LESS);
    assert_int_equal(CompareStringA(invariant, 0, "b", -1, "A", -1), GREATER);
    assert_int_equal(CompareStringA(invariant, 0, "abx", 2, "aby", 2), EQUAL);
    assert_int_equal(CompareStringA(invariant, 0, "abx", 2, "abx", 3), LESS);
    assert_int_equal(CompareStringA(invariant, 0, "abx", -1, "ab", -1), GREATER);
    assert_int_equal(CompareStringA(invariant, 0, "x", 0, "", -1), EQUAL);
    assert_int_equal(CompareStringA(LOCALE_USER_DEFAULT, 0, "same", -1, "same", 4), EQUAL);
    assert_int_equal(
        CompareStringW(invariant, NORM_IGNORECASE, L"\u00dcber", -1, L"\u00fcBER", -1), EQUAL);
    assert_int_equal(CompareStringW(invariant, 0, L"z", -1, L"B", -1), GREATER);
    assert_int_equal(CompareStringW(LOCALE_SYSTEM_DEFAULT, 0, pair, 3, pair, -1), EQUAL);
    assert_int_equal(CompareStringW(invariant, 0, pair, 2, pair, 2), EQUAL);
    assert_fails(CompareStringA(invariant, 0, NULL, -1, "a", -1), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CompareStringW(invariant, 0, L"a", -1, NULL, -1), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        CompareStringW(invariant, 0x80000000, L"a", -1, L"a", -1), SPEC_ERROR_INVALID_FLAGS);
    assert_true(CompareString == CompareStringA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_wide),
        cmocka_unit_test(test_to_wide_of_what_is_no_character),
        cmocka_unit_test(test_to_wide_refuses),
        cmocka_unit_test(test_from_wide),
        cmocka_unit_test(test_from_wide_of_what_is_no_character),
        cmocka_unit_test(test_from_wide_refuses),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_string_comparisons),
        cmocka_unit_test(test_compare_string),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
