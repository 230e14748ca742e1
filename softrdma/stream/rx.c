/* SPDX-License-Identifier: MIT */
/*
 * rx.c - the receive side of a stream: it finds where the next octets go, and parses the arrived octets into FPDUs.
 *
 * Octets go to a staging buffer, and segments from there to their place. Without CRC the payload of a large segment is
 * received directly to its place once its header has been checked; then staging takes only the trailer and the
 * beginning of the next FPDU. With CRC a segment is placed when it is complete and its CRC is right (RFC 5044 section
 * 4.4).
 *
 * The last octet of a tagged message always goes through staging, and is stored after everything else.
 */
#include "softrdma/wire/crc32c.h"
#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"
#include "util/lock_ask.h"

enum {
    DIRECT_OCTETS = 4096,   /* a payload that lacks at least this is placed directly */
    TAIL_OCTETS = 2048,     /* staging that is offered behind a direct payload */
    WINDOW_OCTETS = 16384,  /* staging that is offered if payloads may be placed directly */
    CRC_STEP_OCTETS = 4096, /* the step in which the CRC of an incomplete FPDU goes on */
};

static void unpin(struct srd_rx *rx)
{
    while (rx->n_pins)
        srd_stag_unpin(rx->pins[--rx->n_pins]);
}

/*
 * Offers the place of the rest of the payload in progress. Returns the number of iov entries; *rest: whether they hold
 * all of it. It is not inlined, so that small messages do not pay for its registers.
 */
static __attribute__((noinline)) int direct_space(struct srd_qp *qp, struct iovec *iov, bool *rest)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_piece pieces[SRD_RX_IOV - 1];
    uint32_t left = rx->payload - rx->placed;
    enum srd_stag_error error;
    int n;

    if (rx->segment.tagged && rx->segment.last)
        left--;
    if (left < DIRECT_OCTETS || rx->by_staging)
        return 0;
    n = srd_rx_sink(qp, rx->placed, left, pieces, SRD_RX_IOV - 1, &error);
    if (n < 0)
        return 0; /* the octets go through staging, and the error is reported when they are placed */
    for (int i = 0; i < n; i++) {
        iov[i] = (struct iovec){ pieces[i].addr, pieces[i].octets };
        rx->pins[rx->n_pins++] = pieces[i].entry;
        rx->direct += pieces[i].octets;
    }
    *rest = rx->direct == left;
    return n;
}

/*
 * Returns the missing octets of a large FPDU in progress with CRC, if they fit behind it; 0: there is none. The next
 * read takes exactly these, so staging is empty behind the FPDU, and nothing large is ever moved.
 */
static uint32_t large_missing(const struct srd_rx *rx)
{
    uint32_t have = rx->wr - rx->rd, total;

    if (have < SRD_FPDU_LENGTH_OCTETS)
        return 0;
    total = srd_fpdu_octets(wire_get16(rx->staging + rx->rd));
    if (total < SRD_RX_STAGING / 8 || have >= total || rx->rd + total > SRD_RX_STAGING)
        return 0;
    return total - have;
}

/* Returns how much of staging is offered at once. */
static uint32_t window_of(const struct srd_stream *stream)
{
    return stream->params.soft_peer && !stream->params.crc ? WINDOW_OCTETS : SRD_RX_STAGING;
}

/* Says where the octets go in any other case than the usual one; in_payload: in the payload of the FPDU in progress. */
static __attribute__((noinline)) int space_behind(
    struct srd_qp *qp, struct iovec iov[SRD_RX_IOV], bool in_payload)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    uint32_t window, most = window_of(stream);
    bool rest = true;
    int n = in_payload ? direct_space(qp, iov, &rest) : 0;

    window = stream->params.crc ? large_missing(rx) : 0;
    if (rx->rd && !window && SRD_RX_STAGING - rx->wr < SRD_RX_STAGING / 2) {
        memmove(rx->staging, rx->staging + rx->rd, rx->wr - rx->rd);
        rx->wr -= rx->rd;
        rx->rd = 0;
    }
    if (!window)
        window = SRD_RX_STAGING - rx->wr;
    if (n)
        most = TAIL_OCTETS;
    if (rest)
        iov[n++] = (struct iovec){ rx->staging + rx->wr, window < most ? window : most };
    return n;
}

