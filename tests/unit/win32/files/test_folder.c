/* SPDX-License-Identifier: MIT */
/* test_folder.c - the present folder, short paths, finding files in folders. */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/files/own_folder.h"

#include <stdio.h>

#ifdef _WIN32
#define BARE_NAME  "nd_folder_pe__"
#define PLAIN_NAME "nd_folder_plain_pe"
#else
#define BARE_NAME  "nd_folder_file"
#define PLAIN_NAME "nd_folder_plain"
#endif
#define FILE_NAME BARE_NAME ".ext"

/* A folder that differs from all others in that it has two files. */
static char here[MAX_PATH], separator;
static const char *own; /* its name */

/* In a folder of this run's own. */
static int setup(void)
{
    if (!(own = enter_own_folder("nd_folder")) || !GetCurrentDirectoryA(sizeof(here), here))
        return -1;
    separator = DIFFERS('/', '\\', "paths are Linux'");
    make_file(FILE_NAME, "");
    make_file(PLAIN_NAME, "");
    return 0;
}

static int teardown(void)
{
    if (!SetCurrentDirectoryA(here) || !DeleteFileA(FILE_NAME) || !DeleteFileA(PLAIN_NAME))
        return -1;
    return !leave_own_folder(own);
}

/* HERE/NAME */
static void assert_here(const char *path, const char *name)
{
    char expected[2 * MAX_PATH];

    snprintf(expected, sizeof(expected), "%s%c%s", here, separator, name);
    assert_string_equal(path, expected);
}

static void test_the_present_folder_is_told_or_how_much_room_it_needs(void **state)
{
    const DWORD length = (DWORD)strlen(here);
    char folder[MAX_PATH] = "untouched";
    WCHAR wide[MAX_PATH] = L"untouched";

    (void)state;
    assert_true(here[0] == DIFFERS('/', 'Z', "paths are Linux'") || here[1] == ':');
    assert_int_equal(GetCurrentDirectoryA(0, NULL), length + 1);
    assert_int_equal(GetCurrentDirectoryA(length, folder), length + 1);
    assert_string_equal(folder, "untouched");
    assert_int_equal(GetCurrentDirectoryA(length + 1, folder), length);
    assert_string_equal(folder, here);
    assert_int_equal(GetCurrentDirectoryW(0, NULL), length + 1);
    assert_int_equal(GetCurrentDirectoryW(length, wide), length + 1);
    assert_wide_equal(wide, L"untouched");
    assert_int_equal(GetCurrentDirectoryW(length + 1, wide), length);
    for (DWORD i = 0; i <= length; i++)
        assert_int_equal(wide[i], (unsigned char)here[i]);
    assert_true(GetCurrentDirectory == GetCurrentDirectoryA);
}

static void test_the_present_folder_is_changed(void **state)
{
    char folder[MAX_PATH];

    (void)state;
    assert_true(SetCurrentDirectoryA(".."));
    assert_true(GetFileAttributesA(FILE_NAME) == INVALID_FILE_ATTRIBUTES);
    assert_true(GetCurrentDirectoryA(sizeof(folder), folder) < strlen(here));
    assert_int_equal(strncmp(folder, here, strlen(folder)), 0);
    assert_true(SetCurrentDirectoryA(here));
    assert_true(GetFileAttributesA(FILE_NAME) != INVALID_FILE_ATTRIBUTES);
    assert_true(SetCurrentDirectoryW(L".\\"));
    assert_true(GetFileAttributesA(FILE_NAME) != INVALID_FILE_ATTRIBUTES);
    assert_true(SetCurrentDirectory == SetCurrentDirectoryA);
}

