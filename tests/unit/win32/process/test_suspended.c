/* SPDX-License-Identifier: MIT */
/* test_suspended.c - CreateProcess with CREATE_SUSPENDED, and ResumeThread. The program starts itself. */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/process/started.h"

#ifndef _WIN32 /* signals, other programs, parents that end */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

static char self[MAX_PATH];

/* Starts itself with a command line; it writes to out and reads from in. */
static PROCESS_INFORMATION start(char *command, HANDLE out, HANDLE in, DWORD flags)
{
    STARTUPINFOA startup = { .cb = sizeof(startup),
        .dwFlags = STARTF_USESTDHANDLES,
        .hStdInput = in ? in : GetStdHandle(STD_INPUT_HANDLE),
        .hStdOutput = out,
        .hStdError = GetStdHandle(STD_ERROR_HANDLE) };
    PROCESS_INFORMATION process;

    assert_true(
        CreateProcessA(self, command, NULL, NULL, TRUE, flags, NULL, NULL, &startup, &process));
    return process;
}

static void read_some(HANDLE from, const char *expected)
{
    char text[100];
    DWORD done = 0;

    assert_true(ReadFile(from, text, sizeof(text) - 1, &done, NULL));
    text[done] = 0;
    assert_string_equal(text, expected);
}

/* A process that was started later has written all that it writes: the suspended one has written nothing before it. */
static void test_it_does_not_run_before_it_is_resumed(void **state)
{
    char first[] = "name wait first", second[] = "name say second", text[100];
    HANDLE read_end, write_end, in, to;
    PROCESS_INFORMATION suspended, other;
    DWORD code = 0;

    (void)state;
    make_pipe(&read_end, &write_end);
    assert_true(
        CreatePipe(&in, &to, &(SECURITY_ATTRIBUTES){ .nLength = 24, .bInheritHandle = TRUE }, 0));
    assert_true(SetHandleInformation(to, HANDLE_FLAG_INHERIT, 0));
    suspended = start(first, write_end, in, CREATE_SUSPENDED);
    other = start(second, write_end, NULL, 0);
    assert_true(CloseHandle(write_end));
    assert_true(CloseHandle(in));
    assert_int_equal(wait_for(&other), 7);
    read_some(read_end, "second");
    assert_wait(WaitForSingleObject(suspended.hProcess, 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(suspended.hThread, 0), WAIT_TIMEOUT);
    assert_true(GetExitCodeProcess(suspended.hProcess, &code));
    assert_int_equal(code, SPEC_STILL_ACTIVE);
    assert_int_equal(ResumeThread(suspended.hThread), 1);
    read_some(read_end, "first");
    assert_int_equal(ResumeThread(suspended.hThread), 0); /* it runs: it waits for its input */
    assert_true(CloseHandle(to));
    assert_int_equal(wait_for(&suspended), 7);
    read_all(read_end, text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(CloseHandle(read_end));
}

static void test_it_can_be_ended_before_it_has_begun(void **state)
{
    char command[] = "name say never", text[100];
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;

    (void)state;
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    assert_true(CloseHandle(write_end));
    assert_true(TerminateProcess(process.hProcess, 77));
    assert_int_equal(wait_for(&process), 77);
    read_all(read_end, text, sizeof(text));
    assert_string_equal(text, "");
    assert_true(CloseHandle(read_end));
}

/* Its priority can be set, which then holds. */
static void test_it_can_be_changed_before_it_begins(void **state)
{
    char command[] = "name class 0", text[100];
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;

    (void)state;
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED | BELOW_NORMAL_PRIORITY_CLASS);
    assert_true(CloseHandle(write_end));
    assert_int_equal(GetPriorityClass(process.hProcess),
        DIFFERS(BELOW_NORMAL_PRIORITY_CLASS, NORMAL_PRIORITY_CLASS,
            "Wine's new process sets its class itself"));
    assert_true(SetPriorityClass(process.hProcess, IDLE_PRIORITY_CLASS));
    assert_int_equal(ResumeThread(process.hThread), 1);
    assert_int_equal(wait_for(&process), IDLE_PRIORITY_CLASS);
    read_all(read_end, text, sizeof(text));
    assert_true(CloseHandle(read_end));
}

/* What it does not inherit is not held by it, whether it has begun or not. */
static void test_it_holds_only_what_it_inherits(void **state)
{
    char command[] = "name say now", text[100];
    HANDLE read_end, write_end, own_read, own_write;
    PROCESS_INFORMATION process;

    (void)state;
    assert_true(CreatePipe(&own_read, &own_write, NULL, 0));
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    assert_true(CloseHandle(write_end));
    assert_true(CloseHandle(own_write));
    read_all(own_read, text, sizeof(text)); /* up to ERROR_BROKEN_PIPE */
    assert_true(CloseHandle(own_read));
    assert_int_equal(ResumeThread(process.hThread), 1);
    read_all(read_end, text, sizeof(text));
    assert_string_equal(text, "now");
    assert_int_equal(wait_for(&process), 7);
    assert_true(CloseHandle(read_end));
}

/* An object that it inherits lives, though the starting process closes its handle before it begins. */
static void test_it_inherits_an_event(void **state)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };
    HANDLE event = CreateEventA(&inherited, TRUE, FALSE, NULL), read_end, write_end;
    char command[100], text[100];
    PROCESS_INFORMATION process;

    (void)state;
    snprintf(command, sizeof(command), "name event %llx", (unsigned long long)(uintptr_t)event);
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    assert_true(CloseHandle(write_end));
    assert_true(SetEvent(event));
    assert_true(CloseHandle(event));
    assert_int_equal(ResumeThread(process.hThread), 1);
    read_all(read_end, text, sizeof(text));
    assert_int_equal(wait_for(&process), 7);
    assert_true(CloseHandle(read_end));
}

