/* SPDX-License-Identifier: MIT */
/* signal_of.h - tests of what ends the program. */
#ifndef TESTS_SUPPORT_SIGNAL_OF_H
#define TESTS_SUPPORT_SIGNAL_OF_H

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Runs it in a child, without a core file and what it says on standard error. Returns the signal that ended it; 0: it
 * returned; -1: there was no child.
 */
static inline int signal_of(void (*run)(void))
{
    pid_t child = fork();
    int status;

    if (!child) {
        struct rlimit none = { 0, 0 };

        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        run();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child ||
        (WIFEXITED(status) && WEXITSTATUS(status)))
        return -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

#endif
