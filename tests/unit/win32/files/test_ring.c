/* SPDX-License-Identifier: MIT */
/* test_ring.c - overlapped reads by io_uring: when there is a ring, and that they end as those of the pool do. */
#include "tests/support/run_self.h"
#include "tests/support/win32_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
    LARGE = 256 << 10
}; /* of which a thread of the kernel does the transfer, so that it can be pending */

static const char *program;
static char path[MAX_PATH];
static HANDLE file, port;

static int setup(void **state)
{
    (void)state;
    if (!GetTempFileNameA(".", "ndring", 0, path))
        return -1;
    file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
        FILE_FLAG_OVERLAPPED, NULL);
    return file == INVALID_HANDLE_VALUE || !(port = CreateIoCompletionPort(file, NULL, 9, 0));
}

static int teardown(void **state)
{
    (void)state;
    if (file)
        CloseHandle(file);
    CloseHandle(port);
    return !DeleteFileA(path);
}

/* How many rings this process has open. fd: NULL, or out: of one of them. */
static int rings_with(int *fd)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int count = 0;

    while (folder && (entry = readdir(folder))) {
        char name[320], link[64] = "";

        snprintf(name, sizeof(name), "/proc/self/fd/%s", entry->d_name);
        if (readlink(name, link, sizeof(link) - 1) <= 0 || !strstr(link, "io_uring"))
            continue;
        count++;
        if (fd)
            *fd = atoi(entry->d_name);
    }
    if (folder)
        closedir(folder);
    return count;
}

static int rings(void)
{
    return rings_with(NULL);
}

/* How much the ring has completed; -1: the kernel does not show it. */
static long completed(void)
{
    char name[64], line[128];
    unsigned long tail;
    long result = -1;
    FILE *info;
    int fd = -1;

    rings_with(&fd);
    snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
    if (!(info = fopen(name, "re")))
        return -1;
    while (fgets(line, sizeof(line), info))
        if (sscanf(line, "CqTail: %lu", &tail) == 1)
            result = (long)tail;
    fclose(info);
    return result;
}

/* One packet; the last error, or 0. */
static DWORD packet(OVERLAPPED **ended, DWORD *bytes)
{
    ULONG_PTR key;

    return GetQueuedCompletionStatus(port, bytes, &key, ended, LONG_MS) ? 0 : GetLastError();
}

/* Writes octets whose values follow from their places. */
static void fill(DWORD size)
{
    unsigned char *octets = malloc(size);
    OVERLAPPED at = { 0 }, *ended;
    DWORD done;

    for (DWORD i = 0; i < size; i++)
        octets[i] = (unsigned char)(i * 31 >> 3);
    assert_true(WriteFile(file, octets, size, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), 0);
    assert_int_equal(done, size);
    free(octets);
}

static bool is_filled(const unsigned char *octets, DWORD from, DWORD size)
{
    for (DWORD i = 0; i < size; i++)
        if (octets[i] != (unsigned char)((from + i) * 31 >> 3))
            return false;
    return true;
}

/* ---- in a process of its own ---- */

static bool reads_back(void)
{
    OVERLAPPED at = { 0 };
    char text[4] = "";
    DWORD done;

    return (WriteFile(file, "abc", 3, NULL, &at) || GetLastError() == ERROR_IO_PENDING) &&
           GetOverlappedResult(file, &at, &done, TRUE) && done == 3 &&
           (ReadFile(file, text, 4, NULL, &at) || GetLastError() == ERROR_IO_PENDING) &&
           GetOverlappedResult(file, &at, &done, TRUE) && done == 3 && !strcmp(text, "abc");
}

