/* SPDX-License-Identifier: MIT */
/*
 * conn.h - one connection's socket: who reads it, who writes it, when.
 *
 * A conn exists from TCP connect or accept on. Phases:
 *   startup   the connection manager runs MPA startup; owner->startup_ready reads and writes by the calls below
 *   stream    attached to a queue pair: the protocol engine's octets (stream.h), under the queue pair's RX and TX locks
 *   linger    the queue pair is gone: sends the rest and FIN, discards the peer's octets, 2 s at most
 *   closed
 * References: the reactor while it watches the socket, the owner, the queue pair it was attached to (until detached),
 * its completion queues. It pins that queue pair until it is freed itself, and closed long before.
 */
#ifndef SOFTRDMA_CONNECTION_CONN_H
#define SOFTRDMA_CONNECTION_CONN_H

#include "softrdma/connection/state.h"
#include "softrdma/events/source.h"
#include "softrdma/wire/mpa.h"
#include "softrdma/stream/stream.h"

struct srd_conn;
struct srd_device;
struct srd_share;
struct srd_transport;

/* The connection manager's side. owner is what was given to srd_conn_create. No lock is held in any of these. */
struct srd_conn_owner_ops {
    void (*ready)(void *owner, struct srd_conn *conn, uint32_t events); /* startup phase */
    void (*expired)(void *owner, struct srd_conn *conn); /* startup phase: the deadline */
    void (*established)(void *owner, struct srd_conn *conn);
    void (*down)(
        void *owner, struct srd_conn *conn, int status); /* once; status 0 or a negative errno */
    void (*unref)(void *owner);                          /* the conn is freed */
};

/* Octets of a startup frame, and room for what comes behind it in the same read. */
enum { SRD_CONN_STARTUP_OCTETS = SRD_MPA_FRAME_MAX + 512, SRD_CONN_CLOSE_MS = 2000 };
/* A connection is idle after this time without traffic. */
enum { SRD_CONN_IDLE_MS = 250 };

struct srd_conn {
    struct srd_source source; /* first */
    srd_conn_life life;       /* its phase, and what is true of it (state.h) */
    const struct srd_conn_owner_ops *owner_ops;
    void *owner; /* a reference */
    struct lock *owner_lock;
    struct srd_qp *qp; /* set by attach, pinned until the conn is freed */

    atomic_bool want_in,
        want_out; /* what the reactor watches for; in the stream phase, tx_blocked instead of want_out */
    atomic_bool tx_blocked; /* the socket was full */
    /* TCP's, until it has a share; that, too, in the startup phase */
    const struct srd_transport *transport;
    struct srd_share *share; /* NULL once closed; the locks that keep the socket open guard it */
    struct srd_source bell;  /* the socket of the share */
    atomic_bool again;       /* has used up its turn */
    /* RX lock: no octet comes into the share after what is there: 1, or a negative errno; 0: some may */
    int tcp_end;
    bool soft_peer; /* set by attach: the FIN of such a peer is its last look at the stream */
    atomic_uint rx_waiting,
        tx_waiting; /* threads of the program that wait for the background thread */
    atomic_uint turn;
    atomic_uint owing; /* looks of a polling thread while an acknowledgement was owed */
    /* when the linger phase ends at the latest; from the end of the stream on, UINT64_MAX before that */
    _Atomic uint64_t close_ms;
    unsigned close_again; /* linger lock: how often that may still begin anew (util/deadline.h) */

    atomic_bool busy; /* idle.c: has had traffic of late; cleared under rx and tx lock */
    /* These belong to that list. */
    bool idle_left;      /* for ever: it has no stream any more */
    uint64_t idle_ms;    /* when it is looked at */
    uint64_t idle_mark;  /* what srd_stream_give_back compares with */
    unsigned idle_tries; /* failed tries in a row to give the share's memory back */
    struct list_node idle_node;

    /* startup phase, and what it left: under the owner's lock. From attach on there are no buffers. */
    size_t in_octets, out_octets, out_sent;
    uint8_t *in, *out; /* SRD_CONN_STARTUP_OCTETS, and behind them SRD_MPA_FRAME_MAX */

