/* SPDX-License-Identifier: MIT */
/*
 * stream.c - the life of a stream: start, time, and how the program ends it.
 *
 *   IDLE --start--> UP --srd_stream_fail--> ENDING
 */
#include "softrdma/stream_int.h"
#include "util/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool allocate(struct srd_stream *stream)
{
    stream->rx.staging = malloc(SRD_RX_STAGING);
    stream->tx.room = stream->params.crc ? SRD_TX_STAGING_CRC : SRD_TX_STAGING;
    stream->tx.staging = malloc(stream->tx.room);
    stream->in.mask = srd_ring_mask(stream->params.ird ? stream->params.ird : 1);
    stream->out.mask = srd_ring_mask(stream->params.ord ? stream->params.ord : 1);
    stream->reads_in = calloc(stream->in.mask + (size_t)1, sizeof(*stream->reads_in));
    stream->reads_out = calloc(stream->out.mask + (size_t)1, sizeof(*stream->reads_out));
    return stream->rx.staging && stream->tx.staging && stream->reads_in && stream->reads_out;
}

unsigned srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    const uint8_t *octets = surplus;
    unsigned wants = 0;
    bool failed;

    lock_acquire(&qp->rx_lock);
    if (srd_phase(stream) != SRD_STREAM_IDLE) { /* had its connection */
        lock_release(&qp->rx_lock);
        return SRD_STREAM_CLOSE;
    }
    lock_acquire(&qp->tx_lock);
    lock_acquire(&qp->sq.lock);
    failed = qp->sq.flushing;
    lock_release(&qp->sq.lock);
    if (!failed) {
        stream->params = *params;
        atomic_store_explicit(&qp->rnr_retries, params->rnr_retries, memory_order_relaxed);
        if (stream->params.fpdu_max_octets > 65536)
            stream->params.fpdu_max_octets = 65536;
        if (stream->params.fpdu_max_octets < 136) /* MULPDU 128: RFC 5044 section 4.1 */
            stream->params.fpdu_max_octets = 136;
        stream->tx.rtr_due = params->initiator && params->rtr != SRD_MPA_RTR_NONE;
        failed = !allocate(stream) || getrandom(&stream->stag_seed, sizeof(stream->stag_seed),
                                          GRND_NONBLOCK) != sizeof(stream->stag_seed);
        if (!failed)
            atomic_store_explicit(&stream->phase, SRD_STREAM_UP, memory_order_release);
    }
    lock_release(&qp->tx_lock);
    if (failed) {
        struct srd_end end = { .fault = SRD_FAULT_NONE, .reset = true };

        wants = srd_stream_fail(qp, &end, now_ms) | SRD_STREAM_DOWN | SRD_STREAM_CLOSE;
    }
    while (surplus_octets && srd_phase(stream) == SRD_STREAM_UP) {
        struct iovec iov[SRD_RX_IOV];
        int n = srd_stream_rx_space(qp, iov);
        size_t taken = 0;

        if (!n)
            break; /* more than can be held: cannot be, startup frames are small */
        for (int i = 0; i < n && surplus_octets; i++) {
            size_t here = iov[i].iov_len < surplus_octets ? iov[i].iov_len : surplus_octets;

            memcpy(iov[i].iov_base, octets, here);
            octets += here;
            surplus_octets -= here;
            taken += here;
        }
        wants |= srd_stream_rx(qp, taken, now_ms);
    }
    lock_release(&qp->rx_lock);
    return wants;
}

unsigned srd_stream_release(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;

    if (srd_phase(stream) != SRD_STREAM_UP ||
        !(stream->params.initiator || stream->params.speaks_first))
        return 0;
    atomic_store_explicit(&stream->open, true, memory_order_release);
    return SRD_STREAM_TX;
}

unsigned srd_stream_disconnect(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE, .keep_responses = true };
    unsigned wants = 0;

    lock_acquire(&qp->rx_lock);
    if (srd_phase(stream) == SRD_STREAM_UP &&
        !atomic_load_explicit(&stream->closing, memory_order_relaxed)) {
        lock_acquire(&qp->tx_lock);
        lock_acquire(&qp->sq.lock);
        stream->tx.stop = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
        stream->tx.stop_set = true;
        lock_release(&qp->sq.lock);
        lock_release(&qp->tx_lock);
        atomic_store_explicit(&stream->closing, true, memory_order_release);
        atomic_store_explicit(
            &stream->end_deadline_ms, now_ms + SRD_LINGER_MS, memory_order_relaxed);
        if (!atomic_load_explicit(&stream->open, memory_order_acquire) || srd_stream_drained(qp))
            wants = srd_stream_fail(qp, &end, now_ms);
        else
            wants = SRD_STREAM_TX;
    } else if (srd_phase(stream) == SRD_STREAM_IDLE) {
        wants = srd_stream_fail(qp, &end, now_ms);
    }
    lock_release(&qp->rx_lock);
    return wants;
}

unsigned srd_stream_abort(struct srd_qp *qp, uint64_t now_ms)
{
    /* No Terminate: nothing has failed, and the peer would count one as an error of its oldest request. */
    struct srd_end end = { .fault = SRD_FAULT_NONE };
    unsigned wants;

    lock_acquire(&qp->rx_lock);
    wants = srd_stream_fail(qp, &end, now_ms);
    lock_release(&qp->rx_lock);
    return wants;
}

/* --- time ------------------------------------------------------------------------------------------------------- */

uint64_t srd_stream_deadline_ms(struct srd_qp *qp)
{
    uint64_t rnr = atomic_load_explicit(&qp->stream.rnr_deadline_ms, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&qp->stream.end_deadline_ms, memory_order_relaxed);

    return rnr < end ? rnr : end;
}

/* No receive in time: RFC 5040 has no retry, so this ends the connection. */
static unsigned rnr_expired(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_rx *rx = &qp->stream.rx;
    const uint8_t *held =
        rx->hold_wr ? rx->hold : rx->staging + rx->rd; /* both begin with the length */
    uint8_t ulpdu[SRD_DDP_UNTAGGED_OCTETS];
    struct srd_end end = { .fault = SRD_FAULT_NO_BUFFER,
        .ulpdu = ulpdu,
        .event = IBV_EVENT_QP_FATAL,
        .keep_responses = qp->stream.params.soft_peer };

    end.ulpdu_octets = (uint32_t)held[0] << 8 | held[1];
    memcpy(ulpdu, held + SRD_FPDU_LENGTH_OCTETS, sizeof(ulpdu));
    return srd_stream_fail(qp, &end, now_ms);
}

unsigned srd_stream_timer(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE, .keep_responses = true };
    unsigned wants = srd_stream_settle(qp, now_ms);

    if (now_ms >= atomic_load_explicit(&stream->rnr_deadline_ms, memory_order_relaxed))
        wants |= rnr_expired(qp, now_ms);
    if (now_ms < atomic_load_explicit(&stream->end_deadline_ms, memory_order_relaxed))
        return wants;
    atomic_store_explicit(&stream->end_deadline_ms, UINT64_MAX, memory_order_relaxed);
    if (srd_phase(stream) == SRD_STREAM_UP)
        return wants | srd_stream_fail(qp, &end, now_ms);
    return wants | SRD_STREAM_CLOSE;
}
