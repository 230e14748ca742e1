/* SPDX-License-Identifier: MIT */
/*
 * test_file.c - files, in a folder of the test's own. Compiled for each width of wchar_t. Sources: Microsoft's pages of
 * ZwCreateFile (dispositions, Information, FILE_APPEND_DATA), ZwReadFile, ZwWriteFile (offsets),
 * ZwQueryInformationFile. Which path of Linux a name is, is our choice.
 */
#include "tests/support/spec_codes.h"
#include "tests/unit/util/cmocka_test.h"

#include <ndkwdm.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK   ((NTSTATUS)SPEC_STATUS_SUCCESS)
#define LOG  L"\\??\\C:\\driver.log"
#define SYNC FILE_SYNCHRONOUS_IO_NONALERT

static IO_STATUS_BLOCK result;
static HANDLE file;

static NTSTATUS make_one(HANDLE *made, PIO_STATUS_BLOCK said, PCWSTR path, ULONG access,
    ULONG disposition, ULONG options)
{
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES attributes;

    RtlInitUnicodeString(&name, path);
    InitializeObjectAttributes(
        &attributes, &name, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL, NULL);
    return ZwCreateFile(made, access | SYNCHRONIZE, &attributes, said, NULL, FILE_ATTRIBUTE_NORMAL,
        FILE_SHARE_READ | FILE_SHARE_WRITE, disposition, options, NULL, 0);
}

static NTSTATUS make(PCWSTR path, ULONG access, ULONG disposition, ULONG options)
{
    NTSTATUS status = make_one(&file, &result, path, access, disposition, options);

    assert_int_equal(result.Status, status);
    return status;
}

static NTSTATUS put(const char *text, LONGLONG at)
{
    LARGE_INTEGER offset = { .QuadPart = at };

    return ZwWriteFile(file, NULL, NULL, NULL, &result, (PVOID)text, (ULONG)strlen(text),
        at == -2 ? NULL : &offset, NULL);
}

static NTSTATUS get(char *text, ULONG room, LONGLONG at)
{
    LARGE_INTEGER offset = { .QuadPart = at };
    NTSTATUS status =
        ZwReadFile(file, NULL, NULL, NULL, &result, text, room, at == -2 ? NULL : &offset, NULL);

    text[result.Information] = '\0';
    return status;
}

static int into_a_folder(void **state)
{
    static char folder[] = "/tmp/ndk_file.XXXXXX";

    (void)state;
    return !mkdtemp(folder) || chdir(folder) || mkdir("C:", 0700) || mkdir("C:/folder", 0700);
}

static int out_of_the_folder(void **state)
{
    char folder[64];

    (void)state;
    return !getcwd(folder, sizeof(folder)) || unlink("C:/driver.log") || rmdir("C:/folder") ||
           rmdir("C:") || chdir("/") || rmdir(folder);
}