int srd_stream_rx_space(struct srd_qp *qp, struct iovec iov[SRD_RX_IOV])
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    bool in_payload = false;

    lock_assert_held(&qp->rx_lock);
    rx->direct = 0;
    switch (srd_phase(stream)) {
    case SRD_STREAM_IDLE: return 0;
    case SRD_STREAM_ENDING: rx->rd = rx->wr = 0; break; /* the octets are dropped */
    case SRD_STREAM_UP:
        if (rx->hold_full)
            return 0;
        in_payload = rx->in_payload;
        break;
    }
    if (rx->wr || in_payload)
        return space_behind(qp, iov, in_payload);
    iov[0] = (struct iovec){ rx->staging, window_of(stream) };
    return 1;
}

/* Continues the payload in progress with octets from staging. Returns whether all of it is placed. */
static bool payload_step(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    uint32_t octets = rx->wr - rx->rd, left = rx->payload - rx->placed;

    if (octets > left)
        octets = left;
    if (octets &&
        srd_rx_segment_place(qp, rx->staging + rx->rd, octets, now_ms, actions) != SRD_RX_DONE)
        return false;
    rx->rd += octets;
    if (rx->placed < rx->payload)
        return false;
    rx->in_payload = false;
    return true;
}

/* Goes on with the CRC of the FPDU at rd, while the octets that have come are in the cache. */
static void crc_step(struct srd_rx *rx, uint32_t have, uint32_t total)
{
    uint32_t end = have < total ? have & ~(uint32_t)(CRC_STEP_OCTETS - 1) : total;

    if (end > total - SRD_FPDU_CRC_OCTETS)
        end = total - SRD_FPDU_CRC_OCTETS;
    rx->crc = srd_crc32c(rx->crc, rx->staging + rx->rd + rx->crc_octets, end - rx->crc_octets);
    rx->crc_octets = end;
}

/* Goes on behind the FPDU at rd. */
static void next_fpdu(struct srd_qp *qp, uint32_t total)
{
    struct srd_rx *rx = &qp->stream.rx;

    qp->rx_counts.fpdus++;
    rx->rd += total;
    rx->crc = rx->crc_octets = 0;
}

/* Takes a complete segment. Returns whether the next FPDU may follow. */
static bool whole(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets, uint64_t now_ms,
    unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    enum srd_rx_result result;

    if (!rx->held) {
        result = srd_rx_segment_whole(qp, ulpdu, ulpdu_octets, now_ms, actions);
        if (result != SRD_RX_HOLD)
            return result == SRD_RX_DONE;
        if (srd_rx_hold_begin(qp, now_ms) != SRD_RX_DONE)
            return false;
    }
    if (!rx->first_seen)
        srd_rx_first_fpdu(qp, actions);
    return srd_rx_hold_segment(qp, ulpdu, ulpdu_octets, now_ms, actions) == SRD_RX_DONE;
}

/* Begins a segment whose payload is not complete, so that the rest can be received directly to its place. */
static bool begin_streaming(struct srd_qp *qp, const uint8_t *ulpdu, uint32_t ulpdu_octets,
    uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    uint32_t header = srd_segment_octets(ulpdu[0] & 0x80);

    switch (srd_rx_segment_begin(qp, ulpdu, ulpdu_octets, now_ms, actions)) {
    case SRD_RX_FAILED: return false;
    case SRD_RX_HOLD: return srd_rx_hold_begin(qp, now_ms) == SRD_RX_DONE;
    case SRD_RX_DONE: break;
    }
    rx->in_payload = true;
    rx->by_staging = false;
    rx->skip = srd_fpdu_pad(ulpdu_octets) + SRD_FPDU_CRC_OCTETS;
    rx->rd += SRD_FPDU_LENGTH_OCTETS + header;
    return true;
}

/* Whether a payload is large enough to be placed as it arrives; other segments wait until they are complete. */
static bool can_stream(const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    uint8_t opcode = ulpdu[1] & 15;

    return opcode != SRD_OP_READ_REQUEST && opcode < SRD_OP_TERMINATE &&
           ulpdu_octets > DIRECT_OCTETS;
}

/*
 * Whether the opcode is one of RFC 7306. These are unknown unless both ends are softrdma: the RFC has no negotiation.
 */
static __attribute__((noinline, cold)) bool is_extension(
    const struct srd_stream *stream, srd_fault fault, const uint8_t *ulpdu)
{
    return fault == SRD_FAULT_OPCODE && stream->params.soft_peer && srd_is_extension(ulpdu);
}

