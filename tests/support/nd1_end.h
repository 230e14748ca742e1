/* SPDX-License-Identifier: MIT */
/*
 * nd1_end.h - one end of a NetworkDirect version 1 connection, for test programs that are about something else than
 * making one. Public interfaces only.
 */
#ifndef TESTS_SUPPORT_ND1_END_H
#define TESTS_SUPPORT_ND1_END_H

#include "tests/support/nd_end.h"

struct nd1_end_options {
    SIZE_T depth; /* of either queue of the endpoint; the completion queue is twice as deep */
    size_t memory_octets;    /* one registration of so much */
    ULONG local_be, peer_be; /* addresses (nd_end_address); peer_be: where to connect to */
};

struct nd1_end {
    INDAdapter *adapter;
    HANDLE file;            /* the adapter's */
    INDCompletionQueue *cq; /* of both directions */
    INDConnector *connector;
    INDEndpoint *endpoint;
    INDListen *listen; /* passive end, until closed */
    ND_MR_HANDLE mr;
    HANDLE event; /* auto-reset; of overlapped */
    OVERLAPPED overlapped;
    unsigned char *memory;
    size_t memory_octets;
    ULONG peer_be;
    const char *step; /* the step a failed call of this file was at */
};

/* All of these return ND_SUCCESS, or the code of the step that failed, named in end->step. */

/* Opens the adapter of local_be and makes everything but the connection. NdStartup has been called. */
HRESULT nd1_end_open(struct nd1_end *end, const struct nd1_end_options *options);

/* Active side: connects to port (network order) of peer_be. */
HRESULT nd1_end_connect(struct nd1_end *end, USHORT port_be);

/* Passive side: listens on a port of the system's choice, then takes one connection. */
HRESULT nd1_end_listen(struct nd1_end *end, USHORT *port_be);
HRESULT nd1_end_request(struct nd1_end *end);
HRESULT nd1_end_accept(struct nd1_end *end);

/* Ends the connection of this side. */
HRESULT nd1_end_disconnect(struct nd1_end *end);

/* Releases everything, in any state. */
void nd1_end_close(struct nd1_end *end);

/*
 * The end of an overlapped call on end->overlapped: its status, hr itself if it failed at once, ND_PENDING if it hangs.
 */
HRESULT nd1_end_wait(struct nd1_end *end, void *object, HRESULT hr, unsigned timeout_ms);

/* Posts, on a part of the registration. */
HRESULT nd1_end_send(
    struct nd1_end *end, ND_RESULT *result, size_t offset, size_t octets, DWORD flags);
HRESULT nd1_end_receive(struct nd1_end *end, ND_RESULT *result, size_t offset, size_t octets);

#endif
