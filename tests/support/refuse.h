/* SPDX-License-Identifier: MIT */
/*
 * refuse.h - a seccomp filter that makes some system calls fail, as those of containers and service managers do. It
 * holds for the calling thread, for the threads that it starts, and for what they execute, for ever.
 */
#ifndef TESTS_SUPPORT_REFUSE_H
#define TESTS_SUPPORT_REFUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct refused_call {
    long number;
    int argument;   /* -1: whatever the arguments are; else only where this one is value */
    uint32_t value; /* its lower 32 bits */
    int error;
};

/* From "CALL:ERRNO" or "CALL/ARGUMENT=VALUE:ERRNO". False: it is malformed, or names what refuse.c does not know. */
bool refuse_parse(const char *text, struct refused_call *call);

/* False: the kernel takes no filter (errno). */
bool refuse_calls(const struct refused_call *calls, size_t count);

#endif
