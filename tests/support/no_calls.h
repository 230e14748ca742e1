/* SPDX-License-Identifier: MIT */
/* no_calls.h - a test that something makes no system call: a process of its own, which a filter ends at any. */
#ifndef TESTS_SUPPORT_NO_CALLS_H
#define TESTS_SUPPORT_NO_CALLS_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How the process ends. */
enum { NO_CALLS_DONE = 0, NO_CALLS_MADE_ONE = 10, NO_CALLS_WRONG = 11, NO_CALLS_NO_FILTER = 12 };

/* The runtimes of these make calls of their own. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { NO_CALLS_TESTABLE = 0 };
#else
enum { NO_CALLS_TESTABLE = 1 };
#endif

static inline void no_calls_on_call(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info, (void)context;
    _exit(NO_CALLS_MADE_ONE);
}

/* From here on the calling thread may only end the process. */
static inline void no_calls_from_here(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = { sizeof(rules) / sizeof(*rules), rules };
    struct sigaction action = { .sa_flags = SA_SIGINFO, .sa_sigaction = no_calls_on_call };

    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(NO_CALLS_NO_FILTER);
}

/*
 * Runs child(argument) in a process of its own; the child makes ready, calls no_calls_from_here, and ends by
 * _exit(NO_CALLS_DONE or NO_CALLS_WRONG). Returns the exit status, -1: it ended otherwise.
 */
static inline int no_calls_run(void (*child)(const void *), const void *argument)
{
    pid_t pid;
    int status;

    fflush(NULL);
    if ((pid = fork()) == 0) {
        child(argument);
        _exit(NO_CALLS_WRONG);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

#endif
