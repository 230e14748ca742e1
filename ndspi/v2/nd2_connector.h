/* SPDX-License-Identifier: MIT */
/* nd2_connector.h - the connector's facade, for the listener's, which is handed connectors. */
#ifndef NDSPI_V2_ND2_CONNECTOR_H
#define NDSPI_V2_ND2_CONNECTOR_H

#include "ndspi/core/connector.h"

#include <ndspi.h>

struct nd2_connector {
    IND2Connector IND2Connector_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_connector core;
};

#endif
