/* SPDX-License-Identifier: MIT */
/* counters.c - ND_LINUX_COUNTERS out of what an adapter has counted (counts.h). */
#include "ndspi/core/adapter/counters.h"

#include "ndspi/core/adapter/adapter.h"

#include <string.h>

#define ROW(member, name, text, total)                                                             \
    {                                                                                              \
        name, text, (ULONG)offsetof(ND_LINUX_COUNTERS, member), total                              \
    }
#define TOTAL(member, name, text) ROW(member, name, text, TRUE)
#define NOW(member, name, text)   ROW(member, name, text, FALSE)

/* The rows are in the order of the members, and there is one for each member that is a UINT64. */
static const ND_LINUX_COUNTER table[] = {
    TOTAL(InboundBytes, "inbound_bytes", "Octets that arrived."),
    TOTAL(OutboundBytes, "outbound_bytes", "Octets that were sent."),
    TOTAL(InboundFrames, "inbound_frames", "Frames that arrived; on kernel devices messages."),
    TOTAL(OutboundFrames, "outbound_frames", "Frames that were sent; on kernel devices messages."),
    NOW(ActiveConnections, "active_connections", "Connections that are established."),
    TOTAL(AcceptedConnections, "accepted_connections", "Connections that this side accepted."),
    TOTAL(InitiatedConnections, "initiated_connections", "Connections that this side initiated."),
    TOTAL(FailedConnectionAttempts, "failed_connection_attempts",
        "Attempts to connect that failed, of both sides."),
    TOTAL(CompletionQueueErrors, "completion_queue_errors", "Completion queues that failed."),
    TOTAL(ConnectionErrors, "connection_errors", "Connections that an error ended."),
    TOTAL(Sends, "sends", "Sends posted."),
    TOTAL(SendBytes, "send_bytes", "Octets of Sends posted."),
    TOTAL(Receives, "receives", "Receives completed."),
    TOTAL(ReceiveBytes, "receive_bytes", "Octets of Receives completed."),
    TOTAL(Reads, "reads", "Reads posted."),
    TOTAL(ReadBytes, "read_bytes", "Octets of Reads posted."),
    TOTAL(Writes, "writes", "Writes posted."),
    TOTAL(WriteBytes, "write_bytes", "Octets of Writes posted."),
    TOTAL(OtherRequests, "other_requests", "Bind, Invalidate and FastRegister requests posted."),
    TOTAL(FailedRequests, "failed_requests",
        "Requests that failed, without those that were flushed."),
    TOTAL(FlushedRequests, "flushed_requests", "Requests that were flushed."),
    TOTAL(AcknowledgementsReceived, "acknowledgements_received",
        "Acknowledgements of softrdma that arrived."),
    TOTAL(AcknowledgementsSent, "acknowledgements_sent",
        "Acknowledgements of softrdma that were sent."),
    TOTAL(ReceiverNotReady, "receiver_not_ready", "Messages that waited for a Receive."),
    TOTAL(TerminatesReceived, "terminates_received", "Terminate messages that arrived."),
    TOTAL(TerminatesSent, "terminates_sent", "Terminate messages that were sent."),
    TOTAL(TcpRetransmits, "tcp_retransmits", "Segments that TCP sent again."),
    TOTAL(HalfOpenDropped, "half_open_dropped",
        "Peers that connected and were dropped because they sent no request."),
    NOW(TcpConnections, "tcp_connections", "Connections of softrdma through a socket."),
    NOW(SharedConnections, "shared_connections", "Connections of softrdma through shared memory."),
    NOW(MemoryRegions, "memory_regions", "Memory regions registered."),
    NOW(RegisteredBytes, "registered_bytes", "Octets registered."),
    NOW(QueuePairs, "queue_pairs", "Queue pairs."),
    NOW(CompletionQueues, "completion_queues", "Completion queues."),
    NOW(SharedReceiveQueues, "shared_receive_queues", "Shared receive queues."),
    NOW(InitiatorDepth, "initiator_depth", "Places for initiator requests."),
    NOW(InitiatorPending, "initiator_pending", "Initiator requests that are pending."),
    NOW(ReceiveDepth, "receive_depth", "Places for Receives."),
    NOW(ReceivePending, "receive_pending", "Receives that are pending."),
    NOW(ResultDepth, "result_depth", "Places for results."),
    NOW(ResultPending, "result_pending", "Results that wait in the library."),
};

enum { ROWS = sizeof(table) / sizeof(table[0]) };

_Static_assert(ND_LINUX_TERMINATES == ND_TERMINATE_KINDS, "as many kinds as are counted");
_Static_assert(
    offsetof(ND_LINUX_COUNTERS, Terminates) == 8 + ROWS * sizeof(UINT64), "a row for each");

const ND_LINUX_COUNTER *nd_counter_row(size_t index)
{
    return index < ROWS ? &table[index] : NULL;
}

