/* SPDX-License-Identifier: MIT */
/*
 * test_printf.c - the printf family: sizes, wide and narrow text, buffers that are too small, streams. Counted text is
 * that of Microsoft's page of type characters ("Z").
 */
#include "tests/support/win32_test.h"

#include <winternl.h>

#include <stdio.h>

static char text[600];
static WCHAR wide[600];

#define NARROW(expected, ...)                                                                      \
    do {                                                                                           \
        assert_int_equal(_snprintf(text, sizeof(text), __VA_ARGS__), strlen(expected));            \
        assert_string_equal(text, expected);                                                       \
    } while (0)
#define WIDE(expected, ...)                                                                        \
    do {                                                                                           \
        assert_int_equal(_snwprintf(wide, _countof(wide), __VA_ARGS__), wcslen(expected));         \
        assert_wide_equal(wide, expected);                                                         \
    } while (0)

static void test_sizes_are_those_of_windows(void **state)
{
    (void)state;
    NARROW("-1", "%I64d", -1LL);
    NARROW("18446744073709551615", "%I64u", ~0ull);
    NARROW("123456789abcdef0", "%I64x", 0x123456789abcdef0ull);
    NARROW("123456789ABCDEF0", "%IX", (SIZE_T)0x123456789abcdef0ull);
    NARROW("-7", "%Id", (LONG_PTR)-7);
    NARROW("-2147483648 4294967295", "%ld %lu", (LONG)MINLONG, (ULONG)-1);
    NARROW("ffffffff -5", "%I32x %I32d", 0xffffffffu, -5);
    NARROW("-1 65535 ffff", "%hd %hu %hx", 0x1ffff, 0x1ffff, -1);
    NARROW("9223372036854775807", "%lld", 0x7fffffffffffffffLL);
    NARROW("0000DEADBEEF0123", "%p", (void *)(ULONG_PTR)0xdeadbeef0123ull);
    NARROW("[  0000DEADBEEF0123]", "[%18p]", (void *)(ULONG_PTR)0xdeadbeef0123ull);
}

static void test_flags_width_precision(void **state)
{
    (void)state;
    NARROW("+5| 5|00005|5    |0x1f|017", "%+d|% d|%05d|%-5d|%#x|%#o", 5, 5, 5, 5, 31, 15);
    NARROW("   42|42   |00042", "%*d|%-*d|%.*d", 5, 42, 5, 42, 5, 42);
    NARROW("42   |", "%*d|", -5, 42);
    NARROW("1.50 1.5 2.25", "%.2f %g %.4s", 1.5, 1.5, "2.250000");
    NARROW(DIFFERS("1.5e+00", "1.5e+000",
               "msvcrt.dll writes exponents of three digits, the current C runtime of two"),
        "%.1e", 1.5);
    NARROW("100%", "%d%%", 100);
    NARROW("     1.25|-1.25", "%9.2lf|%g", 1.25, -1.25);
}

#ifndef _WIN32 /* msvcrt.dll writes -1.#IND and its kind, and knows another long double than MinGW */
/* A double of bits. */
static double of_bits(ULONGLONG bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}
#endif

/* Those that are no numbers are as in the universal C runtime, by Wine's ucrtbase.dll. */
static void test_numbers_as_the_current_runtime_writes_them(void **state)
{
    (void)state;
    NARROW("0X0000DEADBEEF0123", "%#p", (void *)(ULONG_PTR)0xdeadbeef0123ull);
    NARROW("0000000000000000|", "%-5p|", NULL);
    NARROW("0x1.8000000000000p+0", "%a", 1.5);
    NARROW("-0X1.0000000000000P-1", "%A", -0.5);
    NARROW("0x1.80p+1", "%.2a", 3.0);
#ifndef _WIN32 /* msvcrt.dll writes -1.#IND and its kind, and knows another long double than MinGW */
    NARROW("-nan(ind)|nan|-nan|nan(snan)", "%f|%f|%f|%f", of_bits(0xfff8000000000000ull),
        of_bits(0x7ff8000000000000ull), of_bits(0xfff8000000000001ull),
        of_bits(0x7ff4000000000000ull));
    NARROW("-NAN(IND)|  +nan|nan  |", "%F|%+6f|%-5f|", of_bits(0xfff8000000000000ull),
        of_bits(0x7ff8000000000000ull), of_bits(0x7ff8000000000000ull));
    NARROW("1.50|0x1.8000000000000p+0", "%.2Lf|%La", 1.5L, 1.5L);
#endif
}

