/* SPDX-License-Identifier: MIT */
/* test_create.c - CreateProcess: arguments, redirected handles, environment, folder, exit codes. It starts itself. */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/process/started.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32 /* signals, other ways to start */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static char self[MAX_PATH];

/* Runs itself with a command line and its output in text; the exit code. */
static DWORD run(char *command, void *environment, const char *folder, char *text, DWORD room)
{
    STARTUPINFOA startup = { .cb = sizeof(startup), .dwFlags = STARTF_USESTDHANDLES };
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;

    make_pipe(&read_end, &write_end);
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = write_end;
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    assert_true(CreateProcessA(
        self, command, NULL, NULL, TRUE, 0, environment, folder, &startup, &process));
    assert_true(CloseHandle(write_end));
    read_all(read_end, text, room);
    assert_true(CloseHandle(read_end));
    return wait_for(&process);
}

static void test_output_and_exit_code(void **state)
{
    char command[] = "name child 42 one", text[200];

    (void)state;
    assert_int_equal(run(command, NULL, NULL, text, sizeof(text)), 42);
    assert_string_equal(text, "<one>");
}

static void test_command_line_is_split_as_on_windows(void **state)
{
    char command[] =
        "\"a name\" child 0 \"two words\" a\\\\b \"q\\\"q\" x\\\\\\\"y \"end\\\\\" \"\" p\"q r\"s";
    char text[200];

    (void)state;
    assert_int_equal(run(command, NULL, NULL, text, sizeof(text)), 0);
    assert_string_equal(text, "<two words><a\\\\b><q\"q><x\\\"y><end\\><><pq rs>");
}

static void test_environment(void **state)
{
    char block[4096], command[] = "name variable ND_TEST_GIVEN", text[200];
    size_t used = 0;

    (void)state;
    used += (size_t)snprintf(block, sizeof(block), "ND_TEST_GIVEN=value") + 1;
    /* What the program itself needs to start. */
    static const char *const kept[] = { "LD_LIBRARY_PATH", "PATH", "SystemRoot", "ASAN_OPTIONS",
        "TSAN_OPTIONS" };
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
        if (getenv(kept[i]))
            used += (size_t)snprintf(
                        block + used, sizeof(block) - used, "%s=%s", kept[i], getenv(kept[i])) +
                    1;
    block[used] = 0;
    assert_int_equal(run(command, block, NULL, text, sizeof(text)), 7);
    assert_string_equal(text, "value");
    assert_int_equal(run(command, NULL, NULL, text, sizeof(text)), 8);
    assert_string_equal(text, "");
}

static void test_folder(void **state)
{
    char command[200], text[8];
    HANDLE file;

    (void)state;
    snprintf(command, sizeof(command), "name exists %s", own_name("ndspi_create_marker"));
    file = CreateFileA(own_name("ndspi_create_marker"), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
        FILE_FLAG_DELETE_ON_CLOSE, NULL);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    assert_int_equal(run(command, NULL, NULL, text, sizeof(text)), 1);
    assert_int_equal(run(command, NULL, "..", text, sizeof(text)), 0);
    assert_true(CloseHandle(file));
}

