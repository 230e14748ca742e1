/* SPDX-License-Identifier: MIT */
/*
 * dialect.h - where versions 1 and 2 of NetworkDirect and its kernel flavour (NDKPI) differ. Each adapter belongs to
 * one dialect; all have the same state machines. Sources: the pages of each; where those are silent, what programs
 * expect.
 */
#ifndef NDSPI_CORE_DIALECT_H
#define NDSPI_CORE_DIALECT_H

#include "ndspi/core/base.h"

/*
 * The data path's inline functions take one as a constant: each facade's method is compiled for its own version. Posts
 * of the kernel flavour are those of version 2.
 */
enum nd_dialect_index { ND_V2, ND_V1, ND_KERNEL, ND_DIALECTS };

struct nd_dialect {
    enum nd_dialect_index index; /* column of the status tables */
    const char *name;
    HRESULT own_disconnect;  /* a pending NotifyDisconnect, when this side disconnects */
    HRESULT connect_timeout; /* Connect, Accept, without an answer */
    HRESULT accept_refused;  /* a pending Accept, when the peer backs out */
    HRESULT reject_of_dead;  /* Reject, when the peer has given up unnoticed */
    HRESULT notify_of_ended; /* NotifyDisconnect after this side's disconnect */
    HRESULT port_taken;      /* a listener's address is in use */
    HRESULT no_port_free;    /* no port can be chosen */
    HRESULT port_busy;       /* an earlier connection to the peer still has the port */
    HRESULT unresolved;      /* Connect: the destination is no address that a peer can have */
    HRESULT no_answer;       /* Disconnect: the peer did not answer in time */
    bool arms;               /* Notify merges with one that waits, and cannot fail */
    bool closing_drains;     /* a released queue pair ends even if no program polls */
    bool refuses_flushed;    /* nothing is posted to a flushed queue pair */
    bool defers;             /* requests may be kept until the next one */
    bool tells_failure;      /* a failed request ends the connection, as a disconnect of the peer */
    bool exact_port;         /* a connector gets the port it names, or none */
    bool dynamic_ports;      /* any port means one of 49152 to 65535 */
    bool keeps_data;         /* the peer's private data stay readable until a connector's end */
    bool peer_leaves_qp;     /* the peer's disconnect flushes no queue pair, whoever waits for it */
    bool handles;            /* regions are named by ND_MR_HANDLE, not by token */
    bool one_sge_limit;      /* one limit of entries holds for all requests */
};

extern const struct nd_dialect nd_dialect_v2;
extern const struct nd_dialect nd_dialect_v1;
extern const struct nd_dialect nd_dialect_kernel;

#endif
