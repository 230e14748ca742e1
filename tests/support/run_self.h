/* SPDX-License-Identifier: MIT */
/* run_self.h - a test of Win32 functions that runs itself as another process, natively or under Wine. */
#ifndef TESTS_SUPPORT_RUN_SELF_H
#define TESTS_SUPPORT_RUN_SELF_H

#ifdef _WIN32
#include <process.h>
#else
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

/* Runs a program with two arguments, which are words; its exit code, or -1 if it did not exit. */
static inline int run_self(const char *program, const char *how, const char *what)
{
#ifdef _WIN32
    return (int)_spawnl(_P_WAIT, program, program, how, what, NULL);
#else
    char *arguments[] = { (char *)program, (char *)how, (char *)what, NULL };
    pid_t child;
    int status;

    if (posix_spawn(&child, program, NULL, NULL, arguments, environ) ||
        waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
#endif
}

#endif
