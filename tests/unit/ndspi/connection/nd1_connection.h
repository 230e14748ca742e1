/* SPDX-License-Identifier: MIT */
/*
 * nd1_connection.h - connection.h for version 1: two ends of which tests look at each step. Either end may stand
 * against one of version 2. Public interfaces only.
 */
#ifndef TESTS_UNIT_NDSPI_CONNECTION_ND1_CONNECTION_H
#define TESTS_UNIT_NDSPI_CONNECTION_ND1_CONNECTION_H

#include "tests/unit/ndspi/connection/connection.h"

/* Codes that version 1 alone uses. */
#define TAKEN         ((HRESULT)SPEC_ND_ADDRESS_ALREADY_EXISTS)
#define PARAM_MIX     ((HRESULT)SPEC_ND_INVALID_PARAMETER_MIX)
#define BAD_PARAM     ((HRESULT)SPEC_ND_INVALID_PARAMETER)
#define NOT_SUPPORTED ((HRESULT)SPEC_ND_NOT_SUPPORTED)
#define NO_POINTER    ((HRESULT)SPEC_E_POINTER)
#define NO_INTERFACE  ((HRESULT)SPEC_E_NOINTERFACE)

struct nd1_end {
    INDAdapter *adapter;
    INDCompletionQueue *cq;
    INDEndpoint *endpoint;
    INDConnector *connector;
    struct request requests[REQUESTS];
};

struct nd1_pair {
    struct nd1_end active, passive;
    INDListen *listen; /* of the passive end, on 127.0.0.1 */
    struct sockaddr_in listening;
    struct request get; /* of the listen */
};

/* Fixture, as pair_set_up and pair_tear_down. */
int nd1_pair_set_up(void **state);
int nd1_pair_tear_down(void **state);

INDAdapter *nd1_open_adapter(void);
void nd1_end_open(struct nd1_end *end);
void nd1_end_close(struct nd1_end *end);
/* In place of the released or NULL one. The endpoint is the connector's. */
void nd1_new_connector(struct nd1_end *end);
void nd1_new_endpoint(struct nd1_end *end);
/* *port_be: the port, or 0 for any; receives it. */
INDListen *nd1_listen(struct nd1_end *end, USHORT *port_be);

/* The n-th request, ready for a call. */
OVERLAPPED *nd1_fresh(struct nd1_end *end, unsigned n);
/* As ended; GetOverlappedResult's length has to be 0, in all its bits. */
HRESULT nd1_ended(void *object, HRESULT hr, OVERLAPPED *overlapped);
/* Whether the n-th request still runs. */
BOOL nd1_running(struct nd1_end *end, unsigned n);

/* Steps, on request 0; each returns how the call ended. */
HRESULT nd1_connect_begin(
    struct nd1_end *end, const struct sockaddr_in *to, const void *data, SIZE_T octets);
HRESULT nd1_connected(struct nd1_end *end); /* how it went on */
HRESULT nd1_connect(struct nd1_end *end, const struct sockaddr_in *to);
HRESULT nd1_complete_connect(struct nd1_end *end);
HRESULT nd1_get_request(struct nd1_pair *pair);
HRESULT nd1_accept_begin(struct nd1_end *end, const void *data, SIZE_T octets);
HRESULT nd1_disconnect(struct nd1_end *end);

/* Up to: the request is in the passive connector; Connect has succeeded; both are connected. */
void nd1_reach_request(struct nd1_pair *pair);
void nd1_reach_reply(struct nd1_pair *pair);
void nd1_reach_connected(struct nd1_pair *pair);

/* How the Accept on request 0 ended. */
HRESULT nd1_accept_ended(struct nd1_pair *pair);

#endif