/* A system call of this thread fails from now on. */
static bool forbid(unsigned number, unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* seccomp_data.nr */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static bool is_logged(const char *log, const char *words)
{
    char text[4096] = "";
    FILE *stream = fopen(log, "r");

    if (stream) {
        text[fread(text, 1, sizeof(text) - 1, stream)] = 0;
        fclose(stream);
    }
    return strstr(text, words);
}

/* No descriptor is free when the ring is to be opened, and later some are. */
static int short_of_descriptors(void)
{
    struct rlimit limit, few;
    int fd = fcntl(0, F_DUPFD, 0);

    close(fd);
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 1;
    few = limit;
    few.rlim_cur = (rlim_t)fd;
    if (setrlimit(RLIMIT_NOFILE, &few) || !reads_back())
        return 2;
    if (setrlimit(RLIMIT_NOFILE, &limit) || rings() || !reads_back())
        return 3;
    return rings() == 1 ? 0 : 4;
}

static DWORD WINAPI read_refused(LPVOID unused)
{
    (void)unused;
    if (!forbid(SYS_io_uring_enter, EBUSY))
        return 1;
    for (int i = 0; i < 100; i++) /* more than the ring has entries */
        if (!reads_back())
            return 2;
    return 0;
}

/* The kernel takes nothing for a while, from one thread: the pool reads, and afterwards the ring again. */
static int short_of_all(void)
{
    long before, after;
    DWORD code = 9;
    HANDLE thread;

    if (!reads_back() || (before = completed()) < 0)
        return rings() == 1 ? 77 : 5;
    thread = CreateThread(NULL, 0, read_refused, NULL, 0, NULL);
    if (WaitForSingleObject(thread, LONG_MS) || !GetExitCodeThread(thread, &code) || code)
        return 6;
    if (completed() != before || !reads_back())
        return 7;
    after = completed();
    if (!reads_back())
        return 8;
    return after > before && completed() == after + 1 ? 0 : 9;
}

static int other_process(const char *how, const char *log)
{
    int result;

    if (setup(NULL))
        return 90;
    if (!strcmp(how, "shortage"))
        result = short_of_descriptors();
    else if (!strcmp(how, "full"))
        result = short_of_all();
    else if (!strcmp(how, "refused"))
        result =
            /* as the sysctl and filters of containers have it */
            !forbid(SYS_io_uring_setup, EPERM) || !reads_back() || rings() ||
            !is_logged(log, "kernel.io_uring_disabled");
    else if (!strcmp(how, "pool"))
        result = !reads_back() || rings() || !is_logged(log, "NDSPI_FILES=pool");
    else
        result = !reads_back() || rings() != 1 || !is_logged(log, "done by io_uring");
    return teardown(NULL) ? 91 : result;
}

static int run(const char *how, const char *setting)
{
    char log[MAX_PATH + 8];
    int result;

    snprintf(log, sizeof(log), "%s.log", path);
    setenv("NDSPI_FILES", setting, 1);
    setenv("NDSPI_LOG", "info,win", 1);
    setenv("NDSPI_LOG_FILE", log, 1);
    result = run_self(program, how, log);
    unsetenv("NDSPI_FILES");
    unsetenv("NDSPI_LOG");
    unsetenv("NDSPI_LOG_FILE");
    unlink(log);
    return result;
}

static void test_setting(void **state)
{
    (void)state;
    assert_int_equal(run("pool", "pool"), 0);
    assert_int_equal(run("uring", "uring"), 0);
    assert_int_equal(run("uring", "auto"), 0);
}

static void test_refusal_is_said_and_the_pool_does_it(void **state)
{
    (void)state;
    assert_int_equal(run("refused", "auto"), 0);
    assert_int_equal(run("refused", "uring"), 0);
}

static void test_shortage_is_not_remembered(void **state)
{
    (void)state;
    assert_int_equal(run("shortage", "auto"), 0);
}

static void test_refused_entries_do_not_fill_the_ring(void **state)
{
    const int result = run("full", "auto");

    (void)state;
    if (result == 77) /* a kernel without the figure */
        skip();
    assert_int_equal(result, 0);
}

/* ---- transfers ---- */

static void test_large_and_short(void **state)
{
    unsigned char *octets = malloc(LARGE);
    OVERLAPPED at = { 0 }, *ended;
    DWORD done;

    (void)state;
    fill(LARGE);
    assert_true(ReadFile(file, octets, LARGE, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), 0);
    assert_int_equal(done, LARGE);
    assert_true(is_filled(octets, 0, LARGE));
    at.Offset = 100000; /* the file ends before the request does */
    assert_true(ReadFile(file, octets, LARGE, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), 0);
    assert_int_equal(done, LARGE - 100000);
    assert_true(is_filled(octets, 100000, LARGE - 100000));
    at.Offset = LARGE;
    assert_true(ReadFile(file, octets, LARGE, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), SPEC_ERROR_HANDLE_EOF);
    assert_int_equal(done, 0);
    assert_true(ReadFile(file, octets, 0, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), 0);
    assert_int_equal(done, 0);
    free(octets);
}

static void test_append(void **state)
{
    OVERLAPPED end = { .Offset = 0xffffffff, .OffsetHigh = 0xffffffff }, at = { 0 }, *ended;
    char text[8] = "";
    DWORD done;

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(WriteFile(file, i ? "def" : "abc", 3, NULL, &end) ||
                    GetLastError() == ERROR_IO_PENDING);
        assert_int_equal(packet(&ended, &done), 0);
        assert_int_equal(done, 3);
    }
    assert_true(ReadFile(file, text, 8, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), 0);
    assert_int_equal(done, 6);
    assert_string_equal(text, "abcdef");
}

