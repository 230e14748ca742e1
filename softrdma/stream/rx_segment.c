/* SPDX-License-Identifier: MIT */
/*
 * rx_segment.c - one incoming segment: checks, placement, delivery of the message it ends.
 *
 * The order of the checks is that of RFC 5041 section 7.1 and RFC 5040 section 7.1: versions and opcode are done
 * (ddp.c), then queue, sequence, buffer, offset, length; for tagged ones the STag. STags are looked up again for every
 * segment and for every piece placed: what was invalidated in between is not reached any more.
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

/* The segment in progress is wrong. */
static enum srd_rx_result fault_here(
    struct srd_qp *qp, srd_fault fault, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    return srd_rx_fault(qp, fault, rx->ulpdu, rx->ulpdu_octets, now_ms, actions);
}

/* --- where a payload goes --------------------------------------------------------------------------------------- */

/* add_range for a fast region. */
static uint32_t add_pages(struct srd_stag_entry *entry, uint64_t addr, uint32_t octets,
    struct srd_piece *pieces, int *n, int max)
{
    uint32_t added = 0;

    for (;;) {
        struct srd_piece *piece = &pieces[(*n)++];

        *piece = (struct srd_piece){ .octets = octets - added, .entry = entry };
        piece->addr = srd_stag_at(entry, addr + added, &piece->octets);
        added += piece->octets;
        if (added == octets || *n == max)
            return added;
        srd_stag_pin_again(entry);
    }
}

/* Adds pieces of a range while there is room, each with a pin; the first has the caller's. Returns octets. */
static inline uint32_t add_range(struct srd_stag_entry *entry, uint64_t addr, uint32_t octets,
    struct srd_piece *pieces, int *n, int max)
{
    if (__builtin_expect(entry->max_pages, 0))
        return add_pages(entry, addr, octets, pieces, n, max);
    pieces[(*n)++] = (struct srd_piece){ (uint8_t *)(uintptr_t)addr, octets, entry };
    return octets;
}

/* Pieces of a scatter list from octet position on. */
static int scatter(struct srd_qp *qp, const struct ibv_sge *sge, uint32_t num_sge,
    uint64_t position, uint32_t octets, struct srd_piece *pieces, int max,
    enum srd_stag_error *error)
{
    struct srd_stag_entry *entry;
    int n = 0;

    for (uint32_t i = 0; i < num_sge && octets && n < max; i++) {
        uint64_t here = sge[i].length;

        if (position >= here) {
            position -= here;
            continue;
        }
        here -= position;
        if (here > octets)
            here = octets;
        *error = srd_stag_pin(
            qp, sge[i].lkey, sge[i].addr + position, here, IBV_ACCESS_LOCAL_WRITE, false, &entry);
        if (*error) {
            while (n)
                srd_stag_unpin(pieces[--n].entry);
            return -1;
        }
        octets -= add_range(entry, sge[i].addr + position, (uint32_t)here, pieces, &n, max);
        position = 0;
    }
    return n;
}

int srd_rx_sink(struct srd_qp *qp, uint32_t offset, uint32_t octets, struct srd_piece *pieces,
    int max, enum srd_stag_error *error)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    struct srd_stag_entry *entry;
    struct srd_read_out *read;
    int n = 0;

    switch (rx->sink) {
    case SRD_SINK_WRITE:
        *error = srd_stag_pin(qp, rx->segment.stag, rx->segment.to + offset, octets,
            IBV_ACCESS_REMOTE_WRITE, true, &entry);
        if (*error)
            return -1;
        add_range(entry, rx->segment.to + offset, octets, pieces, &n, max);
        return n;
    case SRD_SINK_RECEIVE:
        return scatter(qp, rx->receive.sge, rx->receive.num_sge, (uint64_t)rx->send_mo + offset,
            octets, pieces, max, error);
    case SRD_SINK_RESPONSE:
        read = srd_read_out_front(stream);
        return scatter(qp, srd_sqe_sge(read->sqe), read->sqe->num_sge,
            (uint64_t)read->received + offset, octets, pieces, max, error);
    default: return 0;
    }
}

