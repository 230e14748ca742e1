/* SPDX-License-Identifier: MIT */
/*
 * test_duplicate_trouble.c - DuplicateHandle between processes that do not behave: they are stopped, killed, take no
 * part, lack descriptors, are another user's, or send rubbish. Linux' own, with sockets, which Wine does not hand over.
 */
#include "tests/unit/win32/parcels/servant.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#define LIBRARY ""
#else
#define LIBRARY ".musl"
#endif

/* ---- a thread whose clocks go faster: the library's calls, too, come here ---- */

enum { RATE = 20 };

static _Thread_local bool hasty;
static _Thread_local int64_t hasty_since_ns;

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now)
{
    struct timespec real;
    int result = (int)syscall(SYS_clock_gettime, id, now);
    int64_t ns;

    if (result || !hasty || syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &real))
        return result;
    ns = ns_of(now) + (ns_of(&real) - hasty_since_ns) * (RATE - 1);
    *now = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
    return 0;
}

__attribute__((visibility("default"))) int poll(struct pollfd *all, nfds_t count, int ms)
{
    const int64_t ns = (int64_t)ms * 1000000 / (hasty ? RATE : 1);
    const struct timespec limit = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    return ppoll(all, count, ms < 0 ? NULL : &limit, NULL);
}

static void begin_haste(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    hasty_since_ns = ns_of(&now);
    hasty = true;
}

static void end_haste(void)
{
    hasty = false;
}

/* ---- */

static SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

static HANDLE shared_event(const char *name)
{
    HANDLE event = CreateEventA(&inherited, FALSE, FALSE, name);

    assert_non_null(event);
    return event;
}

static BOOL give_to(HANDLE process, HANDLE handle, HANDLE *made)
{
    return DuplicateHandle(
        GetCurrentProcess(), handle, process, made, 0, FALSE, DUPLICATE_SAME_ACCESS);
}

static HANDLE give(struct servant *servant, HANDLE handle)
{
    HANDLE made = NULL;

    assert_true(give_to(servant->process.hProcess, handle, &made));
    return made;
}

/* The servant still does what it is asked, and its handle means what was given. */
static void assert_works(struct servant *servant)
{
    HANDLE event = shared_event(NULL), there = give(servant, event);

    servant_does(servant, ORDER_SET, there, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    servant_does(servant, ORDER_CLOSE, there, 0);
    assert_true(CloseHandle(event));
}

static void test_sockets(void **state)
{
    struct servant servant = servant_start();
    struct sockaddr_in here = { .sin_family = AF_INET };
    socklen_t length = sizeof(here);
    SOCKET receiver, sender;
    HANDLE there;
    WSADATA data;
    char text[8];

    (void)state;
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
    receiver = socket(AF_INET, SOCK_DGRAM, 0);
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(receiver, (struct sockaddr *)&here, sizeof(here)), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&here, &length), 0);
    assert_int_equal(connect(sender, (struct sockaddr *)&here, sizeof(here)), 0);
    there = give(&servant, (HANDLE)sender);
    servant_does(&servant, ORDER_SEND, there, 0);
    assert_int_equal(recv(receiver, text, sizeof(text), 0), 5);
    assert_memory_equal(text, "hello", 5);
    servant_does(&servant, ORDER_CLOSE, there, 0);
    assert_int_equal(
        servant_order(&servant, ORDER_FLAGS, there, 0).error, SPEC_ERROR_INVALID_HANDLE);
    assert_int_equal(closesocket(sender), 0);
    assert_int_equal(closesocket(receiver), 0);
    servant_end(&servant);
    assert_int_equal(WSACleanup(), 0);
}

