/* SPDX-License-Identifier: MIT */
/* connector.h - connectors, for listeners that make them. */
#ifndef NDK_CONNECTION_CONNECTOR_H
#define NDK_CONNECTION_CONNECTOR_H

#include "ndk/connection/connection.h"

#include "ndspi/core/connection/connector.h"

struct ndk_listener;

struct ndk_connector {
    struct ndk_object object; /* first */
    struct ndk_adapter *adapter;
    /* it serves one connection or attempt: by a Connect, or since a listener delivered it */
    atomic_bool used;
    struct nd_call disconnected;
    struct ndk_call tell_disconnected;
    atomic_bool answered;                   /* an Accept or CompleteConnect has given its event */
    NDK_FN_DISCONNECT_EVENT_CALLBACK event; /* one of both, or none, ... */
    NDK_FN_DISCONNECT_EVENT_CALLBACK_EX event_ex;
    PVOID event_context;           /* ... with this */
    struct ndk_listener *listener; /* the listener of its request, or NULL; an antecedent */
    struct ndk_call tell_request;
    struct nd_connector core;
};

/*
 * Makes a connector for an adapter, or for a request of a listener (may be NULL), which becomes an antecedent. NULL: no
 * memory.
 */
struct ndk_connector *ndk_connector_make(
    struct ndk_adapter *adapter, struct ndk_listener *listener);

/* Closes a connector that the consumer never got. */
void ndk_connector_discard(struct ndk_connector *connector);

#endif
