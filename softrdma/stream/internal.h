/* SPDX-License-Identifier: MIT */
/*
 * internal.h - the functions that the files of the protocol engine call of each other: stream.c; tx_message.c,
 * tx_response.c, tx_extension.c, tx_fpdu.c, tx.c (sending); rx_segment.c, rx_sink.c, rx_message.c, rx_extension.c, rx.c
 * (receiving); tell.c (the log).
 */
#ifndef SOFTRDMA_STREAM_INTERNAL_H
#define SOFTRDMA_STREAM_INTERNAL_H

#include "softrdma/wire/mpa.h"
#include "softrdma/queues/qp.h"
#include "softrdma/memory/stag.h"
#include "softrdma/stream/stream.h"
#include "util/clock.h"

struct srd_end;

enum { SRD_TX_COPY_OCTETS = 1024 }; /* payloads of up to this size are copied behind their header */

static inline enum srd_stream_phase srd_phase(struct srd_stream *stream)
{
    return (enum srd_stream_phase)atomic_load_explicit(&stream->phase, memory_order_acquire);
}

/* Returns the time that a now_ms means. */
static inline uint64_t srd_stream_ms(uint64_t now_ms)
{
    return now_ms == SRD_STREAM_NOW ? clock_now_ms() : now_ms;
}

static inline uint32_t srd_ring_used(struct srd_read_ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire) -
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* Returns the front of a ring, for the side that empties it; NULL when it is empty. */
static inline struct srd_read_in *srd_read_in_front(struct srd_stream *stream)
{
    if (!srd_ring_used(&stream->in))
        return NULL;
    return &stream->reads_in[atomic_load_explicit(&stream->in.tail, memory_order_relaxed) &
                             stream->in.mask];
}

static inline struct srd_read_out *srd_read_out_front(struct srd_stream *stream)
{
    if (!srd_ring_used(&stream->out))
        return NULL;
    return &stream->reads_out[atomic_load_explicit(&stream->out.tail, memory_order_relaxed) &
                              stream->out.mask];
}

/* Returns the next free place, for the side that fills the ring; the caller has checked that there is one. */
static inline struct srd_read_in *srd_read_in_free(struct srd_stream *stream)
{
    return &stream->reads_in[atomic_load_explicit(&stream->in.head, memory_order_relaxed) &
                             stream->in.mask];
}

static inline struct srd_read_out *srd_read_out_free(struct srd_stream *stream)
{
    return &stream->reads_out[atomic_load_explicit(&stream->out.head, memory_order_relaxed) &
                              stream->out.mask];
}

static inline void srd_ring_push(struct srd_read_ring *ring)
{
    atomic_store_explicit(&ring->head, atomic_load_explicit(&ring->head, memory_order_relaxed) + 1,
        memory_order_release);
}

static inline void srd_ring_pop(struct srd_read_ring *ring)
{
    atomic_store_explicit(&ring->tail, atomic_load_explicit(&ring->tail, memory_order_relaxed) + 1,
        memory_order_release);
}

/*
 * Returns the rights that the sink of a Read or Atomic of ours needs; strict: those of iWARP devices, whose peers
 * write.
 */
static inline int srd_sink_access(struct srd_qp *qp, const struct srd_sqe *sqe)
{
    bool strict = sqe->kind == SRD_SQE_READ && srd_device_of(qp->qp.context)->strict;

    return IBV_ACCESS_LOCAL_WRITE | (strict ? IBV_ACCESS_REMOTE_WRITE : 0);
}

/* Whether the program has disconnected, and all requests posted before that are complete. */
static inline bool srd_stream_drained(struct srd_qp *qp)
{
    return atomic_load_explicit(&qp->stream.closing, memory_order_acquire) &&
           atomic_load_explicit(&qp->sq.tail, memory_order_relaxed) == qp->stream.tx.stop;
}

/* stream.c */

/*
 * srd_stream_retire - completes the requests that are done. complete: how many Sends and Writes are known to be
 * complete by now (0: not known).
 * Returns SRD_STREAM_TX when requests wait to be sent, SRD_STREAM_END_DUE when the stream has to end now.
 */
unsigned srd_stream_retire(struct srd_qp *qp, uint64_t complete);

