/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/counts.h"

void nd_counts_add_terminates(
    struct nd_counts *counts, uint32_t code, uint64_t sent, uint64_t received)
{
    struct nd_terminate_count *at = counts->terminates;
    const struct nd_terminate_count *end = at + counts->n_terminates;

    if (!sent && !received)
        return;
    while (at < end && at->code != code)
        at++;
    if (at == end) {
        if (counts->n_terminates == ND_TERMINATE_KINDS) {
            counts->other_terminates += sent + received;
            return;
        }
        *at = (struct nd_terminate_count){ .code = code };
        counts->n_terminates++;
    }
    at->sent += sent;
    at->received += received;
}

static void add_wire(struct nd_wire_counts *to, const struct nd_wire_counts *wire)
{
    to->rx_octets += wire->rx_octets;
    to->tx_octets += wire->tx_octets;
    to->rx_frames += wire->rx_frames;
    to->tx_frames += wire->tx_frames;
    to->rx_acks += wire->rx_acks;
    to->tx_acks += wire->tx_acks;
    to->rnr_waits += wire->rnr_waits;
    to->rx_terminates += wire->rx_terminates;
    to->tx_terminates += wire->tx_terminates;
    to->retransmits += wire->retransmits;
}

static void add_now(struct nd_counts *to, const struct nd_counts *counts)
{
    to->now.queue_pairs += counts->now.queue_pairs;
    to->now.completion_queues += counts->now.completion_queues;
    to->now.shared_receive_queues += counts->now.shared_receive_queues;
    to->now.by_tcp += counts->now.by_tcp;
    to->now.by_memory += counts->now.by_memory;
    to->now.initiator_depth += counts->now.initiator_depth;
    to->now.receive_depth += counts->now.receive_depth;
    to->now.initiator_pending += counts->now.initiator_pending;
    to->now.receive_pending += counts->now.receive_pending;
    to->now.results_depth += counts->now.results_depth;
    to->now.results_waiting += counts->now.results_waiting;
}

void nd_counts_add(struct nd_counts *to, const struct nd_counts *counts)
{
    to->sends += counts->sends;
    to->send_octets += counts->send_octets;
    to->reads += counts->reads;
    to->read_octets += counts->read_octets;
    to->writes += counts->writes;
    to->write_octets += counts->write_octets;
    to->others += counts->others;
    to->receives += counts->receives;
    to->receive_octets += counts->receive_octets;
    to->failed += counts->failed;
    to->flushed += counts->flushed;
    add_wire(&to->wire, &counts->wire);
    add_now(to, counts);
    for (uint32_t i = 0; i < counts->n_terminates; i++)
        nd_counts_add_terminates(to, counts->terminates[i].code, counts->terminates[i].sent,
            counts->terminates[i].received);
    to->other_terminates += counts->other_terminates;
}
