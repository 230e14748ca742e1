/* SPDX-License-Identifier: MIT */
/* pair.h - two ends in one process, each with an adapter of its own, and a listener of the passive one. */
#ifndef TESTS_UNIT_NDK_PAIR_H
#define TESTS_UNIT_NDK_PAIR_H

#include "tests/unit/ndk/harness.h"

enum { MEMORY = 64 * 1024 };

struct side {
    bool closed; /* all but the adapter and the memory, by the test */
    NDK_ADAPTER *adapter;
    NDK_PD *pd;
    NDK_CQ *receive_cq, *initiator_cq;
    struct told received, initiated; /* notifications of the queues */
    NDK_QP *qp;
    NDK_MR *mr; /* of memory, with every right */
    char *memory;
    UINT32 token, remote_token;
    NDK_CONNECTOR *connector;
    struct told request;    /* of the connector */
    struct told disconnect; /* its event; status: the reason */
};

struct pair {
    struct side active, passive;
    NDK_LISTENER *listener;
    struct told incoming; /* its event; object: the connector */
    struct sockaddr_in address;
};

/* One end without a connector, by an adapter of its own. */
void side_open(struct side *side, struct sockaddr_in address);
/* Closes what is there, but for the adapter. */
void side_close(struct side *side);
/* All but connectors; the listener listens. */
void pair_open(struct pair *pair);
/* Closes what is there, in the usual order. */
void pair_close(struct pair *pair);
/* As fixtures: *state is the pair. */
int pair_set_up(void **state);
int pair_set_up_connected(void **state);
int pair_tear_down(void **state);

NDK_CONNECTOR *connector_create(NDK_ADAPTER *adapter);
NDK_LISTENER *listener_create(NDK_ADAPTER *adapter, struct told *incoming);
#define close_connector(connector)                                                                 \
    close_object(&(connector)->Header, (connector)->Dispatch->NdkCloseConnector)
#define close_listener(listener)                                                                   \
    close_object(&(listener)->Header, (listener)->Dispatch->NdkCloseListener)

/* Callbacks; the context is a struct told. */
VOID tell_incoming(PVOID context, NDK_CONNECTOR *connector);
VOID tell_disconnect(PVOID context);
VOID tell_disconnect_ex(PVOID context, ULONG reason);

/* Begins a Connect from a free port; returns what it returned. The outcome goes to side->request. */
NTSTATUS start_connect(
    struct side *side, const struct sockaddr_in *to, const void *data, ULONG length);
/* Waits for a request at the listener; its connector is the passive side's. */
void take_incoming(struct pair *pair);
NTSTATUS start_accept(struct side *side, const void *data, ULONG length);
NTSTATUS start_complete(struct side *side);
NTSTATUS start_disconnect(struct side *side);
/* The status of the side's request, when it has ended. */
NTSTATUS outcome(struct side *side);
/* The whole way. */
void pair_connect(struct pair *pair);

#endif
