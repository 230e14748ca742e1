/* SPDX-License-Identifier: MIT */
/* test_mapping.c - shared memory, within a process and between two. The program runs itself for the other one. */
#include "tests/support/win32_test.h"

#include "tests/support/run_self.h"

#include <stdio.h>

static const char *program;
static char name[64];
static WCHAR wide_name[64];

enum { BYTES = 3 * 65536 + 100 };

static HANDLE create(const char *named, DWORD protection)
{
    return CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, protection, 0, BYTES, named);
}

static void test_memory_without_a_name(void **state)
{
    HANDLE mapping = create(NULL, PAGE_READWRITE | SEC_COMMIT);
    char *view, *part, *copy;

    (void)state;
    assert_non_null(mapping);
    assert_non_null(view = MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, 0));
    assert_int_equal((ULONG_PTR)view % 65536, 0);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(view[i], 0);
    assert_non_null(part = MapViewOfFile(mapping, FILE_MAP_READ, 0, 65536, 10));
    view[65537] = 'x';
    assert_int_equal(part[1], 'x');
    assert_non_null(copy = MapViewOfFile(mapping, FILE_MAP_COPY, 0, 65536, 10));
    copy[1] = 'y';
    assert_int_equal(part[1], 'x');
    assert_true(UnmapViewOfFile(copy));
    assert_true(CloseHandle(mapping)); /* views stay */
    view[65538] = 'z';
    assert_int_equal(part[2], 'z');
    assert_true(UnmapViewOfFile(part));
    assert_true(UnmapViewOfFile(view));
    assert_fails(UnmapViewOfFile(view), SPEC_ERROR_INVALID_ADDRESS);
}

static void test_view_at_an_address(void **state)
{
    HANDLE mapping = create(NULL, PAGE_READWRITE);
    char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);

    (void)state;
    assert_non_null(view);
    assert_fails(
        MapViewOfFileEx(mapping, FILE_MAP_WRITE, 0, 0, 0, view), SPEC_ERROR_INVALID_ADDRESS);
    assert_true(UnmapViewOfFile(view));
    assert_ptr_equal(MapViewOfFileEx(mapping, FILE_MAP_WRITE, 0, 0, 0, view), view);
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(mapping));
}

static void test_name_finds_the_memory(void **state)
{
    HANDLE mapping, again, opened;
    char *view, *other;

    (void)state;
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
    SetLastError(87);
    assert_non_null(mapping = create(name, PAGE_READWRITE));
    assert_win_error(0);
    assert_non_null(
        again = CreateFileMappingW(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 10, wide_name));
    assert_win_error(SPEC_ERROR_ALREADY_EXISTS);
    assert_non_null(opened = OpenFileMappingW(FILE_MAP_READ, FALSE, wide_name));
    assert_non_null(view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0));
    assert_non_null(
        other = MapViewOfFile(again, FILE_MAP_READ, 0, 131072, 100)); /* it has its first size */
    view[131072] = 'n';
    assert_int_equal(other[0], 'n');
    assert_true(UnmapViewOfFile(other));
    assert_non_null(other = MapViewOfFile(opened, FILE_MAP_READ, 0, 131072, 100));
    assert_int_equal(other[0], 'n');
    assert_true(UnmapViewOfFile(other));
    assert_fails(MapViewOfFile(opened, FILE_MAP_WRITE, 0, 0, 0), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(mapping));
    assert_true(CloseHandle(again));
    assert_non_null(
        mapping = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name)); /* one handle is there yet */
    assert_true(CloseHandle(opened));
    assert_true(CloseHandle(mapping));
#ifndef _WIN32 /* Wine keeps a name while there is a view */
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
#endif
    assert_int_equal(view[131072], 'n');
    assert_true(UnmapViewOfFile(view));
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_name_is_new_after_the_last_handle(void **state)
{
    HANDLE mapping = create(name, PAGE_READWRITE);
    char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 1);

    (void)state;
    view[0] = 'o';
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(mapping));
    SetLastError(87);
    assert_non_null(mapping = create(name, PAGE_READWRITE));
    assert_win_error(0);
    assert_non_null(view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 1));
    assert_int_equal(view[0], 0);
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(mapping));
}

static void test_memory_to_be_read_only(void **state)
{
    HANDLE mapping = create(name, PAGE_READONLY);
    char *view;

    (void)state;
    assert_non_null(mapping);
    assert_non_null(view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0));
    assert_int_equal(view[BYTES - 1], 0);
    assert_true(UnmapViewOfFile(view));
    assert_fails(MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0), SPEC_ERROR_ACCESS_DENIED);
#ifndef _WIN32 /* there the memory is what each handle may do with it */
    assert_fails(OpenFileMappingA(FILE_MAP_WRITE, FALSE, name), SPEC_ERROR_ACCESS_DENIED);
#endif
    assert_true(CloseHandle(mapping));
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_prefixes_of_names(void **state)
{
    HANDLE local, opened;
    char text[80];

    (void)state;
    assert_non_null(local = create(name, PAGE_READWRITE));
    snprintf(text, sizeof(text), "Local\\%s", name);
    assert_non_null(opened = OpenFileMappingA(FILE_MAP_READ, FALSE, text));
    assert_true(CloseHandle(opened));
    assert_true(CloseHandle(local));
    snprintf(text, sizeof(text), "Global\\%s", name);
    assert_non_null(local = create(text, PAGE_READWRITE));
#ifndef _WIN32 /* Wine has one space of names for both */
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
#endif
    assert_true(CloseHandle(local));
    snprintf(text, sizeof(text), "with/slash and %%%s", name);
    assert_non_null(local = create(text, PAGE_READWRITE));
    assert_non_null(opened = OpenFileMappingA(FILE_MAP_READ, FALSE, text));
    assert_true(CloseHandle(local));
    assert_true(CloseHandle(opened));
    assert_fails(create("with\\backslash", PAGE_READWRITE), SPEC_ERROR_PATH_NOT_FOUND);
}