static void dispositions_say_what_became_of_it(void **state)
{
    static const struct {
        ULONG disposition, information;
        NTSTATUS status;
    } rows[] = {
        { FILE_OPEN, FILE_DOES_NOT_EXIST, (NTSTATUS)SPEC_STATUS_OBJECT_NAME_NOT_FOUND },
        { FILE_OVERWRITE, FILE_DOES_NOT_EXIST, (NTSTATUS)SPEC_STATUS_OBJECT_NAME_NOT_FOUND },
        { FILE_OPEN_IF, FILE_CREATED, OK },
        { FILE_OPEN_IF, FILE_OPENED, OK },
        { FILE_OPEN, FILE_OPENED, OK },
        { FILE_CREATE, FILE_EXISTS, (NTSTATUS)SPEC_STATUS_OBJECT_NAME_COLLISION },
        { FILE_OVERWRITE, FILE_OVERWRITTEN, OK },
        { FILE_OVERWRITE_IF, FILE_OVERWRITTEN, OK },
        { FILE_SUPERSEDE, FILE_SUPERSEDED, OK },
        { 6, 0, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(make(LOG, GENERIC_WRITE, rows[i].disposition, SYNC), rows[i].status);
        assert_int_equal(result.Information, rows[i].information);
        if (rows[i].status == OK)
            assert_int_equal(ZwClose(file), OK);
    }
}

static void names_are_paths(void **state)
{
    struct stat stat_of;

    (void)state;
    assert_int_equal(make(L"\\DosDevices\\C:\\driver.log", GENERIC_READ, FILE_OPEN, SYNC), OK);
    assert_int_equal(ZwClose(file), OK);
    assert_int_equal(make(L"\\??\\C:\\n\u00e4chster", GENERIC_WRITE, FILE_CREATE, SYNC), OK);
    assert_int_equal(ZwClose(file), OK);
    assert_int_equal(stat("C:/n\u00e4chster", &stat_of), 0);
    assert_int_equal(unlink("C:/n\u00e4chster"), 0);
    assert_int_equal(make(L"\\??\\D:\\driver.log", GENERIC_WRITE, FILE_OPEN_IF, SYNC),
        (NTSTATUS)SPEC_STATUS_OBJECT_PATH_NOT_FOUND);
    assert_int_equal(make(L"\\??\\C:\\folder", GENERIC_READ, FILE_OPEN, SYNC),
        (NTSTATUS)SPEC_STATUS_FILE_IS_A_DIRECTORY);
    assert_int_equal(make(L"driver.log", GENERIC_READ, FILE_OPEN, SYNC),
        (NTSTATUS)SPEC_STATUS_OBJECT_PATH_SYNTAX_BAD);
    assert_int_equal(make(LOG, GENERIC_READ, FILE_OPEN, SYNC | FILE_DIRECTORY_FILE),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
}

static void text_is_appended(void **state)
{
    FILE_STANDARD_INFORMATION standard;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(make(LOG, FILE_APPEND_DATA, FILE_OPEN_IF, SYNC), OK);
        assert_int_equal(put("line\n", i ? 0 : -2), OK);
        assert_int_equal(result.Information, 5);
        assert_int_equal(ZwClose(file), OK);
    }
    assert_int_equal(make(LOG, FILE_READ_DATA, FILE_OPEN, SYNC), OK);
    assert_int_equal(put("x", -2), (NTSTATUS)SPEC_STATUS_ACCESS_DENIED);
    assert_int_equal(
        ZwQueryInformationFile(file, &result, &standard, sizeof(standard), FileStandardInformation),
        OK);
    assert_int_equal(standard.EndOfFile.QuadPart, 10);
    assert_int_equal(standard.NumberOfLinks, 1);
    assert_int_equal(standard.Directory, FALSE);
    assert_int_equal(ZwClose(file), OK);
}

enum { LINES = 2000, LINE = 8 };

static void *appends(void *letter)
{
    char line[LINE + 1] = "       \n";
    IO_STATUS_BLOCK said;
    HANDLE log;

    memset(line, *(char *)letter, LINE - 1);
    if (make_one(&log, &said, LOG, FILE_APPEND_DATA, FILE_OPEN, SYNC) != OK)
        return NULL;
    for (int i = 0; i < LINES; i++)
        if (ZwWriteFile(log, NULL, NULL, NULL, &said, line, LINE, NULL, NULL) != OK)
            break;
    ZwClose(log);
    return NULL;
}

/* Each write goes to the end that the file has then, whoever else writes. */
static void nothing_that_was_appended_is_lost(void **state)
{
    char letters[] = "ab", line[LINE + 1];
    unsigned found[2] = { 0 };
    pthread_t threads[2];
    FILE *log;

    (void)state;
    assert_int_equal(make(LOG, GENERIC_WRITE, FILE_OVERWRITE_IF, SYNC), OK);
    assert_int_equal(ZwClose(file), OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, appends, &letters[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_non_null(log = fopen("C:/driver.log", "r"));
    while (fread(line, 1, LINE, log) == LINE) {
        assert_true(line[0] == 'a' || line[0] == 'b');
        for (int i = 1; i < LINE - 1; i++)
            assert_int_equal(line[i], line[0]);
        found[line[0] - 'a']++;
    }
    fclose(log);
    assert_int_equal(found[0], LINES);
    assert_int_equal(found[1], LINES);
}

/* Our reading: Windows has none in its folders. Nobody waits for the other end of it. */
static void a_fifo_is_refused_at_once(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("C:/fifo", 0600), 0);
    assert_int_equal(make(L"\\??\\C:\\fifo", GENERIC_READ, FILE_OPEN, SYNC),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(make(L"\\??\\C:\\fifo", GENERIC_WRITE, FILE_OPEN_IF, SYNC),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(unlink("C:/fifo"), 0);
}

static void requests_go_on_where_the_last_ended(void **state)
{
    FILE_POSITION_INFORMATION position;
    char text[16];

    (void)state;
    assert_int_equal(make(LOG, FILE_READ_DATA | FILE_WRITE_DATA, FILE_OVERWRITE_IF, SYNC), OK);
    assert_int_equal(put("abc", -2), OK);
    assert_int_equal(put("def", -2), OK);
    assert_int_equal(put("B", 1), OK);
    assert_int_equal(get(text, 2, -2), OK);
    assert_string_equal(text, "cd");
    assert_int_equal(put("g", -1), OK);
    assert_int_equal(
        ZwQueryInformationFile(file, &result, &position, sizeof(position), FilePositionInformation),
        OK);
    assert_int_equal(position.CurrentByteOffset.QuadPart, 7);
    assert_int_equal(get(text, 2, -2), (NTSTATUS)SPEC_STATUS_END_OF_FILE);
    assert_int_equal(result.Information, 0);
    position.CurrentByteOffset.QuadPart = 0;
    assert_int_equal(
        ZwSetInformationFile(file, &result, &position, sizeof(position), FilePositionInformation),
        OK);
    assert_int_equal(get(text, 15, -2), OK);
    assert_string_equal(text, "aBcdefg");
    assert_int_equal(get(text, 2, -3), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(ZwClose(file), OK);
    assert_int_equal(get(text, 2, 0), (NTSTATUS)SPEC_STATUS_INVALID_HANDLE);
}

static void other_handles_need_an_offset(void **state)
{
    char text[16];

    (void)state;
    assert_int_equal(make(LOG, FILE_READ_DATA, FILE_OPEN, 0), OK);
    assert_int_equal(get(text, 2, -2), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(get(text, 2, 5), OK);
    assert_string_equal(text, "fg");
    assert_int_equal(ZwReadFile(file, file, NULL, NULL, &result, text, 2, NULL, NULL),
        (NTSTATUS)SPEC_STATUS_NOT_SUPPORTED);
    assert_int_equal(ZwClose(file), OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispositions_say_what_became_of_it),
        cmocka_unit_test(names_are_paths),
        cmocka_unit_test(text_is_appended),
        cmocka_unit_test(nothing_that_was_appended_is_lost),
        cmocka_unit_test(a_fifo_is_refused_at_once),
        cmocka_unit_test(requests_go_on_where_the_last_ended),
        cmocka_unit_test(other_handles_need_an_offset),
    };

    return cmocka_run_group_tests(tests, into_a_folder, out_of_the_folder);
}
