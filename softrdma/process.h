/* SPDX-License-Identifier: MIT */
/*
 * process.h - which process this is. After a fork the child has its parent's objects and none of its threads; an object
 * remembers the generation of the process that made it.
 */
#ifndef SOFTRDMA_PROCESS_H
#define SOFTRDMA_PROCESS_H

#include <pthread.h>

extern unsigned srd_generation; /* of this process */

/* At file scope: function runs in the child of each fork, in no order that counts. */
#define SRD_AT_FORK(function)                                                                      \
    __attribute__((constructor)) static void watch_forks(void)                                     \
    {                                                                                              \
        pthread_atfork(NULL, NULL, function);                                                      \
    }

#endif
