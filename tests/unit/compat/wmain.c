/* SPDX-License-Identifier: MIT */
/* wmain.c - a program that begins in wmain; run with the arguments of CMakeLists.txt. */
#define _UNICODE
#include <tchar.h>

#include <wchar.h>

static int same(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

int _tmain(int argc, TCHAR *argv[]);

int _tmain(int argc, TCHAR *argv[])
{
    if (argc != 4 || argv[4])
        return 1;
    if (!same(argv[1], _T("-s")))
        return 2;
    if (!same(argv[2], L"gr\u00fc\u00df")) /* umlaut and sharp s */
        return 3;
    if (!same(argv[3], L"\U0001F600")) /* beyond 16 bits: two units where wchar_t has 16 */
        return 4;
#if __SIZEOF_WCHAR_T__ == 4
    if (_tcscmp(argv[1], L"-s") || _tcsicmp(argv[1], L"-S") || _tcslen(argv[2]) != 4)
        return 5;
    if (_ttoi(L"42") != 42 || _ttol(L"-7") != -7 || _ttoi64(L"1099511627776") != 1099511627776)
        return 6;
    if (_stricmp("Name", "nAME") || sizeof(_ttol(L"1")) != 4)
        return 7;
#endif
    return 0;
}
