/* SPDX-License-Identifier: MIT */
/* suspended.c - processes that wait before they become their program (suspended.h). */
#include "win32/process/suspended.h"

#include "win32/fork.h"

#include "util/descriptor.h"
#include "util/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEVER_BEGAN = 127 }; /* a shell's status for a program that it could not start */

/* Over a gate's life with both ends in this process: another copy would keep it from showing that one is closed. */
static struct lock gate_lock = LOCK_INIT(LOCK_WIN_INHERIT, "gates of suspended processes");
WIN_HELD_OVER_FORK(gate_lock);

/* What getdents64 fills in. */
struct entry {
    uint64_t inode;
    int64_t next;
    uint16_t octets;
    uint8_t type;
    char name[];
};

/*
 * The functions from here on run in the copy. They make system calls alone, since other threads may have held any lock
 * of the C library. They make those on descriptors by number: the thread sanitizer intercepts the C functions, and
 * takes the copy's descriptors for the caller's.
 */

/* Resets handlers of the program's to the default, as exec does; SIGPIPE, too, which WSAStartup may have ignored. */
static void signals_as_usual(void)
{
    const struct sigaction usual = { .sa_handler = SIG_DFL };
    struct sigaction action;
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        if (!sigaction(i, NULL, &action) && (action.sa_handler != SIG_IGN || i == SIGPIPE))
            sigaction(i, &usual, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static int number_of(const char *name)
{
    int number = 0;

    if (*name < '0' || *name > '9')
        return -1;
    for (; *name; name++)
        number = 10 * number + (*name - '0');
    return number;
}

/* What exec would close is closed now: an end of a pipe, say, whose other end waits for that. */
static void close_what_is_not_inherited(int gate)
{
    _Alignas(struct entry) char entries[2048];
    const int folder =
        (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long octets;

    if (folder < 0)
        return;
    while ((octets = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
        for (long at = 0; at < octets; at += ((struct entry *)(entries + at))->octets) {
            const int fd = number_of(((struct entry *)(entries + at))->name);
            const long flags =
                fd < 0 || fd == gate || fd == folder ? 0 : syscall(SYS_fcntl, fd, F_GETFD);

            if (flags > 0 && (flags & FD_CLOEXEC))
                syscall(SYS_close, fd);
        }
    syscall(SYS_close, folder);
}

/* Gives the copy its signals, process group, descriptors and folder. Returns 0 or an errno. */
static int prepare(const struct win_suspended_start *start, int gate)
{
    signals_as_usual();
    if (start->group && setpgid(0, 0))
        return errno;
    for (size_t i = 0; i < start->count; i++) {
        const struct win_moved *one = &start->moved[i];

        if (one->to == gate)
            return EBADF; /* another thread has closed what had the number */
        if (one->from == one->to ? syscall(SYS_fcntl, one->from, F_SETFD, 0) < 0
                                 : syscall(SYS_dup3, one->from, one->to, 0) < 0)
            return errno;
    }
    if (start->folder && chdir(start->folder))
        return errno;
    close_what_is_not_inherited(gate);
    return 0;
}

static void say(int gate, int error)
{
    while (syscall(SYS_sendto, gate, &error, sizeof(error), MSG_NOSIGNAL, NULL, 0) < 0 &&
           errno == EINTR)
        ;
}

/* What the other end says; end: it has closed the gate. */
static int hear(int gate, int end)
{
    int said = end;
    long octets;

    while ((octets = syscall(SYS_recvfrom, gate, &said, sizeof(said), 0, NULL, NULL)) < 0 &&
           errno == EINTR)
        ;
    return octets == sizeof(said) ? said : end;
}

static _Noreturn void become(const struct win_suspended_start *start, int gate)
{
    const int error = prepare(start, gate);

    say(gate, error);
    if (!error && !hear(gate, ECANCELED)) {
        execve(start->path, start->arguments, start->variables);
        say(gate, errno);
    }
    _exit(NEVER_BEGAN);
}

/* A gate above the standard descriptors. An errno. */
static int gate_open(int ends[2])
{
    int error = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? errno : 0;

    if (error)
        return error;
    for (int i = 0; i < 2; i++)
        if ((ends[i] = descriptor_raise(ends[i])) < 0)
            error = errno;
    for (int i = 0; i < 2 && error; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    return error;
}

/* No signal of the program's is handled in the copy. */
static pid_t copy(const struct win_suspended_start *start, int gate)
{
    sigset_t all, before;
    pid_t pid;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!(pid = _Fork()))
        become(start, gate);
    error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

int win_suspended_start(void *argument)
{
    struct win_suspended_start *start = argument;
    int ends[2], error;

    lock_acquire(&gate_lock);
    if (!(error = gate_open(ends))) {
        if ((start->pid = copy(start, ends[1])) < 0)
            error = errno;
        close(ends[1]);
        if (error)
            close(ends[0]);
    }
    lock_release(&gate_lock);
    if (error)
        return error;
    if ((error = hear(ends[0], EAGAIN))) {
        close(ends[0]);
        while (waitpid(start->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return error;
    }
    start->gate = ends[0];
    return 0;
}

int win_suspended_go(int gate)
{
    int error;

    say(gate, 0);
    error = hear(gate, 0); /* the program's start closes the gate there */
    close(gate);
    return error;
}
