/* SPDX-License-Identifier: MIT */
/* test_stdlib.c - Windows' additions to the C runtime: environment, time, files; the compiler's functions. */
#define _CRT_RAND_S
#include "tests/support/win32_test.h"

#include <intrin.h>
#include <io.h>
#include <process.h>
#include <time.h>

static void duplicates(void)
{
#ifndef _WIN32 /* MinGW does not link msvcrt.dll's _dupenv_s */
    char *copy = NULL;
    size_t size = 99;

    assert_int_equal(_dupenv_s(&copy, &size, "NDTEST_CRT"), 0);
    assert_int_equal(size, 6);
    assert_string_equal(copy, "value");
    free(copy);
    assert_int_equal(_dupenv_s(&copy, &size, "NDTEST_CRT_NO"), 0);
    assert_int_equal(size, 0);
    assert_null(copy);
    assert_int_equal(_dupenv_s(&copy, NULL, "NDTEST_CRT"), 0);
    free(copy);
    assert_int_equal(_dupenv_s(NULL, NULL, "NDTEST_CRT"), EINVAL);
    assert_int_equal(_dupenv_s(&copy, NULL, NULL), EINVAL);
    assert_null(copy);
#endif
}

static void test_environment(void **state)
{
    char value[8];
    size_t size = 99;

    (void)state;
    assert_int_equal(_putenv_s("NDTEST_CRT", "value"), 0);
    assert_string_equal(getenv("NDTEST_CRT"), "value");
    assert_int_equal(getenv_s(&size, value, sizeof(value), "NDTEST_CRT"), 0);
    assert_int_equal(size, 6);
    assert_string_equal(value, "value");
    assert_int_equal(getenv_s(&size, NULL, 0, "NDTEST_CRT"),
        DIFFERS_BEFORE_10(0, ERANGE, "getenv_s that only asks: Wine calls it too small"));
    assert_int_equal(size, 6);
    assert_int_equal(getenv_s(&size, value, 5, "NDTEST_CRT"), ERANGE);
    assert_int_equal(size, 6);
    assert_int_equal(getenv_s(&size, value, sizeof(value), "NDTEST_CRT_NO"),
        DIFFERS_BEFORE_10(0, EINVAL, "getenv_s without such a variable: Wine calls it an error"));
    assert_int_equal(size, 0);
    assert_string_equal(value,
        DIFFERS_BEFORE_10("", "value", "getenv_s without such a variable: Wine calls it an error"));
    duplicates();
    assert_int_equal(_putenv_s("NDTEST_CRT", ""), 0);
    assert_null(getenv("NDTEST_CRT"));
#ifndef _WIN32 /* these end the program there, as long as it sets no handler */
    errno = 0;
    assert_int_equal(_putenv_s(NULL, "x"), EINVAL);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(_putenv_s("a=b", "x"), EINVAL);
    assert_int_equal(getenv_s(&size, NULL, 1, "x"), EINVAL);
    assert_int_equal(getenv_s(NULL, value, sizeof(value), "x"), EINVAL);
#endif
}

static void test_times(void **state)
{
    time_t seconds = 951782400; /* 2000-02-29 */
    struct tm parts, local;

    (void)state;
    assert_int_equal(gmtime_s(&parts, &seconds), 0);
    assert_int_equal(parts.tm_year, 100);
    assert_int_equal(parts.tm_mon, 1);
    assert_int_equal(parts.tm_mday, 29);
    assert_int_equal(parts.tm_wday, 2);
    assert_int_equal(parts.tm_yday, 59);
    assert_int_equal(localtime_s(&local, &seconds), 0);
    assert_int_equal(mktime(&local), seconds);
    seconds = -1;
    assert_int_equal(gmtime_s(&parts, &seconds), EINVAL);
    assert_int_equal(parts.tm_year, -1);
    assert_int_equal(parts.tm_mday, -1);
    assert_int_equal(localtime_s(&local, &seconds), EINVAL);
    assert_int_equal(local.tm_hour, -1);
#ifndef _WIN32 /* these end the program there, as long as it sets no handler */
    assert_int_equal(localtime_s(NULL, &seconds), EINVAL);
    assert_int_equal(gmtime_s(&parts, NULL), EINVAL);
#endif
}