/* Never a handle that looks right and is another object. */
static void test_what_another_process_cannot_have_is_refused(void **state)
{
    struct servant servant = servant_start();
    HANDLE timer = CreateWaitableTimerA(NULL, FALSE, NULL), made = (HANDLE)99;
    HANDLE event = CreateEventA(NULL, FALSE, FALSE, NULL);
    HANDLE there = servant_makes(&servant, ORDER_EVENT, 0);

    (void)state;
    assert_fails(give_to(servant.process.hProcess, event, &made), SPEC_ERROR_NOT_SUPPORTED);
    assert_null(made);
    assert_fails(give_to(servant.process.hProcess, timer, &made), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(
        give_to(servant.process.hProcess, GetCurrentThread(), &made), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(DuplicateHandle(servant.process.hProcess, there, GetCurrentProcess(), &made, 0,
                     FALSE, DUPLICATE_SAME_ACCESS),
        SPEC_ERROR_NOT_SUPPORTED);
    assert_true(SetEvent(event));
    servant_does(&servant, ORDER_SET, there, 0);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(timer));
    servant_end(&servant);
}

/* Until all its threads have stopped. */
static void stop(const struct servant *servant)
{
    siginfo_t change;

    assert_int_equal(kill((pid_t)servant->process.dwProcessId, SIGSTOP), 0);
    assert_int_equal(
        waitid(P_PID, (id_t)servant->process.dwProcessId, &change, WSTOPPED | WNOWAIT), 0);
}

static void test_a_stopped_process_is_not_waited_for_without_end(void **state)
{
    struct servant servant = servant_start();
    const char *name = own_name("ndspi-duplicate-stopped");
    HANDLE event = shared_event(name), made = (HANDLE)99;

    (void)state;
    assert_works(&servant);
    stop(&servant);
    begin_haste();
    assert_fails(give_to(servant.process.hProcess, event, &made), SPEC_ERROR_TIMEOUT);
    end_haste();
    assert_null(made);
    assert_int_equal(kill((pid_t)servant.process.dwProcessId, SIGCONT), 0);
    assert_works(&servant); /* it has come to that request by now, and made nothing */
    assert_true(CloseHandle(event));
    assert_fails(OpenEventA(SYNCHRONIZE, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
    servant_end(&servant);
}

static void *kill_it(void *servant)
{
    const pid_t id = (pid_t)((struct servant *)servant)->process.dwProcessId;

    kill(id, SIGKILL);
    return NULL;
}

/* Killed before, while, or after it has done it: there is an answer, or the code of a process that has ended. */
static void test_a_process_is_killed_meanwhile(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct servant servant = servant_start();
        HANDLE event = shared_event(NULL), made = NULL;
        pthread_t killer;

        if (i % 2)
            stop(&servant);
        assert_int_equal(pthread_create(&killer, NULL, kill_it, &servant), 0);
        if (give_to(servant.process.hProcess, event, &made))
            assert_non_null(made);
        else
            assert_win_error(SPEC_ERROR_ACCESS_DENIED);
        assert_int_equal(pthread_join(killer, NULL), 0);
        assert_wait(WaitForSingleObject(servant.process.hProcess, LONG_MS), WAIT_OBJECT_0);
        assert_fails(give_to(servant.process.hProcess, event, &made), SPEC_ERROR_ACCESS_DENIED);
        assert_true(SetEvent(event)); /* what they share is whole */
        assert_true(CloseHandle(event));
        servant_forget(&servant);
    }
}

/* A program without the library: it is given the time that loading may take. */
static void test_a_process_that_takes_no_part(void **state)
{
    STARTUPINFOA startup = { .cb = sizeof(startup) };
    char command[] = "sleep 1000";
    PROCESS_INFORMATION process;
    HANDLE event = shared_event(NULL), made = NULL;

    (void)state;
    assert_true(
        CreateProcessA(NULL, command, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process));
    begin_haste();
    for (int i = 0; i < 2; i++) /* the second time at once */
        assert_fails(give_to(process.hProcess, event, &made), SPEC_ERROR_NOT_SUPPORTED);
    end_haste();
    assert_true(TerminateProcess(process.hProcess, 1));
    assert_wait(WaitForSingleObject(process.hProcess, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(process.hProcess));
    assert_true(CloseHandle(process.hThread));
    assert_true(CloseHandle(event));
}

static void test_a_process_without_descriptors(void **state)
{
    struct servant servant = servant_start();
    HANDLE file = CreateFileA(own_name("ndspi_duplicate_trouble"), GENERIC_WRITE, 0, NULL,
        CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    HANDLE made = NULL, its = servant_makes(&servant, ORDER_FILE, 0);
    HANDLE last = give(&servant, file);

    (void)state;
    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    servant_does(&servant, ORDER_CLOSE, last, 0);
    servant_does(&servant, ORDER_LIMIT, NULL, 1);
    for (int i = 0; i < 3; i++) {
        assert_fails(
            give_to(servant.process.hProcess, file, &made), SPEC_ERROR_TOO_MANY_OPEN_FILES);
        assert_fails(DuplicateHandle(servant.process.hProcess, its, GetCurrentProcess(), &made, 0,
                         FALSE, DUPLICATE_SAME_ACCESS),
            SPEC_ERROR_TOO_MANY_OPEN_FILES);
    }
    servant_does(&servant, ORDER_LIMIT, NULL, 0);
    servant_does(&servant, ORDER_WRITE, give(&servant, file), 0);
    servant_end(&servant);
    assert_true(CloseHandle(file));
}

static void address_of(const struct servant *servant, struct sockaddr_un *address)
{
    struct stat status;

    assert_int_equal(stat("/proc/self/ns/pid", &status), 0);
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(address->sun_path, sizeof(address->sun_path),
        "/dev/shm/ndspi-%u/handles.%lu" LIBRARY ".%u", (unsigned)geteuid(),
        (unsigned long)status.st_ino, (unsigned)servant->process.dwProcessId);
}

static int connection(const struct servant *servant)
{
    const int fd = (socket)(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    struct sockaddr_un address;

    address_of(servant, &address);
    assert_int_equal((connect)(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* A packet of rubbish, with descriptors. */
static void send_rubbish(int fd, unsigned seed, size_t octets)
{
    unsigned char data[2048];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control = { .head = { CMSG_LEN(3 * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
    struct iovec all = { data, octets };
    struct msghdr message = { .msg_iov = &all, .msg_iovlen = 1 };

    for (size_t i = 0; i < octets; i++)
        data[i] = (unsigned char)(rand_r(&seed) >> 8);
    if (seed & 1) {
        const int descriptors[] = { fd, fd, fd };

        memcpy(CMSG_DATA(&control.head), descriptors, sizeof(descriptors));
        message.msg_control = &control;
        message.msg_controllen = sizeof(control);
    }
    (void)!sendmsg(fd, &message, MSG_NOSIGNAL);
}

/* A request by its octets: number, what it asks, inherit, close, handle, and 320 of a parcel. */
struct packet {
    uint32_t magic, asks, inherit, then_close;
    uint64_t handle;
    struct {
        uint32_t kind;
        int32_t fd, at;
        uint32_t named, numbers[6];
        uint64_t size;
        char name[264];
    } parcel;
};

static unsigned answer_to(const struct servant *servant, const struct packet *packet)
{
    const int fd = connection(servant);
    struct {
        uint32_t magic, error;
        char rest[1000];
    } answer = { 0 };

    assert_int_equal((send)(fd, packet, sizeof(*packet), MSG_NOSIGNAL), sizeof(*packet));
    assert_true((recv)(fd, &answer, sizeof(answer), 0) > 8);
    close(fd);
    return answer.error;
}

static void test_rubbish_harms_nothing(void **state)
{
    struct servant servant = servant_start();
    struct packet packet = { .magic = 0x68647531, .asks = 1 };
    int silent[60];

    (void)state;
    assert_works(&servant);
    for (unsigned i = 0; i < 200; i++) {
        const int fd = connection(&servant);

        send_rubbish(fd, i, i % 3 ? sizeof(struct packet) : 1 + i * 10);
        close(fd);
    }
    packet.parcel.fd = 1; /* its own standard output */
    for (uint32_t kind = 0; kind < 10; kind++) {
        packet.parcel.kind = kind;
        packet.parcel.numbers[0] = 77; /* no kind of object */
        assert_int_equal(answer_to(&servant, &packet), SPEC_ERROR_INVALID_PARAMETER);
        memset(packet.parcel.name, 'n', sizeof(packet.parcel.name)); /* without an end */
        assert_int_equal(answer_to(&servant, &packet), SPEC_ERROR_INVALID_PARAMETER);
        memset(packet.parcel.name, 0, sizeof(packet.parcel.name));
    }
    packet.asks = 9;
    assert_int_equal(answer_to(&servant, &packet), SPEC_ERROR_INVALID_PARAMETER);
    packet.asks = 4;
    packet.handle = UINT64_MAX - 100;
    assert_int_equal(answer_to(&servant, &packet), SPEC_ERROR_INVALID_HANDLE);
    for (int i = 0; i < 60; i++)
        silent[i] = connection(&servant);
    assert_works(&servant); /* once it has given up those that say nothing */
    for (int i = 0; i < 60; i++)
        close(silent[i]);
    servant_end(&servant);
}

/* Killed processes leave their sockets; the next process that listens removes them. */
static void test_sockets_of_killed_processes_go(void **state)
{
    struct servant servant = servant_start(), next;
    struct sockaddr_un address;

    (void)state;
    assert_works(&servant);
    address_of(&servant, &address);
    assert_int_equal(access(address.sun_path, F_OK), 0);
    assert_true(TerminateProcess(servant.process.hProcess, 1));
    assert_wait(WaitForSingleObject(servant.process.hProcess, LONG_MS), WAIT_OBJECT_0);
    servant_forget(&servant); /* reaped */
    next = servant_start();
    assert_works(&next);
    assert_int_equal(access(address.sun_path, F_OK), -1);
    address_of(&next, &address);
    servant_end(&next);
    assert_int_equal(access(address.sun_path, F_OK), -1);
}

static void test_a_process_of_another_user(void **state)
{
    HANDLE event = shared_event(NULL), process, made = NULL;
    int ready[2], status;
    char octet;
    pid_t child;

    (void)state;
    if (geteuid())
        skip();
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    if (!(child = fork())) {
        if (setresuid(65534, 65534, 65534) || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &octet, 1), 1);
    process = OpenProcess(PROCESS_ALL_ACCESS, FALSE, (DWORD)child);
    assert_non_null(process);
    assert_fails(give_to(process, event, &made), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(process));
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ready[0]);
    assert_true(CloseHandle(event));
}

/* The child of a fork takes part as soon as it has a handle of a process itself; its parent goes on meanwhile. */
__attribute__((unused)) static void test_the_child_of_a_fork(void **state)
{
    HANDLE event = shared_event(NULL), process, made = NULL;
    struct servant servant = servant_start();
    int ready[2], go[2], status;
    pid_t child;

    (void)state;
    assert_works(&servant);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    if (!(child = fork())) {
        HANDLE parent = OpenProcess(PROCESS_DUP_HANDLE, FALSE, (DWORD)getppid());
        uint64_t got = 0;

        if (!parent || write(ready[1], "r", 1) != 1 || read(go[0], &got, sizeof(got)) != 8)
            _exit(1);
        _exit(SetEvent((HANDLE)(uintptr_t)got) ? 0 : 2);
    }
    close(ready[1]); /* a child that dies ends the next read */
    assert_int_equal(read(ready[0], &status, 1), 1);
    assert_non_null(process = OpenProcess(PROCESS_DUP_HANDLE, FALSE, (DWORD)child));
    assert_true(give_to(process, event, &made));
    assert_works(&servant);
    assert_int_equal(write(go[1], &made, sizeof(made)), sizeof(made));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_fails(give_to(process, event, &made), SPEC_ERROR_ACCESS_DENIED);
    assert_true(CloseHandle(process));
    assert_true(CloseHandle(event));
    close(ready[0]), close(go[0]), close(go[1]);
    servant_end(&servant);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_what_another_process_cannot_have_is_refused),
        cmocka_unit_test(test_a_stopped_process_is_not_waited_for_without_end),
        cmocka_unit_test(test_a_process_is_killed_meanwhile),
        cmocka_unit_test(test_a_process_that_takes_no_part),
        cmocka_unit_test(test_a_process_without_descriptors),
        cmocka_unit_test(test_rubbish_harms_nothing),
        cmocka_unit_test(test_sockets_of_killed_processes_go),
        cmocka_unit_test(test_a_process_of_another_user),
#ifndef __SANITIZE_THREAD__ /* which lets the child of a fork start no thread */
        cmocka_unit_test(test_the_child_of_a_fork),
#endif
    };

    if (count == 4 && !strcmp(arguments[1], "servant"))
        return servant_main(arguments);
    if (!GetModuleFileNameA(NULL, servant_program, sizeof(servant_program)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
