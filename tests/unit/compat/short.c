/* SPDX-License-Identifier: MIT */
/* short.c - a program with a wchar_t of 16 bits: its wide functions, narrow ones with wide arguments. */
#include <winsock2.h>
#include <windows.h>
#include <strsafe.h>

#include "tests/unit/compat/cxx.h"

C_ASSERT(sizeof(WCHAR) == 2);

static __inline int same(const WCHAR *a, const WCHAR *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

int short_formats(void)
{
    WCHAR wide[32], word[8];
    char text[32];
    int number = 0;

    if (swprintf(wide, 32, L"%s %S %d", L"wide", "narrow", 7) != 13 ||
        !same(wide, L"wide narrow 7"))
        return 1;
    if (sprintf_s(text, sizeof(text), "%S %ls", L"gr\u00fc\u00df", L"\U0001F600") != 11 ||
        strcmp(text, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"))
        return 2;
    if (swprintf_s(wide, 32, L"%S", "\xf0\x9f\x98\x80") != 2 || wide[0] != 0xd83d ||
        wide[1] != 0xde00)
        return 3;
    if (swscanf_s(L"word 5", L"%s %d", word, 8u, &number) != 2 || !same(word, L"word") ||
        number != 5)
        return 4;
    if (_snwprintf(wide, 2, L"abc") != -1 || _scwprintf(L"%c", L'x') != 1)
        return 5;
    return wprintf(L"%s\n", L"wide text of 16 bits") == 21 ? 0 : 6;
}

int short_functions(void)
{
    WCHAR wide[64], *copy, *rest = NULL;
    IN_ADDR address;

    if (wcscpy_s(wide, 64, L"a b") || wcscat_s(wide, 64, L" c") || !same(wide, L"a b c"))
        return 1;
    if (!(copy = _wcsdup(wide)) || !same(wcstok_s(copy, L" ", &rest), L"a"))
        return 2;
    free(copy);
    if (!SetEnvironmentVariableW(L"NDTEST_SHORT", L"gr\u00fc\u00df") ||
        GetEnvironmentVariableW(L"NDTEST_SHORT", wide, 64) != 4 || !same(wide, L"gr\u00fc\u00df"))
        return 3;
    if (ExpandEnvironmentStringsW(L"[%NDTEST_SHORT%]", wide, 64) != 7 ||
        !same(wide, L"[gr\u00fc\u00df]"))
        return 4;
    if (_wtoi(L" -42x") != -42 || _wtol(L"7") != 7 ||
        _wtoi64(L"-1099511627776") != -1099511627776 || _wcstoui64(L"ff", NULL, 16) != 255 ||
        _wcsicmp(L"Name", L"nAME") || _wcsnicmp(L"a1", L"A2", 1) || _itow_s(-5, wide, 64, 10) ||
        !same(wide, L"-5"))
        return 15;
    if (!GetModuleHandleW(L"kernel32.dll") || GetModuleFileNameW(NULL, wide, 4) != 4)
        return 5;
    if (FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM, NULL, 6, 0, wide, 64, NULL) < 5 ||
        wide[0] != 'T')
        return 6;
    if (InetPtonW(AF_INET, L"1.2.3.4", &address) != 1 || !InetNtopW(AF_INET, &address, wide, 64) ||
        !same(wide, L"1.2.3.4"))
        return 7;
    OutputDebugStringW(L"16 bits\n");
    return 0;
}

int short_strings(void)
{
    WCHAR wide[64];
    char text[64];
    size_t length;
    DWORD size = 64;
    HANDLE mapping, opened;

    if (StringCchPrintfW(wide, 64, L"%s %d", L"a", 5) != S_OK || !same(wide, L"a 5"))
        return 1;
    if (StringCchCopyW(wide, 3, L"abc") != STRSAFE_E_INSUFFICIENT_BUFFER || !same(wide, L"ab"))
        return 2;
    if (StringCbCatW(wide, sizeof(wide), L"cd") != S_OK ||
        StringCbLengthW(wide, sizeof(wide), &length) != S_OK || length != 8)
        return 3;
    if (lstrlenW(wide) != 4 || lstrcmpW(lstrcpyW(wide, L"\u00dc"), L"\u00fc") != 1 ||
        lstrcmpiW(lstrcatW(wide, L"x"), L"\u00fcX") || !same(lstrcpynW(wide, L"abc", 2), L"a"))
        return 4;
    if (MultiByteToWideChar(CP_UTF8, 0, "\xf0\x9f\x98\x80", -1, wide, 64) != 3 ||
        wide[0] != 0xd83d || wide[1] != 0xde00)
        return 5;
    if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, 64, NULL, NULL) != 5 ||
        strcmp(text, "\xf0\x9f\x98\x80"))
        return 6;
    if (WideCharToMultiByte(CP_UTF8, 0, wide, 1, text, 64, NULL, NULL) != 3 ||
        memcmp(text, "\xef\xbf\xbd", 3))
        return 7;
    if (!GetComputerNameW(wide, &size) || (int)size != lstrlenW(wide))
        return 8;
    if (!same(lstrcpyW(wide, L"ndtest.short"), L"ndtest.short") ||
        !(mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 100, wide)) ||
        !(opened = OpenFileMappingA(FILE_MAP_READ, FALSE, "ndtest.short")) ||
        !CloseHandle(opened) || !(opened = OpenFileMappingW(FILE_MAP_READ, FALSE, wide)) ||
        !CloseHandle(opened) || !CloseHandle(mapping))
        return 10;
    size = 1;
    return !GetComputerNameExW(ComputerNameNetBIOS, wide, &size) &&
                   GetLastError() == ERROR_MORE_DATA
               ? 0
               : 9;
}
