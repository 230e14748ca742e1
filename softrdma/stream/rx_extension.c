/* SPDX-License-Identifier: MIT */
/*
 * rx_extension.c - takes messages of RFC 7306, which only a softrdma peer may send: Immediate Data, which takes a
 * Receive; Atomic Requests, which are executed when they come and answered in their turn; Atomic Responses. Each is one
 * segment.
 */
#include "softrdma/memory/dma.h"
#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"

#include <endian.h>

/* Checks a message of one segment with a fixed length (RFC 5041 section 7.1, RFC 5040 section 7.2). */
static srd_fault check_fixed(
    const struct srd_segment *segment, uint32_t ulpdu_octets, uint32_t fixed_octets)
{
    if (segment->mo)
        return SRD_FAULT_MO;
    if (ulpdu_octets > SRD_DDP_UNTAGGED_OCTETS + fixed_octets)
        return SRD_FAULT_TOO_LONG;
    if (ulpdu_octets < SRD_DDP_UNTAGGED_OCTETS + fixed_octets || !segment->last)
        return SRD_FAULT_UNSPECIFIED;
    return SRD_FAULT_NONE;
}

/* --- Immediate Data (section 6) ----------------------------------------------------------------------------------- */

static enum srd_rx_result immediate(struct srd_qp *qp, const struct srd_segment *segment,
    const uint8_t *ulpdu, uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    srd_fault fault = SRD_FAULT_MSN;

    if (segment->msn == rx->send_msn && !rx->send_open)
        fault = check_fixed(segment, ulpdu_octets, SRD_IMMEDIATE_OCTETS);
    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault(qp, fault, ulpdu, ulpdu_octets, now_ms, actions);
    if (!srd_rq_take(qp, &rx->receive))
        return SRD_RX_HOLD;
    if (!rx->first_seen)
        srd_rx_first_fpdu(qp, actions);
    srd_receive_immediate(qp, rx->receive.wr_id, rx->write_octets,
        htobe32(wire_get32(ulpdu + SRD_DDP_UNTAGGED_OCTETS + 4)),
        segment->opcode == SRD_OP_IMMEDIATE_SE);
    rx->write_octets = 0;
    rx->send_msn++;
    srd_rx_count_message(qp, actions);
    return SRD_RX_DONE;
}

/* --- Atomics (section 5) ------------------------------------------------------------------------------------------ */

static srd_fault execute(
    struct srd_qp *qp, const struct srd_atomic_request *request, uint64_t *original)
{
    uint32_t octets = sizeof(uint64_t);
    struct srd_stag_entry *entry;
    enum srd_stag_error error;
    uint8_t *at;
    srd_fault fault = SRD_FAULT_NONE;

    error = srd_stag_pin(
        qp, request->stag, request->to, octets, IBV_ACCESS_REMOTE_ATOMIC, true, &entry);
    if (error)
        return srd_fault_of_source(error);
    at = srd_stag_at(entry, request->to, &octets);
    if ((uintptr_t)at % sizeof(uint64_t))
        fault = SRD_FAULT_MISALIGNED;
    else if (!srd_dma_atomic((uint64_t *)(void *)at, &request->atomic, original))
        fault = srd_fault_of_source(SRD_STAG_GONE);
    srd_stag_unpin(entry);
    return fault;
}

static srd_fault atomic_fault(struct srd_qp *qp, const struct srd_segment *segment,
    const uint8_t *ulpdu, uint32_t ulpdu_octets, struct srd_atomic_response *response)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_atomic_request request;
    srd_fault fault;

    if (segment->msn != stream->rx.read_msn)
        return SRD_FAULT_MSN;
    if (srd_ring_used(&stream->in) >= stream->params.ird)
        return SRD_FAULT_NO_BUFFER;
    fault = check_fixed(segment, ulpdu_octets, SRD_ATOMIC_REQUEST_OCTETS);
    if (fault != SRD_FAULT_NONE)
        return fault;
    srd_atomic_request_decode(&request, ulpdu + SRD_DDP_UNTAGGED_OCTETS);
    if (request.atomic.operation != SRD_ATOMIC_FETCH_ADD &&
        request.atomic.operation != SRD_ATOMIC_CMP_SWAP)
        return SRD_FAULT_UNSPECIFIED;
    response->identifier = request.identifier;
    return execute(qp, &request, &response->original);
}

