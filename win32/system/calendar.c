/* SPDX-License-Identifier: MIT */
/* calendar.c - SYSTEMTIME: dates of the Gregorian calendar, from 1601 to 30827. */
#include <windows.h>

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SECOND_UNITS    10000000u            /* FILETIME counts 100 ns */
#define UNIX_EPOCH      INT64_C(11644473600) /* seconds from 1601, where FILETIME begins */
#define FILETIME_BEYOND UINT64_C(0x8000000000000000)

static SYSTEMTIME date_of(const struct tm *tm, unsigned milliseconds)
{
    return (SYSTEMTIME){ .wYear = (WORD)(tm->tm_year + 1900),
        .wMonth = (WORD)(tm->tm_mon + 1),
        .wDayOfWeek = (WORD)tm->tm_wday,
        .wDay = (WORD)tm->tm_mday,
        .wHour = (WORD)tm->tm_hour,
        .wMinute = (WORD)tm->tm_min,
        .wSecond = (WORD)tm->tm_sec,
        .wMilliseconds = (WORD)milliseconds };
}

/* GetSystemTime, GetLocalTime - now, in UTC or in the time zone of the process (TZ). */
void WINAPI GetSystemTime(LPSYSTEMTIME date)
{
    struct timespec now;
    struct tm tm;

    clock_gettime(CLOCK_REALTIME, &now);
    *date = date_of(gmtime_r(&now.tv_sec, &tm), (unsigned)(now.tv_nsec / 1000000));
}

void WINAPI GetLocalTime(LPSYSTEMTIME date)
{
    struct timespec now;
    struct tm tm;

    tzset(); /* localtime_r need not */
    clock_gettime(CLOCK_REALTIME, &now);
    *date = date_of(localtime_r(&now.tv_sec, &tm), (unsigned)(now.tv_nsec / 1000000));
}

/* FileTimeToSystemTime - FALSE with ERROR_INVALID_PARAMETER: a NULL pointer, or 2^63 units and more. */
BOOL WINAPI FileTimeToSystemTime(const FILETIME *time, LPSYSTEMTIME date)
{
    uint64_t units = time ? (uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime : 0;
    time_t seconds = (time_t)(units / SECOND_UNITS) - UNIX_EPOCH;
    struct tm tm;

    if (!time || !date || units >= FILETIME_BEYOND || !gmtime_r(&seconds, &tm)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *date = date_of(&tm, (unsigned)(units % SECOND_UNITS / 10000));
    return TRUE;
}

/* Whether timegm left the parts unchanged: it moves a day or hour that does not exist. */
static bool is_same(const struct tm *tm, const SYSTEMTIME *date)
{
    return tm->tm_mday == date->wDay && tm->tm_mon + 1 == date->wMonth &&
           tm->tm_hour == date->wHour && tm->tm_min == date->wMinute && tm->tm_sec == date->wSecond;
}

/*
 * SystemTimeToFileTime - ignores wDayOfWeek. FALSE with ERROR_INVALID_PARAMETER: a NULL pointer, no such date.
 */
BOOL WINAPI SystemTimeToFileTime(const SYSTEMTIME *date, LPFILETIME time)
{
    if (date && time && date->wYear >= 1601 && date->wYear <= 30827 && date->wMilliseconds < 1000) {
        struct tm tm = { .tm_year = date->wYear - 1900,
            .tm_mon = date->wMonth - 1,
            .tm_mday = date->wDay,
            .tm_hour = date->wHour,
            .tm_min = date->wMinute,
            .tm_sec = date->wSecond };
        uint64_t units =
            (uint64_t)(timegm(&tm) + UNIX_EPOCH) * SECOND_UNITS + date->wMilliseconds * 10000u;

        if (is_same(&tm, date)) {
            *time =
                (FILETIME){ .dwLowDateTime = (DWORD)units, .dwHighDateTime = (DWORD)(units >> 32) };
            return TRUE;
        }
    }
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
}

/* CompareFileTime - -1: the first time is earlier, 1: later, 0: they are the same. */
LONG WINAPI CompareFileTime(const FILETIME *first, const FILETIME *second)
{
    const uint64_t a = (uint64_t)first->dwHighDateTime << 32 | first->dwLowDateTime;
    const uint64_t b = (uint64_t)second->dwHighDateTime << 32 | second->dwLowDateTime;

    return a < b ? -1 : a > b;
}
