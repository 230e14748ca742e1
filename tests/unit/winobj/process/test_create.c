/* SPDX-License-Identifier: MIT */
/* test_create.c - CreateProcess: arguments, redirected handles, environment, folder, exit codes. It starts itself. */
#include "tests/support/win32_test.h"

#include <stdio.h>
#include <stdlib.h>
#ifndef _WIN32 /* signals */
#include <signal.h>
#endif

static char self[MAX_PATH];

/* A pipe; what the process writes comes out of *read_end. */
static void make_pipe(HANDLE *read_end, HANDLE *write_end)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };
    DWORD flags = 0;

    assert_true(CreatePipe(read_end, write_end, &inherited, 0));
    assert_true(GetHandleInformation(*read_end, &flags));
    assert_int_equal(flags, HANDLE_FLAG_INHERIT);
    assert_true(SetHandleInformation(*read_end, HANDLE_FLAG_INHERIT, 0));
    assert_true(GetHandleInformation(*read_end, &flags));
    assert_int_equal(flags, 0);
}

/* All that comes until the writers are gone, with an end. */
static void read_all(HANDLE from, char *text, DWORD room)
{
    DWORD done, have = 0;

    while (ReadFile(from, text + have, room - 1 - have, &done, NULL))
        have += done;
    assert_win_error(109);
    text[have] = 0;
}

static DWORD wait_for(const PROCESS_INFORMATION *process)
{
    DWORD code = 0;

    assert_wait(WaitForSingleObject(process->hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(process->hThread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(process->hProcess, &code));
    assert_int_equal(GetProcessId(process->hProcess), process->dwProcessId);
    assert_true(CloseHandle(process->hThread));
    assert_true(CloseHandle(process->hProcess));
    return code;
}

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
    char command[] = "name exists ndspi_create_marker", text[8];
    HANDLE file;

    (void)state;
    file = CreateFileA("ndspi_create_marker", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
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
        2);
    assert_fails(
        CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process), 2);
    assert_fails(CreateProcessA(
                     self, NULL, NULL, NULL, FALSE, 0, NULL, "no_such_folder", &startup, &process),
        267);
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
    assert_fails(WriteFile(read_end, text, 1, &done, NULL), 5);
    assert_fails(ReadFile(write_end, text, 1, &done, NULL), 5);
    assert_true(CloseHandle(write_end));
    assert_fails(ReadFile(read_end, text, 8, &done, NULL), 109);
    assert_true(CloseHandle(read_end));
    assert_true(CreatePipe(&read_end, &write_end, NULL, 4096));
    assert_true(CloseHandle(read_end));
    assert_fails(WriteFile(write_end, text, 1, &done, NULL), 232);
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
    assert_win_error(6);
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
