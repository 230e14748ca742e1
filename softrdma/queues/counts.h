/* SPDX-License-Identifier: MIT */
/*
 * counts.h - a queue pair's counters of its stream. Plain words: the data path increments them under the lock that it
 * holds anyway, and srd_query_counters takes the lock to read them. A reset does not clear them.
 */
#ifndef SOFTRDMA_QUEUES_COUNTS_H
#define SOFTRDMA_QUEUES_COUNTS_H

#include <stdint.h>

/* One direction. */
struct srd_counts {
    uint64_t octets; /* of the stream: headers, pads and CRCs, too */
    uint64_t fpdus;
    uint64_t acks;      /* frames, or words of a share */
    uint64_t rnr_waits; /* received: messages that waited for a Receive */
    uint64_t terminates;
    int terminate; /* the last one, an srd_fault; means something if there was one */
};

#endif
