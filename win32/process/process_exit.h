/* SPDX-License-Identifier: MIT */
/* process_exit.h - how a process ended, as the kernel reports it and as Windows' programs read it. */
#ifndef WIN32_PROCESS_PROCESS_EXIT_H
#define WIN32_PROCESS_PROCESS_EXIT_H

#include <windows.h>

#include <stdbool.h>

struct win_exit {
    DWORD code;
    bool killed; /* SIGKILL ended it */
};

/*
 * win_exit_fetch - asks the kernel for the end of a process that has ended.
 * pidfd   in: the process
 * reap    in: it is a child, and this call reaps it. Else the child stays for other code of the program that waits for
 * it
 * end     out
 * Returns false if the kernel does not tell it: a process that is no child, before Linux 6.15. Any thread.
 */
bool win_exit_fetch(int pidfd, bool reap, struct win_exit *end);

#endif