static void test_what_cannot_be_started(void **state)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    char command[] = "no_such_program";

    (void)state;
    assert_fails(CreateProcessA(".\\no_such_program", NULL, NULL, NULL, FALSE, 0, NULL, NULL,
                     &startup, &process),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(
        CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(CreateProcessA(
                     self, NULL, NULL, NULL, FALSE, 0, NULL, "no_such_folder", &startup, &process),
        SPEC_ERROR_DIRECTORY);
}

static void test_wide_form(void **state)
{
    STARTUPINFOW startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;
    WCHAR path[MAX_PATH], command[] = L"name variable ND_TEST_WIDE", block[4096];
    size_t used = 0;
    static const char *const kept[] = { "LD_LIBRARY_PATH", "PATH", "SystemRoot" };

    (void)state;
    for (size_t i = 0; i < MAX_PATH; i++)
        path[i] = (unsigned char)self[i];
    for (size_t i = 0; i < 3; i++) {
        const char *value = getenv(kept[i]);
        for (const char *s = kept[i]; value && *s; s++)
            block[used++] = (unsigned char)*s;
        if (!value)
            continue;
        block[used++] = '=';
        for (; *value; value++)
            block[used++] = (unsigned char)*value;
        block[used++] = 0;
    }
    memcpy(block + used, L"ND_TEST_WIDE=x\0", sizeof(L"ND_TEST_WIDE=x\0"));
    assert_true(CreateProcessW(path, command, NULL, NULL, FALSE,
        CREATE_UNICODE_ENVIRONMENT | CREATE_NO_WINDOW, block, NULL, &startup, &process));
    assert_int_equal(wait_for(&process), 7);
    assert_true(CreateProcess == CreateProcessA);
}

/* What the started process is told of its start, or 0 for success. */
static int tell_startup(HANDLE out)
{
    STARTUPINFOA startup;
    STARTUPINFOW wide;
    char text[400];
    DWORD done;
    int length;

    memset(&startup, 0xee, sizeof(startup));
    memset(&wide, 0xee, sizeof(wide));
    GetStartupInfoA(&startup);
    GetStartupInfoW(&wide);
    if (startup.cb != sizeof(startup) || wide.cb != sizeof(wide) || startup.lpReserved ||
        wide.lpReserved)
        return 20;
    if (startup.dwFlags & STARTF_USESTDHANDLES &&
        (startup.hStdInput != GetStdHandle(STD_INPUT_HANDLE) || startup.hStdOutput != out ||
            startup.hStdError != GetStdHandle(STD_ERROR_HANDLE)))
        return 21;
    if (wide.dwX != startup.dwX || wide.dwY != startup.dwY || wide.dwXSize != startup.dwXSize ||
        wide.dwYSize != startup.dwYSize || wide.dwXCountChars != startup.dwXCountChars ||
        wide.dwYCountChars != startup.dwYCountChars ||
        wide.dwFillAttribute != startup.dwFillAttribute || wide.dwFlags != startup.dwFlags ||
        wide.wShowWindow != startup.wShowWindow || wcslen(wide.lpTitle) != strlen(startup.lpTitle))
        return 22;
    if (wide.dwFlags & STARTF_USESTDHANDLES &&
        (wide.hStdInput != startup.hStdInput || wide.hStdOutput != out ||
            wide.hStdError != startup.hStdError))
        return 23;
    for (size_t i = 0; startup.lpTitle[i]; i++)
        if (wide.lpTitle[i] != (unsigned char)startup.lpTitle[i])
            return 24;
    length =
        snprintf(text, sizeof(text), "%x %u %u %u %u %u %u %u %x %s", (unsigned)startup.dwFlags,
            startup.wShowWindow, (unsigned)startup.dwX, (unsigned)startup.dwY,
            (unsigned)startup.dwXSize, (unsigned)startup.dwYSize, (unsigned)startup.dwXCountChars,
            (unsigned)startup.dwYCountChars, (unsigned)startup.dwFillAttribute, startup.lpTitle);
    return WriteFile(out, text, (DWORD)length, &done, NULL) ? 0 : 25;
}

static void test_the_new_process_is_told_how_it_was_started(void **state)
{
    char command[] = "name startup 0", title[] = "a title, with , commas", text[400];
    STARTUPINFOA startup = { .cb = sizeof(startup),
        .lpTitle = title,
        .dwX = 1,
        .dwY = 4000000000u,
        .dwXSize = 3,
        .dwYSize = 4,
        .dwXCountChars = 5,
        .dwYCountChars = 6,
        .dwFillAttribute = 0x7b,
        .dwFlags = STARTF_USESTDHANDLES | STARTF_USESHOWWINDOW | STARTF_USEPOSITION |
                   STARTF_USESIZE | STARTF_USECOUNTCHARS | STARTF_USEFILLATTRIBUTE,
        .wShowWindow = 8 };
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;

    (void)state;
    make_pipe(&read_end, &write_end);
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = write_end;
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    assert_true(CreateProcessA(self, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    assert_true(CloseHandle(write_end));
    read_all(read_end, text, sizeof(text));
    assert_true(CloseHandle(read_end));
    assert_int_equal(wait_for(&process), 0);
    assert_string_equal(text, "11f 8 1 4000000000 3 4 5 6 7b a title, with , commas");
}

static void test_the_new_process_of_the_wide_form_is_told_how_it_was_started(void **state)
{
    WCHAR path[MAX_PATH], command[] = L"name startup 0", title[] = L"wide";
    STARTUPINFOW startup = { .cb = sizeof(startup),
        .lpTitle = title,
        .dwX = 7,
        .dwYSize = 9,
        .dwFlags = STARTF_USESTDHANDLES | STARTF_USEPOSITION };
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;
    char text[400];

    (void)state;
    for (size_t i = 0; i < MAX_PATH; i++)
        path[i] = (unsigned char)self[i];
    make_pipe(&read_end, &write_end);
    startup.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    startup.hStdOutput = write_end;
    startup.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    assert_true(CreateProcessW(path, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    assert_true(CloseHandle(write_end));
    read_all(read_end, text, sizeof(text));
    assert_true(CloseHandle(read_end));
    assert_int_equal(wait_for(&process), 0);
    assert_string_equal(text, "104 0 7 0 0 9 0 0 0 wide");
}

static void test_without_a_title_the_program_is_told_its_path(void **state)
{
    char command[] = "name startup 0", text[400];

    (void)state;
    assert_int_equal(run(command, NULL, NULL, text, sizeof(text)), 0);
    assert_int_equal(strncmp(text, "100 0 0 0 0 0 0 0 0 ", 20), 0);
    assert_string_equal(text + 20, self);
}

#ifndef _WIN32 /* Wine gives its programs handles and a way to show windows */
static void test_a_program_that_a_shell_started_was_told_nothing(void **state)
{
    STARTUPINFOA startup;

    (void)state;
    memset(&startup, 0xee, sizeof(startup));
    GetStartupInfo(&startup);
    assert_int_equal(startup.cb, 104);
    assert_string_equal(startup.lpTitle, self);
    startup.cb = 0;
    startup.lpTitle = NULL;
    assert_memory_equal(&startup, &(STARTUPINFOA){ .cb = 0 }, sizeof(startup));
    assert_null(getenv("WINOBJ_STARTED"));
}

/* A value of another form, as another version may pass it, is none. */
static void test_what_is_no_startupinfo_is_none(void **state)
{
    char variable[] = "WINOBJ_STARTED=1", text[400];
    char *arguments[] = { self, "startup", "0", NULL }, *variables[] = { variable, NULL };
    int ends[2], status = 0, length;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    if (!(child = fork())) {
        dup2(ends[1], 1);
        execve(self, arguments, variables);
        _exit(99);
    }
    close(ends[1]);
    length = (int)read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(length > 20);
    text[length] = 0;
    assert_int_equal(strncmp(text, "0 0 0 0 0 0 0 0 0 ", 18), 0);
    assert_string_equal(text + 18, self);
}
#endif

static void test_pipe_ends(void **state)
{
    HANDLE read_end, write_end;
    char text[8];
    DWORD done = 77;

    (void)state;
    assert_true(CreatePipe(&read_end, &write_end, NULL, 0));
    assert_int_equal(GetFileType(read_end), FILE_TYPE_PIPE);
    assert_true(WriteFile(write_end, "abcdef", 6, &done, NULL));
    assert_int_equal(done, 6);
    assert_true(ReadFile(read_end, text, 4, &done, NULL)); /* as much as there is room for */
    assert_int_equal(done, 4);
    assert_true(ReadFile(read_end, text, 8, &done, NULL)); /* as much as there is */
    assert_int_equal(done, 2);
    assert_fails(WriteFile(read_end, text, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(ReadFile(write_end, text, 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(write_end));
    assert_fails(ReadFile(read_end, text, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_true(CloseHandle(read_end));
    assert_true(CreatePipe(&read_end, &write_end, NULL, 4096));
    assert_true(CloseHandle(read_end));
    assert_fails(WriteFile(write_end, text, 1, &done, NULL), SPEC_ERROR_NO_DATA);
    assert_true(CloseHandle(write_end));
}

static void test_standard_handles(void **state)
{
    HANDLE before = GetStdHandle(STD_ERROR_HANDLE), read_end, write_end;

    (void)state;
    assert_ptr_equal(GetStdHandle(STD_ERROR_HANDLE), before);
    assert_true(CreatePipe(&read_end, &write_end, NULL, 0));
    assert_true(SetStdHandle(STD_ERROR_HANDLE, write_end));
    assert_ptr_equal(GetStdHandle(STD_ERROR_HANDLE), write_end);
    assert_true(SetStdHandle(STD_ERROR_HANDLE, before));
    assert_ptr_equal(GetStdHandle(1), INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(read_end));
    assert_true(CloseHandle(write_end));
}

/* What the program does when it is started by itself. */
#ifndef _WIN32 /* signals */
/* Whether a process begins with no signal blocked, and SIGPIPE not ignored. */
static int signals_are_usual(void)
{
    struct sigaction pipe_action;
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    sigaction(SIGPIPE, NULL, &pipe_action);
    for (int i = 1; i < SIGRTMIN; i++)
        if (sigismember(&blocked, i) == 1)
            return 100 + i;
    return pipe_action.sa_handler == SIG_DFL ? 7 : 8;
}

static void test_signals_of_the_new_process(void **state)
{
    char command[] = "name signals 0", text[8];
    sigset_t all, before;
    WSADATA data;
    DWORD code;

    (void)state;
    assert_int_equal(
        WSAStartup(MAKEWORD(2, 2), &data), 0); /* the program ignores SIGPIPE from now on */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    code = run(command, NULL, NULL, text, sizeof(text));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(code, 7);
    assert_int_equal(WSACleanup(), 0);
}
#endif

static int as_child(int count, char **arguments)
{
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    DWORD done;

#ifndef _WIN32 /* signals */
    if (!strcmp(arguments[1], "signals"))
        return signals_are_usual();
#endif
    if (!strcmp(arguments[1], "startup"))
        return tell_startup(out);
    if (!strcmp(arguments[1], "exists"))
        return GetFileAttributesA(arguments[2]) != INVALID_FILE_ATTRIBUTES;
    if (!strcmp(arguments[1], "variable")) {
        const char *value = getenv(arguments[2]);
        if (value)
            WriteFile(out, value, (DWORD)strlen(value), &done, NULL);
        return value ? 7 : 8;
    }
    for (int i = 3; i < count; i++) {
        char text[100];
        int length = snprintf(text, sizeof(text), "<%s>", arguments[i]);
        if (!WriteFile(out, text, (DWORD)length, &done, NULL))
            return 99;
    }
    return atoi(arguments[2]);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_exit_code),
        cmocka_unit_test(test_command_line_is_split_as_on_windows),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_wide_form),
        cmocka_unit_test(test_the_new_process_is_told_how_it_was_started),
        cmocka_unit_test(test_the_new_process_of_the_wide_form_is_told_how_it_was_started),
        cmocka_unit_test(test_without_a_title_the_program_is_told_its_path),
#ifndef _WIN32 /* Wine gives its programs handles and a way to show windows */
        cmocka_unit_test(test_a_program_that_a_shell_started_was_told_nothing),
        cmocka_unit_test(test_what_is_no_startupinfo_is_none),
#endif
        cmocka_unit_test(test_pipe_ends),
        cmocka_unit_test(test_standard_handles),
#ifndef _WIN32 /* signals */
        cmocka_unit_test(test_signals_of_the_new_process),
#endif
    };

    if (count > 2)
        return as_child(count, arguments);
    if (!GetModuleFileNameA(NULL, self, sizeof(self)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
