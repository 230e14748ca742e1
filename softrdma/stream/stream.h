/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the protocol engine of one connection: bytes in, bytes out, the clock passed in (or SRD_STREAM_NOW). It
 * has no sockets, threads or timers of its own, so a test can join two of them in memory.
 *
 * A stream belongs to a queue pair (embedded there) and works on its send queue, receive queue, completion queues and
 * the STag table. The connection (conn.h) owns the socket and calls in:
 *
 *   receiving  (LOCK_SRD_RX held)   srd_stream_rx_space -> where the next octets go, headers to staging, large
 *                                   payloads straight into registered memory; srd_stream_rx -> they are there
 *   sending    (LOCK_SRD_TX held)   srd_stream_tx -> what to send next, gathered from headers and registered memory;
 *                                   srd_stream_tx_done -> so much of it is gone
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
 * A now_ms: the stream reads the clock itself if it has to set a deadline. Most octets set none, and reading the clock
 * takes tens of nanoseconds. Not for srd_stream_timer.
 */
#define SRD_STREAM_NOW UINT64_MAX

/* What a call into the stream wants from the connection, or'ed. The caller acts after dropping its locks. */
enum srd_stream_action {
    SRD_STREAM_TX = 1 << 0,          /* there is something to send */
    SRD_STREAM_ESTABLISHED = 1 << 1, /* responder: the first FPDU was valid */
    SRD_STREAM_DOWN = 1 << 2, /* the connection is over; the queue pair is in error and flushed */
    SRD_STREAM_SHUTDOWN =
        1 << 3, /* when everything is sent: shut the write side, then drain the read side */
    SRD_STREAM_CLOSE = 1 << 4, /* close the socket now */
    SRD_STREAM_SETTLE =
        1 << 5, /* take LOCK_SRD_RX and call srd_stream_timer: the send side found an error */
    SRD_STREAM_RX =
        1 << 6, /* read: srd_stream_rx_space had said stop, or a thread came to, in vain */
    SRD_STREAM_LATE = 1 << 7, /* with CLOSE: the peer did not close its side in time */
    SRD_STREAM_RING =
        1
        << 8, /* by srd_stream_tx: a peer that sleeps is to see what srd_stream_by_words gave it */
};

/*
 * srd_stream_start - begin the FPDU phase on qp's stream. surplus: octets that came behind the startup frame.
 * Returns actions. On the initiator the RTR frame is queued but goes out, like everything, only after
 * srd_stream_release (rdma_establish); the responder's sends are held until the first FPDU, or that call if it may
 * speak first.
 */
unsigned srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms);
unsigned srd_stream_release(struct srd_qp *qp);

/* Receive side; LOCK_SRD_RX held. Returns the number of iov entries, at most SRD_RX_IOV, 0 = stop reading for now. */
int srd_stream_rx_space(struct srd_qp *qp, struct iovec iov[SRD_RX_IOV]);
unsigned srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms);
/*
 * In place of srd_stream_rx: the kernel could not store there (EFAULT). The rest of the payload goes through staging,
 * where the copy finds the unmapped memory. False: it was not the program's memory.
 */
bool srd_stream_rx_fault(struct srd_qp *qp);
/* End of stream: error 0 = FIN, else the errno of the socket. Nothing is read after it. */
unsigned srd_stream_rx_end(struct srd_qp *qp, int error, uint64_t now_ms);

/*
 * Over memory that both ends have, they acknowledge by words in it, in place of FPDUs.
 * srd_stream_by_words   before start, or when the memory goes (NULL, NULL); both locks are free
 *   tells  where this end says how many messages of the peer's are complete
 *   told   where the peer does; read once for each use, and checked
 * srd_stream_has_heard  LOCK_SRD_RX held: the peer has said nothing new, or the stream has ended and hears no more
 * srd_stream_hear       LOCK_SRD_RX held, after the octets were looked for and before what came is given to
 *                       srd_stream_rx: a Terminate is about what was not acknowledged before it. Returns actions.
 */
void srd_stream_by_words(struct srd_qp *qp, _Atomic uint64_t *tells, const _Atomic uint64_t *told);
bool srd_stream_has_heard(const struct srd_qp *qp);
unsigned srd_stream_hear(struct srd_qp *qp, uint64_t now_ms);

/*
 * Send side; LOCK_SRD_TX held from tx to tx_done. Returns iov entries (0 = nothing); what tx_done did not take is
 * offered again. Actions are or-ed into *actions: a call that has nothing to send may want something, too.
 */
int srd_stream_tx(
    struct srd_qp *qp, struct iovec iov[SRD_TX_IOV], uint64_t now_ms, unsigned *actions);
unsigned srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms);
/* Whether srd_stream_tx may have something now; false only where it has nothing, and wants nothing. */
bool srd_stream_has_more(struct srd_qp *qp);
/*
 * In place of srd_stream_tx_done: the kernel could not read it (EFAULT). Removes from the batch the FPDU whose memory
 * is gone and everything behind it, and fails the request or the response; if that FPDU is half sent, closes the
 * connection at once. The caller goes on with the rest of the batch. Returns actions.
 */
unsigned srd_stream_tx_fault(struct srd_qp *qp);

/* LOCK_SRD_RX held, and given up. Returns actions: whether a thread that came to read has found the lock taken. */
unsigned srd_stream_leave_rx(struct srd_qp *qp);

/* Earliest moment srd_stream_timer has something to do; UINT64_MAX = none. Timer: LOCK_SRD_RX held. */
uint64_t srd_stream_deadline_ms(struct srd_qp *qp);
unsigned srd_stream_timer(struct srd_qp *qp, uint64_t now_ms);

/*
 * srd_stream_disconnect - the program ends the connection: what is queued before is sent, the queue pair goes to the
 * error state and flushes (both queues, in order, each once), then FIN.
 */
unsigned srd_stream_disconnect(struct srd_qp *qp, uint64_t now_ms);

/*
 * Of a queue pair whose peer was named by number and address (quiet_end).
 * srd_stream_part         the connection is given up, and nothing is flushed; owner_lock held. Returns actions.
 * srd_stream_unreachable  no lock held: there is no connection. If requests are queued, the first fails with
 *                         IBV_WC_RETRY_EXC_ERR, both queues are flushed, and the queue pair is in the error state
 */
unsigned srd_stream_part(struct srd_qp *qp, uint64_t now_ms);
void srd_stream_unreachable(struct srd_qp *qp, uint64_t now_ms);

/* Whether an acknowledgement is owed: it rides on the next data, or goes alone when that is too long in coming. */
bool srd_stream_owes_ack(struct srd_qp *qp);
/* Whether it could be sent now: not before the program of an initiator confirms. */
bool srd_stream_may_ack(struct srd_qp *qp);

/*
 * srd_stream_give_back - frees the staging's memory if the stream is idle; LOCK_SRD_RX and LOCK_SRD_TX held.
 * mark  in, out: what has come and gone until now; 0 at first
 * Returns whether it is idle: nothing has come or gone since the last call, nothing is under way.
 */
bool srd_stream_give_back(struct srd_qp *qp, uint64_t *mark);

/* Receives were posted for a held message; LOCK_SRD_RX held. */
unsigned srd_stream_resume(struct srd_qp *qp, uint64_t now_ms);

/*
 * The program moved the queue pair to the error state, or destroys it: both queues are flushed, the FPDU under way is
 * completed, then FIN, without a Terminate. The peer's requests are flushed, too. No lock held.
 */
unsigned srd_stream_abort(struct srd_qp *qp, uint64_t now_ms);

#endif
