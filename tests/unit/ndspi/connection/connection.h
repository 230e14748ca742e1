/* SPDX-License-Identifier: MIT */
/*
 * connection.h - two sides of a connection for tests that look at each step of one: every call by hand, any number of
 * overlapped requests at once. Public interfaces only.
 */
#ifndef TESTS_UNIT_NDSPI_CONNECTION_H
#define TESTS_UNIT_NDSPI_CONNECTION_H

#include "tests/unit/util/cmocka_test.h"

#include <windows.h>

#include <ndprovider.h>
#include <ndspi.h>

#include <netinet/in.h>

/* Codes as clients see them. */
#define OK         ((HRESULT)0)
#define PENDING    ((HRESULT)0x103)
#define TIMEOUT    ((HRESULT)0x102)
#define OVERFLOWS  ((HRESULT)0x80000005)
#define BAD_PARAM1 ((HRESULT)0xC00000EF)
#define CANCELED   ((HRESULT)0xC0000120)
#define REFUSED    ((HRESULT)0xC0000236)
#define INVALID    ((HRESULT)0xC000023A)
#define ACTIVE     ((HRESULT)0xC000023B)
#define ABORTED    ((HRESULT)0xC0000241)
#define BAD_STATE  ((HRESULT)0xC0000184)
#define BAD_NAME   ((HRESULT)0xC00000CC)
#define BAD_SIZE   ((HRESULT)0xC0000206)
#define BAD_ADDR   ((HRESULT)0xC0000141)
#define SHARING    ((HRESULT)0xC0000043)
#define ENDED      ((HRESULT)0xC000020C)
#define ASSOCIATED ((HRESULT)0xC0000238)
#define UNBOUND    ((HRESULT)0xC0000239)

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

/* The last reference, if there is one. */
#define RELEASE(object)                                                                            \
    do {                                                                                           \
        if (object)                                                                                \
            assert_int_equal(CALL(object, Release), 0);                                            \
        (object) = NULL;                                                                           \
    } while (0)

enum { DEADLINE_MS = 20000, QUEUE_DEPTH = 8, REQUESTS = 8 };

/* An overlapped request with its own manual-reset event. */
struct request {
    OVERLAPPED overlapped;
};

struct side {
    IND2Adapter *adapter;
    HANDLE file;
    IND2CompletionQueue *cq;
    IND2QueuePair *qp;
    IND2Connector *connector;
    struct request requests[REQUESTS];
};

struct pair {
    struct side active, passive;
    IND2Listener *listener; /* of the passive side, on 127.0.0.1 */
    struct sockaddr_in listening;
    struct request get; /* of the listener */
};

/* Fixture: a pair with a listening listener in *state. Tear-down also fails when anything of the library is left. */
int pair_set_up(void **state);
int pair_tear_down(void **state);

void side_open(struct side *side);
void side_close(struct side *side);
/* A queue pair, a connector, in place of the released or NULL one. */
void side_new_qp(struct side *side);
void side_new_connector(struct side *side);
IND2Listener *side_new_listener(struct side *side);

/* The n-th request, ready for a call. */
OVERLAPPED *fresh(struct side *side, unsigned n);
OVERLAPPED *fresh_request(struct request *request);
/* The end of a call on an object: hr itself unless pending; fails the test when it has not ended by the deadline. */
HRESULT ended(void *object, HRESULT hr, OVERLAPPED *overlapped);
/* Whether the n-th request still runs. */
BOOL running(struct side *side, unsigned n);

struct sockaddr_in loopback(USHORT port_be);

/* Steps; each returns how the call ended. They use request 0 of the side. */
HRESULT bind_to(struct side *side, USHORT port_be);
HRESULT connect_to(struct side *side, const struct sockaddr_in *to, const void *data, ULONG octets);
/* Begins a Connect to the listener on request 0. */
HRESULT connect_begin(struct pair *pair);
HRESULT complete_connect(struct side *side);
HRESULT get_request(struct pair *pair);
/* Begins an Accept on request 0. */
HRESULT accept_begin(struct side *side, const void *data, ULONG octets);
HRESULT disconnect(struct side *side);

/* Up to: the request is in the passive connector, Connect runs. */
void reach_request(struct pair *pair);
/* Up to: Connect has succeeded, Accept runs. */
void reach_reply(struct pair *pair);
void reach_connected(struct pair *pair);

/* How the Accept or Connect on request 0 ended. */
HRESULT accept_ended(struct pair *pair);
HRESULT connect_ended(struct pair *pair);

/* Receives of nothing, and that each of so many ended with CANCELED. */
void post_receives(struct side *side, unsigned count);
void assert_receives_canceled(struct side *side, unsigned count);

/* Statuses of count results of a side's completion queue; fails the test when they do not come by the deadline. */
void results(struct side *side, ND2_RESULT *out, unsigned count);

#endif
