/* SPDX-License-Identifier: MIT */
/*
 * nd2_many.h - one process's ends of many NetworkDirect version 2 connections: one completion queue for all of them,
 * one completion port for all calls. The other process has as many. Public interfaces only.
 */
#ifndef TESTS_SUPPORT_ND2_MANY_H
#define TESTS_SUPPORT_ND2_MANY_H

#include "tests/support/nd_end.h"

#include <stdbool.h>

/*
 * Of both queues of each queue pair, and how many Receives each has posted. At once under way while connections are
 * made and ended.
 */
enum { ND2_MANY_DEPTH = 12, ND2_MANY_WINDOW = 64 };

struct nd2_many_end; /* of one connection */

struct nd2_many {
    unsigned count;
    struct nd2_many_end *ends;
    IND2Adapter *adapter;
    HANDLE file, port;
    IND2CompletionQueue *cq;
    IND2Listener *listener; /* of the passive side */
    IND2MemoryRegion *mr;
    unsigned char *memory; /* of all messages */
    UINT32 lkey;
    OVERLAPPED notify, region;
    USHORT port_be;          /* of the listener; the active side's caller sets it */
    unsigned begun;          /* in the phase under way */
    unsigned up, told, over; /* connections made; disconnects told; disconnected here */
    unsigned failed;         /* of these, told by something else than ND_SUCCESS */
    bool woken;              /* the Notify of the completion queue has ended */
    bool answers;            /* disconnects as soon as it is told */
    const char *step;        /* the step a failed call of this file was at */
};

/* All of these return ND_SUCCESS or the code of the step that failed; ND_TIMEOUT when nothing came for 20 s. */

/* Opens the adapter of 127.0.0.1. NdStartup has been called. passive: listens, too */
HRESULT nd2_many_open(struct nd2_many *many, unsigned count, bool passive);
/* After all connections were released. */
void nd2_many_close(struct nd2_many *many);

/* Makes all connections, until they are established. Each asks to be told of its end. */
HRESULT nd2_many_accept(struct nd2_many *many);
HRESULT nd2_many_connect(struct nd2_many *many);
/* Goes on after that has failed, with what was not begun. */
HRESULT nd2_many_connect_rest(struct nd2_many *many);

/* Disconnects all, window by window, until both sides have; and releases their objects. */
HRESULT nd2_many_disconnect(struct nd2_many *many);
/* The other side of that: answers. */
HRESULT nd2_many_follow(struct nd2_many *many);
/* Until the end of every connection was told. The peer is gone; then releases their objects. */
HRESULT nd2_many_lose(struct nd2_many *many);
/* Releases every connection's objects, whatever their state. */
void nd2_many_release(struct nd2_many *many);

/* A Send of so many octets on connection index. */
HRESULT nd2_many_send(struct nd2_many *many, unsigned index, size_t octets);

/*
 * nd2_many_receives - the next results.
 * sleep    Notify and wait at the port, when there is none; else polls
 * octets   of the Receives that are posted again
 * indices  out: the connections that received, at most ND2_MANY_WINDOW
 * count    out
 */
HRESULT nd2_many_receives(struct nd2_many *many, bool sleep, unsigned *indices, unsigned *count);

/* Answers the next count messages with one of as many octets. */
HRESULT nd2_many_echo(struct nd2_many *many, bool sleep, unsigned count, size_t octets);
/* Sends one message on each of `busy` connections, and the next one when its answer is there, `each` times. */
HRESULT nd2_many_ping(
    struct nd2_many *many, bool sleep, unsigned busy, unsigned each, size_t octets);

#endif
