/* SPDX-License-Identifier: MIT */
/*
 * port.c - the choice of a port.
 *
 * Source: the pages of NdkConnect, NdkListen and NdkCreateSharedEndpoint: port 0 is one of the ephemeral ports, 49152
 * to 65535 (RFC 6335: the dynamic ports). Linux' own are others by default (net.ipv4.ip_local_port_range).
 */
#include "ndspi/core/connection/port.h"

#include "ndspi/core/address.h"

#include "util/clock.h"

#include <arpa/inet.h>
#include <errno.h>

enum { FIRST = 49152, COUNT = 65536 - FIRST };

/* Counts on from a place that the clock chooses: processes seldom meet, and a port is not reused right away. */
static unsigned next_place(void)
{
    static atomic_uint last;
    unsigned none = 0;

    if (!atomic_load_explicit(&last, memory_order_relaxed))
        atomic_compare_exchange_strong_explicit(&last, &none,
            1 + (unsigned)(clock_now_ns() / 1024 % COUNT), memory_order_relaxed,
            memory_order_relaxed);
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) % COUNT;
}

static int bind_to(
    const struct nd_adapter *adapter, struct rdma_cm_id *id, struct sockaddr_storage *address)
{
    if (!adapter->verbs->bind_addr(id, (struct sockaddr *)address))
        return 0;
    return errno ? errno : EADDRNOTAVAIL;
}

int nd_port_bind(
    const struct nd_adapter *adapter, struct rdma_cm_id *id, const struct sockaddr_storage *address)
{
    struct sockaddr_storage local = *address;
    int error = EADDRINUSE;

    if (nd_address_port_be(address) || !adapter->dialect->dynamic_ports)
        return bind_to(adapter, id, &local);
    for (unsigned i = 0; i < COUNT && error == EADDRINUSE; i++) {
        nd_address_set_port_be(&local, htons((uint16_t)(FIRST + next_place())));
        error = bind_to(adapter, id, &local);
    }
    return error;
}
