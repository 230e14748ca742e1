/* SPDX-License-Identifier: MIT */
/*
 * rx_segment.c - checks an incoming segment, has its payload placed (rx_sink.c), and delivers the message that it ends.
 *
 * The order of the checks is that of RFC 5041 section 7.1 and RFC 5040 section 7.1: ddp.c has checked versions and
 * opcode; then come queue, sequence, buffer, offset, length; for tagged segments the STag. STags are looked up again
 * for every segment and for every piece placed, so memory that was invalidated in between is not reached any more.
 */
#include "softrdma/memory/dma.h"
#include "softrdma/stream/internal.h"

#include <endian.h>
#include <string.h>

/* Whether a segment asks for a response. */
static bool is_read(const uint8_t *ulpdu)
{
    uint8_t opcode = ulpdu ? ulpdu[1] & 15 : SRD_OP_SEND;

    return opcode == SRD_OP_READ_REQUEST || opcode == SRD_OP_ATOMIC_REQUEST;
}

enum srd_rx_result srd_rx_fault(struct srd_qp *qp, srd_fault fault, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_end end = { .fault = fault,
        .ulpdu = ulpdu,
        .ulpdu_octets = ulpdu_octets,
        .keep_responses = qp->stream.params.soft_peer,
        .event = IBV_EVENT_QP_FATAL };

    switch (fault >> 8) {
    case 0x01:
    case 0x11: end.event = IBV_EVENT_QP_ACCESS_ERR; break;
    default: break;
    }
    if (fault == SRD_FAULT_TAGGED_VERSION)
        end.event = IBV_EVENT_QP_FATAL;
    if (fault == SRD_FAULT_INVALIDATE)
        end.event = IBV_EVENT_QP_ACCESS_ERR;
    if (fault == SRD_FAULT_INVALIDATE || fault == SRD_FAULT_PROTECTION_INVALIDATE)
        end.receive_status = IBV_WC_REM_INV_REQ_ERR;
    if (fault == SRD_FAULT_TOO_LONG)
        end.receive_status = IBV_WC_LOC_LEN_ERR;
    if (fault == SRD_FAULT_MISALIGNED || (fault == SRD_FAULT_NO_BUFFER && is_read(ulpdu)))
        end.event = IBV_EVENT_QP_REQ_ERR;
    *actions |= srd_stream_fail(qp, &end, now_ms);
    return SRD_RX_FAILED;
}

/* --- begin ------------------------------------------------------------------------------------------------------ */

/* RFC 5044 section 7.1.3: the responder may send once it has had a valid FPDU. */
void srd_rx_first_fpdu(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;

    stream->rx.first_seen = true;
    if (stream->params.initiator)
        return;
    atomic_store_explicit(&stream->open, true, memory_order_release);
    *actions |= SRD_STREAM_TX | (stream->params.rtr_expected ? SRD_STREAM_ESTABLISHED : 0);
}

static enum srd_rx_result begin_send(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    const struct srd_segment *segment = &rx->segment;
    uint64_t end;

    if (segment->msn != rx->send_msn || (rx->send_open && segment->opcode != rx->send_opcode))
        return srd_rx_fault_here(qp, SRD_FAULT_MSN, now_ms, actions);
    if (segment->mo != rx->send_mo)
        return srd_rx_fault_here(qp, SRD_FAULT_MO, now_ms, actions);
    if (!rx->send_open) {
        if (!srd_rq_take(qp, &rx->receive))
            return SRD_RX_HOLD;
        rx->receiving = rx->send_open = true;
        rx->send_opcode = segment->opcode;
    }
    end = (uint64_t)rx->send_mo + rx->payload;
    if (end > rx->receive.octets || end > UINT32_MAX)
        return srd_rx_fault_here(qp, SRD_FAULT_TOO_LONG, now_ms, actions);
    rx->sink = SRD_SINK_RECEIVE;
    return SRD_RX_DONE;
}

static enum srd_rx_result begin_write(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_stag_entry *entry;
    enum srd_stag_error error;

    rx->sink = SRD_SINK_WRITE;
    if (!rx->payload)
        return SRD_RX_DONE;
    error = srd_stag_pin(
        qp, rx->segment.stag, rx->segment.to, rx->payload, IBV_ACCESS_REMOTE_WRITE, true, &entry);
    if (error)
        return srd_rx_fault_here(qp, srd_fault_of_sink(error), now_ms, actions);
    srd_stag_unpin(entry);
    return SRD_RX_DONE;
}

