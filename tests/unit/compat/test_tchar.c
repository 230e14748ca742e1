/* SPDX-License-Identifier: MIT */
/* test_tchar.c - the _t names, here the wide ones; test_tchar_narrow.c includes this file for the others. */
#ifndef TCHAR_NARROW
#define UNICODE
#define _UNICODE
#endif
#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <tchar.h>

#ifdef TCHAR_NARROW
#define WIDTH "narrow"
#else
#define WIDTH "wide"
#endif
#define FILE_NAME                                                                                  \
    DIFFERS(_T("tchar.here.") _T(WIDTH), _T("tchar.wine.") _T(WIDTH), "both run at once")

static TCHAR text[64], other[64];

#define assert_text(a, b) assert_int_equal(_tcscmp((a), (b)), 0)

static void test_strings(void **state)
{
    TCHAR *rest = NULL, *copy;

    (void)state;
    _tcscpy(text, _T("abc"));
    _tcscat(text, _T("def"));
    assert_text(text, _T("abcdef"));
    assert_int_equal(_tcslen(text), 6);
    _tcsncpy(other, text, 3);
    other[3] = 0;
    _tcsncat(other, _T("xyz"), 10);
    assert_text(other, _T("abcxyz"));
    assert_int_equal(_tcsncmp(text, other, 3), 0);
    assert_int_equal(_tcsicmp(_T("ABC"), _T("abc")), 0);
    assert_int_equal(_tcsnicmp(_T("ABCx"), _T("abcy"), 3), 0);
    assert_ptr_equal(_tcschr(text, _T('c')), text + 2);
    assert_ptr_equal(_tcsrchr(text, _T('c')), text + 2);
    assert_ptr_equal(_tcsstr(text, _TEXT("cd")), text + 2);
    assert_ptr_equal(_tcspbrk(text, _T("dc")), text + 2);
    assert_int_equal(_tcsspn(text, _T("ab")), 2);
    assert_int_equal(_tcscspn(text, _T("c")), 2);
    assert_int_equal(_tcscpy_s(text, 64, _T("a b")), 0);
    assert_int_equal(_tcscat_s(text, 64, _T(" c")), 0);
    assert_int_equal(_tcsncpy_s(other, 64, text, 1), 0);
    assert_int_equal(_tcsncat_s(other, 64, text, 2), 0);
    assert_text(other, _T("aa "));
    assert_text(_tcstok_s(text, _T(" "), &rest), _T("a"));
    assert_non_null(copy = _tcsdup(other));
    assert_text(copy, other);
    free(copy);
}

static void test_numbers_and_characters(void **state)
{
    TCHAR *end;

    (void)state;
    assert_int_equal(_tstoi(_T("42")) + _ttoi(_T("1")), 43);
    assert_int_equal(_tstol(_T("-7")) + _ttol(_T("1")), -6);
    assert_int_equal(_tstoi64(_T("12345678901")) + _ttoi64(_T("1")), 12345678902LL);
    assert_int_equal(_tcstol(_T("-12x"), &end, 10), -12);
    assert_int_equal(*end, _T('x'));
    assert_int_equal(_tcstoul(_T("ffffffff"), NULL, 16), 0xffffffff);
    assert_int_equal(sizeof(_tcstol(_T("1"), NULL, 10)) + sizeof(_tcstoul(_T("1"), NULL, 10)), 8);
    assert_true(_tcstod(_T("2.5"), NULL) == 2.5);
    assert_true(_istdigit(_T('5')) && _istspace(_T(' ')) && _istalpha(_T('x')) &&
                _istalnum(_T('5')) && _istxdigit(_T('f')));
    assert_int_equal(_totlower(_T('X')), _T('x'));
    assert_int_equal(_totupper(_T('x')), _T('X'));
}

