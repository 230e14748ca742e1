/* SPDX-License-Identifier: MIT */
/*
 * fault.h - the errors of a Terminate in words: the log and docs/troubleshooting.md have them from this one table.
 */
#ifndef SOFTRDMA_WIRE_FAULT_H
#define SOFTRDMA_WIRE_FAULT_H

#include "softrdma/wire/ddp.h"

struct srd_fault_row {
    srd_fault fault;
    const char *name;  /* "LAYER, TYPE: CODE", each as its RFC calls it */
    const char *cause; /* the usual cause, from the view of the end that sends the Terminate */
};

/* Ordered by fault; ended by a row with SRD_FAULT_NONE. */
extern const struct srd_fault_row srd_fault_rows[];

/*
 * srd_fault_row - returns the row of an error; for an error that no RFC has, a row that says so. Never NULL.
 * Threads: any.
 */
const struct srd_fault_row *srd_fault_row(srd_fault fault);

/* The arguments of printf for "(Terminate %x/%x/%02x)". */
#define SRD_FAULT_NUMBERS(fault)                                                                   \
    (unsigned)(fault) >> 12, (unsigned)(fault) >> 8 & 15, (unsigned)(fault)&255

#endif
