/* SPDX-License-Identifier: MIT */
/* endpoint.h - shared endpoints, for the connectors over them. */
#ifndef NDK_CONNECTION_ENDPOINT_H
#define NDK_CONNECTION_ENDPOINT_H

#include "ndk/connection/connection.h"

#include "ndspi/core/connection/endpoint.h"

struct ndk_endpoint {
    struct ndk_object object; /* first */
    struct nd_endpoint core;
};

#endif
