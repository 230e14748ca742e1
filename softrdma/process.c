/* SPDX-License-Identifier: MIT */
/*
 * process.c - the child of a fork: none of the parent's objects works there, and the child can open the device anew.
 * Each file with globals resets them by a handler of its own (SRD_AT_FORK).
 */
#include "softrdma/process.h"

unsigned srd_generation;

static void forked(void)
{
    srd_generation++;
}

SRD_AT_FORK(forked)