/* Takes the FPDU at rd. Returns whether to go on; false: more octets are needed, or the stream has ended, or holds. */
static bool fpdu_step(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    const uint8_t *fpdu = rx->staging + rx->rd;
    uint32_t have = rx->wr - rx->rd, ulpdu_octets, total;
    srd_fault fault;

    if (have < 4)
        return false;
    ulpdu_octets = wire_get16(fpdu);
    total = srd_fpdu_octets(ulpdu_octets);
    if (stream->params.crc) {
        crc_step(rx, have, total);
        if (have < total)
            return false;
        if (rx->crc != wire_get_crc(fpdu + total - SRD_FPDU_CRC_OCTETS)) {
            srd_rx_fault(qp, SRD_FAULT_CRC, NULL, 0, now_ms, actions);
            return false;
        }
    }
    fault = srd_control_check(fpdu + 2, ulpdu_octets);
    if (fault != SRD_FAULT_NONE && !is_extension(stream, fault, fpdu + 2)) {
        srd_rx_fault(qp, fault, NULL, 0, now_ms, actions);
        return false;
    }
    if (have >= total) {
        if (!whole(qp, fpdu + 2, ulpdu_octets, now_ms, actions))
            return false;
        next_fpdu(qp, total);
        return true;
    }
    if (stream->params.crc || rx->held || !can_stream(fpdu + 2, ulpdu_octets) ||
        have < SRD_FPDU_LENGTH_OCTETS + srd_segment_octets(fpdu[2] & 0x80))
        return false;
    return begin_streaming(qp, fpdu + 2, ulpdu_octets, now_ms, actions);
}

/*
 * Skips pad and CRC after a payload that was placed as it came. The segment ends with the last octet of its FPDU: the
 * sender counts only FPDUs that it has sent whole, and takes an acknowledgement of more for an error.
 */
static bool skip_step(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    uint32_t octets = rx->wr - rx->rd;

    if (octets > rx->skip)
        octets = rx->skip;
    rx->rd += octets;
    rx->skip -= octets;
    qp->rx_counts.fpdus += !rx->skip;
    return !rx->skip && srd_rx_segment_end(qp, now_ms, actions) == SRD_RX_DONE;
}

/* Goes through the octets in staging. */
static void parse(struct srd_qp *qp, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    bool go_on = true;

    while (go_on && srd_phase(&qp->stream) == SRD_STREAM_UP) {
        if (rx->in_payload)
            go_on = payload_step(qp, now_ms, actions);
        else if (rx->skip)
            go_on = skip_step(qp, now_ms, actions);
        else
            go_on = fpdu_step(qp, now_ms, actions);
    }
    if (rx->rd == rx->wr)
        rx->rd = rx->wr = 0;
}

unsigned srd_stream_rx(struct srd_qp *qp, size_t octets, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    unsigned actions = 0;

    lock_assert_held(&qp->rx_lock);
    unpin(rx);
    if (srd_phase(stream) != SRD_STREAM_UP || !octets)
        return 0;
    qp->rx_counts.octets += octets;
    if (rx->direct) {
        uint32_t direct = octets < rx->direct ? (uint32_t)octets : rx->direct;

        rx->placed += direct;
        octets -= direct;
    }
    rx->wr += (uint32_t)octets;
    parse(qp, now_ms, &actions);
    if (actions & SRD_STREAM_END_DUE)
        actions = (actions & ~(unsigned)SRD_STREAM_END_DUE) | srd_stream_end_due(qp, now_ms);
    return actions;
}

bool srd_stream_rx_fault(struct srd_qp *qp)
{
    struct srd_rx *rx = &qp->stream.rx;

    lock_assert_held(&qp->rx_lock);
    unpin(rx);
    if (!rx->direct)
        return false;
    rx->by_staging = true;
    return true;
}

unsigned srd_stream_resume(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    bool was_full = rx->hold_full;
    unsigned actions = 0;

    lock_assert_held(&qp->rx_lock);
    if (!rx->held || srd_phase(stream) != SRD_STREAM_UP)
        return 0;
    if (srd_rx_hold_replay(qp, now_ms, &actions) == SRD_RX_FAILED)
        return actions;
    rx->hold_full = false;
    parse(qp, now_ms, &actions);
    if (was_full && !rx->hold_full)
        actions |= SRD_STREAM_RX;
    if (actions & SRD_STREAM_END_DUE)
        actions = (actions & ~(unsigned)SRD_STREAM_END_DUE) | srd_stream_end_due(qp, now_ms);
    if (rx->fin_held && !rx->held && srd_phase(stream) == SRD_STREAM_UP)
        actions |= srd_stream_rx_end(qp, 0, now_ms);
    return actions;
}

unsigned srd_stream_leave_rx(struct srd_qp *qp)
{
    return lock_leave_undone(&qp->rx_lock) ? SRD_STREAM_RX : 0;
}
