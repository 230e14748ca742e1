/* SPDX-License-Identifier: MIT */
/*
 * end.h - one end of a probe: an adapter with a queue pair. Its functions wait for requests, with a deadline.
 */
#ifndef TOOLS_INFO_END_H
#define TOOLS_INFO_END_H

#include "failure.h"

#include <winsock2.h>

#include <ndsupport.h>

#include <stdbool.h>

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

enum { END_MESSAGE_OCTETS = 8 };

/* The private data of a probe's Connect and Accept: the mark of ndinfo, and how many round trips follow. */
struct greeting {
    char magic[8];
    UINT32 rounds_be;
};

struct end {
    IND2Adapter *adapter;
    HANDLE file;
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;
    IND2Connector *connector;
    IND2MemoryRegion *region;
    OVERLAPPED overlapped;
    unsigned char memory[2][END_MESSAGE_OCTETS]; /* [0] for Sends, [1] for Receives */
    ULONG patience_ms;                           /* how long each answer may take; 0: for ever */
    HANDLE stop;                                 /* an event that ends all waits, or NULL */
    struct failure failure;
};

/* Opens everything but the connection. False: see failure. The caller calls end_close in either case. */
bool end_open(struct end *end, const struct sockaddr *local, SIZE_T size);
void end_close(struct end *end);

/*
 * Waits for a request on end->overlapped that returned hr. After patience_ms it cancels the request and returns
 * ND_IO_TIMEOUT; when stop is set, ND_CANCELED.
 */
HRESULT end_wait(struct end *end, void *object, HRESULT hr);
/* Waits as end_wait does, and records a failure in end->failure, with the name of the step. */
bool end_finish(struct end *end, void *object, HRESULT hr, const char *step);

/* Replaces the connector and the queue pair by new ones. */
bool end_renew(struct end *end);

struct greeting greeting_make(ULONG rounds);
/* Reads the peer's greeting; false (without setting failure): the peer is not ndinfo. */
bool greeting_take(struct end *end, struct greeting *greeting);

bool end_post_receive(struct end *end);
/*
 * Makes a round trip; the messages carry its number: 0, 1 and so on. more: another one follows. The client's Send has
 * completed when this returns; the server's completes in its next round trip, or in end_last_sent.
 */
bool end_exchange(struct end *end, bool is_server, ULONG number, bool more);
/*
 * Waits until the server's last Send has completed or was cancelled: the peer disconnects when it has the message, and
 * then its acknowledgement may be lost.
 */
bool end_last_sent(struct end *end);

#endif