static void test_memory_that_is_none(void **state)
{
    OVERLAPPED at = { 0 }, *ended;
    DWORD done;

    (void)state;
    fill(4096);
    assert_true(ReadFile(file, (void *)16, 4096, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_int_equal(packet(&ended, &done), SPEC_ERROR_NOACCESS);
    assert_int_equal(done, 0);
}

/* More than the ring holds: the pool does the rest. */
static void test_many_at_once(void **state)
{
    enum {
        MANY = 4300,
        REST = 1024
    }; /* REST: what the file has for each request of LARGE octets */
    OVERLAPPED *all = calloc(MANY, sizeof(*all)), *ended;
    unsigned char *octets = malloc(MANY * REST + LARGE);
    DWORD done;

    (void)state;
    fill(LARGE);
    for (int i = 0; i < MANY; i++) {
        all[i].Offset = LARGE - REST;
        assert_true(ReadFile(file, octets + i * REST, LARGE, NULL, &all[i]) ||
                    GetLastError() == ERROR_IO_PENDING);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(packet(&ended, &done), 0);
        assert_int_equal(done, REST);
        assert_true(ended->hEvent == NULL); /* each once */
        ended->hEvent = (HANDLE)1;
    }
    for (int i = 0; i < MANY; i++)
        assert_true(is_filled(octets + i * REST, LARGE - REST, REST));
    free(octets);
    free(all);
}

struct beginner {
    OVERLAPPED all[64];
    unsigned char *octets;
};

static DWORD WINAPI begin_and_end(LPVOID parameter)
{
    struct beginner *beginner = parameter;

    for (int i = 0; i < 64; i++)
        if (!ReadFile(file, beginner->octets + i * LARGE, LARGE, NULL, &beginner->all[i]) &&
            GetLastError() != ERROR_IO_PENDING)
            return 1;
    return 0;
}

/* The kernel gives up what a thread began when it ends; the program does not see that. */
static void test_thread_ends(void **state)
{
    struct beginner beginner = { .octets = malloc(64 * LARGE) };
    OVERLAPPED *ended;
    DWORD done, code;
    HANDLE thread;

    (void)state;
    fill(LARGE);
    assert_non_null(thread = CreateThread(NULL, 0, begin_and_end, &beginner, 0, NULL));
    for (int i = 0; i < 64; i++) {
        assert_int_equal(packet(&ended, &done), 0);
        assert_int_equal(done, LARGE);
    }
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code) && code == 0 && CloseHandle(thread));
    for (int i = 0; i < 64; i++)
        assert_true(is_filled(beginner.octets + i * LARGE, 0, LARGE));
    free(beginner.octets);
}

