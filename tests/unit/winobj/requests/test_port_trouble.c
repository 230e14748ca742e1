/* SPDX-License-Identifier: MIT */
/*
 * test_port_trouble.c - completion ports to which other processes post, and that are stopped, killed, forked, lack
 * descriptors, or write rubbish. Linux' own.
 */
#include "tests/support/haste.h"
#include "tests/support/start_self.h"
#include "tests/unit/win32/parcels/servant.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static HANDLE port_new(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);

    assert_non_null(port);
    return port;
}

static BOOL copy(HANDLE from, HANDLE handle, HANDLE to, HANDLE *made)
{
    *made = NULL;
    return DuplicateHandle(from, handle, to, made, 0, FALSE, DUPLICATE_SAME_ACCESS);
}

static HANDLE give(struct servant *servant, HANDLE handle)
{
    HANDLE made;

    assert_true(copy(GetCurrentProcess(), handle, servant->process.hProcess, &made));
    return made;
}

static HANDLE take(struct servant *servant, HANDLE handle)
{
    HANDLE made;

    assert_true(copy(servant->process.hProcess, handle, GetCurrentProcess(), &made));
    return made;
}

/* ---- the owner is stopped ---- */

static void stop(const struct servant *servant)
{
    siginfo_t change;

    assert_int_equal(kill((pid_t)servant->process.dwProcessId, SIGSTOP), 0);
    assert_int_equal(
        waitid(P_PID, (id_t)servant->process.dwProcessId, &change, WSTOPPED | WNOWAIT), 0);
}

/* What does not fit any more is refused after 5 s, and what was accepted comes, in its order. */
static void test_the_owner_is_stopped(void **state)
{
    struct servant servant = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port = take(&servant, its_port);
    DWORD posted = 0;

    (void)state;
    stop(&servant);
    haste_begin(20);
    while (PostQueuedCompletionStatus(port, posted, 0, NULL))
        posted++;
    haste_end();
    assert_win_error(SPEC_ERROR_NO_SYSTEM_RESOURCES);
    assert_true(posted > 2000); /* Windows has no bound */
    assert_int_equal(kill((pid_t)servant.process.dwProcessId, SIGCONT), 0);
    assert_true(PostQueuedCompletionStatus(port, posted, 0, NULL));
    for (DWORD i = 0; i <= posted; i++)
        assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, LONG_MS), i);
    assert_true(CloseHandle(port));
    servant_end(&servant);
}

/* ---- who posts is killed ---- */

/* Each packet is whole, or was not posted. */
static void test_who_posts_is_killed(void **state)
{
    HANDLE port = port_new();
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes, done;

    (void)state;
    for (int round = 0; round < 5; round++) {
        struct servant servant = servant_start();
        const struct order_given given = { ORDER_POST_ON, (uintptr_t)give(&servant, port),
            LONG_MS };
        DWORD came = 0;

        assert_true(WriteFile(servant.to, &given, sizeof(given), &done, NULL));
        while (
            GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, came < 500 ? LONG_MS : 0)) {
            assert_int_equal(bytes, 1);
            assert_int_equal(key, 2);
            assert_null(overlapped);
            if (++came == 500)
                assert_true(TerminateProcess(servant.process.hProcess, 1));
        }
        assert_win_error(SPEC_WAIT_TIMEOUT);
        assert_wait(WaitForSingleObject(servant.process.hProcess, LONG_MS), WAIT_OBJECT_0);
        while (GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0))
            assert_int_equal(bytes, 1);
        servant_forget(&servant);
    }
    assert_true(CloseHandle(port));
}

/* ---- rubbish ---- */

/* The descriptor of a pipe's end for writing that is there now and was not before. */
static int new_writer(const bool before[1024])
{
    for (int fd = 3; fd < 1024; fd++) {
        const int flags = fcntl(fd, F_GETFL);

        if (flags >= 0 && !before[fd] && (flags & O_ACCMODE) == O_WRONLY)
            return fd;
    }
    return -1;
}

/* A process of the user's may write what it likes; the next packets come all the same. */
static void test_rubbish_harms_nothing(void **state)
{
    struct servant servant = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port;
    unsigned char rubbish[100];
    bool before[1024];
    unsigned seed = 7;
    int writer;

    (void)state;
    for (int fd = 0; fd < 1024; fd++)
        before[fd] = fcntl(fd, F_GETFL) >= 0;
    port = take(&servant, its_port);
    assert_true((writer = new_writer(before)) >= 0);
    for (size_t size = 1; size < sizeof(rubbish); size += 7) {
        for (size_t i = 0; i < size; i++)
            rubbish[i] = (unsigned char)(rand_r(&seed) >> 8);
        assert_int_equal(write(writer, rubbish, size), size);
        assert_int_equal(servant_order(&servant, ORDER_TAKE, its_port, 0).error, SPEC_WAIT_TIMEOUT);
        assert_true(PostQueuedCompletionStatus(port, 5, 0, NULL));
        assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, LONG_MS), 5);
    }
    assert_true(CloseHandle(port));
    servant_end(&servant);
}

