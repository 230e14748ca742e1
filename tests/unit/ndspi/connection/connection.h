/* SPDX-License-Identifier: MIT */
/*
 * connection.h - two sides of a connection for tests that look at each step of one: every call by hand, any number of
 * overlapped requests at once. Public interfaces only.
 */
#ifndef TESTS_UNIT_NDSPI_CONNECTION_CONNECTION_H
#define TESTS_UNIT_NDSPI_CONNECTION_CONNECTION_H

#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include <windows.h>

#include <ndprovider.h>
#include <ndspi.h>

#include <netinet/in.h>

/* Codes as clients see them. */
#define OK         ((HRESULT)0)
#define PENDING    ((HRESULT)SPEC_ND_PENDING)
#define TIMEOUT    ((HRESULT)SPEC_ND_TIMEOUT)
#define OVERFLOWS  ((HRESULT)SPEC_ND_BUFFER_OVERFLOW)
#define BAD_PARAM1 ((HRESULT)SPEC_ND_INVALID_PARAMETER_1)
#define CANCELED   ((HRESULT)SPEC_ND_CANCELED)
#define REFUSED    ((HRESULT)SPEC_ND_CONNECTION_REFUSED)
#define INVALID    ((HRESULT)SPEC_ND_CONNECTION_INVALID)
#define ACTIVE     ((HRESULT)SPEC_ND_CONNECTION_ACTIVE)
#define ABORTED    ((HRESULT)SPEC_ND_CONNECTION_ABORTED)
#define BAD_STATE  ((HRESULT)SPEC_ND_INVALID_DEVICE_STATE)
#define BAD_NAME   ((HRESULT)SPEC_STATUS_BAD_NETWORK_NAME)
#define BAD_SIZE   ((HRESULT)SPEC_ND_INVALID_BUFFER_SIZE)
#define BAD_ADDR   ((HRESULT)SPEC_ND_INVALID_ADDRESS)
#define SHARING    ((HRESULT)SPEC_ND_SHARING_VIOLATION)
#define ENDED      ((HRESULT)SPEC_STATUS_CONNECTION_DISCONNECTED)
#define ASSOCIATED ((HRESULT)SPEC_STATUS_ADDRESS_ALREADY_ASSOCIATED)
#define UNBOUND    ((HRESULT)SPEC_STATUS_ADDRESS_NOT_ASSOCIATED)

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
