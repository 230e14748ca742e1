/* SPDX-License-Identifier: MIT */
/*
 * ndspi_counters.h - what an adapter counts: in this process, and in the user's others. Part of ndspi_linux.h.
 *
 * The first ten are those of Windows' MSFT_NetAdapter_RdmaStatistics, which the "RDMA Activity" counters show. All
 * count from the opening of the adapter on. The figures of one call are consistent for each queue, not across queues.
 */
#ifndef NDSPI_COUNTERS_H
#define NDSPI_COUNTERS_H

#include <windows.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Terminate messages of one kind. */
typedef struct _ND_LINUX_TERMINATE {
    ULONG Code; /* Layer << 12 | Type << 8 | Code, as RFC 5040 section 4.8 has them */
    ULONG Reserved;
    UINT64 Sent, Received;
} ND_LINUX_TERMINATE;

#define ND_LINUX_TERMINATES 40

/*
 * What an adapter has counted. The embedded device counts what it moves through the socket or the shared memory: octets
 * with all headers, and FPDUs (its frames). On other devices the library counts what it posts and fetches: octets of
 * payload, and messages in the place of frames; the kernel's counters of the port show what peers read and write in
 * this process's memory.
 */
typedef struct _ND_LINUX_COUNTERS {
    ULONG Size;           /* bytes of the caller's structure (in), bytes filled in (out) */
    ULONG TerminateCount; /* entries of Terminates in use */

    UINT64 InboundBytes;
    UINT64 OutboundBytes;
    UINT64 InboundFrames;
    UINT64 OutboundFrames;
    UINT64 ActiveConnections;        /* how many there are now */
    UINT64 AcceptedConnections;      /* those that Accept made */
    UINT64 InitiatedConnections;     /* those that Connect and CompleteConnect made */
    UINT64 FailedConnectionAttempts; /* those that this side did not reject or cancel itself */
    UINT64 CompletionQueueErrors;    /* completion queues that failed, such as by an overrun */
    UINT64 ConnectionErrors; /* connections that a failed request or the peer's silence ended */

    UINT64 Sends; /* posted ones; so are Reads, Writes and OtherRequests */
    UINT64 SendBytes;
    UINT64 Receives; /* completed ones */
    UINT64 ReceiveBytes;
    UINT64 Reads;
    UINT64 ReadBytes;
    UINT64 Writes;
    UINT64 WriteBytes;
    UINT64 OtherRequests;   /* Bind, Invalidate, FastRegister */
    UINT64 FailedRequests;  /* requests whose failed result was fetched */
    UINT64 FlushedRequests; /* requests whose result ND_CANCELED was fetched */

    /* The embedded device alone counts these: */
    UINT64 AcknowledgementsReceived;
    UINT64 AcknowledgementsSent;
    UINT64 ReceiverNotReady; /* messages that arrived and waited for a Receive */
    UINT64 TerminatesReceived;
    UINT64 TerminatesSent;
    UINT64 TcpRetransmits;  /* segments */
    UINT64 HalfOpenDropped; /* peers that sent no request; counted for the whole process */

    /* These say what there is now: */
    UINT64 TcpConnections;    /* the embedded device's through a socket */
    UINT64 SharedConnections; /* the embedded device's through memory that both ends share */
    UINT64 MemoryRegions;
    UINT64 RegisteredBytes;
    UINT64 QueuePairs;
    UINT64 CompletionQueues;
    UINT64 SharedReceiveQueues;
    UINT64 InitiatorDepth;   /* places in all queue pairs together */
    UINT64 InitiatorPending; /* how many of them are taken */
    UINT64 ReceiveDepth;     /* places in all queue pairs and shared receive queues */
    UINT64 ReceivePending;
    UINT64 ResultDepth;   /* places in all completion queues together */
    UINT64 ResultPending; /* results in the library's own queues, not those that the device holds */

    ND_LINUX_TERMINATE
    Terminates[ND_LINUX_TERMINATES]; /* the first TerminateCount are kinds that occurred */
} ND_LINUX_COUNTERS;

/* One member of ND_LINUX_COUNTERS. */
typedef struct _ND_LINUX_COUNTER {
    const char *Name; /* "inbound_bytes" and the like: never changes */
    const char *Text; /* what it counts, in words */
    ULONG Offset;     /* where its UINT64 is in ND_LINUX_COUNTERS */
    BOOL Total;       /* it only grows; FALSE: it says what there is now */
} ND_LINUX_COUNTER;

/*
 * NdLinuxCounter - tells what a member of ND_LINUX_COUNTERS is.
 * index  in: from 0 on, in the order of the members
 * Returns what is known of the member, which is never freed; NULL after the last. Any thread.
 */
const ND_LINUX_COUNTER *NdLinuxCounter(ULONG index);

#ifdef __cplusplus
}
#endif
#endif
