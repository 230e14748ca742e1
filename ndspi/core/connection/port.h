/* SPDX-License-Identifier: MIT */
/* port.h - ids get their local address; where any port will do, one of those that the dialect has for that. */
#ifndef NDSPI_CORE_CONNECTION_PORT_H
#define NDSPI_CORE_CONNECTION_PORT_H

#include "ndspi/core/adapter/adapter.h"

/*
 * nd_port_bind - binds an id.
 * address  in: port 0: any. Its port is not filled in
 * Returns 0 or a positive errno; EADDRINUSE: the port, or where any will do, each one.
 */
int nd_port_bind(const struct nd_adapter *adapter, struct rdma_cm_id *id,
    const struct sockaddr_storage *address);

#endif
