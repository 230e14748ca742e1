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

/*
 * shared.c, for a connection with a share
 * srd_shared_again     serve it once more: it has used up its turn. Any lock below LOCK_SRD_CHANNEL
 * srd_shared_later     look at it within SRD_SOON_MS: another thread is in it, and may be preempted. Locks as before
 * srd_shared_is_quiet  RX lock: a thread that polls has nothing to do: a read would find nothing, and nothing changes
 * srd_shared_answer    RX lock, linger lock or the owner's: answers what was rung; returns whether anything was
 * srd_shared_may_rest  RX lock, after a read that found nothing: whether the thread may go; false: something has come
 * srd_shared_full      TX lock, after tx_blocked was set: whether the thread may go; false: there is room
 * srd_shared_recv      RX lock. Octets; 0: the end of TCP; -EAGAIN, or another negative errno
 * srd_shared_fill      startup phase, owner lock. As srd_conn_fill
 * srd_shared_polled    a thread looks at it again and again
 * srd_shared_expired   returns whether it is to be read: a thread has polled it, so the peer did not ring, or _later
 * srd_shared_remove    closing: the bell is not watched any more
 */
void srd_shared_again(struct srd_conn *conn);
void srd_shared_later(struct srd_conn *conn);
bool srd_shared_is_quiet(struct srd_conn *conn);
bool srd_shared_answer(struct srd_conn *conn);
bool srd_shared_may_rest(struct srd_conn *conn);
bool srd_shared_full(struct srd_conn *conn);
ssize_t srd_shared_recv(struct srd_conn *conn, const struct iovec *iov, int count);
ssize_t srd_shared_fill(struct srd_conn *conn, struct iovec room);
void srd_shared_polled(struct srd_conn *conn);
bool srd_shared_expired(struct srd_conn *conn);
void srd_shared_remove(struct srd_conn *conn);

/*
 * idle.c
 * srd_conn_is_busy     octets have come or gone, and conn->busy is not set
 * srd_conn_leave_busy  it has no stream any more; the caller has a reference
 * Any lock below LOCK_SRD_CHANNEL may be held.
 */
void srd_conn_is_busy(struct srd_conn *conn);
void srd_conn_leave_busy(struct srd_conn *conn);

#endif