/* Each ends once, whole or not at all. close: by the end of the handle instead of a cancel. */
static void cancel(bool close)
{
    enum { ROUNDS = 50, AT_ONCE = 16 };
    unsigned char *octets = malloc(AT_ONCE * LARGE);

    fill(LARGE);
    for (int round = 0; round < (close ? 1 : ROUNDS); round++) {
        OVERLAPPED all[AT_ONCE] = { 0 }, *ended;
        ULONG_PTR key;
        DWORD done, error;

        for (int i = 0; i < AT_ONCE; i++)
            assert_true(ReadFile(file, octets + i * LARGE, LARGE, NULL, &all[i]) ||
                        GetLastError() == ERROR_IO_PENDING);
        if (close)
            assert_true(CloseHandle(file));
        else if (!CancelIoEx(file, round % 2 ? &all[AT_ONCE - 1] : NULL))
            assert_win_error(SPEC_ERROR_NOT_FOUND);
        for (int i = 0; i < AT_ONCE; i++) {
            error = packet(&ended, &done);
            assert_true(error == 0 || (error == SPEC_ERROR_OPERATION_ABORTED && done == 0));
            assert_int_equal(done, error ? 0 : LARGE);
            assert_true(!ended->hEvent);
            ended->hEvent = (HANDLE)1;
        }
        assert_fails(GetQueuedCompletionStatus(port, &done, &key, &ended, 0), SPEC_WAIT_TIMEOUT);
    }
    if (close)
        file = NULL;
    free(octets);
}

static void test_cancel_against_completion(void **state)
{
    (void)state;
    cancel(false);
}

/* More reads than the kernel has threads for: those that wait for one are cancelled, unless a cancel does nothing. */
static void test_cancel_ends_what_the_kernel_has(void **state)
{
    enum { WAITING = 2000, ROUNDS_MOST = 50 };
    OVERLAPPED *all = calloc(WAITING, sizeof(*all)), *ended;
    unsigned char *octets = malloc(LARGE); /* all reads store the same */
    int canceled = 0;
    DWORD done;

    (void)state;
    fill(LARGE);
    for (int round = 0; round < ROUNDS_MOST && !canceled; round++) {
        memset(all, 0, WAITING * sizeof(*all));
        for (int i = 0; i < WAITING; i++)
            assert_true(
                ReadFile(file, octets, LARGE, NULL, &all[i]) || GetLastError() == ERROR_IO_PENDING);
        if (!CancelIoEx(file, NULL))
            assert_win_error(SPEC_ERROR_NOT_FOUND);
        for (int i = 0; i < WAITING; i++) {
            const DWORD error = packet(&ended, &done);

            assert_true(error == 0 || error == SPEC_ERROR_OPERATION_ABORTED);
            assert_int_equal(done, error ? 0 : LARGE);
            canceled += error == SPEC_ERROR_OPERATION_ABORTED;
        }
    }
    assert_true(canceled > 0);
    free(octets);
    free(all);
}

static void test_close_with_requests_pending(void **state)
{
    (void)state;
    cancel(true);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_setting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusal_is_said_and_the_pool_does_it, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shortage_is_not_remembered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_entries_do_not_fill_the_ring, setup, teardown),
        cmocka_unit_test_setup_teardown(test_large_and_short, setup, teardown),
        cmocka_unit_test_setup_teardown(test_append, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_that_is_none, setup, teardown),
        cmocka_unit_test_setup_teardown(test_many_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_thread_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_against_completion, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_ends_what_the_kernel_has, setup, teardown),
        cmocka_unit_test_setup_teardown(test_close_with_requests_pending, setup, teardown),
    };
    char setup_parameters[256] = { 0 };

    if (count == 3)
        return other_process(arguments[1], arguments[2]);
    program = arguments[0];
    if (syscall(SYS_io_uring_setup, 0, setup_parameters) < 0 && errno != EINVAL)
        return 77; /* the kernel refuses: there is nothing to test here */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
