/* SPDX-License-Identifier: MIT */
/* cxx.cpp - ported C++: parts of the standard library before the Windows headers, others behind them. */
#include <algorithm>
#include <cstdio>
#include <vector>

#include <winsock2.h>
#include <windows.h>
#include <initguid.h>
#include <unknwn.h>

#include <cstdarg>
#include <cstring>
#ifndef min
#error "min is a macro, as on Windows"
#endif
#ifndef max
#error "max is a macro, as on Windows"
#endif

#include <functional>
#include <iomanip>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "tests/unit/compat/cxx.h"

static int forward(char (&text)[64], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsprintf_s(text, format, arguments);
    va_end(arguments);
    return length;
}

static int forward_some(
    char (&text)[8], WCHAR (&wide)[8], const char *format, const WCHAR *wide_format, ...)
{
    va_list arguments;

    va_start(arguments, wide_format);
    int length = _vsnprintf_s(text, 3, format, arguments);
    va_end(arguments);
    va_start(arguments, wide_format);
    length += _vsnwprintf_s(wide, 3, wide_format, arguments);
    va_end(arguments);
    va_start(arguments, wide_format);
    length += vswprintf_s(wide, wide_format, arguments);
    va_end(arguments);
    return length;
}

int cxx_formats(void)
{
    char text[64], small[8];
    WCHAR wide[64], wide_small[8];
    ULONG value = 0xffffffff;

    if (sprintf_s(text, "%lu %S", value, L"wide") != 15 || std::strcmp(text, "4294967295 wide"))
        return 1;
    if (std::sprintf(text, "%I64d", -1LL) != 2 || std::snprintf(text, 3, "abcdef") != 6 ||
        std::strcmp(text, "ab"))
        return 2;
    if (swprintf_s(wide, L"%s %S", L"a", "b") != 3 || std::wcscmp(wide, L"a b"))
        return 3;
    if (forward(text, "%d", 42) != 2 || _snprintf_s(small, _TRUNCATE, "too long a text") != -1)
        return 4;
    if (_snwprintf_s(wide_small, 2, L"abc") != -1 || std::wcscmp(wide_small, L"ab"))
        return 5;
    if (forward_some(small, wide_small, "%d", L"%d", 7) != 3)
        return 6;
    if (strcpy_s(small, "abc") || strcat_s(small, "def") ||
        strcpy_s(small, "far too long") != ERANGE)
        return 7;
    if (strncpy_s(small, "abcdef", 2) || strncat_s(small, "cd", 1) || std::strcmp(small, "abc"))
        return 8;
    if (wcscpy_s(wide_small, L"a") || wcscat_s(wide_small, L"b") ||
        wcsncpy_s(wide_small, L"cd", 1) || wcsncat_s(wide_small, L"ef", 1) ||
        std::wcscmp(wide_small, L"ce"))
        return 9;
    return std::printf("%s %I64u\n", "through std", 1ull << 40) == 26 ? 0 : 10;
}

struct Counted {
    LONG AddRef()
    {
        return ::InterlockedIncrement(&refs);
    }
    LONG refs = 1;
};

int cxx_interlocked(void)
{
    Counted counted;
    volatile LONG narrow = 5;
    volatile unsigned plain = 7;
    long long wide = 1;
    volatile long native = 3; /* 8 bytes here */
    LONG target = 0;
    PVOID pointer = &target;

    if (counted.AddRef() != 2 || ::InterlockedDecrement(&counted.refs) != 1)
        return 1;
    if (InterlockedExchangeAdd(&narrow, 3) != 5 || InterlockedCompareExchange(&narrow, 1, 8) != 8 ||
        narrow != 1)
        return 2;
    if (InterlockedOr(&plain, 8) != 7u || InterlockedAnd(&plain, 12u) != 15u ||
        InterlockedXor(&plain, 4) != 12u)
        return 3;
    if (InterlockedExchangeAdd64(&wide, (LONG64)1 << 40) != 1 ||
        InterlockedIncrement64(&wide) != ((LONG64)1 << 40) + 2)
        return 4;
    if (InterlockedIncrement(&native) != 4 || InterlockedExchange(&native, 9) != 4 ||
        InterlockedAdd(&native, 1) != 10)
        return 5;
    if (InterlockedExchangePointer(&pointer, NULL) != &target ||
        InterlockedCompareExchangePointer(&pointer, &target, NULL))
        return 6;
    return InterlockedExchangeSubtract(&plain, 3u) == 8u && plain == 5 ? 0 : 7;
}