static void test_files(void **state)
{
    const char *name = "test_stdlib.tmp";
    FILE *stream = NULL, *again = NULL;
    char line[8];

    (void)state;
    assert_int_equal(fopen_s(&stream, name, "w"), 0);
    assert_true(fputs("one\n", stream) >= 0);
    assert_int_equal(freopen_s(&again, name, "r", stream), 0);
    assert_ptr_equal(again, stream);
    assert_non_null(fgets(line, sizeof(line), again));
    assert_string_equal(line, "one\n");
    assert_false(_isatty(_fileno(again)));
    assert_int_equal(fclose(again), 0);
    assert_int_equal(freopen_s(&stream, "no such folder/file", "r", stdin), ENOENT);
    assert_null(stream);
    assert_int_equal(_access(name, 0), 0);
    assert_int_equal(_access(name, 4), 0);
    assert_int_equal(_unlink(name), 0);
    assert_int_equal(_access(name, 0), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(_getpid(), GetCurrentProcessId());
#ifndef _WIN32 /* these end the program there, as long as it sets no handler */
    assert_int_equal(freopen_s(NULL, name, "r", stdin), EINVAL);
    assert_int_equal(freopen_s(&stream, name, "r", NULL), EINVAL);
#endif
}

static void test_bits(void **state)
{
    DWORD index = 99;

    (void)state;
    assert_int_equal(_BitScanForward(&index, 0x50), 1);
    assert_int_equal(index, 4);
    assert_int_equal(_BitScanReverse(&index, 0x50), 1);
    assert_int_equal(index, 6);
    assert_int_equal(_BitScanForward(&index, 0), 0);
    assert_int_equal(_BitScanReverse(&index, 0), 0);
    assert_int_equal(_BitScanForward64(&index, 1ull << 40), 1);
    assert_int_equal(index, 40);
    assert_int_equal(_BitScanReverse64(&index, 0x8000000000000001ull), 1);
    assert_int_equal(index, 63);
    assert_int_equal(_BitScanForward64(&index, 0), 0);
    assert_int_equal(_BitScanReverse64(&index, 0), 0);
    assert_int_equal(BitScanForward(&index, 8), 1);
    assert_int_equal(BitScanReverse(&index, 8), 1);
    assert_int_equal(BitScanForward64(&index, 8), 1);
    assert_int_equal(BitScanReverse64(&index, 8), 1);
    assert_int_equal(index, 3);
    assert_int_equal(__popcnt16(0xf0f0), 8);
    assert_int_equal(__popcnt(0xffffffff), 32);
    assert_int_equal(__popcnt64(0x8000000000000001ull), 2);
    assert_int_equal(_rotl(0x80000001, 4), 0x18);
    assert_int_equal(_rotr(0x18, 4), 0x80000001);
    assert_int_equal(_rotl(5, 0), 5);
    assert_true(_rotl64(0x8000000000000001ull, 4) == 0x18);
    assert_true(_rotr64(0x18, 4) == 0x8000000000000001ull);
    assert_true(_rotr64(7, 64) == 7);
#if defined(__x86_64__) || defined(__i386__)
    unsigned long long before = __rdtsc();

    _mm_pause();
    assert_true(__rdtsc() > before);
#endif
}

static void test_errno(void **state)
{
    unsigned one = 0, other = 0, tries = 0;
    int value = 0;

    (void)state;
    assert_int_equal(_set_errno(ENOENT), 0);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(_get_errno(&value), 0);
    assert_int_equal(value, ENOENT);
    assert_string_equal(_strerror("what"), "what: No such file or directory\n");
    assert_string_equal(_strerror(NULL), "No such file or directory\n");
    do {
        assert_int_equal(rand_s(&one), 0);
        assert_int_equal(rand_s(&other), 0);
    } while (one == other && ++tries < 9);
    assert_true(one != other);
#ifndef _WIN32 /* they end the program there, as long as it sets no handler */
    assert_int_equal(rand_s(NULL), EINVAL);
    assert_int_equal(_get_errno(NULL), EINVAL);
#endif
}

static void test_memory_of_the_stack(void **state)
{
    char *small = _malloca(100), *large = _malloca(100000), *own = _alloca(10);

    (void)state;
    assert_non_null(small);
    assert_non_null(large);
    memset(small, 1, 100);
    memset(large, 2, 100000);
    memset(own, 3, 10);
    assert_int_equal((uintptr_t)small % 16, 0);
    assert_int_equal((uintptr_t)large % 16, 0);
    assert_true(small[99] == 1 && large[0] == 2);
    _freea(small);
    _freea(large);
    _freea(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_memory_of_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
