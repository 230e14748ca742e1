/* SPDX-License-Identifier: MIT */
/*
 * rx_hold.c - receiver not ready: a Send came and no receive is posted.
 *
 * The Send and what comes behind it is kept, up to SRD_HOLD_OCTETS; then the socket is not read any more. What concerns
 * our own requests does not wait: acknowledgements, responses to our Reads, the Terminate. How long a queue pair waits
 * (Terminate 1/2/02 then) its program has said: rnr_retry_count for the peer's Sends, each retry after min_rnr_timer.
 */
#include "softrdma/stream_int.h"
#include "softrdma/wire.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH_OCTETS = 2 };

/* InfiniBand Architecture Specification, "Timeout values for RNR NAK": of min_rnr_timer, in 10 us. */
static const uint32_t rnr_timers[32] = { 65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128,
    192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
    49152 };

/* A sender on TCP does not know that it is too early, so some time is always given. UINT64_MAX: for ever. */
static uint64_t patience_ms(struct srd_qp *qp)
{
    unsigned retries = atomic_load_explicit(&qp->rnr_retries, memory_order_relaxed);
    unsigned timer = atomic_load_explicit(&qp->rnr_timer, memory_order_relaxed);
    uint64_t ms = (uint64_t)retries * rnr_timers[timer] / 100;

    if (qp->stream.rx.fin_held) /* nobody is there any more who could be told */
        return SRD_RNR_MS;
    if (retries == SRD_RNR_FOR_EVER)
        return UINT64_MAX;
    return ms > SRD_RNR_MS ? ms : SRD_RNR_MS;
}

static void start_timer(struct srd_qp *qp, uint64_t now_ms)
{
    uint64_t ms = patience_ms(qp);

    if (ms != UINT64_MAX)
        atomic_store_explicit(&qp->stream.rnr_deadline_ms, now_ms + ms, memory_order_relaxed);
}

enum srd_rx_result srd_rx_hold_begin(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_rx *rx = &qp->stream.rx;

    rx->held = true;
    rx->hold_rd = rx->hold_wr = 0;
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
    uint32_t ulpdu_octets, uint64_t now_ms, unsigned *wants)
{
    switch (ulpdu[1] & 15) {
    case SRD_OP_READ_RESPONSE:
    case SRD_OP_TERMINATE: return srd_rx_segment_whole(qp, ulpdu, ulpdu_octets, now_ms, wants);
    case SRD_OP_WRITE:
        if (srd_rx_is_acknowledgement(qp, ulpdu, ulpdu_octets))
            return srd_rx_acknowledgement(qp, ulpdu, ulpdu_octets, now_ms, wants);
        break;
    default: break;
    }
    return keep(&qp->stream.rx, ulpdu, ulpdu_octets);
}

enum srd_rx_result srd_rx_hold_replay(struct srd_qp *qp, uint64_t now_ms, unsigned *wants)
{
    struct srd_rx *rx = &qp->stream.rx;

    while (rx->hold_rd < rx->hold_wr) {
        uint32_t octets = wire_get16(rx->hold + rx->hold_rd);

        switch (srd_rx_segment_whole(
            qp, rx->hold + rx->hold_rd + LENGTH_OCTETS, octets, now_ms, wants)) {
        case SRD_RX_FAILED: return SRD_RX_FAILED;
        case SRD_RX_HOLD:
            if (rx->hold_rd) /* one got its receive, the next one has its own time */
                start_timer(qp, now_ms);
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
