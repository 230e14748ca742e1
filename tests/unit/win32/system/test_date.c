/* SPDX-License-Identifier: MIT */
/* test_date.c - dates, clocks of other kinds, the computer's names, numbers of 64 bits in network order. */
#include "tests/support/win32_test.h"

#include <mmsystem.h>

static ULONGLONG units(FILETIME time)
{
    return (ULONGLONG)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static void test_dates_to_times_and_back(void **state)
{
    static const struct {
        SYSTEMTIME date;
        ULONGLONG units;
    } rows[] = {
        { { 1601, 1, 1, 1, 0, 0, 0, 0 }, 0 },
        { { 1970, 1, 4, 1, 0, 0, 0, 0 }, 116444736000000000ull },
        { { 2000, 2, 2, 29, 23, 59, 59, 999 }, 125963423999990000ull },
        { { 30827, 12, 5, 31, 23, 59, 59, 999 }, 9223149887999990000ull },
    };

    (void)state;
    for (size_t i = 0; i < _countof(rows); i++) {
        FILETIME time = { 1, 1 };
        SYSTEMTIME date;

        assert_true(SystemTimeToFileTime(&rows[i].date, &time));
        assert_true(units(time) == rows[i].units);
        assert_true(FileTimeToSystemTime(&time, &date));
        assert_memory_equal(&date, &rows[i].date, sizeof(date));
    }
}

static void test_dates_that_do_not_exist(void **state)
{
    static const SYSTEMTIME rows[] = { { 1600, 12, 0, 31, 0, 0, 0, 0 },
        { 2001, 2, 0, 30, 0, 0, 0, 0 }, { 2000, 13, 0, 1, 0, 0, 0, 0 },
        { 2000, 0, 0, 1, 0, 0, 0, 0 }, { 2000, 1, 0, 0, 0, 0, 0, 0 },
        { 2000, 1, 0, 1, 24, 0, 0, 0 }, { 2000, 1, 0, 1, 0, 60, 0, 0 },
        { 2000, 1, 0, 1, 0, 0, 60, 0 }, { 2000, 1, 0, 1, 0, 0, 0, 1000 } };
    FILETIME time = { 0, 0x80000000 };
    SYSTEMTIME date;

    (void)state;
    for (size_t i = 0; i < _countof(rows); i++)
        assert_fails(SystemTimeToFileTime(&rows[i], &time), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine takes negative times, Windows does not */
    assert_fails(FileTimeToSystemTime(&time, &date), SPEC_ERROR_INVALID_PARAMETER);
#else
    (void)date;
#endif
}

static void test_now(void **state)
{
    FILETIME now, precise, from_date;
    SYSTEMTIME date, local;

    (void)state;
    GetSystemTimeAsFileTime(&now);
    GetSystemTime(&date);
    GetLocalTime(&local);
    GetSystemTimePreciseAsFileTime(&precise);
    assert_true(units(precise) >= units(now));
    assert_true(SystemTimeToFileTime(&date, &from_date));
    /* A date has whole milliseconds; Windows' clock of that kind is up to 16 ms old. */
    assert_true(units(from_date) + 200000 >= units(now) && units(from_date) <= units(precise));
    assert_true(SystemTimeToFileTime(&local, &from_date));
    /* Local times are multiples of a quarter of an hour away. */
    assert_true(
        (units(precise) + 30 * 864000000000ull - units(from_date)) % 9000000000ull < 600000000ull);
    assert_true(local.wDayOfWeek < 7);
}

static void test_multimedia_clock(void **state)
{
    DWORD before = timeGetTime();

    (void)state;
    assert_int_equal(timeBeginPeriod(1), TIMERR_NOERROR);
    Sleep(5);
    assert_true(timeGetTime() - before >= 4);
    assert_true(timeGetTime() - before < LONG_MS);
    assert_int_equal(timeEndPeriod(1), TIMERR_NOERROR);
    assert_int_equal(timeBeginPeriod(0), TIMERR_NOCANDO);
    assert_int_equal(timeEndPeriod(0), TIMERR_NOCANDO);
}

static void test_computer_names(void **state)
{
    char name[256], host[256];
    WCHAR wide[256];
    DWORD size = sizeof(name), length;

    (void)state;
    assert_true(GetComputerNameA(name, &size));
    assert_int_equal(size, strlen(name));
    assert_in_range(size, 1, MAX_COMPUTERNAME_LENGTH);
    length = size;
    assert_true(GetComputerName == GetComputerNameA && GetComputerNameEx == GetComputerNameExA);
    assert_fails(
        GetComputerNameA(name, &size), SPEC_ERROR_BUFFER_OVERFLOW); /* no room for the end */
    assert_int_equal(size, length + 1);
    assert_true(GetComputerNameA(name, &size));
    size = _countof(wide);
    assert_true(GetComputerNameW(wide, &size));
    assert_int_equal(size, length);
    assert_int_equal(wide[size], 0);
    assert_int_equal(wide[0], name[0]);
    size = 1;
    assert_fails(GetComputerNameW(wide, &size), SPEC_ERROR_BUFFER_OVERFLOW);
    assert_int_equal(size, length + 1);
    size = sizeof(host);
    assert_true(GetComputerNameExA(ComputerNameDnsHostname, host, &size));
    assert_int_equal(size, strlen(host));
    assert_int_equal(
        lstrcmpiA(name, host), DIFFERS(0, lstrcmpiA(name, host), "a long name is cut elsewhere"));
    size = 1;
    assert_fails(GetComputerNameExA(ComputerNameDnsHostname, name, &size), SPEC_ERROR_MORE_DATA);
    assert_int_equal(size, strlen(host) + 1);
    size = 0;
    assert_fails(GetComputerNameExW(ComputerNameDnsHostname, NULL, &size), SPEC_ERROR_MORE_DATA);
    assert_int_equal(size, strlen(host) + 1);
    assert_true(GetComputerNameExW(ComputerNamePhysicalDnsHostname, wide, &size));
    assert_int_equal(size, strlen(host));
    size = sizeof(name);
    assert_true(GetComputerNameExA(ComputerNameDnsFullyQualified, name, &size));
    assert_int_equal(_strnicmp(name, host, strlen(host)), 0);
    size = sizeof(name);
    assert_true(GetComputerNameExA(ComputerNameDnsDomain, name, &size));
    assert_int_equal(size, strlen(name));
    size = sizeof(name);
    assert_fails(GetComputerNameExA(ComputerNameMax, name, &size), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_network_order(void **state)
{
    UINT64 value = htonll(0x0102030405060708ull);

    (void)state;
    assert_memory_equal(&value, "\1\2\3\4\5\6\7\10", 8);
    assert_true(ntohll(value) == 0x0102030405060708ull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates_to_times_and_back),
        cmocka_unit_test(test_dates_that_do_not_exist),
        cmocka_unit_test(test_now),
        cmocka_unit_test(test_multimedia_clock),
        cmocka_unit_test(test_computer_names),
        cmocka_unit_test(test_network_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
