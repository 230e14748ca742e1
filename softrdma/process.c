/* SPDX-License-Identifier: MIT */
/* process.c - what a fork leaves to the child: nothing of the parent's works there, and the device can be opened anew. */
#include "softrdma/device.h"

#include <pthread.h>

unsigned srd_generation;

static void forked(void)
{
    srd_generation++;
    srd_devices_forked();
    srd_loop_forked();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forked);
}