static enum srd_rx_result atomic_request(struct srd_qp *qp, const struct srd_segment *segment,
    const uint8_t *ulpdu, uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_atomic_response response = { 0 };
    srd_fault fault = atomic_fault(qp, segment, ulpdu, ulpdu_octets, &response);
    struct srd_read_in *read;

    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault(qp, fault, ulpdu, ulpdu_octets, now_ms, actions);
    if (!stream->rx.first_seen)
        srd_rx_first_fpdu(qp, actions);
    read = srd_read_in_free(stream);
    read->original = response;
    read->msn = segment->msn;
    read->atomic = true;
    stream->rx.read_msn++;
    srd_ring_push(&stream->in);
    *actions |= SRD_STREAM_TX;
    return SRD_RX_DONE;
}

/* Checks that a response is the one to the oldest of our Reads and Atomics. */
static srd_fault response_fault(struct srd_qp *qp, const struct srd_segment *segment,
    const struct srd_read_out *read, const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    srd_fault fault;

    if (segment->msn != qp->stream.rx.atomic_msn)
        return SRD_FAULT_MSN;
    if (!read || !read->atomic)
        return SRD_FAULT_NO_BUFFER;
    fault = check_fixed(segment, ulpdu_octets, SRD_ATOMIC_RESPONSE_OCTETS);
    if (fault == SRD_FAULT_NONE && wire_get32(ulpdu + SRD_DDP_UNTAGGED_OCTETS) != read->stag)
        fault = SRD_FAULT_UNSPECIFIED;
    return fault;
}

static enum srd_rx_result atomic_response(struct srd_qp *qp, const struct srd_segment *segment,
    const uint8_t *ulpdu, uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    const struct srd_read_out *read = srd_read_out_front(&qp->stream);
    struct srd_end end = {
        .ulpdu = ulpdu, .ulpdu_octets = ulpdu_octets, .event = IBV_EVENT_QP_FATAL
    };
    struct srd_atomic_response response;

    end.fault = response_fault(qp, segment, read, ulpdu, ulpdu_octets);
    if (end.fault != SRD_FAULT_NONE) {
        end.has_culprit = read && read->sqe;
        end.culprit = end.has_culprit ? read->count : 0;
        end.status = IBV_WC_BAD_RESP_ERR;
        *actions |= srd_stream_fail(qp, &end, now_ms);
        return SRD_RX_FAILED;
    }
    if (!rx->first_seen)
        srd_rx_first_fpdu(qp, actions);
    srd_atomic_response_decode(&response, ulpdu + SRD_DDP_UNTAGGED_OCTETS);
    rx->atomic_msn++;
    rx->segment = *segment;
    rx->sink = SRD_SINK_RESPONSE;
    rx->payload = sizeof(response.original);
    rx->placed = 0;
    if (srd_rx_segment_place(qp, (const uint8_t *)&response.original, sizeof(response.original),
            now_ms, actions) != SRD_RX_DONE)
        return SRD_RX_FAILED;
    srd_rx_read_over(qp, actions);
    return SRD_RX_DONE;
}

enum srd_rx_result srd_rx_extension(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions)
{
    struct srd_segment segment;
    srd_fault fault = srd_segment_decode(&segment, ulpdu);

    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault(qp, fault, ulpdu, ulpdu_octets, now_ms, actions);
    switch (segment.opcode) {
    case SRD_OP_ATOMIC_REQUEST:
        return atomic_request(qp, &segment, ulpdu, ulpdu_octets, now_ms, actions);
    case SRD_OP_ATOMIC_RESPONSE:
        return atomic_response(qp, &segment, ulpdu, ulpdu_octets, now_ms, actions);
    default: return immediate(qp, &segment, ulpdu, ulpdu_octets, now_ms, actions);
    }
}
