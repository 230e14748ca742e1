/* SPDX-License-Identifier: MIT */
/*
 * process.c - the child of a fork: the parent's objects fail there, and the child can open the device anew. Each file
 * with globals resets them (FORK_CHILD).
 */
#include "softrdma/process.h"

#include "util/fork.h"

unsigned srd_generation;

static void forked(void)
{
    srd_generation++;
}

FORK_CHILD(forked);