/* Ends the stream because the place of a payload is gone or was never good: the peer named it, or a request of ours. */
static enum srd_rx_result sink_failed(
    struct srd_qp *qp, enum srd_stag_error error, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_end end = { .fault = SRD_FAULT_LOCAL,
        .keep_responses = qp->stream.params.soft_peer };

    if (rx->sink == SRD_SINK_WRITE)
        return fault_here(qp, srd_fault_of_sink(error), now_ms, actions);
    if (rx->sink == SRD_SINK_RECEIVE) {
        end.receive_status = IBV_WC_LOC_PROT_ERR;
    } else {
        end.has_culprit = true;
        end.culprit = srd_read_out_front(&qp->stream)->count;
        end.status = IBV_WC_LOC_PROT_ERR;
    }
    *actions |= srd_stream_fail(qp, &end, now_ms);
    return SRD_RX_FAILED;
}

enum srd_rx_result srd_rx_segment_place(
    struct srd_qp *qp, const uint8_t *data, uint32_t octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_piece pieces[4];
    enum srd_stag_error error;

    while (octets) {
        int n = srd_rx_sink(qp, rx->placed, octets, pieces, 4, &error);

        if (n < 0)
            return sink_failed(qp, error, now_ms, actions);
        for (int i = 0; i < n; i++) {
            uint32_t here = pieces[i].octets;
            bool ends = rx->segment.tagged && rx->segment.last && rx->placed + here == rx->payload;

            /* RDMA Writes are not ordered with the program's loads, except by the octet stored last. */
            bool placed = srd_dma_place(pieces[i].addr, data, here, ends);

            srd_stag_unpin(pieces[i].entry);
            if (!placed) {
                while (++i < n)
                    srd_stag_unpin(pieces[i].entry);
                return sink_failed(qp, SRD_STAG_GONE, now_ms, actions);
            }
            data += here;
            octets -= here;
            rx->placed += here;
        }
    }
    return SRD_RX_DONE;
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
        return fault_here(qp, SRD_FAULT_MSN, now_ms, actions);
    if (segment->mo != rx->send_mo)
        return fault_here(qp, SRD_FAULT_MO, now_ms, actions);
    if (!rx->send_open) {
        if (!srd_rq_take(qp, &rx->receive))
            return SRD_RX_HOLD;
        rx->receiving = rx->send_open = true;
        rx->send_opcode = segment->opcode;
    }
    end = (uint64_t)rx->send_mo + rx->payload;
    if (end > rx->receive.octets || end > UINT32_MAX)
        return fault_here(qp, SRD_FAULT_TOO_LONG, now_ms, actions);
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
        return fault_here(qp, srd_fault_of_sink(error), now_ms, actions);
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
            return SRD_RX_DONE; /* STag and offset of an empty one are not checked */
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

enum srd_rx_result srd_rx_segment_begin(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    srd_fault fault = srd_segment_decode(&rx->segment, ulpdu);
    uint32_t header = srd_segment_octets(rx->segment.tagged);

    memcpy(rx->ulpdu, ulpdu, header);
    rx->ulpdu_octets = ulpdu_octets;
    rx->payload = ulpdu_octets - header;
    rx->placed = 0;
    rx->sink = SRD_SINK_NONE;
    if (fault != SRD_FAULT_NONE)
        return fault_here(qp, fault, now_ms, actions);
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

/* By opcode: the Send brings an STag or immediate data; it asks for an event. */
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
 * What the last segment has in the field of the Invalidate STag. The bit of immediate data is reserved to other peers,
 * and means nothing in a Send that invalidates.
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
    if (has_word[opcode]) { /* before the completion is seen */
        srd_fault fault = take_word(qp, opcode, &flags, &word);

        if (fault != SRD_FAULT_NONE)
            return fault_here(qp, fault, now_ms, actions);
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

enum srd_rx_result srd_rx_segment_end(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    bool rtr = rx->sink == SRD_SINK_WRITE && is_rtr(stream);

    if (!rx->first_seen)
        srd_rx_first_fpdu(qp, actions);
    rx->ack_octets += rx->payload;
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
