/* SPDX-License-Identifier: MIT */
/*
 * process.c - what a fork leaves to the child: nothing of the parent's works there, and the device can be opened anew.
 * Each file with globals resets them by a handler of its own (SRD_AT_FORK).
 */
#include "softrdma/process.h"

unsigned srd_generation;

static void forked(void)
{
    srd_generation++;
}

SRD_AT_FORK(forked)
