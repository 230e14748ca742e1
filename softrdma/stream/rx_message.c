/* SPDX-License-Identifier: MIT */
/*
 * rx_message.c - takes complete segments by type: this file handles messages that carry no data (acknowledgements, Read
 * Requests, the Terminate), rx_extension.c those of RFC 7306. It also handles "receiver not ready": a Send or Immediate
 * Data has come, and no receive is posted.
 *
 * Then the stream holds that message and the octets behind it, up to SRD_HOLD_OCTETS; at that limit it stops reading
 * the socket. Messages about our own requests do not wait: acknowledgements, responses to our Reads and Atomics, the
 * Terminate. The program sets how long a queue pair waits before Terminate 1/2/02: rnr_retry_count retries for the
 * peer's Sends, each after min_rnr_timer.
 */
#include "softrdma/stream/internal.h"

#include "softrdma/wire/wire.h"

#include <stdlib.h>
#include <string.h>

static bool is_acknowledgement(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    return qp->stream.params.soft_peer && ulpdu_octets == SRD_DDP_TAGGED_OCTETS &&
           ulpdu[0] & SRD_DDP_LAST && wire_get32(ulpdu + 2) == SRD_ACK_STAG;
}

/*
 * Whether at least count Sends and Writes of ours have been sent. A thread that is sending now may not have counted
 * yet, so this waits for the lock. A thread that finds the lock taken meanwhile leaves its requests to this one.
 */
static bool was_sent(struct srd_qp *qp, uint64_t count, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;

    if (count <= atomic_load_explicit(&stream->handed, memory_order_acquire))
        return true;
    lock_acquire(&qp->tx_lock);
    lock_release(&qp->tx_lock);
    *actions |= SRD_STREAM_TX;
    return count <= atomic_load_explicit(&stream->handed, memory_order_acquire);
}

/* The peer has acknowledged this number of messages. ulpdu: the acknowledgement; NULL: it is a word of a share. */
static enum srd_rx_result acknowledged(struct srd_qp *qp, uint64_t complete, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    /* A message that was not sent cannot be complete, and the number never falls. */
    if (complete < rx->acknowledged || !was_sent(qp, complete, actions))
        return srd_rx_fault(qp, SRD_FAULT_TAGGED_BOUNDS, ulpdu, ulpdu_octets, now_ms, actions);
    rx->acknowledged = complete;
    qp->rx_counts.acks++;
    *actions |= srd_stream_retire(qp, complete);
    return SRD_RX_DONE;
}

static enum srd_rx_result acknowledgement(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    return acknowledged(qp, wire_get64(ulpdu + 6), ulpdu, ulpdu_octets, now_ms, actions);
}

bool srd_stream_has_heard(const struct srd_qp *qp)
{
    const struct srd_stream *stream = &qp->stream;

    /* The load is seq_cst: it comes after the exchange in srd_share_doze, by which this thread begins to doze. */
    return !stream->told || atomic_load(stream->told) == stream->rx.acknowledged ||
           atomic_load_explicit(&stream->phase, memory_order_relaxed) != SRD_STREAM_UP;
}

unsigned srd_stream_hear(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    unsigned actions = 0;
    uint64_t complete;

    lock_assert_held(&qp->rx_lock);
    if (!stream->told || srd_phase(stream) != SRD_STREAM_UP)
        return 0;
    complete = atomic_load_explicit(stream->told, memory_order_acquire);
    if (complete != stream->rx.acknowledged)
        acknowledged(qp, complete, NULL, 0, now_ms, &actions);
    if (actions & SRD_STREAM_END_DUE)
        actions = (actions & ~(unsigned)SRD_STREAM_END_DUE) | srd_stream_end_due(qp, now_ms);
    return actions;
}

