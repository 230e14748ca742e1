/* SPDX-License-Identifier: MIT */
/*
 * nd2_end.h - one end of a NetworkDirect version 2 connection, for test programs that are about
 * something else than making one. Public interfaces only.
 */
#ifndef TESTS_SUPPORT_ND2_END_H
#define TESTS_SUPPORT_ND2_END_H

#include "tests/support/nd_end.h"

struct nd2_end_options {
    ULONG depth; /* of either queue of the queue pair; the completion queue is twice as deep */
    size_t memory_octets; /* one region of so much, with all rights */
    ULONG inline_octets;
    ULONG local_be, peer_be; /* addresses (nd_end_address); peer_be: where to connect to */
    BOOL two_queues;         /* Sends have a completion queue of their own */
    BOOL no_reads;           /* Accept has an inbound read limit of 0 */
};

struct nd2_end {
    IND2Adapter *adapter;
    HANDLE file;
    IND2CompletionQueue *cq;    /* of both queues; two_queues: of Receives */
    IND2CompletionQueue *sends; /* two_queues: of Sends; otherwise NULL */
    IND2QueuePair *qp;
    IND2Connector *connector;
    IND2Listener *listener; /* passive end, until accepted */
    IND2MemoryRegion *mr;
    HANDLE event; /* auto-reset; of overlapped */
    OVERLAPPED overlapped;
    unsigned char *memory;
    size_t memory_octets;
    UINT32 lkey, rkey; /* tokens of memory */
    ULONG local_be, peer_be;
    BOOL no_reads;
    const char *step; /* the step a failed call of this file was at */
};

/* All of these return ND_SUCCESS, or the code of the step that failed, named in end->step. */

/* Opens the adapter of local_be and makes everything but the connection. NdStartup has been
 * called. */
HRESULT nd2_end_open(struct nd2_end *end, const struct nd2_end_options *options);

/* Active side: connects to port (network order) of peer_be. */
HRESULT nd2_end_connect(struct nd2_end *end, USHORT port_be);
/* The same in two parts. */
HRESULT nd2_end_connect_begin(struct nd2_end *end, USHORT port_be);
HRESULT nd2_end_connect_complete(struct nd2_end *end);

/* Passive side: listens on a port of the system's choice, then takes one connection. */
HRESULT nd2_end_listen(struct nd2_end *end, USHORT *port_be);
HRESULT nd2_end_request(struct nd2_end *end);
HRESULT nd2_end_accept(struct nd2_end *end);

/*
 * Ends the connection of this side. Both ends' Disconnect may cross; ND_TIMEOUT (0x102) counts as a
 * success, as in the interface.
 */
HRESULT nd2_end_disconnect(struct nd2_end *end);

/* Releases everything, in any state. */
void nd2_end_close(struct nd2_end *end);

/* The end of an overlapped call on end->overlapped: its status, hr itself if it failed at once,
 * ND_PENDING if it hangs. */
HRESULT nd2_end_wait(struct nd2_end *end, void *object, HRESULT hr, unsigned timeout_ms);

/* Posts, on a part of the region. */
HRESULT nd2_end_send(struct nd2_end *end, void *context, size_t offset, size_t octets, ULONG flags);
HRESULT nd2_end_receive(struct nd2_end *end, void *context, size_t offset, size_t octets);

/*
 * Sleeps (Notify, event) until count results are there. Returns how many of them came within the
 * time.
 */
unsigned nd2_end_results(
    struct nd2_end *end, ND2_RESULT *results, unsigned count, unsigned timeout_ms);

#endif
