/* SPDX-License-Identifier: MIT */
/* test_attributes.c - attributes of files, folders made and removed, full paths. In a folder of its own. */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/files/own_folder.h"

#include <stdio.h>

static const char *own;
static char here[MAX_PATH], separator;

static int setup(void)
{
    own = enter_own_folder(DIFFERS("nd_attributes", "nd_attributes_pe", "both run at once"));
    separator = DIFFERS('/', '\\', "paths are Linux'");
    return !own || !GetCurrentDirectoryA(sizeof(here), here);
}

static int teardown(void)
{
    return !leave_own_folder(own);
}

static void a_file_is_made_read_only(void **state)
{
    (void)state;
    make_file("file", "");
    assert_true(SetFileAttributesA("file", FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_HIDDEN));
    assert_true(GetFileAttributesA("file") & FILE_ATTRIBUTE_READONLY);
    assert_fails(DeleteFileA("file"), SPEC_ERROR_ACCESS_DENIED);
    assert_true(SetFileAttributesW(L"file", FILE_ATTRIBUTE_NORMAL));
    assert_false(GetFileAttributesW(L"file") & FILE_ATTRIBUTE_READONLY);
    assert_true(SetFileAttributesA("file", FILE_ATTRIBUTE_ARCHIVE | FILE_ATTRIBUTE_SYSTEM));
    assert_true(DeleteFileA("file"));
    assert_fails(SetFileAttributesA("file", 0), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(SetFileAttributesA("none\\file", 0), SPEC_ERROR_PATH_NOT_FOUND);
}

static void attributes_with_times_and_size(void **state)
{
    WIN32_FILE_ATTRIBUTE_DATA data;

    (void)state;
    make_file("file", "");
    assert_true(GetFileAttributesExW(L"file", GetFileExInfoStandard, &data));
    assert_int_equal(data.dwFileAttributes, FILE_ATTRIBUTE_ARCHIVE);
    assert_int_equal(data.nFileSizeLow, 0);
    assert_true(GetFileAttributesExA(".", GetFileExInfoStandard, &data));
    assert_int_equal(data.dwFileAttributes, FILE_ATTRIBUTE_DIRECTORY);
    assert_fails(
        GetFileAttributesExA("file", GetFileExMaxInfoLevel, &data), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        GetFileAttributesExA("none", GetFileExInfoStandard, &data), SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(DeleteFileA("file"));
}

static void a_handle_tells_which_file_it_is(void **state)
{
    BY_HANDLE_FILE_INFORMATION one, again, other;
    HANDLE read_end, write_end;
    HANDLE a = CreateFileA("a", GENERIC_WRITE, 7, NULL, CREATE_ALWAYS, 0, NULL);
    HANDLE same = CreateFileA("a", GENERIC_READ, 7, NULL, OPEN_EXISTING, 0, NULL);
    HANDLE b = CreateFileA("b", GENERIC_WRITE, 7, NULL, CREATE_ALWAYS, 0, NULL);
    DWORD done;

    (void)state;
    assert_true(WriteFile(a, "octets", 6, &done, NULL));
    assert_true(GetFileInformationByHandle(a, &one));
    assert_true(GetFileInformationByHandle(same, &again));
    assert_true(GetFileInformationByHandle(b, &other));
    assert_int_equal(one.dwFileAttributes, FILE_ATTRIBUTE_ARCHIVE);
    assert_int_equal(one.nFileSizeLow, 6);
    assert_int_equal(one.nNumberOfLinks, 1);
    assert_int_equal(one.nFileIndexLow, again.nFileIndexLow);
    assert_int_equal(one.nFileIndexHigh, again.nFileIndexHigh);
    assert_int_equal(one.dwVolumeSerialNumber, other.dwVolumeSerialNumber);
    assert_true(
        one.nFileIndexLow != other.nFileIndexLow || one.nFileIndexHigh != other.nFileIndexHigh);
    assert_true(CloseHandle(a) && CloseHandle(same) && CloseHandle(b));
    assert_fails(GetFileInformationByHandle(a, &one), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CreatePipe(&read_end, &write_end, NULL, 0));
    assert_fails(GetFileInformationByHandle(read_end, &one), SPEC_ERROR_INVALID_FUNCTION);
    assert_true(CloseHandle(read_end) && CloseHandle(write_end));
    assert_true(DeleteFileA("a") && DeleteFileA("b"));
}

static void folders_are_made_and_removed(void **state)
{
    (void)state;
    assert_true(CreateDirectoryA("folder", NULL));
    assert_fails(CreateDirectoryA("folder", NULL), SPEC_ERROR_ALREADY_EXISTS);
    assert_true(CreateDirectoryW(L"folder\\inner", NULL));
    make_file("folder\\file", "");
    assert_fails(CreateDirectoryA("folder\\file", NULL), SPEC_ERROR_ALREADY_EXISTS);
    assert_fails(CreateDirectoryA("none\\folder", NULL), SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(CreateDirectoryA("", NULL), SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(CreateDirectoryA(NULL, NULL), SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(RemoveDirectoryA("folder"), SPEC_ERROR_DIR_NOT_EMPTY);
    assert_fails(RemoveDirectoryA("folder\\file"), SPEC_ERROR_DIRECTORY);
    assert_fails(RemoveDirectoryA("none"), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(RemoveDirectoryA("none\\none"), SPEC_ERROR_PATH_NOT_FOUND);
    assert_true(DeleteFileA("folder\\file"));
    assert_true(RemoveDirectoryW(L"folder\\inner"));
    assert_true(RemoveDirectoryA("folder\\"));
}

/* HERE and behind it the text, with this system's separators. */
static void assert_here(const char *path, const char *behind)
{
    char expected[2 * MAX_PATH];

    snprintf(expected, sizeof(expected), "%s%s", here, behind);
    for (char *c = expected; *c; c++)
        if (*c == '/')
            *c = separator;
    assert_string_equal(path, expected);
}

static void a_full_path_begins_at_the_root(void **state)
{
    char path[2 * MAX_PATH], *last;
    WCHAR wide[2 * MAX_PATH], *wide_last;
    DWORD length = GetFullPathNameA("x/./y\\..//z", sizeof(path), path, &last);

    (void)state;
    assert_int_equal(length, strlen(path));
    assert_here(path, "/x/z");
    assert_string_equal(last, "z");
    assert_int_equal(GetFullPathNameA("x", length - 2, path, NULL), length - 1);
    assert_true(GetFullPathNameA("x/", sizeof(path), path, &last));
    assert_here(path, "/x/");
    assert_null(last);
    assert_true(GetFullPathNameA(".", sizeof(path), path, &last));
    assert_here(path, "");
    assert_true(GetFullPathNameA("a/b/../..", sizeof(path), path, NULL));
    assert_here(path, "");
    assert_true(GetFullPathNameA("../../../../../../../../../../../..", sizeof(path), path, &last));
    assert_string_equal(path, DIFFERS("/", "Z:\\", "paths are Linux'"));
    assert_null(last);
    assert_int_equal(GetFullPathNameW(L"x\\y", 2 * MAX_PATH, wide, &wide_last), strlen(here) + 4);
    assert_wide_equal(wide_last, L"y");
    assert_int_equal(GetFullPathNameW(L"x", 0, NULL, NULL), strlen(here) + 3);
    assert_int_equal(GetFullPathNameA("", sizeof(path), path, NULL), 0);
    assert_int_equal(GetFullPathNameW(NULL, 0, NULL, NULL), 0);
#ifndef _WIN32 /* Wine sets no last error for a path that is none */
    assert_fails(GetFullPathNameA("", sizeof(path), path, NULL), SPEC_ERROR_INVALID_NAME);
    assert_fails(GetFullPathNameA(NULL, sizeof(path), path, NULL), SPEC_ERROR_INVALID_NAME);
    assert_fails(GetFullPathNameW(NULL, 0, NULL, NULL), SPEC_ERROR_INVALID_NAME);
#endif
}

static void the_c_runtime_has_full_paths_too(void **state)
{
    char path[2 * MAX_PATH], *made;
    WCHAR wide[2 * MAX_PATH], *wide_made;

    (void)state;
    assert_ptr_equal(_fullpath(path, "x/../y", sizeof(path)), path);
    assert_here(path, "/y");
    made = _fullpath(NULL, "y", 0);
    assert_string_equal(made, path);
    free(made);
    assert_ptr_equal(_fullpath(path, "", sizeof(path)), path);
    assert_here(path, "");
    errno = 0;
    assert_null(_fullpath(path, "y", 3));
    assert_int_equal(errno, ERANGE);
    assert_ptr_equal(_wfullpath(wide, L"y", 2 * MAX_PATH), wide);
    wide_made = _wfullpath(NULL, L"y", 0);
    assert_wide_equal(wide_made, wide);
    free(wide_made);
    assert_null(_wfullpath(wide, L"y", 3));
}

static void temporary_files_have_a_folder(void **state)
{
    const char *folder = DIFFERS("/nd_temp/", "Z:\\nd_temp\\", "paths are Linux'");
    char path[MAX_PATH] = "", before[MAX_PATH];
    const DWORD size = GetEnvironmentVariableA("TMP", before, sizeof(before));
    WCHAR wide[MAX_PATH];

    (void)state;
    assert_true(GetTempPathA(sizeof(path), path) > 0);
    assert_int_equal(path[strlen(path) - 1], separator);
    assert_true(SetEnvironmentVariableA("TMP", DIFFERS("/nd_temp", "Z:\\nd_temp", "paths")));
    assert_int_equal(GetTempPathA(sizeof(path), path), strlen(folder));
    assert_string_equal(path, folder);
    assert_int_equal(GetTempPathA(3, path), strlen(folder) + 1);
    assert_int_equal(GetTempPathW(MAX_PATH, wide), strlen(folder));
    assert_int_equal(wide[strlen(folder) - 1], separator);
    assert_int_equal(GetTempPathW(0, NULL), strlen(folder) + 1);
    assert_true(SetEnvironmentVariableA("TMP", size ? before : NULL));
}

static void the_plain_names_are_the_narrow_ones(void **state)
{
    (void)state;
    assert_true(CreateDirectory == CreateDirectoryA);
    assert_true(RemoveDirectory == RemoveDirectoryA);
    assert_true(GetFileAttributesEx == GetFileAttributesExA);
    assert_true(SetFileAttributes == SetFileAttributesA);
    assert_true(GetFullPathName == GetFullPathNameA);
    assert_true(GetTempPath == GetTempPathA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_made_read_only),
        cmocka_unit_test(attributes_with_times_and_size),
        cmocka_unit_test(a_handle_tells_which_file_it_is),
        cmocka_unit_test(folders_are_made_and_removed),
        cmocka_unit_test(a_full_path_begins_at_the_root),
        cmocka_unit_test(the_c_runtime_has_full_paths_too),
        cmocka_unit_test(temporary_files_have_a_folder),
        cmocka_unit_test(the_plain_names_are_the_narrow_ones),
    };
    int failed;

    if (setup())
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return teardown() ? 1 : failed;
}
