/* SPDX-License-Identifier: MIT */
/*
 * test_descriptors.c - descriptors as other programs hand them over: standard ones that do not block, pipes, too few of
 * them; transfers of more than the kernel does at once.
 */
#include "tests/support/asleep.h"
#include "tests/support/run_self.h"
#include "tests/support/win32_test.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *program;

/* ---- descriptors that do not block ---- */

enum { MUCH = 1 << 20 }; /* more than a pipe holds */

struct transfer {
    HANDLE handle;
    char *octets;
    DWORD bytes, done, error;
    atomic_int thread;
};

static DWORD WINAPI read_some(LPVOID parameter)
{
    struct transfer *transfer = parameter;

    atomic_store(&transfer->thread, thread_number());
    if (!ReadFile(transfer->handle, transfer->octets, transfer->bytes, &transfer->done, NULL))
        transfer->error = GetLastError();
    return 0;
}

static DWORD WINAPI write_all(LPVOID parameter)
{
    struct transfer *transfer = parameter;

    atomic_store(&transfer->thread, thread_number());
    if (!WriteFile(transfer->handle, transfer->octets, transfer->bytes, &transfer->done, NULL))
        transfer->error = GetLastError();
    return 0;
}

/* A standard handle over one end of a pipe that does not block, whose other end does. Puts the descriptor aside. */
static HANDLE standard_over(int ends[2], int end, int number, int *aside)
{
    HANDLE handle;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[end], F_SETFL, O_NONBLOCK), 0);
    assert_true((*aside = fcntl(number, F_DUPFD_CLOEXEC, 10)) >= 0);
    assert_int_equal(dup2(ends[end], number), number);
    handle = GetStdHandle(number ? STD_OUTPUT_HANDLE : STD_INPUT_HANDLE);
    assert_non_null(handle);
    return handle;
}

static void put_back(int ends[2], int number, int aside)
{
    assert_int_equal(dup2(aside, number), number);
    close(aside);
    close(ends[0]);
    close(ends[1]);
}

/* Returns when the transfer waits, or has ended. */
static HANDLE begin(LPTHREAD_START_ROUTINE routine, struct transfer *transfer)
{
    HANDLE thread = CreateThread(NULL, 0, routine, transfer, 0, NULL);

    assert_non_null(thread);
    while (!atomic_load(&transfer->thread) ||
           (!thread_is_asleep(atomic_load(&transfer->thread)) && WaitForSingleObject(thread, 0)))
        ;
    return thread;
}

static void end(HANDLE thread)
{
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
}

static void test_standard_input_that_does_not_block(void **state)
{
    int ends[2], aside;
    char text[8] = "";
    struct transfer transfer = { .octets = text, .bytes = 8 };
    HANDLE thread;

    (void)state;
    transfer.handle = standard_over(ends, 0, 0, &aside);
    thread = begin(read_some, &transfer);
    assert_int_equal(write(ends[1], "text", 4), 4);
    end(thread);
    put_back(ends, 0, aside);
    assert_int_equal(transfer.error, 0);
    assert_int_equal(transfer.done, 4);
    assert_string_equal(text, "text");
}

static void test_standard_output_that_does_not_block(void **state)
{
    struct transfer transfer = { .octets = calloc(1, MUCH), .bytes = MUCH };
    char *got = malloc(MUCH);
    int ends[2], aside;
    ssize_t n = 1, all = 0;
    HANDLE thread;

    (void)state;
    transfer.octets[MUCH - 1] = 'z';
    transfer.handle = standard_over(ends, 1, 1, &aside);
    thread = begin(write_all, &transfer);
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* a write that has failed leaves less than all */
    while (all < MUCH && n > 0) {
        const bool over = !WaitForSingleObject(thread, 0); /* it leaves no octet to the next read */

        n = read(ends[0], got + all, (size_t)(MUCH - all));
        if (n < 0 && !over)
            n = 1; /* the writer goes on */
        else if (n > 0)
            all += n;
    }
    end(thread);
    put_back(ends, 1, aside);
    assert_int_equal(transfer.error, 0);
    assert_int_equal(transfer.done, MUCH);
    assert_int_equal(all, MUCH);
    assert_int_equal(got[MUCH - 1], 'z');
    free(got);
    free(transfer.octets);
}