/* Ends an FPDU at the end of the batch. */
static inline void srd_tx_border(struct srd_tx *tx)
{
    tx->fpdu_completes[tx->n_fpdus] = false;
    tx->fpdu_end[tx->n_fpdus++] = tx->octets;
}

/* Whether a request is built in part. */
static inline bool srd_tx_in_request(const struct srd_tx *tx)
{
    return tx->source == SRD_TX_REQUEST || tx->source == SRD_TX_IMMEDIATE;
}

/* tx_message.c; LOCK_SRD_TX held */

/* Fills the batch with acknowledgements, requests and responses that wait. Actions are or-ed in. */
void srd_tx_build(struct srd_qp *qp, unsigned *actions);
/* Finds the request that a Terminate is about; false: it is about none of ours. */
bool srd_tx_attribute(struct srd_qp *qp, const struct srd_terminate *terminate, uint32_t *culprit);

/*
 * Fails a request, built or in progress, whose memory is gone; it ends the stream when all in front of it are complete.
 * Returns actions.
 */
unsigned srd_tx_fail_request(struct srd_qp *qp, uint32_t count);

/* tx.c; LOCK_SRD_TX held */

/* Ends sending: cuts the batch behind the FPDU in progress, copies the rest of that, and queues the Terminate. */
void srd_tx_halt(struct srd_qp *qp, const struct srd_end *end);
/* Whether nothing is left to be sent. */
bool srd_tx_idle(struct srd_stream *stream);

/* The cause of a stream's end, and what the end does. */
struct srd_end {
    srd_fault fault;      /* the Terminate to send; SRD_FAULT_NONE: none */
    const uint8_t *ulpdu; /* the offending segment, or NULL */
    uint32_t ulpdu_octets;
    bool has_culprit; /* the end is about a request of ours */
    uint32_t culprit; /* its count in the send queue */
    enum ibv_wc_status status;
    uint32_t vendor_err;
    enum ibv_wc_status receive_status; /* status of the receive in progress; 0 (success): flushed */
    enum ibv_event_type event;         /* the event to raise; 0 (CQ_ERR): none */
    bool keep_responses;               /* the peer's Reads from before are still answered */
    bool keep_built;                   /* the FPDUs that are built already are still sent */
    bool reset;                        /* the socket cannot be used any more */
    bool quiet;                        /* nothing is flushed: the queue pair stays as it is */
};

/* tell.c; LOCK_SRD_RX held */

/* Logs an end that sends a Terminate; called before the queues are flushed. */
void srd_tell_fault(struct srd_qp *qp, const struct srd_end *end);
/* Logs a Terminate of the peer's. end: what it means for our requests, which are not flushed yet. */
void srd_tell_terminate(
    struct srd_qp *qp, const struct srd_terminate *terminate, const struct srd_end *end);

/* stream.c; LOCK_SRD_RX held; also srd_stream_rx_end (stream.h) */

/*
 * srd_stream_fail - ends the connection, whatever the cause: stops the send side at an FPDU border, flushes both
 * queues, queues the Terminate. LOCK_SRD_RX is held. The first end counts; later ones return 0.
 */
unsigned srd_stream_fail(struct srd_qp *qp, const struct srd_end *end, uint64_t now_ms);

/* Ends the stream for the error, or the completed disconnect, that made SRD_STREAM_END_DUE. Returns actions. */
unsigned srd_stream_end_due(struct srd_qp *qp, uint64_t now_ms);
/* Drops held messages; the queue pair waits for no Receive any more. */
void srd_rx_hold_end(struct srd_qp *qp);

/* rx_segment.c; LOCK_SRD_RX held */

enum srd_rx_result { SRD_RX_DONE, SRD_RX_HOLD, SRD_RX_FAILED };

/*
 * srd_rx_segment_begin - checks a segment (RFC 5041 section 7, RFC 5040 section 7), and finds where its payload goes
 * (rx->sink). SRD_RX_HOLD: no receive is posted, and nothing has changed. SRD_RX_FAILED: the stream has ended.
 */
enum srd_rx_result srd_rx_segment_begin(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions);
/* Counts a segment whose payload is placed, and delivers the message that it ends. */
enum srd_rx_result srd_rx_segment_end(struct srd_qp *qp, uint64_t now_ms, unsigned *actions);
/* Begins, places and ends a complete segment with a Send's opcode: the usual small message. */
enum srd_rx_result srd_rx_send_whole(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions);