static void test_text_is_narrow_or_wide(void **state)
{
    (void)state;
    NARROW("abc wide wide narrow", "%s %S %ls %hs", "abc", L"wide", L"wide", "narrow");
    NARROW("a b c", "%c %C %lc", 'a', L'b', L'c');
    NARROW("wid|  wide|wide  |", "%.3S|%6S|%-6ls|", L"wide", L"wide", L"wide");
    NARROW("(null) (null)", "%s %S", (char *)NULL, (WCHAR *)NULL);
    NARROW("wide", "%ws", L"wide");
    WIDE(L"wide narrow wide narrow", L"%s %S %ls %hs", L"wide", "narrow", L"wide", "narrow");
    WIDE(L"a b c", L"%c %C %hc", L'a', 'b', 'c');
    WIDE(L"-1 4294967295", L"%I64d %lu", -1LL, (ULONG)-1);
    WIDE(L"na|    na|12", L"%.2S|%6.2hs|%d", "narrow", "narrow", 12);
}

#ifndef _WIN32 /* Wine 8's runtimes know no Z, and print the letter */
static void test_counted_text_has_its_own_length(void **state)
{
    static const char letters[3] = { 'a', 'b', 'c' };
    static const WCHAR wide_letters[4] = { 'd', 'e', 'f', 'g' };
    STRING narrow = { 2, 3, (PCHAR)letters };
    UNICODE_STRING counted = { 3 * sizeof(WCHAR), sizeof(wide_letters), (PWSTR)wide_letters };
    UNICODE_STRING none = { 0, 0, NULL }, empty = { 0, sizeof(WCHAR), (PWSTR)wide_letters };

    (void)state;
    NARROW("ab def def", "%Z %wZ %lZ", &narrow, &counted, &counted);
    NARROW("[  def][ab   ][]", "[%5wZ][%-5Z][%wZ]", &counted, &narrow, &empty);
    NARROW("(null) (null)", "%wZ %Z", &none, (PSTRING)NULL);
    WIDE(L"def [   ab] ab", L"%wZ [%5hZ] %hZ", &counted, &narrow, &narrow);
}
#endif

static void test_text_without_an_end_is_read_to_the_precision(void **state)
{
    static const char letters[3] = { 'a', 'b', 'c' };
    static const WCHAR wide_letters[3] = { 'd', 'e', 'f' };

    (void)state;
    NARROW("abc|de", "%.3s|%.2S", letters, wide_letters);
    NARROW("ab", "%.*s", 2, letters);
    WIDE(L"def|ab", L"%.3s|%.2S", wide_letters, letters);
}

