/* SPDX-License-Identifier: MIT */
/*
 * refuse_main.c - runs a command of which some system calls fail: what a seccomp filter of a container leaves.
 * usage: refuse CALL[/ARGUMENT=VALUE]:ERRNO... -- COMMAND [ARGUMENT...]
 */
#include "tests/support/refuse.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MAX = 16 };

int main(int argc, char **argv)
{
    struct refused_call calls[CALLS_MAX];
    int count = 0;

    for (count = 0; count + 1 < argc && strcmp(argv[count + 1], "--") != 0; count++)
        if (count == CALLS_MAX || !refuse_parse(argv[count + 1], &calls[count])) {
            fprintf(stderr, "refuse: not a call and an error that it knows: %s\n", argv[count + 1]);
            return 2;
        }
    if (count + 2 >= argc) {
        fprintf(stderr, "usage: refuse CALL[/ARGUMENT=VALUE]:ERRNO... -- COMMAND [ARGUMENT...]\n");
        return 2;
    }
    if (!refuse_calls(calls, (size_t)count)) {
        perror("refuse: the filter");
        return 2;
    }
    execvp(argv[count + 2], argv + count + 2);
    perror(argv[count + 2]);
    return 127;
}