/* rx_sink.c; LOCK_SRD_RX held */

/* Places the next octets of the payload. */
enum srd_rx_result srd_rx_segment_place(
    struct srd_qp *qp, const uint8_t *data, uint32_t octets, uint64_t now_ms, unsigned *actions);

/*
 * srd_rx_sink - finds the memory for [offset, offset + octets) of the payload in progress, and pins it.
 * Returns the number of pieces (as many as fit in max), or -1 with *error.
 */
struct srd_piece {
    uint8_t *addr;
    uint32_t octets;
    struct srd_stag_entry *entry;
};
int srd_rx_sink(struct srd_qp *qp, uint32_t offset, uint32_t octets, struct srd_piece *pieces,
    int max, enum srd_stag_error *error);

/* Pins octets from position on of an entry of a scatter list, which is a Receive's or a request's of ours. */
static inline enum srd_stag_error srd_rx_pin_entry(struct srd_qp *qp, const struct ibv_sge *sge,
    uint64_t position, uint64_t octets, bool receive, struct srd_stag_entry **entry)
{
    uint64_t addr = sge->addr + position;

    return receive
               ? srd_stag_pin_receive(qp, &qp->stream.rx.seen, sge->lkey, addr, octets, entry)
               : srd_stag_pin(qp, sge->lkey, addr, octets, IBV_ACCESS_LOCAL_WRITE, false, entry);
}

/*
 * Ends the stream because the place of a payload is gone or was never valid: the peer named it, or a request of ours.
 */
enum srd_rx_result srd_rx_sink_failed(
    struct srd_qp *qp, enum srd_stag_error error, uint64_t now_ms, unsigned *actions);

/* Ends the stream for a fault in the segment at ulpdu. */
enum srd_rx_result srd_rx_fault(struct srd_qp *qp, srd_fault fault, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions);

/* Ends the stream for a fault in the segment in progress. */
static inline enum srd_rx_result srd_rx_fault_here(
    struct srd_qp *qp, srd_fault fault, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    return srd_rx_fault(qp, fault, rx->ulpdu, rx->ulpdu_octets, now_ms, actions);
}

/* Notes the peer's first valid FPDU, which lets a responder send (RFC 5044 section 7.1.3). */
void srd_rx_first_fpdu(struct srd_qp *qp, unsigned *actions);

/* Counts a complete message of the peer's, which has to be acknowledged. */
void srd_rx_count_message(struct srd_qp *qp, unsigned *actions);
/* Completes the oldest Read or Atomic of ours, which has its response. */
void srd_rx_read_over(struct srd_qp *qp, unsigned *actions);

/* rx_extension.c; LOCK_SRD_RX held */

/* Takes a whole message of RFC 7306. SRD_RX_HOLD: it needs a Receive, none is posted, and nothing has changed. */
enum srd_rx_result srd_rx_extension(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions);

/* rx_message.c; LOCK_SRD_RX held */

/* Takes a complete segment: begins, places and ends it; or does what a message without data asks for. */
enum srd_rx_result srd_rx_segment_whole(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions);

/* The hold: messages that wait for a receive, and everything behind them. */

enum srd_rx_result srd_rx_hold_begin(struct srd_qp *qp, uint64_t now_ms);
/* Takes a complete segment while messages wait: acts on it if it need not wait, else keeps it. SRD_RX_HOLD: no room. */
enum srd_rx_result srd_rx_hold_segment(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions);
/*
 * Acts on held messages after receives were posted. SRD_RX_HOLD: a message still waits. SRD_RX_DONE: none is held any
 * more.
 */
enum srd_rx_result srd_rx_hold_replay(struct srd_qp *qp, uint64_t now_ms, unsigned *actions);

/* stream.c: any lock */

/* Return the fault of a refused look-up: of a tagged sink, of a Read Request's source, of an Invalidate STag. */
srd_fault srd_fault_of_sink(enum srd_stag_error error);
srd_fault srd_fault_of_source(enum srd_stag_error error);
srd_fault srd_fault_of_invalidate(enum srd_stag_error error);

#endif
