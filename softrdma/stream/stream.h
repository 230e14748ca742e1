/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the protocol engine of one connection: it takes and returns octets, and its callers pass the time (or
 * SRD_STREAM_NOW). It has no sockets, threads or timers of its own, so a test can join two streams in memory.
 *
 * A stream belongs to a queue pair (embedded there) and works on its send queue, receive queue, completion queues and
 * the STag table. The connection (conn.h) owns the socket and calls in:
 *
 *   receiving  (LOCK_SRD_RX held)   srd_stream_rx_space says where the next octets go: headers to staging, large
 *                                   payloads straight into registered memory; srd_stream_rx takes them
 *   sending    (LOCK_SRD_TX held)   srd_stream_tx says what to send next, gathered from headers and registered memory;
 *                                   srd_stream_tx_done notes how much of it was sent
 *   time                            srd_stream_deadline_ms / srd_stream_timer
 *
 * The receive side never blocks on the send side: it records what this end owes (read responses, acknowledgements, a
 * Terminate), and reports SRD_STREAM_TX.
 *
 * Standard: RFC 5044 (FPDU), 5041 (DDP), 5040 (RDMAP). Extension between two softrdma ends: acknowledgements, see
 * docs/wire.md.
 */
#ifndef SOFTRDMA_STREAM_STREAM_H
#define SOFTRDMA_STREAM_STREAM_H

#include "softrdma/queues/stream_state.h"

struct srd_qp;
struct srd_stream;

/*
 * A value of now_ms: the stream reads the clock itself if it has to set a deadline. Most octets set none, and reading
 * the clock takes tens of nanoseconds. srd_stream_timer does not take it.
 */
#define SRD_STREAM_NOW UINT64_MAX

/* The actions that a call into the stream wants of the connection, or'ed. The caller acts after dropping its locks. */
enum srd_stream_action {
    SRD_STREAM_TX = 1 << 0,          /* send */
    SRD_STREAM_ESTABLISHED = 1 << 1, /* report ESTABLISHED: the responder's first FPDU was valid */
    SRD_STREAM_DOWN = 1 << 2, /* report the end; the queue pair is in the error state and flushed */
    /* shut the write side when everything is sent, then drain the read side */
    SRD_STREAM_SHUTDOWN = 1 << 3,
    SRD_STREAM_CLOSE = 1 << 4, /* close the socket now */
    /* take LOCK_SRD_RX and call srd_stream_timer, which ends the stream for an error that the send side found */
    SRD_STREAM_END_DUE = 1 << 5,
    /* read: srd_stream_rx_space had returned 0, or a thread that wanted to read found the lock taken */
    SRD_STREAM_RX = 1 << 6,
    SRD_STREAM_LATE = 1 << 7, /* a reason for CLOSE: the peer did not close its side in time */
    /* ring: srd_stream_tx has stored a word of srd_stream_by_words, which a peer that sleeps has to see */
    SRD_STREAM_RING = 1 << 8,
};

/*
 * srd_stream_start - begins the FPDU phase on qp's stream. surplus: octets that came behind the startup frame.
 * Returns actions. The initiator queues the RTR, but sends nothing before srd_stream_release (rdma_establish). The
 * responder sends nothing before the first FPDU, or before srd_stream_release if it may speak first.
 */
unsigned srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms);
unsigned srd_stream_release(struct srd_qp *qp);

/* The receive side; LOCK_SRD_RX is held. Returns the number of iov entries; 0: stop reading for now. */
int srd_stream_rx_space(struct srd_qp *qp, struct iovec iov[SRD_RX_IOV]);
unsigned srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms);
/*
 * Called in place of srd_stream_rx when the kernel could not store the octets (EFAULT). The rest of the payload goes
 * through staging, where the copy finds the unmapped memory. False: it was not the program's memory.
 */
bool srd_stream_rx_fault(struct srd_qp *qp);
/* The peer's stream has ended: error 0 is a FIN, others are the socket's errno. Nothing is read after it. */
unsigned srd_stream_rx_end(struct srd_qp *qp, int error, uint64_t now_ms);

