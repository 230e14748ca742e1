/* SPDX-License-Identifier: MIT */
/*
 * process.h - the number of this process. After a fork the child has its parent's objects and none of its threads; an
 * object remembers the generation of the process that made it.
 */
#ifndef SOFTRDMA_PROCESS_H
#define SOFTRDMA_PROCESS_H

extern unsigned srd_generation; /* number of forks between this process and the first */

#endif