/* The thread's handle alone is enough to resume it. */
static void test_its_process_handle_may_be_closed(void **state)
{
    char command[] = "name say alone", text[100];
    HANDLE read_end, write_end, copy = NULL;
    PROCESS_INFORMATION process;

    (void)state;
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    assert_true(CloseHandle(write_end));
    assert_true(CloseHandle(process.hProcess));
    assert_true(DuplicateHandle(GetCurrentProcess(), process.hThread, GetCurrentProcess(), &copy, 0,
        FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE));
    assert_int_equal(ResumeThread(copy), 1);
    read_all(read_end, text, sizeof(text));
    assert_string_equal(text, "alone");
    assert_wait(WaitForSingleObject(copy, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(copy));
    assert_true(CloseHandle(read_end));
}

static void test_what_cannot_be_started(void **state)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;

    (void)state;
    assert_fails(CreateProcessA(".\\no_such_program", NULL, NULL, NULL, FALSE, CREATE_SUSPENDED,
                     NULL, NULL, &startup, &process),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(CreateProcessA(self, NULL, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL,
                     "no_such_folder", &startup, &process),
        SPEC_ERROR_DIRECTORY);
}

static void test_wide_form(void **state)
{
    WCHAR path[MAX_PATH], command[] = L"name end 0";
    STARTUPINFOW startup = { .cb = sizeof(startup) };
    PROCESS_INFORMATION process;

    (void)state;
    for (size_t i = 0; i < MAX_PATH; i++)
        path[i] = (unsigned char)self[i];
    assert_true(CreateProcessW(path, command, NULL, NULL, FALSE,
        CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP, NULL, NULL, &startup, &process));
    assert_int_equal(ResumeThread(process.hThread), 1);
    assert_int_equal(wait_for(&process), 7);
}

#ifndef _WIN32 /* signals; how a file is recognised as a program; Windows' suspended process lives on */
static void caught(int number)
{
    (void)number;
}

/* The program blocks, ignores and catches signals; what it starts is not told. */
static void test_signals_of_the_new_process(void **state)
{
    char command[] = "name signals 0", text[100];
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;
    sigset_t all, before;

    (void)state;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, caught);
    make_pipe(&read_end, &write_end);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_true(CloseHandle(write_end));
    assert_int_equal(ResumeThread(process.hThread), 1);
    read_all(read_end, text, sizeof(text));
    assert_int_equal(wait_for(&process), 7);
    assert_true(CloseHandle(read_end));
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
}

/* Nobody could resume it any more. */
static void test_it_ends_with_its_parent(void **state)
{
    char command[] = "name parent 0", text[100];
    PROCESS_INFORMATION process;
    HANDLE read_end, write_end;

    (void)state;
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, 0);
    assert_true(CloseHandle(write_end));
    assert_int_equal(wait_for(&process), 7);
    read_all(read_end, text, sizeof(text)); /* ends when both have closed their end */
    assert_string_equal(text, "");
    assert_true(CloseHandle(read_end));
}

