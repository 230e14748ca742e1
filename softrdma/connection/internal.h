/* SPDX-License-Identifier: MIT */
/* internal.h - between the files of a connection: its phase, and its end. */
#ifndef SOFTRDMA_CONNECTION_INTERNAL_H
#define SOFTRDMA_CONNECTION_INTERNAL_H

#include "softrdma/connection/conn.h"
#include "softrdma/context/context.h"

/* Returns false in the child of a fork, whatever the phase: the socket is the parent's. */
static inline bool srd_conn_in_phase(const struct srd_conn *conn, enum srd_conn_phase phase)
{
    return srd_life_phase(&conn->life) == phase && conn->source.process == srd_generation;
}

static inline bool srd_conn_is_streaming(const struct srd_conn *conn)
{
    return srd_life_is_stream(&conn->life) && conn->source.process == srd_generation;
}

/* Stream phase: FIN follows what is still to be sent. */
static inline bool srd_conn_is_ending(const struct srd_conn *conn)
{
    return atomic_load_explicit(&conn->close_ms, memory_order_relaxed) != UINT64_MAX;
}

/*
 * life.c
 * srd_conn_shut         FIN, once; the socket is not written any more
 * srd_conn_report_down  reports the end to the owner, once. No lock held.
 * srd_conn_finish       closes and reports. No lock held.
 * srd_conn_cut_late     the peer has not closed its side in time: cuts, reports. No lock held.
 * srd_conn_has_passed   reads the clock only where there is a deadline
 * srd_linger_step       linger phase: sends, shuts, discards; closes and reports when both directions have ended
 * srd_linger_expired    linger phase: its deadline may have passed
 */
void srd_conn_shut(struct srd_conn *conn);
void srd_conn_report_down(struct srd_conn *conn, int status);
void srd_conn_finish(struct srd_conn *conn, int status);
void srd_conn_cut_late(struct srd_conn *conn);
bool srd_conn_has_passed(uint64_t deadline_ms);
void srd_linger_step(struct srd_conn *conn);
void srd_linger_expired(struct srd_conn *conn);

/*
 * conn.c: the stream phase, no lock held but in srd_conn_poll.
 * srd_conn_poll            a thread looks; again: it does so again and again. Returns whether it found something
 * srd_conn_enter           the queue's lock held: takes the receive side for srd_conn_poll_entered, if it is free. Its
 *                          lock keeps the connection: who detaches it takes it off its queues, and has that lock then
 * srd_conn_left            no thread looks any more
 * srd_conn_stream_ready    TCP's socket is, with EPOLL* bits; srd_conn_stream_rung: the bell has rung. Both return
 *                          whether that was served, else the reactor leaves the source for a moment
 * srd_conn_stream_expired  the source's deadline
 * srd_conn_sync_deadline   sets that
 */
bool srd_conn_poll(struct srd_source *source, bool again);
bool srd_conn_enter(struct srd_source *source);
bool srd_conn_poll_entered(struct srd_source *source, bool again);
void srd_conn_left(struct srd_source *source);
bool srd_conn_stream_ready(struct srd_conn *conn, uint32_t events, bool background);
bool srd_conn_stream_rung(struct srd_conn *conn, bool background);
void srd_conn_stream_expired(struct srd_conn *conn);
void srd_conn_sync_deadline(struct srd_conn *conn);

/* source.c: the peer has rung. */
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
