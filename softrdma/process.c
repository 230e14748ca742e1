/* SPDX-License-Identifier: MIT */
/*
 * process.c - the child of a fork: none of the parent's objects works there, and the child can open the device anew.
 * Each file with globals resets them (FORK_CHILD).
 */
#include "softrdma/process.h"

#include "util/fork.h"

unsigned srd_generation;

static void forked(void)
{
    srd_generation++;
}

FORK_CHILD(forked);
