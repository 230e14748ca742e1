/* SPDX-License-Identifier: MIT */
/*
 * test_limits.c - a limit on the size of files (ulimit -f), one on their number, and a kernel without locks of files:
 * calls fail with Windows' errors, and no signal reaches the program. /dev/shm is one of the test's own, so that
 * nothing has its size yet.
 */
#include "tests/support/run_self.h"
#include "tests/support/win32_test.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/util/log_catch.h"

static const char *program;
static struct rlimit before;

/* From now on, until back_to_normal. */
static void limit(int resource, rlim_t most)
{
    struct rlimit less;

    assert_int_equal(getrlimit(resource, &before), 0);
    less = before;
    less.rlim_cur = most;
    assert_int_equal(setrlimit(resource, &less), 0);
}

static void back_to_normal(int resource)
{
    sigset_t pending;

    assert_int_equal(setrlimit(resource, &before), 0);
    assert_int_equal(sigpending(&pending), 0);
    assert_false(sigismember(&pending, SIGXFSZ)); /* nor does it come later */
}

static HANDLE section(const char *name, DWORD bytes)
{
    return CreateFileMappingA(INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, bytes, name);
}

static HANDLE pipe_of(const char *name)
{
    return CreateNamedPipeA(name, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
}

static void names_under_a_limit(int resource, rlim_t most, DWORD error, const char *line)
{
    log_catch();
    limit(resource, most);
    assert_fails(CreateEventA(NULL, TRUE, FALSE, "limits"), error);
    back_to_normal(resource);
    assert_non_null(strstr(log_caught(), line));
}

/* Before any name: this memory is made once. */
static void test_the_line_of_names_says_which_limit_to_raise(void **state)
{
    HANDLE event;

    (void)state;
    names_under_a_limit(RLIMIT_NOFILE, 0, SPEC_ERROR_TOO_MANY_OPEN_FILES,
        "Too many open files; raise the limit of open files (ulimit -n)");
    names_under_a_limit(RLIMIT_FSIZE, 4096, SPEC_ERROR_NO_SYSTEM_RESOURCES,
        "File too large; raise the limit of the size of files (ulimit -f)");
    assert_non_null(event = CreateEventA(NULL, TRUE, FALSE, "limits"));
    assert_true(CloseHandle(event));
}

static void test_sections_under_a_limit_of_size(void **state)
{
    static const char *const names[] = { "limits", NULL };

    (void)state;
    for (int i = 0; i < 2; i++) {
        HANDLE made;

        limit(RLIMIT_FSIZE, 4096);
        assert_fails(section(names[i], 1 << 20), SPEC_ERROR_COMMITMENT_LIMIT);
        back_to_normal(RLIMIT_FSIZE);
        assert_non_null(made = section(names[i], 1 << 20));
        assert_true(CloseHandle(made));
    }
}

static void test_pipes_under_a_limit_of_size(void **state)
{
    const char *name = "\\\\.\\pipe\\limits";
    HANDLE made;

    (void)state;
    limit(RLIMIT_FSIZE, 16);
    assert_int_equal((intptr_t)pipe_of(name), -1);
    assert_win_error(SPEC_ERROR_NO_SYSTEM_RESOURCES);
    back_to_normal(RLIMIT_FSIZE);
    made = pipe_of(name);
    assert_int_not_equal((intptr_t)made, -1);
    assert_true(CloseHandle(made));
}

static DWORD write_at(HANDLE file, DWORD offset, DWORD bytes)
{
    static const char octets[8192];
    OVERLAPPED overlapped = { .Offset = offset };
    DWORD done = 0;

    if (WriteFile(file, octets, bytes, &done, offset ? &overlapped : NULL))
        return ERROR_SUCCESS;
    return GetLastError();
}

static void test_files_under_a_limit_of_size(void **state)
{
    HANDLE file = CreateFileA("/dev/shm/limits", GENERIC_READ | GENERIC_WRITE, 0, NULL,
        CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);

    (void)state;
    assert_int_not_equal((intptr_t)file, -1);
    limit(RLIMIT_FSIZE, 4096);
    assert_int_equal(write_at(file, 0, 4096), SPEC_ERROR_SUCCESS);
    assert_int_equal(write_at(file, 0, 4096), SPEC_ERROR_DISK_FULL);
    assert_int_equal(write_at(file, 2048, 4096), SPEC_ERROR_DISK_FULL);
    assert_int_equal(write_at(file, 65536, 4096), SPEC_ERROR_DISK_FULL);
    assert_true(SetFilePointerEx(file, (LARGE_INTEGER){ .QuadPart = 65536 }, NULL, FILE_BEGIN));
    assert_fails(SetEndOfFile(file), SPEC_ERROR_DISK_FULL);
    back_to_normal(RLIMIT_FSIZE);
    assert_int_equal(write_at(file, 65536, 4096), SPEC_ERROR_SUCCESS);
    assert_true(SetEndOfFile(file));
    assert_true(CloseHandle(file));
}

/* What is handed down goes by a file in memory. */
static void test_a_process_that_inherits_under_a_limit_of_size(void **state)
{
    SECURITY_ATTRIBUTES inheritable = { sizeof(inheritable), NULL, TRUE };
    STARTUPINFOA info = { .cb = sizeof(info) };
    HANDLE event = CreateEventA(&inheritable, TRUE, FALSE, NULL);
    PROCESS_INFORMATION made;
    char line[] = "/bin/true";

    (void)state;
    assert_non_null(event);
    limit(RLIMIT_FSIZE, 0);
    assert_fails(CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &info, &made),
        SPEC_ERROR_NOT_ENOUGH_MEMORY);
    back_to_normal(RLIMIT_FSIZE);
    assert_true(CreateProcessA(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &info, &made));
    assert_wait(WaitForSingleObject(made.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(made.hProcess) && CloseHandle(made.hThread) && CloseHandle(event));
}

/* ---- a kernel without locks of files ---- */

static bool forbid(int command)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)command, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog code = { sizeof(rules) / sizeof(rules[0]), rules };

    return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
           !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code);
}