/*
 * Two ends that share memory acknowledge by words in it, in place of FPDUs.
 * srd_stream_by_words   sets the words, before srd_stream_start, or unsets them before the memory is unmapped (NULL,
 *                       NULL); both locks are free
 *   tells  the word in which this end stores how many messages of the peer's are complete
 *   told   the peer's word; it is read once for each use, and checked
 * srd_stream_has_heard  whether the peer's word is unchanged, or the stream has ended and reads it no more; LOCK_SRD_RX
 *                       is held
 * srd_stream_hear       reads the peer's word; LOCK_SRD_RX is held. The caller looks for octets before it, and gives
 *                       them to srd_stream_rx after it, since a Terminate is about requests that were not acknowledged
 *                       before it. Returns actions
 */
void srd_stream_by_words(struct srd_qp *qp, _Atomic uint64_t *tells, const _Atomic uint64_t *told);
bool srd_stream_has_heard(const struct srd_qp *qp);
unsigned srd_stream_hear(struct srd_qp *qp, uint64_t now_ms);

/*
 * The send side; LOCK_SRD_TX is held from tx to tx_done. Returns the number of iov entries (0: nothing to send). Octets
 * that tx_done does not count are offered again. Actions are or-ed into *actions, also when there is nothing to send.
 */
int srd_stream_tx(
    struct srd_qp *qp, struct iovec iov[SRD_TX_IOV], uint64_t now_ms, unsigned *actions);
unsigned srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms);
/* Whether srd_stream_tx may have something to send now; false only if it has nothing, and wants no action. */
bool srd_stream_has_more(struct srd_qp *qp);
/*
 * Called in place of srd_stream_tx_done when the kernel could not read the octets (EFAULT). Removes from the batch the
 * FPDU whose memory is gone and everything behind it, and fails the request or the response; if that FPDU is half sent,
 * closes the connection at once. The caller goes on with the rest of the batch. Returns actions.
 */
unsigned srd_stream_tx_fault(struct srd_qp *qp);

/* Gives LOCK_SRD_RX up. Returns actions: SRD_STREAM_RX if a thread that wanted to read has found the lock taken. */
unsigned srd_stream_leave_rx(struct srd_qp *qp);

/*
 * Returns the earliest time at which srd_stream_timer, which needs LOCK_SRD_RX, has something to do; UINT64_MAX: never.
 */
uint64_t srd_stream_deadline_ms(struct srd_qp *qp);
unsigned srd_stream_timer(struct srd_qp *qp, uint64_t now_ms);

/*
 * srd_stream_disconnect - ends the connection for the program: requests that are queued are sent, then the queue pair
 * goes to the error state and flushes both queues in order, then a FIN is sent.
 */
unsigned srd_stream_disconnect(struct srd_qp *qp, uint64_t now_ms);

/*
 * These are for a queue pair whose peer was named by number and address (quiet_end).
 * srd_stream_part         gives the connection up, and flushes nothing; owner_lock is held. Returns actions
 * srd_stream_unreachable  called when there is no connection, without a lock: if requests are queued, the first fails
 *                         with IBV_WC_RETRY_EXC_ERR, both queues are flushed, and the queue pair is in the error state
 */
unsigned srd_stream_part(struct srd_qp *qp, uint64_t now_ms);
void srd_stream_unreachable(struct srd_qp *qp, uint64_t now_ms);

/* Whether an acknowledgement is owed. It is sent with the next data, or alone when no data is sent in time. */
bool srd_stream_owes_ack(struct srd_qp *qp);
/* Whether it could be sent now: an initiator sends nothing before its program confirms the connection. */
bool srd_stream_may_ack(struct srd_qp *qp);

/*
 * srd_stream_give_back - frees the staging's memory if the stream is idle; LOCK_SRD_RX and LOCK_SRD_TX are held.
 * mark  in, out: the amount of traffic until now; 0 at first
 * Returns whether the stream is idle: no traffic since the last call, nothing under way.
 */
bool srd_stream_give_back(struct srd_qp *qp, uint64_t *mark);

/* Goes on with a held message after receives were posted; LOCK_SRD_RX is held. Returns actions. */
unsigned srd_stream_resume(struct srd_qp *qp, uint64_t now_ms);

/*
 * Called when the program moves the queue pair to the error state, or destroys it: both queues are flushed, the FPDU
 * under way is sent whole, then a FIN, without a Terminate. The peer flushes its requests, too. No lock is held.
 */
unsigned srd_stream_abort(struct srd_qp *qp, uint64_t now_ms);

#endif