static int forward(FILE *file, const TCHAR *format, ...)
{
    va_list arguments;
    int length, again;

    va_start(arguments, format);
    length = _vsctprintf(format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    again = _vstprintf_s(text, 64, format, arguments);
    va_end(arguments);
    assert_int_equal(again, length);
    va_start(arguments, format);
    again = _vsntprintf(text, 64, format, arguments);
    va_end(arguments);
    assert_int_equal(again, length);
    va_start(arguments, format);
    again = _vsntprintf_s(text, 64, _TRUNCATE, format, arguments);
    va_end(arguments);
    assert_int_equal(again, length);
    va_start(arguments, format);
    again = _vtprintf(format, arguments);
    va_end(arguments);
    assert_int_equal(again, length);
    va_start(arguments, format);
    again = _vftprintf(file, format, arguments);
    va_end(arguments);
    assert_int_equal(again, length);
    return length;
}

static void test_formats_and_streams(void **state)
{
    const TCHAR *name = FILE_NAME;
    int number = 0;
    FILE *file;

    (void)state;
    assert_int_equal(_sctprintf(_T("%s %d"), _T("text"), 5), 6);
    assert_int_equal(_stprintf_s(text, 64, _T("%s %d"), _T("text"), 5), 6);
    assert_text(text, _T("text 5"));
    assert_int_equal(_sntprintf(text, 64, _T("%s"), _T("ab")), 2);
    assert_int_equal(_sntprintf_s(text, 4, _TRUNCATE, _T("abcdef")), -1);
    assert_text(text, _T("abc"));
    assert_int_equal(_stscanf(_T("7 x"), _T("%d"), &number), 1);
    assert_int_equal(_stscanf_s(_T("7 word"), _T("%d %s"), &number, text, 64u), 2);
    assert_text(text, _T("word"));
    assert_int_equal(_tprintf(_T("%s\n"), _T("tchar")), 6);
    assert_true(_putts(_T("line")) >= 0);
    assert_int_equal(_puttchar(_T('\n')), _T('\n'));

    assert_int_equal(_tfopen_s(&file, name, _T("w")), 0);
    assert_int_equal(_ftprintf(file, _T("%s\n"), _T("one")), 4);
    assert_int_equal(forward(file, _T("%d%s\n"), 2, _T("two")), 5);
    assert_true(_fputts(_T("three"), file) >= 0);
    assert_int_equal(_fputtc(_T('!'), file), _T('!'));
    assert_non_null(file = _tfreopen(name, _T("r"), file));
    assert_ptr_equal(_fgetts(text, 64, file), text);
    assert_text(text, _T("one\n"));
    assert_ptr_equal(_fgetts(text, 64, file), text);
    assert_text(text, _T("2two\n"));
    assert_int_equal(_fgettc(file), _T('t'));
    fclose(file);
    assert_non_null(file = _tfopen(name, _T("r")));
    fclose(file);
    assert_int_equal(
        remove(DIFFERS("tchar.here." WIDTH, "tchar.wine." WIDTH, "both run at once")), 0);
}

static void test_windows_functions_of_either_kind(void **state)
{
    SOCKADDR_IN address;
    INT length = sizeof(address);
    DWORD room = 64;
    WSADATA data;
    HANDLE event = CreateEvent(NULL, TRUE, TRUE, NULL);

    (void)state;
    assert_int_equal(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    CloseHandle(event);
    assert_true(SetEnvironmentVariable(_T("NDTEST_T"), _T("value")));
    assert_int_equal(GetEnvironmentVariable(_T("NDTEST_T"), text, 64), 5);
    assert_text(text, _T("value"));
    assert_true(ExpandEnvironmentStrings(_T("<%NDTEST_T%>"), text, 64) >= 8);
    assert_text(text, _T("<value>"));
    assert_true(FormatMessage(
                    FORMAT_MESSAGE_FROM_SYSTEM, NULL, ERROR_INVALID_HANDLE, 0, text, 64, NULL) > 5);
    assert_non_null(GetModuleHandle(_T("kernel32.dll")));
    assert_true(GetModuleFileName(NULL, text, 64) > 0);
    assert_true(FreeLibrary(LoadLibrary(_T("kernel32.dll"))));
    assert_true(FreeLibrary(LoadLibraryEx(_T("kernel32.dll"), NULL, 0)));
    OutputDebugString(_T("text for a debugger\n"));
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    _tcscpy(text, _T("1.2.3.4:5"));
    assert_int_equal(WSAStringToAddress(text, AF_INET, NULL, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(address.sin_port, htons(5));
    assert_int_equal(
        WSAAddressToString((SOCKADDR *)&address, sizeof(address), NULL, other, &room), 0);
    assert_text(other, _T("1.2.3.4:5"));
    assert_int_equal(InetPton(AF_INET, _T("1.2.3.5"), &address.sin_addr), 1);
    assert_text(InetNtop(AF_INET, &address.sin_addr, other, 64), _T("1.2.3.5"));
    closesocket(WSASocket(AF_INET, SOCK_DGRAM, 0, NULL, 0, 0));
    assert_int_equal(WSACleanup(), 0);
}

#ifdef TCHAR_NARROW
#define OF_WIDTH(name) name##A
#else
#define OF_WIDTH(name) name##W
#endif

/* The compiler takes no pointer to another type. */
static void test_windows_types_of_either_kind(void **state)
{
    OF_WIDTH(STARTUPINFO) startup;
    OF_WIDTH(STARTUPINFOEX) extended;
    OF_WIDTH(OSVERSIONINFOEX) version;
    OF_WIDTH(WIN32_FIND_DATA) found;
    OF_WIDTH(WSAPROTOCOL_INFO) protocol;
    STARTUPINFO *startup_2 = &startup;
    LPSTARTUPINFO startup_3 = startup_2;
    STARTUPINFOEX *extended_2 = &extended;
    LPSTARTUPINFOEX extended_3 = extended_2;
    OSVERSIONINFOEX *version_2 = &version;
    POSVERSIONINFOEX version_3 = version_2;
    LPOSVERSIONINFOEX version_4 = version_3;
    WIN32_FIND_DATA *found_2 = &found;
    PWIN32_FIND_DATA found_3 = found_2;
    LPWIN32_FIND_DATA found_4 = found_3;
    WSAPROTOCOL_INFO *protocol_2 = &protocol;
    LPWSAPROTOCOL_INFO protocol_3 = protocol_2;

    (void)state;
    assert_ptr_equal(startup_3, &startup);
    assert_ptr_equal(extended_3, &extended);
    assert_ptr_equal(version_4, &version);
    assert_ptr_equal(found_4, &found);
    assert_ptr_equal(protocol_3, &protocol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_numbers_and_characters),
        cmocka_unit_test(test_formats_and_streams),
        cmocka_unit_test(test_windows_functions_of_either_kind),
        cmocka_unit_test(test_windows_types_of_either_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
