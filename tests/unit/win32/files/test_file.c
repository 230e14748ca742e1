/* SPDX-License-Identifier: MIT */
/* test_file.c - files: dispositions, sharing, places, names; transfers on handles without FILE_FLAG_OVERLAPPED. */
#include "tests/support/win32_test.h"

#include <stdio.h>
#ifndef _WIN32
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

static char path[MAX_PATH];

static HANDLE open_as(DWORD access, DWORD share, DWORD disposition, DWORD flags)
{
    SetLastError(0xdead);
    return CreateFileA(path, access, share, NULL, disposition, flags, NULL);
}

static HANDLE open_all(DWORD disposition)
{
    HANDLE file = open_as(GENERIC_READ | GENERIC_WRITE,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, disposition, 0);

    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    return file;
}

#define assert_not_opened(handle, error)                                                           \
    do {                                                                                           \
        assert_ptr_equal(handle, INVALID_HANDLE_VALUE);                                            \
        assert_win_error(error);                                                                   \
    } while (0)

static int setup(void **state)
{
    (void)state;
    return !GetTempFileNameA(".", "ndfile", 0, path);
}

static int teardown(void **state)
{
    (void)state;
    DeleteFileA(path);
    return 0;
}

static void write_text(HANDLE file, const char *text)
{
    DWORD done = 77;

    assert_true(WriteFile(file, text, (DWORD)strlen(text), &done, NULL));
    assert_int_equal(done, strlen(text));
}

static void move_to(HANDLE file, LONGLONG to)
{
    LARGE_INTEGER place = { .QuadPart = to };

    assert_true(SetFilePointerEx(file, place, NULL, FILE_BEGIN));
}

static LONGLONG size_of(HANDLE file)
{
    LARGE_INTEGER size;

    assert_true(GetFileSizeEx(file, &size));
    return size.QuadPart;
}