/* ---- descriptors ---- */

static void test_a_process_without_descriptors(void **state)
{
    struct servant servant = servant_start();
    HANDLE its_port = servant_makes(&servant, ORDER_PORT, 0), port = port_new(), made;

    (void)state;
    servant_does(&servant, ORDER_CLOSE, give(&servant, port), 0); /* its thread is at work */
    servant_does(&servant, ORDER_LIMIT, NULL, 1);
    for (int i = 0; i < 3; i++) {
        assert_false(copy(GetCurrentProcess(), port, servant.process.hProcess, &made));
        assert_win_error(SPEC_ERROR_TOO_MANY_OPEN_FILES);
        assert_false(copy(servant.process.hProcess, its_port, GetCurrentProcess(), &made));
        assert_win_error(SPEC_ERROR_TOO_MANY_OPEN_FILES);
    }
    servant_does(&servant, ORDER_LIMIT, NULL, 0);
    servant_does(&servant, ORDER_POST, give(&servant, port), 1);
    made = take(&servant, its_port);
    assert_true(PostQueuedCompletionStatus(made, 9, 0, NULL));
    assert_int_equal(servant_does(&servant, ORDER_TAKE, its_port, LONG_MS), 9);
    servant_end(&servant);
    assert_true(CloseHandle(made));
    assert_true(CloseHandle(port));
}

/* ---- processes that CreateProcess has not started ---- */

/* main of a process that has a port and nothing else: says which, and ends with the octets of the first packet. */
static int alone_main(char **arguments)
{
    const HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    const uint64_t value = (uintptr_t)port;
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes;

    if (!start_send(atoi(arguments[4]), &value, sizeof(value)))
        return 1;
    if (!GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, INFINITE))
        return 2;
    return (int)bytes;
}

/* It takes no handles by a call of its own: it has a port, and that is enough. */
static void test_a_process_that_has_a_port(void **state)
{
    struct started alone = start_self(servant_program, "alone");
    HANDLE process = OpenProcess(PROCESS_DUP_HANDLE, FALSE, alone.id), port;
    uint64_t value = 0;

    (void)state;
    assert_non_null(process);
    assert_true(start_receive(alone.from, &value, sizeof(value)));
    assert_true(copy(process, (HANDLE)(uintptr_t)value, GetCurrentProcess(), &port));
    assert_true(PostQueuedCompletionStatus(port, 77, 0, NULL));
    assert_int_equal(start_wait(&alone), 77);
    assert_fails(PostQueuedCompletionStatus(port, 77, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(process));
}

/* ---- a fork ---- */

/* The child has a port of its own, and does not keep its parent's: posts fail when that has closed it. */
__attribute__((unused)) static void test_the_owner_forks(void **state)
{
    struct servant servant = servant_start();
    HANDLE port = port_new(), there = give(&servant, port);
    LPOVERLAPPED overlapped;
    ULONG_PTR key;
    DWORD bytes;
    int ready[2], go[2], status;
    char octet;
    pid_t child;

    (void)state;
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    if (!(child = fork())) {
        close(go[1]);
        if (!PostQueuedCompletionStatus(port, 3, 0, NULL) ||
            !GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0) || bytes != 3 ||
            write(ready[1], "r", 1) != 1)
            _exit(1);
        _exit(read(go[0], &octet, 1) ? 2 : 0);
    }
    close(go[0]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &octet, 1), 1); /* it has left the fork */
    servant_does(&servant, ORDER_POST, there, 1);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, LONG_MS));
    assert_int_equal(bytes, 0);
    assert_true(CloseHandle(port));
    assert_int_equal(
        servant_order(&servant, ORDER_POST, there, 1).error, SPEC_ERROR_INVALID_HANDLE);
    close(go[1]);
    close(ready[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    servant_end(&servant);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_owner_is_stopped),
        cmocka_unit_test(test_who_posts_is_killed),
        cmocka_unit_test(test_rubbish_harms_nothing),
        cmocka_unit_test(test_a_process_without_descriptors),
        cmocka_unit_test(test_a_process_that_has_a_port),
#ifndef NO_FORK /* the sanitizers hang or die in the child */
        cmocka_unit_test(test_the_owner_forks),
#endif
    };

    if (count == 4 && !strcmp(arguments[1], "servant"))
        return servant_main(arguments);
    if (count == 5 && !strcmp(arguments[1], "start"))
        return alone_main(arguments);
    if (!GetModuleFileNameA(NULL, servant_program, sizeof(servant_program)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
