/* SPDX-License-Identifier: MIT */
/* listener.h - listeners, for the connectors that they make. */
#ifndef NDK_CONNECTION_LISTENER_H
#define NDK_CONNECTION_LISTENER_H

#include "ndk/connection/connection.h"

#include "ndspi/core/connection/listener.h"

struct ndk_listener {
    struct ndk_object object; /* first */
    struct ndk_adapter *adapter;
    NDK_FN_CONNECT_EVENT_CALLBACK event;
    PVOID event_context;
    atomic_bool closing; /* requests not yet reported to the consumer are rejected */
    struct nd_listener core;
};

#endif
