/* SPDX-License-Identifier: MIT */
/*
 * suspended.h - processes of CREATE_SUSPENDED: a copy of the calling process that does nothing but wait at its gate, a
 * socket, and then becomes the program. Its first thread does not run before, whatever program it is.
 */
#ifndef WIN32_PROCESS_SUSPENDED_H
#define WIN32_PROCESS_SUSPENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A descriptor of this process, and its number in the new one. */
struct win_moved {
    int from, to;
};

struct win_suspended_start {
    const char *path;
    const char *folder; /* NULL: the caller's */
    char **arguments, **variables;
    const struct win_moved *moved; /* the copy moves them in this order */
    size_t count;
    bool group; /* it has a process group of its own */
    pid_t pid;  /* out */
    int gate;   /* out: for win_suspended_go, or to be closed: the process then ends */
};

/* Starts it; argument is a win_suspended_start. An errno. The caller waits for the process's end. */
int win_suspended_start(void *argument);

/* The process becomes its program; closes the gate. An errno: it could not, and ends. */
int win_suspended_go(int gate);

#endif
