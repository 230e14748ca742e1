/* SPDX-License-Identifier: MIT */
/* test_scanf.c - the scanf family: sizes, text with and without the size of its buffer, what does not match. */
#include "tests/support/win32_test.h"

#include <stdio.h>

static void test_sizes_are_those_of_windows(void **state)
{
    LONG values[2] = { 0, 0x5a5a5a5a };
    short narrow[2] = { 0, 0x5a5a };
    long long wide = 0;
    SIZE_T size = 0;
    double d = 0;
    float f = 0;

    (void)state;
    assert_int_equal(sscanf("-7", "%ld", &values[0]), 1);
    assert_int_equal(values[0], -7);
    assert_int_equal(values[1], 0x5a5a5a5a); /* a long has 32 bits */
    assert_int_equal(sscanf("4294967295", "%lu", (ULONG *)&values[0]), 1);
    assert_int_equal(values[0], -1);
    assert_int_equal(sscanf("-12345678901", "%I64d", &wide), 1);
    assert_int_equal(wide, -12345678901LL);
    assert_int_equal(sscanf("17", "%hd", &narrow[0]), 1);
    assert_int_equal(narrow[0], 17);
    assert_int_equal(narrow[1], 0x5a5a);
    assert_int_equal(sscanf("7fffffffffffffff", "%I64x", &wide), 1);
    assert_int_equal(wide, 0x7fffffffffffffffLL);
    assert_int_equal(sscanf("0x1f 010 12", "%i %i %i", &values[0], &values[1], (int *)&size), 3);
    assert_int_equal(values[0], 31);
    assert_int_equal(values[1], 8);
    assert_int_equal(size, 12);
    assert_int_equal(sscanf("2.5 -1e3", "%lf %f", &d, &f), 2);
    assert_true(d == 2.5 && f == -1000.0f);
    assert_int_equal(sscanf("12345678901", "%Iu", &size), 1);
    assert_int_equal(size, 12345678901);
}

static void test_matching(void **state)
{
    int a = 0, b = 0, n = 0;
    char text[20];

    (void)state;
    assert_int_equal(sscanf("10.0.0.1:5", "%d.%*d.%*d.%d:%n", &a, &b, &n), 2);
    assert_int_equal(a, 10);
    assert_int_equal(b, 1);
    assert_int_equal(n, 9);
    assert_int_equal(sscanf("x", "%d", &a), 0);
    assert_int_equal(sscanf("", "%d", &a), EOF);
    assert_int_equal(
        sscanf("  ", "%d", &a), DIFFERS(EOF, 0, "the C standard says EOF, msvcrt.dll in Wine 0"));
    assert_int_equal(sscanf("5 x", "%d %d", &a, &b), 1);
    assert_int_equal(sscanf("1234", "%2d%d", &a, &b), 2);
    assert_int_equal(a, 12);
    assert_int_equal(b, 34);
    assert_int_equal(sscanf("key=value;", "%[a-z]=%*[^;]%c", text, (char *)&n), 2);
    assert_string_equal(text, "key");
    assert_int_equal((char)n, ';');
    assert_int_equal(sscanf("5%", "%d%%", &a), 1);
}

static void test_secure_forms_take_sizes(void **state)
{
    char text[8] = "zzzzzzz", letter = 0;
    WCHAR wide[8];
    int number = 0;

    (void)state;
    assert_int_equal(
        sscanf_s("hello 5 c", "%s %d %c", text, (unsigned)sizeof(text), &number, &letter, 1u), 3);
    assert_string_equal(text, "hello");
    assert_int_equal(number, 5);
    assert_int_equal(letter, 'c');
    assert_int_equal(sscanf_s("7 far too long", "%d %s", &number, text, 3u), 1); /* does not fit */
    assert_int_equal(text[0], 0);
    assert_int_equal(sscanf_s("abc", "%[a-z]", text, 4u), 1);
    assert_string_equal(text, "abc");
    assert_int_equal(sscanf_s("wide", "%S", wide, (unsigned)_countof(wide)), 1);
    assert_wide_equal(wide, L"wide");
    assert_int_equal(swscanf_s(L"hello 12", L"%s %d", wide, (unsigned)_countof(wide), &number), 2);
    assert_wide_equal(wide, L"hello");
    assert_int_equal(number, 12);
    assert_int_equal(swscanf_s(L"narrow", L"%S", text, (unsigned)sizeof(text)), 1);
    assert_string_equal(text, "narrow");
}

static void test_wide_text(void **state)
{
    WCHAR wide[16];
    char text[16];
    LONG number[2] = { 0, 1 };

    (void)state;
    assert_int_equal(swscanf(L"one two -3", L"%s %hs %ld", wide, text, number), 3);
    assert_wide_equal(wide, L"one");
    assert_string_equal(text, "two");
    assert_int_equal(number[0], -3);
    assert_int_equal(number[1], 1);
}

static void test_streams(void **state)
{
    const char *name = DIFFERS("scanf.here.txt", "scanf.wine.txt", "both run at once");
    FILE *file = fopen(name, "w+b");
    LONG a = 0, b = 0;
    char text[8];

    (void)state;
    assert_non_null(file);
    fprintf(file, "12 -5abc\nrest 7");
    rewind(file);
    assert_int_equal(fscanf(file, "%ld %ld", &a, &b), 2);
    assert_int_equal(a, 12);
    assert_int_equal(b, -5);
    assert_int_equal(fgetc(file), 'a'); /* what ended the number is still there */
    assert_int_equal(fscanf_s(file, "%s %*s %ld", text, (unsigned)sizeof(text), &a), 2);
    assert_string_equal(text, "bc");
    assert_int_equal(a, 7);
    assert_int_equal(fscanf(file, "%ld", &a), EOF);
    assert_ptr_equal(freopen(name, "rb", stdin), stdin);
    assert_int_equal(scanf("%ld", &a), 1);
    assert_int_equal(a, 12);
    assert_int_equal(scanf_s("%ld%s", &b, text, (unsigned)sizeof(text)), 2);
    assert_int_equal(b, -5);
    assert_string_equal(text, "abc");
    assert_int_equal(getwchar(),
        DIFFERS('\n', 'r' << 8 | '\n', "a binary stream is UTF-16 to msvcrt.dll's wide functions"));
    fclose(file);
    fclose(stdin);
    remove(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_windows),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_secure_forms_take_sizes),
        cmocka_unit_test(test_wide_text),
        cmocka_unit_test(test_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