static void test_bad_arguments(void **state)
{
    HANDLE mapping = create(NULL, PAGE_READWRITE);

    (void)state;
    assert_fails(CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, 0, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, 0, 0, BYTES, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateFileMappingA((HANDLE)0x12345670, NULL, PAGE_READWRITE, 0, BYTES, NULL),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(MapViewOfFile(mapping, FILE_MAP_READ, 0, 4096, 0), SPEC_ERROR_MAPPED_ALIGNMENT);
    assert_fails(
        MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, BYTES + 65536), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(
        MapViewOfFile((HANDLE)0x12345670, FILE_MAP_READ, 0, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(mapping));
    assert_fails(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CreateFileMapping == CreateFileMappingA && OpenFileMapping == OpenFileMappingA);
#ifndef _WIN32 /* Windows has views to be executed, and room for this much */
    assert_non_null(mapping = create(NULL, PAGE_READWRITE));
    assert_fails(MapViewOfFile(mapping, 0x20, 0, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(MapViewOfFile(mapping, FILE_MAP_READ, 1, 0, 0), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(mapping));
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, "Local\\"), SPEC_ERROR_INVALID_NAME);
    assert_fails(
        CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0x40000000, 0, name),
        SPEC_ERROR_COMMITMENT_LIMIT);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
#endif
}

/* Section, event, mutex and semaphore: one name is one object, of the kind that made it. */
static void test_a_name_of_another_kind_is_an_invalid_handle(void **state)
{
    HANDLE mapping = create(name, PAGE_READWRITE), event;

    (void)state;
    assert_non_null(mapping);
    assert_fails(CreateEventA(NULL, TRUE, FALSE, name), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(OpenEventW(EVENT_ALL_ACCESS, FALSE, wide_name), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateMutexA(NULL, FALSE, name), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateSemaphoreA(NULL, 0, 1, name), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(run_self(program, "event", name), 0);
    assert_true(CloseHandle(mapping));
    SetLastError(87);
    assert_non_null(event = CreateEventA(NULL, TRUE, FALSE, name));
    assert_win_error(0);
    assert_fails(create(name, PAGE_READWRITE), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(run_self(program, "section", name), 0);
    assert_true(SetEvent(event));
    assert_true(CloseHandle(event));
    assert_non_null(mapping = create(name, PAGE_READWRITE));
    assert_win_error(0);
    assert_true(CloseHandle(mapping));
    assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
}

/* The other process: 0, or the step that failed. */
static int child(const char *how, const char *named)
{
    HANDLE mapping;
    char *view;

    if (!strcmp(how, "absent"))
        return OpenFileMappingA(FILE_MAP_READ, FALSE, named) ||
               GetLastError() != SPEC_ERROR_FILE_NOT_FOUND;
    if (!strcmp(how, "event")) /* the name is that of a section */
        return CreateEventA(NULL, TRUE, FALSE, named) ||
               GetLastError() != SPEC_ERROR_INVALID_HANDLE;
    if (!strcmp(how, "section")) /* of an event */
        return create(named, PAGE_READWRITE) || GetLastError() != SPEC_ERROR_INVALID_HANDLE;
    if (!strcmp(how, "answer")) {
        if (!(mapping = OpenFileMappingA(FILE_MAP_WRITE, FALSE, named)))
            return 2;
        if (!(view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0)) || strcmp(view, "question"))
            return 3;
        strcpy(view, "answer");
        return 0; /* its handle goes with it */
    }
    if (!create(named, PAGE_READWRITE) || GetLastError())
        return 4;
    TerminateProcess(GetCurrentProcess(), 5); /* "leave" */
    return 6;
}

static void test_two_processes(void **state)
{
    HANDLE mapping = create(name, PAGE_READWRITE);
    char *view = MapViewOfFile(mapping, FILE_MAP_WRITE, 0, 0, 0);

    (void)state;
    assert_non_null(view);
    strcpy(view, "question");
    assert_int_equal(run_self(program, "answer", name), 0);
    assert_string_equal(view, "answer");
    strcpy(view, "question");
    assert_int_equal(
        run_self(program, "answer", name), 0); /* the first one's end took nothing away */
    assert_true(UnmapViewOfFile(view));
    assert_true(CloseHandle(mapping));
    assert_int_equal(run_self(program, "absent", name), 0);
}

static void test_name_of_a_killed_process(void **state)
{
    HANDLE mapping;

    (void)state;
    assert_int_equal(run_self(program, "leave", name), 5);
    assert_fails(OpenFileMappingA(FILE_MAP_READ, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
    assert_int_equal(run_self(program, "leave", name), 5);
    SetLastError(87);
    assert_non_null(mapping = create(name, PAGE_READWRITE));
    assert_win_error(0); /* it is new */
    assert_true(CloseHandle(mapping));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_without_a_name),
        cmocka_unit_test(test_view_at_an_address),
        cmocka_unit_test(test_name_finds_the_memory),
        cmocka_unit_test(test_name_is_new_after_the_last_handle),
        cmocka_unit_test(test_memory_to_be_read_only),
        cmocka_unit_test(test_prefixes_of_names),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_a_name_of_another_kind_is_an_invalid_handle),
        cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_name_of_a_killed_process),
    };

    if (argc > 1)
        return argc == 3 ? child(argv[1], argv[2]) : 97;
    program = argv[0];
    snprintf(name, sizeof(name), "ndtest.mapping.%u", (unsigned)GetCurrentProcessId());
    MultiByteToWideChar(CP_UTF8, 0, name, -1, wide_name, 64);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