static void test_what_is_no_folder_does_not_become_the_present_one(void **state)
{
    char folder[MAX_PATH];

    (void)state;
    assert_fails(SetCurrentDirectoryA("nd_no_folder"), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(SetCurrentDirectoryA("nd_no_folder\\"), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(SetCurrentDirectoryA("nd_no_folder\\x"), SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(SetCurrentDirectoryA(FILE_NAME), SPEC_ERROR_DIRECTORY);
    assert_fails(SetCurrentDirectoryA(FILE_NAME "\\x"), SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(SetCurrentDirectoryA(""), SPEC_ERROR_INVALID_NAME);
    assert_fails(SetCurrentDirectoryA(NULL), SPEC_ERROR_INVALID_NAME);
    assert_fails(SetCurrentDirectoryW(L"nd_no_folder"), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(SetCurrentDirectoryW(L""), SPEC_ERROR_INVALID_NAME);
    GetCurrentDirectoryA(sizeof(folder), folder);
    assert_string_equal(folder, here);
}

static void test_a_short_path_needs_a_file(void **state)
{
    char path[MAX_PATH];
    WCHAR wide[MAX_PATH];

    (void)state;
    assert_fails(GetShortPathNameA("nd_no_file", path, sizeof(path)), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(GetShortPathNameA("nd_no_folder\\x", path, sizeof(path)),
        DIFFERS(SPEC_ERROR_PATH_NOT_FOUND, SPEC_ERROR_FILE_NOT_FOUND,
            "a missing folder of a path: Wine's error is that of a file"));
    assert_fails(GetShortPathNameA("", path, sizeof(path)),
        DIFFERS(SPEC_ERROR_PATH_NOT_FOUND, SPEC_ERROR_BAD_PATHNAME, "an empty path: Wine's error"));
    assert_fails(GetShortPathNameA(NULL, path, sizeof(path)),
        DIFFERS(
            SPEC_ERROR_INVALID_PARAMETER, SPEC_ERROR_BAD_PATHNAME, "no path at all: Wine's error"));
    assert_fails(GetShortPathNameW(L"nd_no_file", wide, _countof(wide)), SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(GetShortPathName == GetShortPathNameA);
}

#ifndef _WIN32 /* Wine makes names of 8.3 characters up */
static void test_a_short_path_is_the_path_itself(void **state)
{
    char path[MAX_PATH] = "untouched";
    WCHAR wide[MAX_PATH] = L"untouched";

    (void)state;
    assert_int_equal(GetShortPathNameA(FILE_NAME, path, 18), 19);
    assert_string_equal(path, "untouched");
    assert_int_equal(GetShortPathNameA(FILE_NAME, NULL, 0), 19);
    assert_int_equal(GetShortPathNameA(FILE_NAME, path, 19), 18);
    assert_string_equal(path, FILE_NAME);
    strcpy(path, ".\\" FILE_NAME);
    assert_int_equal(GetShortPathNameA(path, path, sizeof(path)), 20);
    assert_string_equal(path, ".\\" FILE_NAME);
    assert_int_equal(GetShortPathNameW(L"" FILE_NAME, wide, 18), 19);
    assert_wide_equal(wide, L"untouched");
    assert_int_equal(GetShortPathNameW(L"" FILE_NAME, wide, 19), 18);
    assert_wide_equal(wide, L"" FILE_NAME);
}

static void test_a_list_of_folders_may_be_that_of_path(void **state)
{
    char found[MAX_PATH];

    (void)state;
    assert_true(SearchPathA("nd_no_folder:.", FILE_NAME, NULL, sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    assert_true(setenv("PATH", "nd_no_folder:..", 1) == 0);
    assert_true(CreateDirectoryA("nd_folder_below", NULL));
    assert_true(SetCurrentDirectoryA("nd_folder_below"));
    assert_true(SearchPathA(NULL, PLAIN_NAME, NULL, sizeof(found), found, NULL));
    assert_true(SetCurrentDirectoryA(here));
    assert_true(RemoveDirectoryA("nd_folder_below"));
    assert_here(found, "nd_folder_below/../" PLAIN_NAME);
}

static void test_a_deleted_folder_has_no_path_and_no_files(void **state)
{
    char found[MAX_PATH];

    (void)state;
    assert_true(CreateDirectoryA("nd_folder_deleted", NULL));
    assert_true(SetCurrentDirectoryA("nd_folder_deleted"));
    assert_true(RemoveDirectoryA("../nd_folder_deleted"));
    assert_fails(GetCurrentDirectoryA(sizeof(found), found), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(GetCurrentDirectoryW(0, NULL), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        SearchPathA(".", FILE_NAME, NULL, sizeof(found), found, NULL), SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(SearchPathA(here, FILE_NAME, NULL, sizeof(found), found, NULL));
    assert_true(SetCurrentDirectoryA(here));
}
#endif

static void test_a_file_is_found_in_the_folders_of_a_list(void **state)
{
    const DWORD length = (DWORD)strlen(here) + 1 + 18;
    char found[MAX_PATH] = "untouched", *last = NULL;

    (void)state;
    assert_int_equal(SearchPathA(".", FILE_NAME, NULL, sizeof(found), found, &last), length);
    assert_here(found, FILE_NAME);
    assert_ptr_equal(last, found + length - 18);
    assert_int_equal(
        SearchPathA("nd_no_folder;.", FILE_NAME, NULL, sizeof(found), found, &last), length);
    assert_here(found, FILE_NAME);
    assert_int_equal(SearchPathA(here, FILE_NAME, NULL, sizeof(found), found, NULL), length);
    assert_here(found, FILE_NAME);
    strcpy(found, "untouched");
    assert_int_equal(SearchPathA(".", FILE_NAME, NULL, length, found, NULL), length + 1);
    assert_string_equal(found, "untouched");
    assert_int_equal(SearchPathA(".", FILE_NAME, NULL, 0, NULL, NULL), length + 1);
    assert_int_equal(SearchPathA(".", FILE_NAME, NULL, length + 1, found, &last), length);
    assert_fails(SearchPathA("nd_no_folder", FILE_NAME, NULL, sizeof(found), found, &last),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(SearchPathA(".", "nd_no_file", NULL, sizeof(found), found, &last),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        SearchPathA(".", "", NULL, sizeof(found), found, &last), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        SearchPathA(".", NULL, NULL, sizeof(found), found, &last), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(SearchPath == SearchPathA);
}

static void test_an_extension_is_appended_to_a_name_without_one(void **state)
{
    char found[MAX_PATH];

    (void)state;
    assert_true(SearchPathA(".", BARE_NAME, ".ext", sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    assert_true(SearchPathA(".", FILE_NAME, ".other", sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    /* The name alone is not looked for. */
    assert_fails(SearchPathA(".", PLAIN_NAME, ".ext", sizeof(found), found, NULL),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_true(SearchPathA(".", PLAIN_NAME, NULL, sizeof(found), found, NULL));
    assert_here(found, PLAIN_NAME);
}

static void test_a_name_with_its_place_is_not_searched_for(void **state)
{
    char found[MAX_PATH], whole[2 * MAX_PATH];

    (void)state;
    snprintf(whole, sizeof(whole), "%s\\%s", here, FILE_NAME);
    assert_true(SearchPathA("nd_no_folder", whole, NULL, sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    assert_true(SearchPathA("nd_no_folder", ".\\" BARE_NAME, ".ext", sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    assert_true(SearchPathA("nd_no_folder", ".\\" PLAIN_NAME, ".ext", sizeof(found), found, NULL));
    assert_here(found, PLAIN_NAME);
    assert_fails(SearchPathA(".", "..\\" FILE_NAME, NULL, sizeof(found), found, NULL),
        SPEC_ERROR_FILE_NOT_FOUND);
}

/* To a folder above this one that is not the program's. */
static void leave(const char *program, const char *name)
{
    const size_t length = (size_t)(name - 1 - program);
    char folder[MAX_PATH];

    do {
        assert_true(SetCurrentDirectoryA(".."));
        assert_true(GetCurrentDirectoryA(sizeof(folder), folder));
    } while (strlen(folder) == length && strncmp(folder, program, length) == 0);
}

static void test_without_a_list_the_usual_folders_are_searched(void **state)
{
    char program[MAX_PATH], found[MAX_PATH], *last = NULL, *name;
    HANDLE file;

    (void)state;
    assert_true(SearchPathA(NULL, FILE_NAME, NULL, sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    assert_true(SearchPathA("", FILE_NAME, NULL, sizeof(found), found, NULL));
    assert_here(found, FILE_NAME);
    /* Beside the program, wherever the present folder is; there comes first. */
    assert_true(GetModuleFileNameA(NULL, program, sizeof(program)));
    name = strrchr(program, separator) + 1;
    leave(program, name);
    assert_true(SearchPathA(NULL, name, NULL, sizeof(found), found, &last));
    assert_string_equal(found, program);
    assert_string_equal(last, name);
    file = CreateFileA(name, GENERIC_WRITE, 0, NULL, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_true(SearchPathA(NULL, name, NULL, sizeof(found), found, NULL));
    assert_string_equal(found, program);
    assert_true(CloseHandle(file));
    assert_true(SetCurrentDirectoryA(here));
}

static void test_a_folder_is_found_as_a_file_is(void **state)
{
    char found[MAX_PATH], parent[MAX_PATH];
    const char *name = strrchr(here, separator) + 1;

    (void)state;
    assert_true(SearchPathA("..", name, NULL, sizeof(found), found, NULL));
    assert_true(SetCurrentDirectoryA(".."));
    assert_true(GetCurrentDirectoryA(sizeof(parent), parent));
    assert_true(SearchPathA(parent, name, NULL, sizeof(found), found, NULL));
    assert_string_equal(found, here);
    assert_true(SetCurrentDirectoryA(here));
}

static void test_wide_search(void **state)
{
    const DWORD length = (DWORD)strlen(here) + 1 + 18;
    WCHAR found[MAX_PATH] = L"untouched", *last = NULL;

    (void)state;
    assert_int_equal(SearchPathW(L".", L"" BARE_NAME, L".ext", length, found, &last), length + 1);
    assert_wide_equal(found, L"untouched");
    assert_int_equal(SearchPathW(L".", L"" BARE_NAME, L".ext", length + 1, found, &last), length);
    assert_ptr_equal(last, found + length - 18);
    assert_wide_equal(last, L"" FILE_NAME);
    for (DWORD i = 0; here[i]; i++)
        assert_int_equal(found[i], (unsigned char)here[i]);
    assert_true(SearchPathW(NULL, L"" FILE_NAME, NULL, _countof(found), found, NULL) == length);
    assert_fails(SearchPathW(L".", L"nd_no_file", NULL, _countof(found), found, &last),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        SearchPathW(L".", NULL, NULL, _countof(found), found, &last), SPEC_ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_present_folder_is_told_or_how_much_room_it_needs),
        cmocka_unit_test(test_the_present_folder_is_changed),
        cmocka_unit_test(test_what_is_no_folder_does_not_become_the_present_one),
        cmocka_unit_test(test_a_short_path_needs_a_file),
        cmocka_unit_test(test_a_file_is_found_in_the_folders_of_a_list),
        cmocka_unit_test(test_an_extension_is_appended_to_a_name_without_one),
        cmocka_unit_test(test_a_name_with_its_place_is_not_searched_for),
        cmocka_unit_test(test_without_a_list_the_usual_folders_are_searched),
        cmocka_unit_test(test_a_folder_is_found_as_a_file_is),
        cmocka_unit_test(test_wide_search),
#ifndef _WIN32 /* Wine makes names of 8.3 characters up */
        cmocka_unit_test(test_a_short_path_is_the_path_itself),
        cmocka_unit_test(test_a_list_of_folders_may_be_that_of_path),
        cmocka_unit_test(test_a_deleted_folder_has_no_path_and_no_files),
#endif
    };
    int failed;

    if (setup())
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    return teardown() ? 1 : failed;
}