static void test_what_is_no_program_is_found_by_resuming(void **state)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    char *name = own_name("./suspended_no_program");
    PROCESS_INFORMATION process;
    FILE *file = fopen(name, "w");

    (void)state;
    assert_non_null(file);
    fputs("no program\n", file);
    fclose(file);
    assert_int_equal(chmod(name, 0700), 0);
    assert_true(CreateProcessA(
        name, NULL, NULL, NULL, FALSE, CREATE_SUSPENDED, NULL, NULL, &startup, &process));
    SetLastError(0xdead);
    assert_int_equal(ResumeThread(process.hThread), (DWORD)-1);
    assert_win_error(SPEC_ERROR_BAD_EXE_FORMAT);
    wait_for(&process);
    unlink(name);
}

static void test_it_takes_no_handles_before_it_begins(void **state)
{
    char command[] = "name say x", text[100];
    HANDLE read_end, write_end, copy = NULL;
    PROCESS_INFORMATION process;

    (void)state;
    make_pipe(&read_end, &write_end);
    process = start(command, write_end, NULL, CREATE_SUSPENDED);
    assert_fails(DuplicateHandle(GetCurrentProcess(), write_end, process.hProcess, &copy, 0, FALSE,
                     DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_NOT_SUPPORTED);
    assert_true(CloseHandle(write_end));
    assert_int_equal(ResumeThread(process.hThread), 1);
    read_all(read_end, text, sizeof(text));
    assert_int_equal(wait_for(&process), 7);
    assert_true(CloseHandle(read_end));
}

static int signals_are_usual(void)
{
    struct sigaction action;
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int i = 1; i < SIGRTMIN; i++)
        if (sigismember(&blocked, i) == 1)
            return 100 + i;
    sigaction(SIGPIPE, NULL, &action);
    return action.sa_handler == SIG_DFL ? 7 : 8;
}

/* Starts another one suspended, which has this one's output, and ends. */
static int start_and_end(void)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    char command[] = "name say never";
    PROCESS_INFORMATION process;

    return CreateProcessA(
               self, command, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &startup, &process)
               ? 7
               : 8;
}
#endif

static int as_child(char **arguments)
{
    HANDLE out = GetStdHandle(STD_OUTPUT_HANDLE);
    char octet;
    DWORD done;

#ifndef _WIN32 /* signals; parents that end */
    if (!strcmp(arguments[1], "signals"))
        return signals_are_usual();
    if (!strcmp(arguments[1], "parent"))
        return start_and_end();
#endif
    if (!strcmp(arguments[1], "end"))
        return 7;
    if (!strcmp(arguments[1], "class"))
        return (int)GetPriorityClass(GetCurrentProcess());
    if (!strcmp(arguments[1], "event"))
        return WaitForSingleObject((HANDLE)(uintptr_t)strtoull(arguments[2], NULL, 16), 0) ==
                       WAIT_OBJECT_0
                   ? 7
                   : 8;
    WriteFile(out, arguments[2], (DWORD)strlen(arguments[2]), &done, NULL);
    if (!strcmp(arguments[1], "wait"))
        ReadFile(GetStdHandle(STD_INPUT_HANDLE), &octet, 1, &done, NULL);
    return 7;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_does_not_run_before_it_is_resumed),
        cmocka_unit_test(test_it_can_be_ended_before_it_has_begun),
        cmocka_unit_test(test_it_can_be_changed_before_it_begins),
        cmocka_unit_test(test_it_holds_only_what_it_inherits),
        cmocka_unit_test(test_it_inherits_an_event),
        cmocka_unit_test(test_its_process_handle_may_be_closed),
        cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_wide_form),
#ifndef _WIN32 /* signals; how a file is recognised as a program; Windows' suspended process lives on */
        cmocka_unit_test(test_signals_of_the_new_process),
        cmocka_unit_test(test_it_ends_with_its_parent),
        cmocka_unit_test(test_what_is_no_program_is_found_by_resuming),
        cmocka_unit_test(test_it_takes_no_handles_before_it_begins),
#endif
    };

    if (!GetModuleFileNameA(NULL, self, sizeof(self)))
        return 1;
    return count > 2 ? as_child(arguments) : cmocka_run_group_tests(tests, NULL, NULL);
}
