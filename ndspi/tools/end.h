/* SPDX-License-Identifier: MIT */
/*
 * end.h - one end of a probe: an adapter with a queue pair, and what waits for its requests, never beyond a deadline.
 */
#ifndef NDSPI_TOOLS_END_H
#define NDSPI_TOOLS_END_H

#include "failure.h"

#include <winsock2.h>

#include <ndsupport.h>

#include <stdbool.h>

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

enum { END_MESSAGE_OCTETS = 8 };

/* The private data of a probe's Connect and of its Accept: who this is, and how many round trips follow. */
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
    unsigned char memory[2][END_MESSAGE_OCTETS]; /* out, in */
    ULONG patience_ms;                           /* so long each answer may take; 0: for ever */
    HANDLE stop;                                 /* an event that ends all waiting, or NULL */
    struct failure failure;
};

/* Everything but the connection. False: failure tells; end_close is due in any case. */
bool end_open(struct end *end, const struct sockaddr *local, SIZE_T size);
void end_close(struct end *end);

/*
 * Waits for a request on end->overlapped that returned hr. When the patience is over it is cancelled, and ND_IO_TIMEOUT
 * the answer; when stop is set, ND_CANCELED.
 */
HRESULT end_wait(struct end *end, void *object, HRESULT hr);
/* The same, with the failure told as that of a step. */
bool end_finish(struct end *end, void *object, HRESULT hr, const char *step);

/* A new connector in the place of the old one, and of its queue pair. */
bool end_renew(struct end *end);

struct greeting greeting_make(ULONG rounds);
/* The greeting that came with the connection; false (without a failure told): it is none. */
bool greeting_take(struct end *end, struct greeting *greeting);

bool end_post_receive(struct end *end);
/*
 * A round trip, its number in the messages: 0, 1 and so on. more: another one follows. The client's message is done
 * when this returns; the server's when its next round trip, or end_last_sent, is over.
 */
bool end_exchange(struct end *end, bool is_server, ULONG number, bool more);
/*
 * The server's last message is done, or cancelled: a peer that has it disconnects, and its acknowledgement may be lost
 * with that.
 */
bool end_last_sent(struct end *end);

#endif