    struct lock linger_lock; /* LOCK_SRD_TX */
    uint8_t *rest;           /* linger phase: what is still to be sent */
    size_t rest_octets, rest_sent;
};

/*
 * srd_conn_create - around a non-blocking socket, which it takes over. The conn takes the caller's reference to
 * owner (given back by owner_ops->unref). Returns NULL without memory (socket and owner stay the caller's).
 */
struct srd_conn *srd_conn_create(
    int fd, const struct srd_conn_owner_ops *owner_ops, void *owner, struct lock *owner_lock);

static inline void srd_conn_ref(struct srd_conn *conn)
{
    srd_source_ref(&conn->source);
}

static inline void srd_conn_unref(struct srd_conn *conn)
{
    srd_source_unref(&conn->source);
}

/*
 * Startup phase; owner_lock held.
 * srd_conn_watch  - which readiness to wait for; hands the conn to the reactor at first. 0 or a negative errno.
 * srd_conn_send   - queue one frame and send what goes. 0 or a negative errno.
 * srd_conn_flush  - send more of it after EPOLLOUT. 0 or a negative errno.
 * srd_conn_fill   - receive into in. Octets added, 0 = end of stream, -EAGAIN, another negative errno.
 */
int srd_conn_watch(struct srd_conn *conn, bool in, bool out);
int srd_conn_send(struct srd_conn *conn, const void *octets, size_t count);
int srd_conn_flush(struct srd_conn *conn);
ssize_t srd_conn_fill(struct srd_conn *conn);

/*
 * srd_conn_attach - begin the FPDU phase on a queue pair of the device; in is what came behind the startup frame.
 * actions  out: to be given to srd_conn_started after owner_lock is dropped
 * Returns 0, EINVAL (no such queue pair, or its state cannot connect), EISCONN (it has had a connection: reset it).
 */
int srd_conn_attach(struct srd_conn *conn, struct srd_device *device, uint32_t qp_num,
    const struct srd_stream_params *params, unsigned *actions);

/* Whether it is in a state to. */
bool srd_conn_may_attach(struct srd_qp *qp);

/*
 * srd_conn_give_share - startup phase, owner_lock held: from the first FPDU on the octets go through the share, which
 * the conn takes over. The passive end before its Reply, the active one with that.
 */
void srd_conn_give_share(struct srd_conn *conn, struct srd_share *share);

void srd_conn_started(struct srd_conn *conn, unsigned actions);

/* The queue pair is going, or is reset: no thread is inside the stream when this returns. No lock held. */
void srd_conn_detach(struct srd_qp *qp);

/* Ends it without a flush (srd_stream_part), also where its attach is under way. Any lock below owner_lock. */
void srd_conn_part(struct srd_conn *conn);

/* Ends it in an orderly way, in any phase; DISCONNECTED (owner_ops->down) follows once. No lock held. */
void srd_conn_disconnect(struct srd_conn *conn);

/*
 * Closes the socket now; idempotent. owner_lock may be held, none above. Reports nothing to the owner.
 * srd_conn_close  by FIN; by a reset where a softrdma peer has ended its side, which spares that TIME_WAIT
 * srd_conn_cut    by a reset: for a peer that has said its last word and waits for none of ours
 */
void srd_conn_close(struct srd_conn *conn);
void srd_conn_cut(struct srd_conn *conn);

/* Startup phase: send what is queued, FIN, discard, close, without a report. owner_lock may be held. */
void srd_conn_linger(struct srd_conn *conn);

/*
 * srd_conn_transmit - send what the stream has. Never blocks, never recurses: if another thread is sending, it
 * sends this, too (util/lock_ask.h); if the socket is full, the reactor waits until it is writable.
 */
void srd_conn_transmit(struct srd_conn *conn);
/* srd_conn_transmit for a thread that has the TX lock of its queue pair, and needs no reference; drops the lock. */
void srd_conn_transmit_and_leave(struct srd_conn *conn);

/* Segments that TCP has sent again for its queue pair, on this connection and those before. No lock held. */
uint64_t srd_conn_retransmits(struct srd_conn *conn);

/* Carries out the actions that a stream call outside conn.c returned. No lock held. */
void srd_conn_apply(struct srd_conn *conn, unsigned actions);

#endif