/* A response must be just the next piece of the oldest Read (RFC 5040 section 5.2.1). */
static enum srd_rx_result begin_response(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_read_out *read = srd_read_out_front(&qp->stream);
    struct srd_end end = { .fault = SRD_FAULT_TAGGED_STAG,
        .ulpdu = rx->ulpdu,
        .ulpdu_octets = rx->ulpdu_octets,
        .event = IBV_EVENT_QP_FATAL };
    bool ends;

    rx->sink = SRD_SINK_RESPONSE;
    if (read && read->atomic) {
        end.has_culprit = true;
        end.culprit = read->count;
        end.status = IBV_WC_BAD_RESP_ERR;
    } else if (read) {
        ends = rx->payload == read->octets - read->received;
        if (!read->octets && !rx->payload && rx->segment.last)
            return SRD_RX_DONE; /* STag and offset of an empty response are not checked */
        if (rx->segment.stag == read->stag)
            end.fault = SRD_FAULT_TAGGED_BOUNDS;
        if (rx->segment.stag == read->stag && rx->segment.to == read->received &&
            rx->payload <= read->octets - read->received && rx->segment.last == ends)
            return SRD_RX_DONE;
        end.has_culprit = read->sqe != NULL;
        end.culprit = read->count;
        end.status = IBV_WC_BAD_RESP_ERR;
    }
    *actions |= srd_stream_fail(qp, &end, now_ms);
    return SRD_RX_FAILED;
}

/* Decodes the header of the segment in progress, and keeps a copy. */
static inline srd_fault take_header(
    struct srd_rx *rx, const uint8_t *ulpdu, uint32_t ulpdu_octets, uint32_t header)
{
    srd_fault fault = srd_segment_decode(&rx->segment, ulpdu);

    memcpy(rx->ulpdu, ulpdu, header);
    rx->ulpdu_octets = ulpdu_octets;
    rx->payload = ulpdu_octets - header;
    rx->placed = 0;
    rx->sink = SRD_SINK_NONE;
    return fault;
}

enum srd_rx_result srd_rx_segment_begin(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    srd_fault fault = take_header(rx, ulpdu, ulpdu_octets, srd_segment_octets(ulpdu[0] & 0x80));

    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault_here(qp, fault, now_ms, actions);
    switch (rx->segment.opcode) {
    case SRD_OP_WRITE: return begin_write(qp, now_ms, actions);
    case SRD_OP_READ_RESPONSE: return begin_response(qp, now_ms, actions);
    default: return begin_send(qp, now_ms, actions);
    }
}

/* --- end -------------------------------------------------------------------------------------------------------- */

void srd_rx_count_message(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    uint64_t complete = atomic_load_explicit(&stream->rx_complete, memory_order_relaxed) + 1;

    atomic_store_explicit(&stream->rx_complete, complete, memory_order_release);
    if (!stream->params.soft_peer)
        return;
    if (rx->ack_octets >= SRD_ACK_OCTETS ||
        complete - atomic_load_explicit(&stream->acked_sent, memory_order_relaxed) >=
            SRD_ACK_MESSAGES) {
        rx->ack_octets = 0;
        *actions |= SRD_STREAM_TX;
    }
}

enum { IMMEDIATE = SRD_SEND_IMMEDIATE, SEND_OPCODES = 2 * SRD_SEND_IMMEDIATE };

/* Tables by opcode: whether a Send has an STag to invalidate or immediate data; whether it is solicited. */
static const bool has_word[SEND_OPCODES] = {
    [SRD_OP_SEND_INV] = true,
    [SRD_OP_SEND_SE_INV] = true,
    [SRD_OP_SEND | IMMEDIATE] = true,
    [SRD_OP_SEND_SE | IMMEDIATE] = true,
    [SRD_OP_SEND_INV | IMMEDIATE] = true,
    [SRD_OP_SEND_SE_INV | IMMEDIATE] = true,
};
static const bool solicits[SEND_OPCODES] = {
    [SRD_OP_SEND_SE] = true,
    [SRD_OP_SEND_SE_INV] = true,
    [SRD_OP_SEND_SE | IMMEDIATE] = true,
    [SRD_OP_SEND_SE_INV | IMMEDIATE] = true,
};

/*
 * Takes the field of the Invalidate STag of a Send's last segment: invalidates it, or returns immediate data. The flag
 * of immediate data is a reserved bit for other peers, and means nothing in a Send that invalidates.
 */
static srd_fault take_word(struct srd_qp *qp, unsigned opcode, unsigned *flags, uint32_t *word)
{
    uint32_t stag = qp->stream.rx.segment.stag;

    opcode &= ~(unsigned)IMMEDIATE;
    if (opcode == SRD_OP_SEND_INV || opcode == SRD_OP_SEND_SE_INV) {
        *flags = IBV_WC_WITH_INV;
        *word = stag;
        return srd_fault_of_invalidate(srd_stag_invalidate(qp, stag, true));
    }
    if (qp->stream.params.soft_peer) {
        *flags = IBV_WC_WITH_IMM;
        *word = htobe32(stag);
    }
    return SRD_FAULT_NONE;
}