static srd_fault check_read_request(struct srd_qp *qp, const struct srd_segment *segment,
    const uint8_t *ulpdu, uint32_t ulpdu_octets, struct srd_read_request *request)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_stag_entry *entry;
    enum srd_stag_error error;

    if (segment->msn != stream->rx.read_msn)
        return SRD_FAULT_MSN;
    if (srd_ring_used(&stream->in) >= stream->params.ird)
        return SRD_FAULT_NO_BUFFER;
    if (segment->mo)
        return SRD_FAULT_MO;
    if (ulpdu_octets > SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS)
        return SRD_FAULT_TOO_LONG;
    if (ulpdu_octets < SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS || !segment->last)
        return SRD_FAULT_UNSPECIFIED;
    srd_read_request_decode(request, ulpdu + SRD_DDP_UNTAGGED_OCTETS);
    if (!request->octets)
        return SRD_FAULT_NONE;
    error = srd_stag_pin(qp, request->source_stag, request->source_to, request->octets,
        IBV_ACCESS_REMOTE_READ, true, &entry);
    if (error)
        return srd_fault_of_source(error);
    srd_stag_unpin(entry); /* each segment of the response looks the key up again */
    return SRD_FAULT_NONE;
}

static enum srd_rx_result read_request(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_read_request request;
    struct srd_segment segment;
    struct srd_read_in *read;
    srd_fault fault = srd_segment_decode(&segment, ulpdu);

    if (fault == SRD_FAULT_NONE)
        fault = check_read_request(qp, &segment, ulpdu, ulpdu_octets, &request);
    if (fault != SRD_FAULT_NONE)
        return srd_rx_fault(qp, fault, ulpdu, ulpdu_octets, now_ms, actions);
    if (!stream->rx.first_seen)
        srd_rx_first_fpdu(qp, actions);
    read = srd_read_in_free(stream);
    read->request = request;
    read->msn = segment.msn;
    read->sent = 0;
    read->atomic = false;
    stream->rx.read_msn++;
    srd_ring_push(&stream->in);
    *actions |= SRD_STREAM_TX;
    return SRD_RX_DONE;
}

static enum srd_rx_result terminated(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE };
    struct srd_terminate terminate;
    bool flowed =
        stream->rx.first_seen && atomic_load_explicit(&stream->open, memory_order_acquire);

    /* An unreadable Terminate ends the stream, too; a Terminate is never answered with another. */
    if (srd_terminate_decode(&terminate, ulpdu + SRD_DDP_UNTAGGED_OCTETS,
            ulpdu_octets - SRD_DDP_UNTAGGED_OCTETS, flowed)) {
        end.status = srd_terminate_status(srd_terminate_classify(&terminate));
        end.vendor_err = (uint32_t)terminate.fault;
        qp->rx_counts.fpdus++; /* the stream ignores everything behind it */
        qp->rx_counts.terminates++;
        qp->rx_counts.terminate = terminate.fault;
        lock_acquire(&qp->tx_lock);
        end.has_culprit = srd_tx_attribute(qp, &terminate, &end.culprit);
        lock_release(&qp->tx_lock);
        srd_tell_terminate(qp, &terminate, &end);
    }
    if (!end.has_culprit)
        end.event = IBV_EVENT_QP_FATAL;
    *actions |= srd_stream_fail(qp, &end, now_ms);
    return SRD_RX_FAILED;
}

enum srd_rx_result srd_rx_segment_whole(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    uint8_t opcode = ulpdu[1] & 15;
    enum srd_rx_result result;
    uint32_t header;

    if (opcode >= SRD_OP_SEND && opcode <= SRD_OP_SEND_SE_INV)
        return srd_rx_send_whole(qp, ulpdu, ulpdu_octets, now_ms, actions);
    if (opcode == SRD_OP_READ_REQUEST)
        return read_request(qp, ulpdu, ulpdu_octets, now_ms, actions);
    if (opcode >= SRD_OP_TERMINATE)
        return opcode == SRD_OP_TERMINATE
                   ? terminated(qp, ulpdu, ulpdu_octets, now_ms, actions)
                   : srd_rx_extension(qp, ulpdu, ulpdu_octets, now_ms, actions);
    if (opcode == SRD_OP_WRITE && is_acknowledgement(qp, ulpdu, ulpdu_octets))
        return acknowledgement(qp, ulpdu, ulpdu_octets, now_ms, actions);
    header = srd_segment_octets(ulpdu[0] & 0x80);
    result = srd_rx_segment_begin(qp, ulpdu, ulpdu_octets, now_ms, actions);
    if (result == SRD_RX_DONE && ulpdu_octets > header)
        result = srd_rx_segment_place(qp, ulpdu + header, ulpdu_octets - header, now_ms, actions);
    if (result == SRD_RX_DONE)
        result = srd_rx_segment_end(qp, now_ms, actions);
    return result;
}

/* --- receiver not ready ------------------------------------------------------------------------------------------- */