enum { NO_FILTER = 77, MADE = 2, OTHER_ERROR = 3, FOUND = 4, OTHER_ERROR_OF_CLIENT = 5 };

/* The other process. */
static int pipes_without(int command)
{
    const char *name = "\\\\.\\pipe\\limits-locks";

    if (!forbid(command))
        return NO_FILTER;
    if (pipe_of(name) != INVALID_HANDLE_VALUE)
        return MADE;
    if (GetLastError() != SPEC_ERROR_NO_SYSTEM_RESOURCES)
        return OTHER_ERROR;
    if (CreateFileA(name, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL) != INVALID_HANDLE_VALUE)
        return FOUND;
    if (command == F_OFD_GETLK && GetLastError() != SPEC_ERROR_NO_SYSTEM_RESOURCES)
        return OTHER_ERROR_OF_CLIENT;
    return 0;
}

/* Neither as if there were instances, in memory that is not there, nor as if all numbers were taken. */
static void test_pipes_without_locks_of_files(void **state)
{
    static const char *const commands[] = { "get", "set" };
    int status;

    (void)state;
    for (int i = 0; i < 2; i++) {
        status = run_self(program, "without", commands[i]);
        if (status == NO_FILTER)
            skip();
        assert_int_equal(status, 0);
    }
}

static bool own_shared_memory(void)
{
    return (!unshare(CLONE_NEWNS) || !unshare(CLONE_NEWUSER | CLONE_NEWNS)) &&
           !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777");
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_line_of_names_says_which_limit_to_raise),
        cmocka_unit_test(test_sections_under_a_limit_of_size),
        cmocka_unit_test(test_pipes_under_a_limit_of_size),
        cmocka_unit_test(test_files_under_a_limit_of_size),
        cmocka_unit_test(test_a_process_that_inherits_under_a_limit_of_size),
        cmocka_unit_test(test_pipes_without_locks_of_files),
    };

    if (count == 3)
        return pipes_without(!strcmp(arguments[2], "get") ? F_OFD_GETLK : F_OFD_SETLK);
    program = arguments[0];
    if (!own_shared_memory()) {
        fprintf(stderr, "skipped: no /dev/shm of its own (%s)\n", strerror(errno));
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
