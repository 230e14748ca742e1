/* SPDX-License-Identifier: MIT */
/*
 * counts.h - what an adapter counts; ND_LINUX_COUNTERS of ndspi_linux.h says what each means.
 *
 * The data path counts in plain words of its own queue, under the lock that it holds anyway (nd_queue.octets, .received
 * and what nd_queue.next tells); the reader takes these locks and adds up. The counts of a destroyed object are added
 * to the adapter's. Connections, errors and memory are counted where they happen, which is rare, by atomics.
 */
#ifndef NDSPI_CORE_ADAPTER_COUNTS_H
#define NDSPI_CORE_ADAPTER_COUNTS_H

#include "ndspi/verbs/verbs.h"

#include <stdatomic.h>

/* Terminates of one kind. */
struct nd_terminate_count {
    uint32_t code; /* layer << 12 | type << 8 | code */
    uint64_t sent, received;
};

/* More kinds than RFC 5040, 5041, 5044 and 6581 have. */
enum { ND_TERMINATE_KINDS = 40 };

struct nd_counts {
    uint64_t sends, send_octets, reads, read_octets, writes, write_octets, others;
    uint64_t receives, receive_octets; /* completed */
    uint64_t failed, flushed;
    struct nd_wire_counts wire; /* the device's, if it counts (nd_verbs.query_counters) */
    uint32_t n_terminates;
    struct nd_terminate_count terminates[ND_TERMINATE_KINDS];
    uint64_t other_terminates;

    /* What exists now. */
    struct {
        uint64_t queue_pairs, completion_queues, shared_receive_queues;
        uint64_t by_tcp, by_memory;              /* connections, by their path */
        uint64_t initiator_depth, receive_depth; /* the second counts shared receive queues, too */
        uint64_t initiator_pending, receive_pending; /* posted, and not fetched */
        uint64_t results_depth, results_waiting;     /* the second counts software queues alone */
    } now;
};

/* What happens to the adapter itself is counted here. */
struct nd_adapter_counts {
    _Atomic uint64_t accepted, initiated, active, failed_attempts;
    _Atomic uint64_t connection_errors, completion_queue_errors;
    _Atomic uint64_t regions, region_octets; /* now registered */
};

/* Adds counts to `to`. */
void nd_counts_add(struct nd_counts *to, const struct nd_counts *counts);
/* Clears `now` in the counts of an object that is being destroyed. */
static inline void nd_counts_now_none(struct nd_counts *counts)
{
    counts->now = (__typeof__(counts->now)){ 0 };
}
/* Counts Terminates of a kind, in other_terminates when the table is full. */
void nd_counts_add_terminates(
    struct nd_counts *counts, uint32_t code, uint64_t sent, uint64_t received);

#endif