static enum srd_rx_result end_send(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    unsigned opcode = rx->ulpdu[1] & (SRD_SEND_IMMEDIATE | 15), flags = 0;
    uint32_t word = 0;

    rx->send_mo += rx->payload;
    if (!rx->segment.last)
        return SRD_RX_DONE;
    if (has_word[opcode]) { /* invalidates before the program can see the completion */
        srd_fault fault = take_word(qp, opcode, &flags, &word);

        if (fault != SRD_FAULT_NONE)
            return srd_rx_fault_here(qp, fault, now_ms, actions);
    }
    rx->receiving = rx->send_open = false;
    srd_receive_complete(
        qp, rx->receive.wr_id, IBV_WC_SUCCESS, rx->send_mo, flags, word, solicits[opcode]);
    rx->send_mo = 0;
    rx->send_msn++;
    srd_rx_count_message(qp, actions);
    return SRD_RX_DONE;
}

static bool is_rtr(const struct srd_stream *stream)
{
    const struct srd_rx *rx = &stream->rx;

    return !stream->params.initiator && !rx->first_seen &&
           stream->params.rtr == SRD_MPA_RTR_WRITE && !rx->payload;
}

static inline void read_over(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_read_out *read = srd_read_out_front(stream);

    if (read->sqe) {
        lock_acquire(&qp->sq.lock);
        read->sqe->done = true;
        lock_release(&qp->sq.lock);
    }
    srd_ring_pop(&stream->out);
    *actions |= srd_stream_retire(qp, 0);
}

void srd_rx_read_over(struct srd_qp *qp, unsigned *actions)
{
    read_over(qp, actions);
}

static void end_response(struct srd_qp *qp, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    srd_read_out_front(&qp->stream)->received += rx->payload;
    rx->response_open = !rx->segment.last;
    if (rx->segment.last)
        read_over(qp, actions);
}

/* Does what the ends of all segments have in common. */
static inline void count_segment(struct srd_qp *qp, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    if (!rx->first_seen)
        srd_rx_first_fpdu(qp, actions);
    rx->ack_octets += rx->payload;
}

enum srd_rx_result srd_rx_segment_end(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    bool rtr = rx->sink == SRD_SINK_WRITE && is_rtr(stream);

    count_segment(qp, actions);
    switch (rx->sink) {
    case SRD_SINK_RECEIVE: return end_send(qp, now_ms, actions);
    case SRD_SINK_WRITE:
        rx->write_octets = rx->payload + (rx->write_open ? rx->write_octets : 0);
        rx->write_open = !rx->segment.last;
        if (rx->segment.last && !rtr)
            srd_rx_count_message(qp, actions);
        break;
    case SRD_SINK_RESPONSE: end_response(qp, actions); break;
    default: break;
    }
    return SRD_RX_DONE;
}

/* --- a Send that is there completely ------------------------------------------------------------------------------ */

/* srd_rx_segment_place for a whole payload (> 0), with a quick path for one entry that is no fast region. */
static inline enum srd_rx_result place_send(
    struct srd_qp *qp, const uint8_t *data, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    const struct ibv_sge *sge = rx->receive.sge;
    struct srd_stag_entry *entry;
    enum srd_stag_error error;
    bool placed;

    if (rx->receive.num_sge != 1)
        return srd_rx_segment_place(qp, data, rx->payload, now_ms, actions);
    error = srd_rx_pin_entry(qp, sge, rx->send_mo, rx->payload, true, &entry);
    if (error)
        return srd_rx_sink_failed(qp, error, now_ms, actions);
    if (__builtin_expect(entry->max_pages, 0)) {
        srd_stag_unpin(entry);
        return srd_rx_segment_place(qp, data, rx->payload, now_ms, actions);
    }
    placed =
        srd_dma_place((uint8_t *)(uintptr_t)(sge->addr + rx->send_mo), data, rx->payload, false);
    srd_stag_unpin(entry);
    return placed ? SRD_RX_DONE : srd_rx_sink_failed(qp, SRD_STAG_GONE, now_ms, actions);
}

enum srd_rx_result srd_rx_send_whole(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    srd_fault fault = take_header(rx, ulpdu, ulpdu_octets, SRD_DDP_UNTAGGED_OCTETS);
    enum srd_rx_result result;

    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault_here(qp, fault, now_ms, actions);
    result = begin_send(qp, now_ms, actions);
    if (result == SRD_RX_DONE && rx->payload)
        result = place_send(qp, ulpdu + SRD_DDP_UNTAGGED_OCTETS, now_ms, actions);
    if (result != SRD_RX_DONE)
        return result;
    count_segment(qp, actions);
    return end_send(qp, now_ms, actions);
}
