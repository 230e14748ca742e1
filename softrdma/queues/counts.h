/* SPDX-License-Identifier: MIT */
/*
 * counts.h - a queue pair's counters of its stream. Plain words: the data path increments them under the lock that it
 * holds anyway, and srd_query_counters takes the lock to read them. A reset does not clear them.
 */
#ifndef SOFTRDMA_QUEUES_COUNTS_H
#define SOFTRDMA_QUEUES_COUNTS_H

#include <stdint.h>

/* The counters of one direction. */
struct srd_counts {
    uint64_t octets; /* the stream's, with headers, pads and CRCs */
    uint64_t fpdus;
    uint64_t acks;      /* frames, or stores to the words of a share */
    uint64_t rnr_waits; /* receiving direction: messages that waited for a Receive */
    uint64_t terminates;
    int terminate; /* the last Terminate, an srd_fault; undefined while terminates is 0 */
};

#endif