int cxx_bits(void)
{
    DWORD index = 99;
    unsigned long native = 99; /* 8 bytes here */

    if (_BitScanForward(&index, 0x50) != 1 || index != 4 || _BitScanReverse(&native, 0x50) != 1 ||
        native != 6)
        return 1;
    if (_BitScanForward64(&native, 1ull << 40) != 1 || native != 40 ||
        _BitScanReverse64(&index, 1ull << 41) != 1 || index != 41)
        return 2;
    if (_BitScanForward(&index, 0) || _BitScanReverse64(&index, 0) || index != 41)
        return 3;
    return __popcnt(7) == 3 && _rotl(0x80000000u, 1) == 1 && _rotr64(1, 1) == 1ull << 63 ? 0 : 4;
}

int cxx_library(void)
{
    std::vector<SIZE_T> values(3, 7);
    std::map<int, int> map;
    std::ostringstream stream;
    volatile int count = 5;
    ULONG five = 5;

    map[1] = (std::min)(3, 4) + std::max(1, 2);
    stream << std::hex << std::setw(4) << map[1];
    if (stream.str() != "   5" || std::numeric_limits<LONG>::max() != 2147483647)
        return 1;
    if (min(values[0], five) != 5 || max(five, values[0]) != 7 || min(1, 2) != 1)
        return 2;
    if (*std::max_element(values.begin(), values.end()) != 7)
        return 3;
    if (FIELD_OFFSET(SOCKET_ADDRESS_LIST, Address[count]) != 88 ||
        FIELD_OFFSET(OVERLAPPED, hEvent) != 24)
        return 4;
    static_assert(FIELD_OFFSET(OVERLAPPED, hEvent) == 24, "a constant");
    return std::bind(
        [](int a) { return a - 1; }, 1)(); /* bind and connect are still the library's */
}

int cxx_winsock(void)
{
    SOCKADDR_IN address = {};
    IN6_ADDR v6 = IN6ADDR_LOOPBACK_INIT;

    address.sin_addr.S_un.S_addr = htonl(INADDR_LOOPBACK);
    if (address.sin_addr.s_addr != htonl(0x7f000001) ||
        std::strcmp(inet_ntoa(address.sin_addr), "127.0.0.1"))
        return 1;
    return IN6_IS_ADDR_LOOPBACK(&v6) && v6.u.Byte[15] == 1 &&
                   !std::memcmp(&v6, &in6addr_loopback, 16)
               ? 0
               : 2;
}

DEFINE_OLEGUID(IID_Ole, 0x12345678, 0x9abc, 0xdef0);

DECLARE_INTERFACE(IPlain)
{
    STDMETHOD(Do)(THIS) PURE;
};

DECLARE_INTERFACE_IID_(IMore, IPlain, "12345678-9abc-def0-c000-000000000046")
{
    STDMETHOD_(ULONG, Count)(THIS) PURE;
};

interface IAlias; /* a word for struct */
static_assert(sizeof(IAlias *) == sizeof(void *), "declared");

class __declspec(novtable) More : public IMore
{
  public:
    IFACEMETHODIMP Do()
    {
        return ++count, S_FALSE;
    }
    IFACEMETHODIMP_(ULONG) Count()
    {
        return count;
    }
    ULONG count = 0;
};

STDAPI_(ULONG) CountOnce(IMore *more);
STDAPI_(ULONG) CountOnce(IMore *more)
{
    return more->Do() == S_FALSE ? more->Count() : 0;
}

int cxx_interfaces(void)
{
    More more;

    return CountOnce(&more) == 1 && IID_Ole.Data4[7] == 0x46 && IID_Ole.Data3 == 0xdef0 ? 0 : 1;
}