enum { LENGTH_OCTETS = 2 };

/* Times by the value of min_rnr_timer, in 10 us (InfiniBand Architecture, "Timeout values for RNR NAK"). */
static const uint32_t rnr_timers[32] = { 65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
    192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    49152 };

/*
 * Returns how long a message waits for its Receive: at least SRD_RNR_MS, as TCP has no RNR NAK. UINT64_MAX: for ever.
 */
static uint64_t rnr_wait_ms(struct srd_qp *qp)
{
    unsigned retries = atomic_load_explicit(&qp->rnr_retries, memory_order_relaxed);
    unsigned timer = atomic_load_explicit(&qp->rnr_timer, memory_order_relaxed);
    uint64_t ms = (uint64_t)retries * rnr_timers[timer] / 100;

    if (srd_device_of(qp->qp.context)->strict)
        return 0;
    if (qp->stream.rx.fin_held) /* the peer has closed, and gets no Terminate */
        return SRD_RNR_MS;
    if (retries == SRD_RNR_FOR_EVER)
        return UINT64_MAX;
    return ms > SRD_RNR_MS ? ms : SRD_RNR_MS;
}

static void start_timer(struct srd_qp *qp, uint64_t now_ms)
{
    uint64_t ms = rnr_wait_ms(qp);

    if (ms != UINT64_MAX)
        atomic_store_explicit(
            &qp->stream.rnr_deadline_ms, srd_stream_ms(now_ms) + ms, memory_order_relaxed);
}

enum srd_rx_result srd_rx_hold_begin(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_rx *rx = &qp->stream.rx;

    rx->held = true;
    rx->hold_rd = rx->hold_wr = 0;
    qp->rx_counts.rnr_waits++;
    start_timer(qp, now_ms);
    return SRD_RX_DONE;
}

static enum srd_rx_result keep(struct srd_rx *rx, const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    if (!rx->hold)
        rx->hold = malloc(SRD_HOLD_OCTETS);
    if (!rx->hold || rx->hold_wr + LENGTH_OCTETS + ulpdu_octets > SRD_HOLD_OCTETS) {
        rx->hold_full = true;
        return SRD_RX_HOLD;
    }
    wire_put16(rx->hold + rx->hold_wr, (uint16_t)ulpdu_octets);
    memcpy(rx->hold + rx->hold_wr + LENGTH_OCTETS, ulpdu, ulpdu_octets);
    rx->hold_wr += LENGTH_OCTETS + ulpdu_octets;
    return SRD_RX_DONE;
}

enum srd_rx_result srd_rx_hold_segment(struct srd_qp *qp, const uint8_t *ulpdu,
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *actions)
{
    switch (ulpdu[1] & 15) {
    case SRD_OP_READ_RESPONSE:
    case SRD_OP_ATOMIC_RESPONSE:
    case SRD_OP_TERMINATE: return srd_rx_segment_whole(qp, ulpdu, ulpdu_octets, now_ms, actions);
    case SRD_OP_WRITE:
        if (is_acknowledgement(qp, ulpdu, ulpdu_octets))
            return acknowledgement(qp, ulpdu, ulpdu_octets, now_ms, actions);
        break;
    default: break;
    }
    return keep(&qp->stream.rx, ulpdu, ulpdu_octets);
}

enum srd_rx_result srd_rx_hold_replay(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;

    while (rx->hold_rd < rx->hold_wr) {
        uint32_t octets = wire_get16(rx->hold + rx->hold_rd);

        switch (srd_rx_segment_whole(
            qp, rx->hold + rx->hold_rd + LENGTH_OCTETS, octets, now_ms, actions)) {
        case SRD_RX_FAILED: return SRD_RX_FAILED;
        case SRD_RX_HOLD:
            if (rx->hold_rd) { /* a message got its receive, and the next one has its own time */
                qp->rx_counts.rnr_waits++;
                start_timer(qp, now_ms);
            }
            memmove(rx->hold, rx->hold + rx->hold_rd, rx->hold_wr - rx->hold_rd);
            rx->hold_wr -= rx->hold_rd;
            rx->hold_rd = 0;
            return SRD_RX_HOLD;
        case SRD_RX_DONE: break;
        }
        rx->hold_rd += LENGTH_OCTETS + octets;
    }
    srd_rx_hold_end(qp);
    return SRD_RX_DONE;
}