static void test_dispositions_say_whether_the_file_was_there(void **state)
{
    HANDLE file = open_all(CREATE_ALWAYS);

    (void)state;
    assert_win_error(SPEC_ERROR_ALREADY_EXISTS);
    write_text(file, "hello");
    assert_true(CloseHandle(file));
    assert_not_opened(open_as(GENERIC_WRITE, 0, CREATE_NEW, 0), SPEC_ERROR_FILE_EXISTS);
    file = open_all(OPEN_ALWAYS);
    assert_win_error(SPEC_ERROR_ALREADY_EXISTS);
    assert_int_equal(size_of(file), 5);
    assert_true(CloseHandle(file));
#ifndef _WIN32 /* Wine empties it without the right to write */
    assert_not_opened(open_as(GENERIC_READ, 0, TRUNCATE_EXISTING, 0), SPEC_ERROR_INVALID_PARAMETER);
#endif
    file = open_all(TRUNCATE_EXISTING);
    assert_int_equal(size_of(file), 0);
    assert_true(CloseHandle(file));
    assert_true(DeleteFileA(path));
    assert_not_opened(open_as(GENERIC_READ, 0, OPEN_EXISTING, 0), SPEC_ERROR_FILE_NOT_FOUND);
    assert_not_opened(open_as(GENERIC_WRITE, 0, TRUNCATE_EXISTING, 0), SPEC_ERROR_FILE_NOT_FOUND);
    file = open_all(OPEN_ALWAYS);
    assert_win_error(0);
    assert_true(CloseHandle(file));
    assert_true(DeleteFileA(path));
    file = open_all(CREATE_NEW);
    assert_true(CloseHandle(file));
    assert_not_opened(
        CreateFileA(".\\no_such_folder\\x", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL),
        SPEC_ERROR_PATH_NOT_FOUND);
    assert_not_opened(
        CreateFileA(".", GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_not_opened(open_as(GENERIC_READ, 0, 9, 0), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_wide_names(void **state)
{
    WCHAR name[MAX_PATH], copy[MAX_PATH], final[MAX_PATH];
    DWORD length;
    HANDLE file;

    (void)state;
    assert_int_not_equal(GetTempFileNameW(L".", L"ndfile", 0, name), 0);
    assert_int_not_equal(GetTempFileNameW(L".", L"ndfile", 0, copy), 0);
    assert_int_equal(GetTempFileNameW(L"no_such_folder", L"x", 0, final), 0);
    assert_win_error(SPEC_ERROR_DIRECTORY);
    assert_fails(CopyFileW(name, copy, TRUE), SPEC_ERROR_FILE_EXISTS);
    assert_true(DeleteFileW(copy));
    file = CreateFileW(name, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    write_text(file, "abc");
    length = GetFinalPathNameByHandleW(file, final, MAX_PATH, 0);
    assert_in_range(length, 5, MAX_PATH - 1);
    assert_int_equal(GetFinalPathNameByHandleW(file, final, length, 0), length + 1);
    assert_int_not_equal(GetFinalPathNameByHandleA(file, path, MAX_PATH, 0), 0);
    assert_true(CloseHandle(file));
    assert_true(CopyFileW(name, copy, TRUE));
    file = CreateFileW(copy, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_int_equal(size_of(file), 3);
    assert_true(CloseHandle(file));
    assert_true(DeleteFileW(copy));
    assert_int_equal(GetFileAttributesW(copy), INVALID_FILE_ATTRIBUTES);
    assert_win_error(SPEC_ERROR_FILE_NOT_FOUND);
    assert_int_equal(GetFileAttributesW(L"no_such_folder/file"), INVALID_FILE_ATTRIBUTES);
    assert_win_error(SPEC_ERROR_PATH_NOT_FOUND);
    assert_fails(DeleteFileW(copy), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(DeleteFileW(L"no_such_folder/file"), SPEC_ERROR_PATH_NOT_FOUND);
    assert_int_equal(GetFileAttributesW(L".") & FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_DIRECTORY);
    assert_true(DeleteFileW(name));
    assert_int_equal(GetTempFileNameA(".", "abcdef", 0x1234, path), 0x1234);
    assert_non_null(strstr(path, DIFFERS("abc1234.TMP", "abc1234.tmp", "Windows' is upper case")));
    assert_int_equal(GetFileAttributesA(path), INVALID_FILE_ATTRIBUTES);
    assert_true(setup(state) == 0);
}

static void test_sharing_refuses_both_ways(void **state)
{
    HANDLE first = open_as(GENERIC_READ, FILE_SHARE_READ, OPEN_EXISTING, 0), second;

    (void)state;
    assert_ptr_not_equal(first, INVALID_HANDLE_VALUE);
    /* The first one refuses writers, and a second one that refuses readers does not fit it. */
    assert_not_opened(
        open_as(GENERIC_WRITE, FILE_SHARE_READ, OPEN_EXISTING, 0), SPEC_ERROR_SHARING_VIOLATION);
    assert_not_opened(open_as(GENERIC_READ, 0, OPEN_EXISTING, 0), SPEC_ERROR_SHARING_VIOLATION);
    second = open_as(GENERIC_READ, FILE_SHARE_READ, OPEN_EXISTING, 0);
    assert_ptr_not_equal(second, INVALID_HANDLE_VALUE);
    assert_true(CloseHandle(second));
    assert_fails(DeleteFileA(path), SPEC_ERROR_SHARING_VIOLATION);
    assert_true(CloseHandle(first));
    first = open_as(GENERIC_WRITE, FILE_SHARE_WRITE | FILE_SHARE_DELETE, OPEN_EXISTING, 0);
    assert_ptr_not_equal(first, INVALID_HANDLE_VALUE);
    assert_not_opened(open_as(GENERIC_READ, 7, OPEN_EXISTING, 0), SPEC_ERROR_SHARING_VIOLATION);
    assert_true(CloseHandle(first));
    second = open_as(GENERIC_READ, 7, OPEN_EXISTING, 0);
    assert_ptr_not_equal(second, INVALID_HANDLE_VALUE);
    assert_true(CloseHandle(second));
}

static void test_access_is_held_to(void **state)
{
    HANDLE file = open_as(GENERIC_READ, 7, OPEN_EXISTING, 0);
    char octet = 0;
    DWORD done = 77;

    (void)state;
    assert_fails(WriteFile(file, &octet, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_int_equal(done, 0);
    assert_fails(SetEndOfFile(file), DIFFERS(SPEC_ERROR_ACCESS_DENIED, SPEC_ERROR_INVALID_HANDLE,
                                         "Wine asks for the right by another way"));
    assert_fails(FlushFileBuffers(file), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(file));
    file = open_as(GENERIC_WRITE, 7, OPEN_EXISTING, 0);
    assert_fails(ReadFile(file, &octet, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_true(FlushFileBuffers(file));
    assert_true(CloseHandle(file));
    assert_fails(ReadFile(file, &octet, 1, &done, NULL), SPEC_ERROR_INVALID_HANDLE);
}

static void test_places_and_sizes_in_two_halves(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING);
    LONG high = 0;
    DWORD upper = 77;

    (void)state;
    write_text(file, "abcdef");
    assert_int_equal(GetFileSize(file, NULL), 6);
    assert_int_equal(GetFileSize(file, &upper), 6);
    assert_int_equal(upper, 0);
    assert_int_equal(SetFilePointer(file, -2, NULL, FILE_END), 4);
    assert_int_equal(SetFilePointer(file, -5, NULL, FILE_CURRENT), INVALID_SET_FILE_POINTER);
    assert_int_equal(GetLastError(), SPEC_ERROR_NEGATIVE_SEEK);
    high = 1;
    assert_int_equal(SetFilePointer(file, -1, &high, FILE_BEGIN), INVALID_SET_FILE_POINTER);
    assert_int_equal(GetLastError(), SPEC_ERROR_SUCCESS);
    assert_int_equal(high, 1);
    high = -1;
    assert_int_equal(SetFilePointer(file, 2, &high, FILE_CURRENT), 1);
    assert_int_equal(high, 1);
    assert_true(SetEndOfFile(file));
    assert_int_equal(GetFileSize(file, &upper), 1);
    assert_int_equal(upper, 1);
    assert_true(CloseHandle(file));
    assert_int_equal(GetFileSize(file, NULL), INVALID_FILE_SIZE);
    assert_int_equal(GetLastError(), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(SetFilePointer(file, 0, NULL, FILE_BEGIN), INVALID_SET_FILE_POINTER);
    assert_int_equal(GetLastError(), SPEC_ERROR_INVALID_HANDLE);
}

static void test_places_and_sizes(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING);
    LARGE_INTEGER back = { .QuadPart = -2 }, place;
    char text[8] = "";
    DWORD done = 77;

    (void)state;
    write_text(file, "abcdef");
    assert_true(ReadFile(file, text, 4, &done, NULL)); /* at the end */
    assert_int_equal(done, 0);
    assert_true(SetFilePointerEx(file, back, &place, FILE_END));
    assert_int_equal(place.QuadPart, 4);
    assert_true(ReadFile(file, text, 4, &done, NULL));
    assert_int_equal(done, 2);
    assert_memory_equal(text, "ef", 2);
    assert_fails(SetFilePointerEx(file, back, NULL, FILE_BEGIN), SPEC_ERROR_NEGATIVE_SEEK);
    assert_fails(SetFilePointerEx(file, back, NULL, 3), SPEC_ERROR_INVALID_PARAMETER);
    move_to(file, 3);
    assert_true(SetEndOfFile(file));
    assert_int_equal(size_of(file), 3);
    move_to(file, 5);
    assert_true(SetEndOfFile(file));
    assert_int_equal(size_of(file), 5);
    assert_int_equal(GetFileType(file), FILE_TYPE_DISK);
    assert_true(CloseHandle(file));
    assert_int_equal(GetFileType(file), FILE_TYPE_UNKNOWN);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
}

static void test_overlapped_gives_the_place_and_the_call_waits(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING);
    OVERLAPPED at = { .Offset = 2 };
    char text[8] = "";
    DWORD done = 77;

    (void)state;
    write_text(file, "abcdef");
    assert_true(ReadFile(file, text, 2, &done, &at));
    assert_int_equal(done, 2);
    assert_memory_equal(text, "cd", 2);
    assert_int_equal(at.Internal, 0);
    assert_int_equal(at.InternalHigh, 2);
    assert_true(ReadFile(file, text, 8, &done, NULL)); /* goes on behind it */
    assert_memory_equal(text, "ef", 2);
    at.Offset = 6;
    assert_fails(ReadFile(file, text, 2, &done, &at), SPEC_ERROR_HANDLE_EOF);
    assert_true(CloseHandle(file));
}

static void test_all_bits_set_name_the_end_to_a_write(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING);
    OVERLAPPED end = { .Offset = 0xFFFFFFFF, .OffsetHigh = 0xFFFFFFFF };
    OVERLAPPED begin = { .Offset = 0 };
    char text[8] = "";
    DWORD done = 77;

    (void)state;
    write_text(file, "abcd");
    move_to(file, 0);
    assert_true(WriteFile(file, "ef", 2, &done, &end));
    assert_int_equal(done, 2);
    assert_true(ReadFile(file, text, 8, &done, &begin));
    assert_int_equal(done, 6);
    assert_memory_equal(text, "abcdef", 6);
#ifndef _WIN32 /* Wine passes the place on to Linux */
    end.OffsetHigh = 0x80000000;
    assert_fails(WriteFile(file, "g", 1, &done, &end), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(ReadFile(file, text, 1, &done, &end), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_true(CloseHandle(file));
}

static void assert_holds(const char *text)
{
    char found[64] = "";
    HANDLE file = open_all(OPEN_EXISTING);
    DWORD done = 77;

    assert_true(ReadFile(file, found, sizeof found - 1, &done, NULL));
    assert_string_equal(found, text);
    assert_true(CloseHandle(file));
}

/* Microsoft's page "File Access Rights Constants": without FILE_WRITE_DATA nothing that is there is overwritten. */
static void test_a_handle_that_may_only_append_does(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING), one, other;
    OVERLAPPED begin = { .Offset = 0 };
    char octet;
    DWORD done = 77;

    (void)state;
    write_text(file, "abcd");
    assert_true(CloseHandle(file));
    one = open_as(FILE_APPEND_DATA, 7, OPEN_EXISTING, 0);
    other = open_as(FILE_APPEND_DATA | SYNCHRONIZE, 7, OPEN_ALWAYS, 0);
    assert_ptr_not_equal(one, INVALID_HANDLE_VALUE);
    assert_ptr_not_equal(other, INVALID_HANDLE_VALUE);
    write_text(one, "ef");
    write_text(other, "gh");
    write_text(one, "ij");
    assert_true(WriteFile(other, "kl", 2, &done, &begin));
    assert_int_equal(done, 2);
    assert_fails(ReadFile(one, &octet, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_not_opened(
        open_as(GENERIC_READ, FILE_SHARE_READ, OPEN_EXISTING, 0), SPEC_ERROR_SHARING_VIOLATION);
    assert_true(CloseHandle(one));
    assert_true(CloseHandle(other));
    one = open_as(FILE_APPEND_DATA, 7, OPEN_EXISTING, FILE_FLAG_OVERLAPPED);
    begin = (OVERLAPPED){ .Offset = 1 };
    if (!WriteFile(one, "mn", 2, NULL, &begin))
        assert_win_error(SPEC_ERROR_IO_PENDING);
    assert_true(GetOverlappedResult(one, &begin, &done, TRUE));
    assert_int_equal(done, 2);
    assert_true(CloseHandle(one));
    assert_holds("abcdefghijklmn");
}

/* The rights that Windows' header combines; to execute counts as to read where handles share. */
static void test_every_right_is_known(void **state)
{
    static const DWORD rights[] = { GENERIC_EXECUTE, FILE_EXECUTE, FILE_READ_EA, FILE_WRITE_EA,
        FILE_DELETE_CHILD, READ_CONTROL, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
        FILE_GENERIC_EXECUTE, FILE_GENERIC_READ | FILE_GENERIC_WRITE | DELETE };
    HANDLE file;
    char octet;
    DWORD done = 77;

    (void)state;
    for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++) {
        file = open_as(rights[i], 7, OPEN_EXISTING, 0);
        assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
        assert_true(CloseHandle(file));
    }
    file = open_as(FILE_GENERIC_WRITE, 7, OPEN_EXISTING, 0);
    write_text(file, "abcd");
    move_to(file, 1); /* it is no handle that may only append */
    write_text(file, "B");
    assert_true(CloseHandle(file));
    assert_holds("aBcd");
    file = open_as(GENERIC_EXECUTE, 7, OPEN_EXISTING, 0);
    assert_fails(ReadFile(file, &octet, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_not_opened(
        open_as(GENERIC_WRITE, FILE_SHARE_WRITE, OPEN_EXISTING, 0), SPEC_ERROR_SHARING_VIOLATION);
    assert_true(CloseHandle(file));
}

#ifndef _WIN32 /* links and modes of Linux */
static void test_a_link_to_a_missing_file_makes_that_file(void **state)
{
    HANDLE file;

    (void)state;
    assert_true(DeleteFileA(path));
    assert_int_equal(symlink("ndfile.target", path), 0);
    file = open_all(OPEN_ALWAYS);
    assert_int_equal(GetLastError(), 0);
    assert_true(CloseHandle(file));
    assert_int_equal(access("ndfile.target", F_OK), 0);
    assert_int_equal(unlink("ndfile.target"), 0);
}

static void test_a_program_that_is_read_can_be_started(void **state)
{
    HANDLE file = open_all(OPEN_EXISTING);
    char command[64];

    (void)state;
    write_text(file, "#!/bin/true\n");
    assert_true(CloseHandle(file));
    assert_int_equal(chmod(path, 0755), 0);
    file = open_as(GENERIC_READ, FILE_SHARE_READ, OPEN_EXISTING, 0);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    snprintf(
        command, sizeof(command), "exec ./%s", strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    assert_int_equal(system(command), 0);
    assert_true(CloseHandle(file));
}
#endif

static void test_delete_on_close(void **state)
{
    HANDLE file = open_as(GENERIC_WRITE, 7, OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE), copy;

    (void)state;
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    /* Whoever does not share the deletion does not fit. */
    assert_not_opened(open_as(GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, OPEN_EXISTING, 0),
        SPEC_ERROR_SHARING_VIOLATION);
    assert_true(DuplicateHandle(
        GetCurrentProcess(), file, GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
    assert_true(CloseHandle(file));
    assert_int_not_equal(GetFileAttributesA(path), INVALID_FILE_ATTRIBUTES);
    assert_true(CloseHandle(copy));
    assert_int_equal(GetFileAttributesA(path), INVALID_FILE_ATTRIBUTES);
    assert_win_error(SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_locked_octets(void **state)
{
    HANDLE one = open_all(OPEN_EXISTING), two = open_all(OPEN_EXISTING);
    OVERLAPPED at = { .Offset = 2 }, beside = { .Offset = 4 };
    const DWORD try_exclusive = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    char text[8];
    DWORD done;

    (void)state;
    write_text(one, "abcdef");
    assert_true(LockFileEx(one, try_exclusive, 0, 2, 0, &at));
    assert_fails(
        LockFileEx(two, LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at), SPEC_ERROR_LOCK_VIOLATION);
    assert_fails(
        LockFileEx(one, try_exclusive, 0, 1, 0, &at), SPEC_ERROR_LOCK_VIOLATION); /* itself, too */
    assert_true(LockFileEx(two, try_exclusive, 0, 2, 0, &beside));
#ifndef _WIN32 /* Wine's transfers do not look at locks */
    assert_fails(ReadFile(two, text, 4, &done, NULL), SPEC_ERROR_LOCK_VIOLATION);
#endif
    assert_true(ReadFile(two, text, 2, &done, NULL));
    assert_fails(UnlockFileEx(one, 0, 1, 0, &at),
        DIFFERS(SPEC_ERROR_NOT_LOCKED, SPEC_ERROR_LOCK_VIOLATION, "Wine has one code for both"));
    assert_true(UnlockFileEx(one, 0, 2, 0, &at));
    assert_fails(UnlockFileEx(one, 0, 2, 0, &at),
        DIFFERS(SPEC_ERROR_NOT_LOCKED, SPEC_ERROR_LOCK_VIOLATION, "Wine has one code for both"));
    assert_true(LockFileEx(two, LOCKFILE_FAIL_IMMEDIATELY, 0, 2, 0, &at));
    assert_true(LockFileEx(one, LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)); /* both shared */
#ifndef _WIN32                                                             /* the same */
    move_to(one, 2);
    assert_fails(WriteFile(one, "x", 1, &done, NULL), SPEC_ERROR_LOCK_VIOLATION);
#endif
    assert_true(CloseHandle(two)); /* and its locks with it */
    beside.Offset = 3;
    assert_true(LockFileEx(one, try_exclusive, 0, 9, 0, &beside));
    assert_true(CloseHandle(one));
}

#ifndef _WIN32 /* Wine asks Linux, which lets root write */
static void test_read_only_file(void **state)
{
    HANDLE file;

    (void)state;
    assert_true(DeleteFileA(path));
    file = open_as(GENERIC_WRITE, 0, CREATE_NEW, FILE_ATTRIBUTE_READONLY);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    write_text(file, "x");
    assert_true(CloseHandle(file));
    assert_int_equal(GetFileAttributesA(path) & FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_READONLY);
    assert_not_opened(open_as(GENERIC_WRITE, 0, OPEN_EXISTING, 0), SPEC_ERROR_ACCESS_DENIED);
    assert_not_opened(open_as(GENERIC_WRITE, 0, CREATE_ALWAYS, 0), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(DeleteFileA(path), SPEC_ERROR_ACCESS_DENIED);
    remove(path);
}
#endif

static void test_spellings(void **state)
{
    (void)state;
    assert_true(CreateFile == CreateFileA && DeleteFile == DeleteFileA && CopyFile == CopyFileA);
    assert_true(GetFileAttributes == GetFileAttributesA && GetTempFileName == GetTempFileNameA);
    assert_true(GetFinalPathNameByHandle == GetFinalPathNameByHandleA);
    assert_fails(CopyFileA("no_such_file", path, TRUE), SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_nul(void **state)
{
    HANDLE file = CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    char octet;
    DWORD done = 77;

    (void)state;
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_int_equal(GetFileType(file), FILE_TYPE_CHAR);
    write_text(file, "gone");
    assert_true(ReadFile(file, &octet, 1, &done, NULL));
    assert_int_equal(done, 0);
    assert_true(CloseHandle(file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_dispositions_say_whether_the_file_was_there, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wide_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sharing_refuses_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(test_access_is_held_to, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places_and_sizes_in_two_halves, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places_and_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_overlapped_gives_the_place_and_the_call_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_bits_set_name_the_end_to_a_write, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_handle_that_may_only_append_does, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_right_is_known, setup, teardown),
        cmocka_unit_test_setup_teardown(test_delete_on_close, setup, teardown),
        cmocka_unit_test_setup_teardown(test_locked_octets, setup, teardown),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(
            test_a_link_to_a_missing_file_makes_that_file, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_program_that_is_read_can_be_started, setup, teardown),
        cmocka_unit_test_setup_teardown(test_read_only_file, setup, teardown),
#endif
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_nul),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
