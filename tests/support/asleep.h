/* SPDX-License-Identifier: MIT */
/* asleep.h - whether a thread sleeps: tests of what ends a wait use it to know that the wait has begun. */
#ifndef TESTS_SUPPORT_ASLEEP_H
#define TESTS_SUPPORT_ASLEEP_H

#include "tests/support/settle.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The calling thread, for thread_is_asleep. */
static inline int thread_number(void)
{
    return (int)syscall(SYS_gettid);
}

/* Whether this thread of the process sleeps in the kernel; false while it runs or is ready to run. */
static inline bool thread_is_asleep(int number)
{
    char name[64], text[256] = "";
    const char *state;
    FILE *file;

    snprintf(name, sizeof(name), "/proc/self/task/%d/stat", number);
    if (!(file = fopen(name, "r")))
        return false;
    if (!fgets(text, sizeof(text), file))
        text[0] = 0;
    fclose(file);
    state = strrchr(text, ')'); /* behind the name of the program */
    return state && state[1] == ' ' && state[2] == 'S';
}

#endif
