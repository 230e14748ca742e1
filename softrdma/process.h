/* SPDX-License-Identifier: MIT */
/*
 * process.h - which process this is. After a fork the child has its parent's objects and none of its threads; an object
 * remembers the generation of the process that made it.
 */
#ifndef SOFTRDMA_PROCESS_H
#define SOFTRDMA_PROCESS_H

extern unsigned srd_generation; /* of this process */

#endif
