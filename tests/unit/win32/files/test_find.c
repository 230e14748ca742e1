/* SPDX-License-Identifier: MIT */
/* test_find.c - FindFirstFile and its kind: patterns, codes, what is told of each file. In a folder of its own. */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/files/own_folder.h"

#include <stdio.h>

static const char *own;
static const char *const names[] = { "a", "ab", "a.b", "a.b.c", "b.txt", "c.TXT", "x1.dat",
    "x12.dat" };

static int setup(void)
{
    if (!(own = enter_own_folder(DIFFERS("nd_find", "nd_find_pe", "both run at once"))))
        return -1;
    CreateDirectoryA("folder", NULL);
    for (size_t i = 0; i < _countof(names); i++)
        make_file(names[i], names[i]);
    return 0;
}

static int teardown(void)
{
    for (size_t i = 0; i < _countof(names); i++)
        if (!DeleteFileA(names[i]))
            return -1;
    return !RemoveDirectoryA("folder") || !leave_own_folder(own);
}

static int by_letters(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* What the pattern finds, but the folders . and .., in the order of the letters. */
static const char *found_by(const char *pattern)
{
    static char text[256];
    char found[16][32];
    WIN32_FIND_DATAA data;
    HANDLE find = FindFirstFileA(pattern, &data);
    size_t count = 0;

    text[0] = 0;
    if (find == INVALID_HANDLE_VALUE)
        return GetLastError() == SPEC_ERROR_FILE_NOT_FOUND ? "" : "an error";
    do {
        if (strcmp(data.cFileName, ".") && strcmp(data.cFileName, "..") && count < 16)
            snprintf(found[count++], 32, "%s", data.cFileName);
    } while (FindNextFileA(find, &data));
    assert_win_error(SPEC_ERROR_NO_MORE_FILES);
    assert_true(FindClose(find));
    qsort(found, count, sizeof(found[0]), by_letters);
    for (size_t i = 0; i < count; i++)
        strcat(strcat(text, i ? " " : ""), found[i]);
    return text;
}

static bool finds_otherwise(const char *pattern, const char *expected)
{
    const char *found = found_by(pattern);

    if (!strcmp(found, expected))
        return false;
    fprintf(stderr, "%s: %s\n", pattern, found);
    return true;
}

static void patterns_match_as_on_windows(void **state)
{
    unsigned differing = 0;

    (void)state;
    differing += finds_otherwise("*", "a a.b a.b.c ab b.txt c.TXT folder x1.dat x12.dat");
    differing += finds_otherwise("*.*", "a a.b a.b.c ab b.txt c.TXT folder x1.dat x12.dat");
    differing += finds_otherwise(
        "*.", DIFFERS_BEFORE_10("a ab folder", "a a.b a.b.c ab b.txt c.TXT folder x1.dat x12.dat",
                  "a point at the end of a pattern: Wine ignores it"));
    differing += finds_otherwise("*.txt", "b.txt c.TXT");
    differing += finds_otherwise("*.TXT", "b.txt c.TXT");
    differing += finds_otherwise("x?.dat", "x1.dat");
    differing +=
        finds_otherwise("x??.dat", DIFFERS_BEFORE_10("x1.dat x12.dat", "x12.dat",
                                       "a question mark without a character: Wine asks for one"));
    differing += finds_otherwise("x*.dat", "x1.dat x12.dat");
    differing += finds_otherwise("?", "a");
    differing += finds_otherwise("??",
        DIFFERS_BEFORE_10("a ab", "ab", "a question mark without a character: Wine asks for one"));
    differing += finds_otherwise("a*", "a a.b a.b.c ab");
    differing += finds_otherwise("a.*", "a a.b a.b.c");
    differing +=
        finds_otherwise("a.?", DIFFERS_BEFORE_10("a a.b", "a.b",
                                   "a question mark without a character: Wine asks for one"));
    differing += finds_otherwise("*.b*", "a.b a.b.c");
    differing += finds_otherwise("*.c", "a.b.c");
    differing += finds_otherwise("*b", "a.b ab");
    differing += finds_otherwise("*t*", "b.txt c.TXT x1.dat x12.dat");
    differing += finds_otherwise("f*r", "folder");
    differing += finds_otherwise("f*x", "");
    differing += finds_otherwise("A*C", "a.b.c");
    differing += finds_otherwise("b.txt", "b.txt");
    differing += finds_otherwise(".\\*.txt", "b.txt c.TXT");
    differing += finds_otherwise("folder\\*", "");
    differing += finds_otherwise("folder", "folder");
    assert_int_equal(differing, 0);
}

static void a_folder_is_in_itself(void **state)
{
    WIN32_FIND_DATAA data;
    HANDLE find = FindFirstFileA("folder\\*", &data);

    (void)state;
    assert_ptr_not_equal(find, INVALID_HANDLE_VALUE);
    assert_string_equal(data.cFileName, ".");
    assert_int_equal(data.dwFileAttributes, FILE_ATTRIBUTE_DIRECTORY);
    assert_int_equal(data.nFileSizeLow, 0);
    assert_true(FindNextFileA(find, &data));
    assert_string_equal(data.cFileName, "..");
    assert_fails(FindNextFileA(find, &data), SPEC_ERROR_NO_MORE_FILES);
    assert_fails(FindNextFileA(find, &data), SPEC_ERROR_NO_MORE_FILES);
    assert_true(FindClose(find));
}

static void assert_none(const char *pattern, DWORD error)
{
    WIN32_FIND_DATAA data;

    SetLastError(0xdead);
    assert_ptr_equal(FindFirstFileA(pattern, &data), INVALID_HANDLE_VALUE);
    assert_win_error(error);
}

static void what_is_missing_is_told(void **state)
{
    WIN32_FIND_DATAA data;
    WIN32_FIND_DATAW wide;

    (void)state;
    assert_none("nd_none", SPEC_ERROR_FILE_NOT_FOUND);
    assert_none("nd_none*", SPEC_ERROR_FILE_NOT_FOUND);
    assert_none("nd_none\\*", SPEC_ERROR_PATH_NOT_FOUND);
    assert_none("nd_none\\x", SPEC_ERROR_PATH_NOT_FOUND);
    assert_none("folder\\", SPEC_ERROR_FILE_NOT_FOUND);
    assert_none("folder\\x", SPEC_ERROR_FILE_NOT_FOUND);
    assert_none("", SPEC_ERROR_PATH_NOT_FOUND);
    assert_none("a\\*", DIFFERS_BEFORE_10(SPEC_ERROR_DIRECTORY, SPEC_ERROR_INVALID_NAME,
                            "a file in place of a folder: Wine's error"));
    assert_none("a\\b\\*", SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(FindNextFileA(INVALID_HANDLE_VALUE, &data), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(FindClose(INVALID_HANDLE_VALUE), SPEC_ERROR_INVALID_HANDLE);
    SetLastError(0xdead);
    assert_ptr_equal(FindFirstFileW(L"nd_none\\*", &wide), INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_PATH_NOT_FOUND);
}

static void a_handle_is_no_file(void **state)
{
    WIN32_FIND_DATAA data;
    HANDLE find = FindFirstFileA("*", &data);
    DWORD done;
    char octet;

    (void)state;
    assert_fails(ReadFile(find, &octet, 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(FindClose(find));
}

static ULONGLONG steps(FILETIME time)
{
    return (ULONGLONG)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static void each_file_is_described(void **state)
{
    WIN32_FIND_DATAW data;
    WIN32_FILE_ATTRIBUTE_DATA same;
    FILETIME now;
    HANDLE find = FindFirstFileW(L"x12*", &data);

    (void)state;
    assert_ptr_not_equal(find, INVALID_HANDLE_VALUE);
    assert_wide_equal(data.cFileName, L"x12.dat");
    assert_int_equal(data.dwFileAttributes, FILE_ATTRIBUTE_ARCHIVE);
    assert_int_equal(data.nFileSizeLow, 7);
    assert_int_equal(data.nFileSizeHigh, 0);
    GetSystemTimeAsFileTime(&now);
    assert_true(steps(data.ftLastWriteTime) <= steps(now));
    assert_true(steps(data.ftLastWriteTime) + 6000000000 > steps(now)); /* ten minutes */
    assert_true(steps(data.ftCreationTime) + 6000000000 > steps(now));
    assert_false(FindNextFileW(find, &data));
    assert_win_error(SPEC_ERROR_NO_MORE_FILES);
    assert_true(FindClose(find));
    assert_true(GetFileAttributesExA("x12.dat", GetFileExInfoStandard, &same));
    assert_memory_equal(&same.ftLastWriteTime, &data.ftLastWriteTime, sizeof(FILETIME));
}

static void the_longer_form_chooses(void **state)
{
    WIN32_FIND_DATAA data;
    WIN32_FIND_DATAW wide;
    HANDLE find = FindFirstFileExA("*", FindExInfoBasic, &data, FindExSearchLimitToDirectories,
        NULL, FIND_FIRST_EX_LARGE_FETCH);

    (void)state;
    assert_ptr_not_equal(find, INVALID_HANDLE_VALUE);
    assert_string_equal(data.cAlternateFileName, "");
    assert_true(FindClose(find));
    find = FindFirstFileExW(L"*.TXT", FindExInfoStandard, &wide, FindExSearchNameMatch, NULL,
        FIND_FIRST_EX_CASE_SENSITIVE);
    assert_ptr_not_equal(find, INVALID_HANDLE_VALUE);
    assert_wide_equal(wide.cFileName, DIFFERS(L"c.TXT", wide.cFileName, "Wine takes either"));
    assert_true(FindClose(find));
    SetLastError(0xdead);
    assert_ptr_equal(
        FindFirstFileExA("*", FindExInfoMaxInfoLevel, &data, FindExSearchNameMatch, NULL, 0),
        INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
    SetLastError(0xdead);
    assert_ptr_equal(
        FindFirstFileExA("*", FindExInfoBasic, &data, FindExSearchMaxSearchOp, NULL, 0),
        INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine ignores flags that it does not know, and such a search */
    SetLastError(0xdead);
    assert_ptr_equal(FindFirstFileExA("*", FindExInfoBasic, &data, FindExSearchNameMatch, NULL, 8),
        INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
    SetLastError(0xdead);
    assert_ptr_equal(
        FindFirstFileExA("*", FindExInfoBasic, &data, FindExSearchLimitToDevices, NULL, 0),
        INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_NOT_SUPPORTED);
    find = FindFirstFileExA("*", FindExInfoBasic, &data, FindExSearchLimitToDirectories, NULL, 0);
    do
        assert_int_equal(data.dwFileAttributes, FILE_ATTRIBUTE_DIRECTORY);
    while (FindNextFileA(find, &data));
    assert_true(FindClose(find));
#endif
}

static void a_deleted_file_is_left_out(void **state)
{
    WIN32_FIND_DATAA data;
    HANDLE find;

    (void)state;
    make_file("gone1", "");
    make_file("gone2", "");
    find = FindFirstFileA("gone?", &data);
    assert_ptr_not_equal(find, INVALID_HANDLE_VALUE);
    assert_true(DeleteFileA("gone1"));
    assert_true(DeleteFileA("gone2"));
#ifndef _WIN32 /* Wine has read both */
    assert_fails(FindNextFileA(find, &data), SPEC_ERROR_NO_MORE_FILES);
#endif
    assert_true(FindClose(find));
}

static void the_plain_names_are_the_narrow_ones(void **state)
{
    (void)state;
    assert_true(FindFirstFile == FindFirstFileA);
    assert_true(FindFirstFileEx == FindFirstFileExA);
    assert_true(FindNextFile == FindNextFileA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_on_windows),
        cmocka_unit_test(a_folder_is_in_itself),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(a_handle_is_no_file),
        cmocka_unit_test(each_file_is_described),
        cmocka_unit_test(the_longer_form_chooses),
        cmocka_unit_test(a_deleted_file_is_left_out),
        cmocka_unit_test(the_plain_names_are_the_narrow_ones),
    };
    int failed;

    if (setup())
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return teardown() ? 1 : failed;
}