#ifndef _WIN32 /* msvcrt.dll converts by its code page */
static void test_text_is_utf8(void **state)
{
    (void)state;
    NARROW("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "%S %ls", L"gr\u00fc\u00df", L"\U0001F600");
    WIDE(L"gr\u00fc\u00df", L"%S", "gr\xc3\xbc\xc3\x9f");
    WIDE(L"\u00ff!", L"%S", "\xff!"); /* a byte that belongs to no character */
    WIDE(L"\u00fc|", L"%.1S|", "\xc3\xbc\xc3\x9f");
    NARROW("|\xc3\xbc|", "|%.3S|", L"\u00fc\u00df"); /* no half a character */
}

static void test_formats_that_do_not_exist_fail(void **state)
{
    int n = 0;

    (void)state;
    errno = 0;
    assert_int_equal(_snprintf(text, sizeof(text), "%y"), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(_snprintf(text, sizeof(text), "ends in %"), -1);
    assert_int_equal(_snprintf(text, sizeof(text), "%n", &n), -1);
    assert_int_equal(_snprintf(text, sizeof(text), "%99999999999d", 1), -1);
    assert_int_equal(wincrt_fprintf(NULL, "x"), -1);
}

static void test_formats_of_inttypes(void **state)
{
    (void)state;
    NARROW("18446744073709551615 -1 ffffffffffffffff", "%" PRIu64 " %" PRId64 " %" PRIxPTR,
        UINT64_MAX, (int64_t)-1, UINTPTR_MAX);
}
#endif

static void test_long_numbers_and_texts(void **state)
{
    (void)state;
    assert_int_equal(_snprintf(text, sizeof(text), "%500d|", 7), 501);
    assert_int_equal(text[499], '7');
    assert_int_equal(_scprintf("%1000s", "x"), 1000);
    assert_int_equal(_scwprintf(L"%1000s", L"x"), 1000);
}

static int forward(char *to, size_t room, const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = _vscprintf(format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    assert_int_equal(vsprintf_s(to, room, format, arguments), length);
    va_end(arguments);
    return length;
}

static int forward_wide(WCHAR *to, size_t room, const WCHAR *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = _vscwprintf(format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    assert_int_equal(vswprintf_s(to, room, format, arguments), length);
    va_end(arguments);
    return length;
}

/* Each form that takes a list, on the same arguments. */
static void all_forms(const char *format, const WCHAR *wide_format, ...)
{
    int lengths[11], count = 0;
    va_list arguments;

#define FORM(call)                                                                                 \
    va_start(arguments, wide_format);                                                              \
    lengths[count++] = call;                                                                       \
    va_end(arguments)
    FORM(vsprintf(text, format, arguments));
    FORM(vsnprintf(text, sizeof(text), format, arguments));
    FORM(_vsnprintf(text, sizeof(text), format, arguments));
    FORM(_vsnprintf_s(text, sizeof(text), _TRUNCATE, format, arguments));
    FORM(vprintf(format, arguments));
    FORM(vprintf_s(format, arguments));
    FORM(vfprintf_s(stdout, format, arguments));
    FORM(vswprintf(wide, _countof(wide), wide_format, arguments));
    FORM(_vsnwprintf(wide, _countof(wide), wide_format, arguments));
    FORM(_vsnwprintf_s(wide, _countof(wide), _TRUNCATE, wide_format, arguments));
    FORM(vwprintf(wide_format, arguments));
#undef FORM
    for (int i = 0; i < count; i++)
        assert_int_equal(lengths[i], 9);
    assert_string_equal(text, "7 -1 abc\n");
    assert_wide_equal(wide, L"7 -1 abc\n");
}

static void test_arguments_in_a_list(void **state)
{
    (void)state;
    all_forms("%d %I64d %S\n", L"%d %I64d %s\n", 7, -1LL, L"abc");
    assert_int_equal(forward(text, sizeof(text), "%d %s %I64d %f", 1, "two", 3LL, 4.0), 16);
    assert_string_equal(text, "1 two 3 4.000000");
    assert_int_equal(forward_wide(wide, _countof(wide), L"%d %s %S", 1, L"two", "three"), 11);
    assert_wide_equal(wide, L"1 two three");
}

static void test_snprintf_with_underscore_ends_only_what_fits(void **state)
{
    (void)state;
    memset(text, 'x', 8);
    assert_int_equal(_snprintf(text, 3, "abcdef"), -1);
    assert_memory_equal(text, "abcxx", 5);
    memset(text, 'x', 8);
    assert_int_equal(_snprintf(text, 3, "abc"), 3);
    assert_memory_equal(text, "abcxx", 5);
    assert_int_equal(_snprintf(text, 4, "abc"), 3);
    assert_string_equal(text, "abc");
    assert_int_equal(_snprintf(NULL, 0, "abc"), 3);
    wide[3] = L'x';
    assert_int_equal(_snwprintf(wide, 3, L"abcdef"), -1);
    assert_int_equal(wide[2], L'c');
    assert_int_equal(wide[3], L'x');
}

static void test_snprintf_tells_the_length(void **state)
{
    (void)state;
    assert_int_equal(snprintf(text, 4, "abcdef"), 6);
    assert_string_equal(text, "abc");
    assert_int_equal(snprintf(NULL, 0, "%S", L"abcdef"), 6);
    assert_int_equal(sprintf(text, "%d%s", 1, "b"), 2);
    assert_string_equal(text, "1b");
    assert_int_equal(swprintf(wide, 8, L"%d%s", 1, L"b"), 2);
    assert_wide_equal(wide, L"1b");
}

static void test_secure_forms(void **state)
{
    (void)state;
    assert_int_equal(sprintf_s(text, 4, "abc"), 3);
    assert_string_equal(text, "abc");
#ifndef _WIN32 /* MinGW puts an sprintf_s of its own there, which neither empties nor ends the buffer */
    errno = 0;
    assert_int_equal(sprintf_s(text, 4, "abcd"), -1);
    assert_string_equal(text, "");
    assert_int_equal(errno, ERANGE);
    assert_int_equal(sprintf_s(NULL, 4, "abcd"), -1);
    assert_int_equal(errno, EINVAL);
#endif
    assert_int_equal(swprintf_s(wide, 4, L"%s", L"abc"), 3);
    assert_int_equal(swprintf_s(wide, 4, L"%s", L"abcd"), -1);
    assert_int_equal(wide[0], 0);
    assert_int_equal(_snprintf_s(text, 4, _TRUNCATE, "abcdef"), -1);
    assert_string_equal(text, "abc");
    assert_int_equal(_snprintf_s(text, 8, 2, "abcdef"), -1);
    assert_string_equal(text, "ab");
    assert_int_equal(_snprintf_s(text, 8, 7, "abcdef"), 6);
    assert_int_equal(_snwprintf_s(wide, 4, _TRUNCATE, L"abcdef"), -1);
    assert_wide_equal(wide, L"abc");
}

static void print_to(FILE *file, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    assert_true(vfprintf(file, format, arguments) > 0);
    va_end(arguments);
}

static void print_wide_to(FILE *file, const WCHAR *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    assert_true(vfwprintf(file, format, arguments) > 0);
    va_end(arguments);
}

static void test_wide_and_narrow_on_one_stream(void **state)
{
    static const char expected[] = "narrow 1\nwide 2\n3 list\n4 list\nputws\nwn\n";
    const char *name = DIFFERS("printf.here.txt", "printf.wine.txt", "both run at once");
    FILE *file;

    (void)state;
    assert_int_equal(fopen_s(&file, name, "w+"), 0);
    assert_int_equal(fprintf(file, "%s %d\n", "narrow", 1), 9);
    assert_int_equal(fwprintf(file, L"%s %d\n", L"wide", 2), 7);
    print_to(file, "%d %s\n", 3, "list");
    print_wide_to(file, L"%d %s\n", 4, L"list");
    assert_true(fputws(L"putws\n", file) >= 0);
    assert_int_equal(fputwc(L'w', file), 'w');
    assert_int_equal(fputc('n', file), 'n');
    assert_int_equal(putwc(L'\n', file), '\n');
    rewind(file);
    memset(text, 0, sizeof(text));
    assert_int_equal(fread(text, 1, sizeof(text), file), strlen(expected));
    assert_string_equal(text, expected);
    rewind(file);
    assert_ptr_equal(fgets(text, sizeof(text), file), text);
    assert_string_equal(text, "narrow 1\n");
    fclose(file);
    remove(name);
}

static void test_wide_lines_are_read_back(void **state)
{
    const WCHAR *name = DIFFERS(L"wide.here.txt", L"wide.wine.txt", "both run at once");
    FILE *file;

    (void)state;
    assert_int_equal(_wfopen_s(&file, name, L"w+"), 0);
    fwprintf(file, L"first line\nsecond\n");
    rewind(file);
    assert_ptr_equal(fgetws(wide, 6, file), wide);
    assert_wide_equal(wide, L"first");
    assert_int_equal(fgetwc(file), L' ');
    assert_int_equal(getwc(file), L'l');
    assert_ptr_equal(fgetws(wide, 600, file), wide);
    assert_wide_equal(wide, L"ine\n");
    assert_ptr_equal(fgetws(wide, 600, file), wide);
    assert_null(fgetws(wide, 600, file));
    assert_int_equal((WCHAR)fgetwc(file), (WCHAR)WEOF);
    assert_non_null(file = _wfreopen(name, L"r", file));
    assert_ptr_equal(fgetws(wide, 600, file), wide);
    assert_wide_equal(wide, L"first line\n");
    fclose(file);
    assert_non_null(file = _wfopen(name, L"r"));
    fclose(file);
    remove(DIFFERS("wide.here.txt", "wide.wine.txt", "both run at once"));
    assert_null(_wfopen(L"no/such/file", L"r"));
    assert_int_equal(fopen_s(&file, "no/such/file", "r"), ENOENT);
    assert_null(file);
    assert_int_equal(_wfopen_s(&file, L"no/such/file", L"r"), ENOENT);
}

/* The log shows standard output: the text has to appear there after any earlier output. */
static void test_standard_output(void **state)
{
    (void)state;
    assert_int_equal(printf("%s %d\n", "narrow", 1), 9);
    assert_int_equal(wprintf(L"%s %d\n", L"wide", 2), 7);
    assert_int_equal(printf_s("%s %I64d\n", "narrow", 3LL), 9);
    assert_true(_putws(L"wide line") >= 0);
    assert_int_equal(putwchar(L'\n'), '\n');
    assert_int_equal(fprintf_s(stdout, "%d\n", 5), 2);
    assert_int_equal(wprintf_s(L"%d\n", 6), 2);
    assert_int_equal(fwprintf_s(stdout, L"%d\n", 7), 2);
    assert_int_equal(_fileno(stdout), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_windows),
        cmocka_unit_test(test_flags_width_precision),
        cmocka_unit_test(test_numbers_as_the_current_runtime_writes_them),
        cmocka_unit_test(test_text_is_narrow_or_wide),
#ifndef _WIN32
        cmocka_unit_test(test_counted_text_has_its_own_length),
#endif
        cmocka_unit_test(test_text_without_an_end_is_read_to_the_precision),
#ifndef _WIN32
        cmocka_unit_test(test_text_is_utf8),
        cmocka_unit_test(test_formats_that_do_not_exist_fail),
        cmocka_unit_test(test_formats_of_inttypes),
#endif
        cmocka_unit_test(test_long_numbers_and_texts),
        cmocka_unit_test(test_arguments_in_a_list),
        cmocka_unit_test(test_snprintf_with_underscore_ends_only_what_fits),
        cmocka_unit_test(test_snprintf_tells_the_length),
        cmocka_unit_test(test_secure_forms),
        cmocka_unit_test(test_wide_and_narrow_on_one_stream),
        cmocka_unit_test(test_wide_lines_are_read_back),
        cmocka_unit_test(test_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
