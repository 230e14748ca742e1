/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of a connection: its phase, and its end. */
#ifndef SOFTRDMA_CONNECTION_INTERNAL_H
#define SOFTRDMA_CONNECTION_INTERNAL_H

#include "softrdma/connection/conn.h"
#include "softrdma/context.h"

/* In the child of a fork no phase holds: the socket is the parent's. */
static inline bool srd_conn_in_phase(const struct srd_conn *conn, enum srd_conn_phase phase)
{
    return atomic_load_explicit(&conn->phase, memory_order_acquire) == phase &&
           conn->source.process == srd_generation;
}

/*
 * life.c
 * srd_conn_shut         FIN, once; the socket is not written any more
 * srd_conn_report_down  reports the end to the owner, once. No lock held.
 * srd_conn_finish       closes and reports. No lock held.
 * srd_linger_step       linger phase: sends, shuts, discards; closes and reports when both directions have ended
 */
void srd_conn_shut(struct srd_conn *conn);
void srd_conn_report_down(struct srd_conn *conn, int status);
void srd_conn_finish(struct srd_conn *conn, int status);
void srd_linger_step(struct srd_conn *conn);

/* conn.c: the peer has rung. */
bool srd_conn_bell(struct srd_source *bell, uint32_t events, bool background);

/* shared.c: RX lock held, after a read that found nothing: whether the thread may go; false: something has come. */
bool srd_shared_may_rest(struct srd_conn *conn);

/* tcp.c: as srd_transport.put. */
ssize_t srd_tcp_put(struct srd_conn *conn, const struct iovec *rest, bool *rings);

/*
 * idle.c
 * srd_conn_is_busy     octets have come or gone, and conn->busy is not set
 * srd_conn_leave_busy  it has no stream any more; the caller has a reference
 * Any lock below LOCK_SRD_CHANNEL may be held.
 */
void srd_conn_is_busy(struct srd_conn *conn);
void srd_conn_leave_busy(struct srd_conn *conn);

#endif