/* A pipe that is opened overlapped needs no OVERLAPPED: its octets have no places. As named pipes: Wine waits. */
static void test_overlapped_pipe_without_an_overlapped(void **state)
{
    char text[8] = "", path[32];
    int ends[2];
    HANDLE handles[2];
    DWORD done = 0;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[i]);
        handles[i] = CreateFileA(path, i ? GENERIC_WRITE : GENERIC_READ,
            FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, FILE_FLAG_OVERLAPPED, NULL);
        assert_ptr_not_equal(handles[i], INVALID_HANDLE_VALUE);
        close(ends[i]);
    }
    assert_true(WriteFile(handles[1], "text", 4, &done, NULL));
    assert_int_equal(done, 4);
    assert_true(ReadFile(handles[0], text, 8, &done, NULL));
    assert_int_equal(done, 4);
    assert_string_equal(text, "text");
    assert_true(CloseHandle(handles[0]) && CloseHandle(handles[1]));
}

/* ---- more than the kernel reads at once ---- */

#define PART       ((size_t)16 << 20)
#define HUGE_PARTS 130
#define HUGE_SIZE  ((DWORD)(HUGE_PARTS * PART)) /* 2 GiB and 32 MiB */

/* Address space of that size, all over one part's memory. */
static char *folded(void)
{
    int memory = memfd_create("folded", MFD_CLOEXEC);
    char *octets =
        mmap(NULL, HUGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_int_equal(ftruncate(memory, (off_t)PART), 0);
    assert_ptr_not_equal(octets, MAP_FAILED);
    for (size_t i = 0; i < HUGE_PARTS; i++) /* all at once is half of the price of a fault each */
        assert_ptr_equal(mmap(octets + i * PART, PART, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED | MAP_POPULATE, memory, 0),
            octets + i * PART);
    close(memory);
    return octets;
}

/* A file in memory: a hole of 2 GiB on a disk would come into the page cache, in place of what is there. */
static HANDLE huge_file(DWORD how)
{
    int memory = memfd_create("huge", MFD_CLOEXEC);
    HANDLE file;
    char path[32];

    assert_true(memory >= 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, how, NULL);
    close(memory);
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    return file;
}

/* how: 0 or FILE_FLAG_OVERLAPPED */
static void read_huge(char *octets, DWORD how)
{
    HANDLE file = huge_file(how);
    OVERLAPPED at = { .Offset = HUGE_SIZE - 4 };
    DWORD done = 0;

    assert_true(WriteFile(file, "last", 4, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_true(GetOverlappedResult(file, &at, &done, TRUE));
    memset(octets, 1, PART);
    at.Offset = 0;
    assert_true(ReadFile(file, octets, HUGE_SIZE, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_true(GetOverlappedResult(file, &at, &done, TRUE));
    assert_int_equal(done, HUGE_SIZE);
    assert_memory_equal(octets + PART - 5, "\0last", 5);
    assert_true(CloseHandle(file));
}

static void test_read_of_more_than_2_gib(void **state)
{
    char *octets = folded();

    (void)state;
    read_huge(octets, 0);
    read_huge(octets, FILE_FLAG_OVERLAPPED);
    munmap(octets, HUGE_SIZE);
}

/* ---- too few descriptors or processes, in a process of its own ---- */

/* So many descriptors are to be had from now on. */
static bool leave(unsigned count)
{
    struct rlimit limit;
    int numbers[8];

    for (unsigned i = 0; i <= count; i++) /* the last one is the first beyond the limit */
        numbers[i] = fcntl(0, F_DUPFD_CLOEXEC, 0);
    for (unsigned i = 0; i <= count; i++)
        close(numbers[i]);
    if (numbers[count] < 0 || getrlimit(RLIMIT_NOFILE, &limit))
        return false;
    limit.rlim_cur = (rlim_t)numbers[count];
    return !setrlimit(RLIMIT_NOFILE, &limit);
}

static int fails_with(BOOL done, DWORD error)
{
    return done || GetLastError() != error ? (int)(done ? 200 : GetLastError() % 199 + 1) : 0;
}

/* A pipe with a client, both ends for all to inherit. */
static bool pipe_with_client(const char *name, HANDLE ends[2])
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

    ends[0] = CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2, 0, 0, 0, NULL);
    ends[1] =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, &inherited, OPEN_EXISTING, 0, NULL);
    return ends[0] != INVALID_HANDLE_VALUE && ends[1] != INVALID_HANDLE_VALUE;
}

static int process_of_pipe(bool redirected)
{
    STARTUPINFOA startup = { .cb = sizeof(startup),
        .dwFlags = redirected ? STARTF_USESTDHANDLES : 0 };
    char command[] = "true";
    PROCESS_INFORMATION process;
    HANDLE ends[2];

    if (!pipe_with_client(own_name("\\\\.\\pipe\\ndspi-few"), ends))
        return 201;
    startup.hStdInput = startup.hStdOutput = startup.hStdError = ends[1];
    if (!leave(0))
        return 202;
    return fails_with(
        CreateProcessA("/bin/true", command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &process),
        SPEC_ERROR_TOO_MANY_OPEN_FILES);
}

static int instance_of_pipe(void)
{
    HANDLE ends[2];

    /* the folder and its file, but no socket */
    if (!pipe_with_client(own_name("\\\\.\\pipe\\ndspi-few"), ends) || !leave(2))
        return 202;
    return fails_with(CreateNamedPipeA(own_name("\\\\.\\pipe\\ndspi-few"), PIPE_ACCESS_DUPLEX,
                          PIPE_TYPE_BYTE, 2, 0, 0, 0, NULL) != INVALID_HANDLE_VALUE,
        SPEC_ERROR_TOO_MANY_OPEN_FILES);
}

static int client_of_pipe(void)
{
    HANDLE ends[2];

    if (!pipe_with_client(own_name("\\\\.\\pipe\\ndspi-few"), ends) || !leave(0))
        return 202;
    return fails_with(ConnectNamedPipe(ends[0], NULL), SPEC_ERROR_TOO_MANY_OPEN_FILES);
}

/* Of root there is no limit. */
static int one_more_process(void)
{
    const struct rlimit none = { 0, 0 };
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    char command[] = "true";
    PROCESS_INFORMATION process;

    if ((!geteuid() && setuid(65534)) || setrlimit(RLIMIT_NPROC, &none))
        return 202;
    return fails_with(
        CreateProcessA("/bin/true", command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process),
        SPEC_ERROR_NO_SYSTEM_RESOURCES);
}

static int too_few(const char *what)
{
    if (!strcmp(what, "accept"))
        return client_of_pipe();
    if (!strcmp(what, "processes"))
        return one_more_process();
    if (!strcmp(what, "inherit"))
        return process_of_pipe(false);
    if (!strcmp(what, "redirect"))
        return process_of_pipe(true);
    return instance_of_pipe();
}

static void test_too_few_descriptors(void **state)
{
    (void)state;
    assert_int_equal(run_self(program, "few", "inherit"), 0);
    assert_int_equal(run_self(program, "few", "redirect"), 0);
    assert_int_equal(run_self(program, "few", "instance"), 0);
    assert_int_equal(run_self(program, "few", "accept"), 0);
}

static void test_too_few_processes(void **state)
{
    (void)state;
    assert_int_equal(run_self(program, "few", "processes"), 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_input_that_does_not_block),
        cmocka_unit_test(test_standard_output_that_does_not_block),
        cmocka_unit_test(test_overlapped_pipe_without_an_overlapped),
        cmocka_unit_test(test_read_of_more_than_2_gib),
        cmocka_unit_test(test_too_few_descriptors),
        cmocka_unit_test(test_too_few_processes),
    };

    if (count == 3)
        _exit(too_few(arguments[2])); /* LeakSanitizer needs what there is too little of */
    program = arguments[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