/* Fills in what Windows shows: what the device counts on the wire, or else what requests moved. */
static void fill_traffic(ND_LINUX_COUNTERS *to, const struct nd_counts *counts, bool wire)
{
    if (wire) {
        to->InboundBytes = counts->wire.rx_octets;
        to->OutboundBytes = counts->wire.tx_octets;
        to->InboundFrames = counts->wire.rx_frames;
        to->OutboundFrames = counts->wire.tx_frames;
        return;
    }
    to->InboundBytes = counts->receive_octets + counts->read_octets;
    to->OutboundBytes = counts->send_octets + counts->write_octets;
    to->InboundFrames = counts->receives + counts->reads;
    to->OutboundFrames = counts->sends + counts->writes;
}

static void fill_requests(ND_LINUX_COUNTERS *to, const struct nd_counts *counts)
{
    to->Sends = counts->sends;
    to->SendBytes = counts->send_octets;
    to->Receives = counts->receives;
    to->ReceiveBytes = counts->receive_octets;
    to->Reads = counts->reads;
    to->ReadBytes = counts->read_octets;
    to->Writes = counts->writes;
    to->WriteBytes = counts->write_octets;
    to->OtherRequests = counts->others;
    to->FailedRequests = counts->failed;
    to->FlushedRequests = counts->flushed;
}

static void fill_wire(ND_LINUX_COUNTERS *to, const struct nd_counts *counts)
{
    to->AcknowledgementsReceived = counts->wire.rx_acks;
    to->AcknowledgementsSent = counts->wire.tx_acks;
    to->ReceiverNotReady = counts->wire.rnr_waits;
    to->TerminatesReceived = counts->wire.rx_terminates;
    to->TerminatesSent = counts->wire.tx_terminates;
    to->TcpRetransmits = counts->wire.retransmits;
    to->TerminateCount = counts->n_terminates;
    for (uint32_t i = 0; i < counts->n_terminates; i++)
        to->Terminates[i] = (ND_LINUX_TERMINATE){ .Code = counts->terminates[i].code,
            .Sent = counts->terminates[i].sent,
            .Received = counts->terminates[i].received };
}

static void fill_now(ND_LINUX_COUNTERS *to, const struct nd_counts *counts)
{
    to->TcpConnections = counts->now.by_tcp;
    to->SharedConnections = counts->now.by_memory;
    to->QueuePairs = counts->now.queue_pairs;
    to->CompletionQueues = counts->now.completion_queues;
    to->SharedReceiveQueues = counts->now.shared_receive_queues;
    to->InitiatorDepth = counts->now.initiator_depth;
    to->InitiatorPending = counts->now.initiator_pending;
    to->ReceiveDepth = counts->now.receive_depth;
    to->ReceivePending = counts->now.receive_pending;
    to->ResultDepth = counts->now.results_depth;
    to->ResultPending = counts->now.results_waiting;
}

static UINT64 read_count(const _Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void fill_adapter(ND_LINUX_COUNTERS *to, const struct nd_adapter *adapter)
{
    const struct nd_adapter_counts *counts = &adapter->counts;
    const struct nd_verbs *verbs = adapter->verbs;

    to->ActiveConnections = read_count(&counts->active);
    to->AcceptedConnections = read_count(&counts->accepted);
    to->InitiatedConnections = read_count(&counts->initiated);
    to->FailedConnectionAttempts = read_count(&counts->failed_attempts);
    to->CompletionQueueErrors = read_count(&counts->completion_queue_errors);
    to->ConnectionErrors = read_count(&counts->connection_errors);
    to->MemoryRegions = read_count(&counts->regions);
    to->RegisteredBytes = read_count(&counts->region_octets);
    if (verbs->query_half_open_dropped)
        to->HalfOpenDropped = verbs->query_half_open_dropped(adapter->port.context);
}

void nd_counters_read(struct nd_adapter *adapter, ND_LINUX_COUNTERS *counters)
{
    struct nd_counts counts;

    nd_adapter_count(adapter, &counts);
    memset(counters, 0, sizeof(*counters));
    counters->Size = sizeof(*counters);
    fill_traffic(counters, &counts, adapter->verbs->query_counters != NULL);
    fill_adapter(counters, adapter);
    fill_requests(counters, &counts);
    fill_wire(counters, &counts);
    fill_now(counters, &counts);
}

HRESULT nd_counters_query(struct nd_adapter *adapter, ND_LINUX_COUNTERS *counters)
{
    ND_LINUX_COUNTERS its;
    ULONG room;

    if (!counters || counters->Size < offsetof(ND_LINUX_COUNTERS, Sends))
        return ND_INVALID_PARAMETER_2;
    room = counters->Size;
    nd_counters_read(adapter, &its);
    if (room > sizeof(its))
        memset((char *)counters + sizeof(its), 0, room - sizeof(its));
    else
        its.Size = room;
    memcpy(counters, &its, its.Size);
    return ND_SUCCESS;
}
