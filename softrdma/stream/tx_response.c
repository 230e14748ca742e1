/* SPDX-License-Identifier: MIT */
/* tx_response.c - builds responses to the peer's Reads and Atomics, in the order of their requests. */
#include "softrdma/stream/tx_fpdu.h"

/* Adds one FPDU of a response, from the memory that the peer named. */
static enum srd_stag_error put_response(struct srd_qp *qp, const struct srd_read_in *read,
    const struct srd_segment *segment, uint32_t octets)
{
    uint32_t key = read->request.source_stag;
    uint64_t addr = read->request.source_to + read->sent;
    enum srd_stag_error error = SRD_STAG_OK;
    struct srd_tx_fpdu fpdu;

    if (octets <= SRD_TX_COPY_OCTETS) {
        uint8_t *to = srd_tx_small_begin(&qp->stream.tx, segment, octets);

        if (octets)
            error = srd_tx_small_fetch(qp, to, key, addr, octets, true);
        if (!error)
            srd_tx_small_end(qp, to + octets);
        return error;
    }
    srd_tx_fpdu_begin(qp, &fpdu, segment, octets);
    error = srd_tx_fpdu_memory(qp, &fpdu, key, addr, octets, true);
    if (error)
        srd_tx_fpdu_undo(qp, &fpdu);
    else
        srd_tx_fpdu_end(qp, &fpdu);
    return error;
}

/* Builds one segment of the oldest response to a Read (RFC 5040 section 5.3). Returns whether to go on. */
static bool read_response(struct srd_qp *qp, struct srd_read_in *read, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint32_t most = srd_tx_payload_max(stream, true), octets = read->request.octets - read->sent;
    struct srd_segment segment = { .tagged = true, .opcode = SRD_OP_READ_RESPONSE };
    enum srd_stag_error error;

    if (octets > most)
        octets = most;
    segment.last = read->sent + octets == read->request.octets;
    segment.stag = read->request.sink_stag;
    segment.to = read->request.sink_to + read->sent;
    error = put_response(qp, read, &segment, octets);
    if (error) {
        tx->response_fault = srd_fault_of_source(error);
        atomic_store_explicit(&stream->end_due, true, memory_order_release);
        *actions |= SRD_STREAM_END_DUE;
        return false;
    }
    read->sent += octets;
    tx->source = SRD_TX_RESPONSE;
    if (segment.last) {
        tx->source = SRD_TX_NONE;
        tx->last_source = SRD_TX_RESPONSE;
        /* Frees the place now: a peer that has the response may send another request. */
        srd_ring_pop(&stream->in);
    }
    return true;
}

bool srd_tx_response(struct srd_qp *qp, unsigned *actions)
{
    struct srd_read_in *read = srd_read_in_front(&qp->stream);

    if (!read->atomic)
        return read_response(qp, read, actions);
    srd_tx_atomic_response(qp, read);
    return true;
}
