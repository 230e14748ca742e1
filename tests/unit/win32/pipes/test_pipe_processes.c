/* SPDX-License-Identifier: MIT */
/* test_pipe_processes.c - named pipes between processes. The program starts itself. */
#include "tests/support/start_self.h"

#ifndef _WIN32 /* kills */
#include <sched.h>
#include <signal.h>
#endif

static const char *program;

static const char *path_of(unsigned long id)
{
    static char path[64];

    snprintf(path, sizeof(path), "\\\\.\\pipe\\ndspi-processes-%lu", id);
    return path;
}

/* Opens the pipe of the process whose number it gets, and answers one message. */
static int client(int from, int to)
{
    unsigned long id = 0;
    DWORD done, mode = PIPE_READMODE_MESSAGE;
    char text[16];
    HANDLE pipe;

    if (!start_receive(from, &id, sizeof(id)))
        return 80;
    if (!WaitNamedPipeA(path_of(id), NMPWAIT_WAIT_FOREVER))
        return 81;
    pipe = CreateFileA(path_of(id), GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    if (pipe == INVALID_HANDLE_VALUE || !SetNamedPipeHandleState(pipe, &mode, NULL, NULL))
        return 82;
    if (!ReadFile(pipe, text, sizeof(text), &done, NULL) || done != 4 || memcmp(text, "ping", 4))
        return 83;
    if (!WriteFile(pipe, "pong!", 5, &done, NULL) || !start_send(to, "d", 1))
        return 84;
    start_receive(from, text, 1); /* until the test closes it */
    return 7;
}

/* Has a pipe of its own number until it is killed. */
static int hold(int from, int to)
{
    HANDLE pipe = CreateNamedPipeA(
        path_of(GetCurrentProcessId()), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 0, 0, 0, NULL);
    char text;

    if (pipe == INVALID_HANDLE_VALUE || !start_send(to, "r", 1))
        return 80;
    start_receive(from, &text, 1);
    return 7;
}

static void test_message_between_processes(void **state)
{
    const unsigned long id = GetCurrentProcessId();
    HANDLE pipe = CreateNamedPipeA(path_of(id), PIPE_ACCESS_DUPLEX,
        PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1, 0, 0, 0, NULL);
    struct started other = start_self(program, "client");
    char text[16];
    DWORD done;
    ULONG peer = 0;

    (void)state;
    assert_true(pipe != INVALID_HANDLE_VALUE);
    assert_true(start_send(other.to, &id, sizeof(id)));
    assert_true(ConnectNamedPipe(pipe, NULL) || GetLastError() == ERROR_PIPE_CONNECTED);
    assert_true(GetNamedPipeClientProcessId(pipe, &peer));
    assert_int_equal(peer, other.id);
    assert_true(WriteFile(pipe, "ping", 4, &done, NULL));
    assert_true(ReadFile(pipe, text, sizeof(text), &done, NULL));
    assert_int_equal(done, 5);
    assert_memory_equal(text, "pong!", 5);
    assert_true(start_receive(other.from, text, 1));
    assert_int_equal(start_wait(&other), 7);
    assert_fails(ReadFile(pipe, text, sizeof(text), &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_true(CloseHandle(pipe));
}

#ifndef _WIN32 /* kills */
static void test_killed_server(void **state)
{
    struct started other = start_self(program, "hold");
    HANDLE one, pipe;
    char text[4];
    DWORD done;

    (void)state;
    assert_true(start_receive(other.from, text, 1));
    one = CreateFileA(path_of(other.id), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(one != INVALID_HANDLE_VALUE);
    kill((pid_t)other.id, SIGKILL);
    assert_fails(ReadFile(one, text, 1, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_int_equal(start_wait(&other), -1);
    assert_fails(
        WaitNamedPipeA(path_of(other.id), NMPWAIT_WAIT_FOREVER), SPEC_ERROR_FILE_NOT_FOUND);
    SetLastError(0);
    assert_true(CreateFileA(path_of(other.id), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) ==
                INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_FILE_NOT_FOUND);
    pipe = CreateNamedPipeA(path_of(other.id), PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE,
        PIPE_TYPE_MESSAGE, 1, 0, 0, 0, NULL);
    assert_true(pipe != INVALID_HANDLE_VALUE);
    assert_true(CloseHandle(pipe));
    assert_true(CloseHandle(one));
}

/* Makes an instance more of the pipe whose process it is told, listens, and is killed. */
static int join(int from, int to)
{
    unsigned long id = 0;
    HANDLE pipe;
    char text;

    if (!start_receive(from, &id, sizeof(id)))
        return 80;
    pipe = CreateNamedPipeA(path_of(id), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2, 0, 0, 0, NULL);
    if (pipe == INVALID_HANDLE_VALUE || !start_send(to, "r", 1))
        return 81;
    start_receive(from, &text, 1);
    return 7;
}

/* A process that is killed takes its instance with it: of the two that were there, the busy one stays. */
static void test_wait_beside_a_busy_and_a_killed_instance(void **state)
{
    const unsigned long id = GetCurrentProcessId();
    HANDLE busy =
        CreateNamedPipeA(path_of(id), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2, 0, 0, 0, NULL);
    HANDLE one = CreateFileA(path_of(id), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL), next;
    struct started other = start_self(program, "join");
    char text;

    (void)state;
    assert_true(busy != INVALID_HANDLE_VALUE);
    assert_true(one != INVALID_HANDLE_VALUE);
    assert_fails(WaitNamedPipeA(path_of(id), 1), SPEC_ERROR_SEM_TIMEOUT);
    assert_true(start_send(other.to, &id, sizeof(id)));
    assert_true(start_receive(other.from, &text, 1));
    assert_true(WaitNamedPipeA(path_of(id), 1));
    kill((pid_t)other.id, SIGKILL);
    assert_int_equal(start_wait(&other), -1);
    assert_fails(WaitNamedPipeA(path_of(id), 1), SPEC_ERROR_SEM_TIMEOUT);
    SetLastError(0);
    assert_true(CreateFileA(path_of(id), GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) ==
                INVALID_HANDLE_VALUE);
    assert_win_error(SPEC_ERROR_PIPE_BUSY);
    next = CreateNamedPipeA(path_of(id), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2, 0, 0, 0, NULL);
    assert_true(next != INVALID_HANDLE_VALUE); /* its number is free again */
    assert_true(WaitNamedPipeA(path_of(id), 1));
    assert_true(CloseHandle(next));
    assert_true(CloseHandle(one));
    assert_true(CloseHandle(busy));
}

/* A killed server's folder goes when another process makes its first pipe; one in use stays. */
static void test_next_process_removes_what_a_killed_one_left(void **state)
{
    struct started killed = start_self(program, "hold"), holds, next;
    char left[96], used[96], text;

    (void)state;
    assert_true(start_receive(killed.from, &text, 1));
    holds = start_self(program, "hold");
    assert_true(start_receive(holds.from, &text, 1));
    snprintf(left, sizeof(left), "/dev/shm/ndspi-%u/pipes/=ndspi-processes-%lu",
        (unsigned)geteuid(), (unsigned long)killed.id);
    snprintf(used, sizeof(used), "/dev/shm/ndspi-%u/pipes/=ndspi-processes-%lu",
        (unsigned)geteuid(), (unsigned long)holds.id);
    kill((pid_t)killed.id, SIGKILL);
    assert_int_equal(start_wait(&killed), -1);
    next = start_self(program, "hold");
    assert_true(start_receive(next.from, &text, 1));
    while (!access(left, F_OK)) /* another process of the user may be at it */
        sched_yield();
    assert_int_equal(access(used, F_OK), 0);
    assert_true(start_send(next.to, "e", 1));
    assert_int_equal(start_wait(&next), 7);
    assert_true(start_send(holds.to, "e", 1));
    assert_int_equal(start_wait(&holds), 7);
    assert_int_equal(
        access(used, F_OK), 0); /* the kernel drops its lock; the next process removes the folder */
}

static void test_files_go_with_the_last_instance(void **state)
{
    char folder[96];
    HANDLE pipe = CreateNamedPipeA(
        path_of(GetCurrentProcessId()), PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 0, 0, 0, NULL);

    (void)state;
    snprintf(folder, sizeof(folder), "/dev/shm/ndspi-%u/pipes/=ndspi-processes-%u",
        (unsigned)geteuid(), (unsigned)getpid());
    assert_int_equal(access(folder, F_OK), 0);
    assert_true(CloseHandle(pipe));
    assert_int_equal(access(folder, F_OK), -1);
}
#endif

/* The other end as a standard handle of a program that knows nothing of named pipes. */
static void test_end_as_a_standard_handle(void **state)
{
    SECURITY_ATTRIBUTES inherits = { sizeof(inherits), NULL, TRUE };
    STARTUPINFOA startup = { .cb = sizeof(startup), .dwFlags = STARTF_USESTDHANDLES };
    PROCESS_INFORMATION process;
    char command[600], text[32];
    OVERLAPPED at = { .hEvent = CreateEventA(NULL, TRUE, FALSE, NULL) };
    DWORD done, got = 0;
    HANDLE pipe = CreateNamedPipeA(path_of(GetCurrentProcessId()),
        PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1, 0, 0, 0, NULL);

    (void)state;
    startup.hStdOutput = CreateFileA(path_of(GetCurrentProcessId()), GENERIC_READ | GENERIC_WRITE,
        0, &inherits, OPEN_EXISTING, 0, NULL);
    assert_true(startup.hStdOutput != INVALID_HANDLE_VALUE);
    snprintf(command, sizeof(command), "\"%s\" say", program);
    assert_true(CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process));
    assert_true(CloseHandle(startup.hStdOutput));
    for (;;) {
        SetLastError(0);
        if (!ReadFile(pipe, text + got, sizeof(text) - got, NULL, &at) &&
            GetLastError() != ERROR_IO_PENDING)
            break;
        if (!GetOverlappedResult(pipe, &at, &done, TRUE))
            break;
        got += done;
    }
    assert_win_error(SPEC_ERROR_BROKEN_PIPE);
    assert_int_equal(got, 5);
    assert_memory_equal(text, "hello", 5);
    assert_true(CloseHandle(at.hEvent));
    assert_true(CloseHandle(process.hProcess));
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(pipe));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_between_processes),
#ifndef _WIN32 /* kills; Linux' files */
        cmocka_unit_test(test_killed_server),
        cmocka_unit_test(test_wait_beside_a_busy_and_a_killed_instance),
        cmocka_unit_test(test_next_process_removes_what_a_killed_one_left),
        cmocka_unit_test(test_files_go_with_the_last_instance),
#endif
        cmocka_unit_test(test_end_as_a_standard_handle),
    };

    program = argv[0];
    if (argc > 1 && !strcmp(argv[1], "say")) {
        (printf)("hello");
        return 0;
    }
    if (argc > 4 && !strcmp(argv[2], "client"))
        return client(atoi(argv[3]), atoi(argv[4]));
    if (argc > 4 && !strcmp(argv[2], "hold"))
        return hold(atoi(argv[3]), atoi(argv[4]));
#ifndef _WIN32
    if (argc > 4 && !strcmp(argv[2], "join"))
        return join(atoi(argv[3]), atoi(argv[4]));
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
