/* SPDX-License-Identifier: MIT */
/*
 * port.h - one port of an opened device, with what it can do.
 *
 * Capabilities are found by trying, then corrected by a row of known quirks for the device's family. The core reads
 * this and nothing else of a device: never its name.
 */
#ifndef NDSPI_VERBS_PORT_H
#define NDSPI_VERBS_PORT_H

#include "ndspi/verbs/verbs.h"

struct nd_caps {
    const char *family;   /* for the log */
    bool windows;         /* type 2 windows that check their bounds and rights */
    bool send_invalidate; /* Send with invalidation of the peer's window */
    bool cq_resize;
    bool srq;
    bool srq_resize;
    bool two_phase_connect; /* the connection waits for rdma_establish (else Accept ends early) */
    bool exact_cq;          /* depth of a completion queue is not rounded up */
    bool sink_remote_write; /* the target of a Read needs remote write access (iWARP) */
    bool solicited_events;  /* solicited-only notification works, errors included */
    bool
        flush_first; /* disconnect moves no queue pair: ours goes to the error state first (InfiniBand) */
    bool slow_destroy; /* rdma_destroy_id may wait for the peer */
    bool iwarp_kernel; /* the kernel's connection manager moves the queue pair itself */
    bool rnr;          /* receiver-not-ready retries are a matter of the two queue pairs */
};

struct nd_port {
    const struct nd_verbs *verbs;
    struct ibv_context *context;
    uint8_t number;
    struct ibv_pd *pd;
    struct ibv_device_attr attr;
    struct ibv_port_attr port_attr;
    struct nd_caps caps;
};

/*
 * nd_port_init - take over an opened device.
 * context  in: closed by nd_port_fini; not when this fails
 * number   in: the port, from 1
 * soft     in: whether it is the embedded device
 * Returns 0 or a negative errno.
 */
int nd_port_init(struct nd_port *port, const struct nd_verbs *verbs, struct ibv_context *context,
    uint8_t number, bool soft);
void nd_port_fini(struct nd_port *port);

#endif
