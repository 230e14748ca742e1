/* SPDX-License-Identifier: MIT */
/*
 * stream.c - the life of a stream: its start, its timers, the completion of requests, its end by the program, and the
 * common end for every cause.
 *
 *   IDLE --start--> UP --srd_stream_fail--> ENDING
 *
 * srd_stream_fail ends a connection for every cause: a fault in an arrived segment, a Terminate, a FIN or reset, a
 * failed request of ours, the program. It needs LOCK_SRD_RX (nothing is being placed) and takes LOCK_SRD_TX (nothing is
 * being sent) for a moment. The send side, which must not wait for the receive side, notes its errors and returns
 * SRD_STREAM_END_DUE.
 *
 * A request that fails at this end (for a bad local key, say) waits in the send queue until all in front of it are
 * complete; then the stream ends with that request as the culprit. So each request in front gets its own status.
 */
#include "softrdma/stream/internal.h"
#include "softrdma/stream/tx_fpdu.h"

#include "softrdma/queues/cq.h"
#include "util/deadline.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* --- completion on either side ------------------------------------------------------------------------------------ */

bool srd_stream_owes_ack(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;

    return atomic_load_explicit(&stream->phase, memory_order_acquire) == SRD_STREAM_UP &&
           stream->params.soft_peer &&
           atomic_load_explicit(&stream->rx_complete, memory_order_acquire) !=
               atomic_load_explicit(&stream->acked_sent, memory_order_relaxed);
}

void srd_stream_by_words(struct srd_qp *qp, _Atomic uint64_t *tells, const _Atomic uint64_t *told)
{
    lock_acquire(&qp->rx_lock);
    lock_acquire(&qp->tx_lock);
    qp->stream.tells = tells;
    qp->stream.told = told;
    lock_release(&qp->tx_lock);
    lock_release(&qp->rx_lock);
}

bool srd_stream_may_ack(struct srd_qp *qp)
{
    return srd_stream_owes_ack(qp) && atomic_load_explicit(&qp->stream.open, memory_order_acquire);
}

unsigned srd_stream_retire(struct srd_qp *qp, uint64_t complete)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_sq *sq = &qp->sq;
    enum srd_sq_retired result;
    unsigned actions = 0;

    lock_acquire(&sq->lock);
    if (complete > sq->complete)
        sq->complete = complete;
    result = srd_sq_retire_locked(qp);
    if (result == SRD_SQ_CULPRIT ||
        (atomic_load_explicit(&stream->closing, memory_order_acquire) &&
            atomic_load_explicit(&sq->tail, memory_order_relaxed) == stream->tx.stop)) {
        atomic_store_explicit(&stream->end_due, true, memory_order_release);
        actions = SRD_STREAM_END_DUE;
    } else if (atomic_load_explicit(&sq->next, memory_order_relaxed) !=
               atomic_load_explicit(&sq->head, memory_order_relaxed)) {
        actions = SRD_STREAM_TX;
    }
    lock_release(&sq->lock);
    return actions;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

void srd_rx_hold_end(struct srd_qp *qp)
{
    struct srd_rx *rx = &qp->stream.rx;

    rx->held = rx->hold_full = false;
    rx->hold_rd = rx->hold_wr = 0;
    atomic_store_explicit(&qp->stream.rnr_deadline_ms, UINT64_MAX, memory_order_relaxed);
    if (srd_rq_stop_waiting(qp))
        srd_qp_unpin(qp);
}

static void set_end_deadline(struct srd_stream *stream, uint64_t deadline_ms)
{
    stream->end_again = DEADLINE_AGAIN;
    atomic_store_explicit(&stream->end_deadline_ms, deadline_ms, memory_order_relaxed);
}

static void flush_receives(struct srd_qp *qp, enum ibv_wc_status status)
{
    struct srd_rx *rx = &qp->stream.rx;

    if (rx->receiving) {
        rx->receiving = false;
        srd_receive_complete(
            qp, rx->receive.wr_id, status ? status : IBV_WC_WR_FLUSH_ERR, 0, 0, 0, false);
    }
    srd_rq_flush(qp);
}

unsigned srd_stream_fail(struct srd_qp *qp, const struct srd_end *end, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    enum srd_stream_phase phase = srd_phase(stream);
    bool reset = end->reset;
    /* a stream with a full hold has stopped reading: it reads again, drops the octets, and finds the peer's end */
    unsigned again = stream->rx.hold_full ? SRD_STREAM_RX : 0;

    lock_assert_held(&qp->rx_lock);
    if (phase == SRD_STREAM_ENDING && !stream->quiet)
        return 0;
    stream->quiet = end->quiet;
    srd_rx_hold_end(qp);
    if (phase == SRD_STREAM_UP) {
        srd_tell_fault(qp, end);
        lock_acquire(&qp->tx_lock);
        srd_tx_halt(qp, end);
        atomic_store_explicit(&stream->phase, SRD_STREAM_ENDING, memory_order_release);
        lock_release(&qp->tx_lock);
        set_end_deadline(stream, srd_stream_ms(now_ms) + SRD_DRAIN_MS);
        reset = reset || atomic_load_explicit(&stream->cut, memory_order_acquire);
    }
    if (!end->quiet) {
        srd_sq_flush(qp, end->has_culprit, end->culprit, end->status, end->vendor_err);
        flush_receives(qp, end->receive_status);
    }
    if (end->event) {
        struct ibv_async_event event = { .event_type = end->event, .element.qp = &qp->qp };

        srd_async_raise(qp->qp.context, &event, &qp->failed_event);
    }
    if (phase != SRD_STREAM_UP)
        return phase == SRD_STREAM_IDLE ? SRD_STREAM_DOWN : 0;
    return SRD_STREAM_DOWN |
           (reset ? SRD_STREAM_CLOSE : SRD_STREAM_TX | SRD_STREAM_SHUTDOWN | again);
}

/*
 * Ends the stream since the source of a Read Request was unmapped while the response was sent. The Terminate says how
 * far the response got (RFC 5040 section 4.8).
 */
static unsigned fail_response(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_segment segment = { .last = true, .opcode = SRD_OP_READ_REQUEST, .qn = SRD_QN_READ };
    struct srd_read_request request;
    uint8_t fpdu[SRD_FPDU_LENGTH_OCTETS + SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS];
    struct srd_end end = { .event = IBV_EVENT_QP_ACCESS_ERR,
        .ulpdu = fpdu + SRD_FPDU_LENGTH_OCTETS,
        .ulpdu_octets = SRD_DDP_UNTAGGED_OCTETS + SRD_READ_REQUEST_OCTETS,
        .keep_built = stream->params.soft_peer };
    struct srd_read_in *read;

    lock_acquire(&qp->tx_lock);
    /* A local fault returns no header, and need not be about the front Read. */
    if (stream->tx.response_fault == SRD_FAULT_LOCAL) {
        lock_release(&qp->tx_lock);
        end = (struct srd_end){ .fault = SRD_FAULT_LOCAL, .event = IBV_EVENT_QP_FATAL };
        return srd_stream_fail(qp, &end, now_ms);
    }
    read = srd_read_in_front(stream);
    segment.msn = read->msn;
    request = read->request;
    request.sink_to += read->sent;
    request.source_to += read->sent;
    request.octets -= read->sent;
    end.fault = stream->tx.response_fault;
    lock_release(&qp->tx_lock);
    srd_read_request_encode(
        fpdu + srd_fpdu_begin(fpdu, &segment, SRD_READ_REQUEST_OCTETS), &request);
    return srd_stream_fail(qp, &end, now_ms);
}

/* Makes the request at the tail the culprit, if it failed at this end. Returns whether it did. */
static bool find_culprit(struct srd_qp *qp, struct srd_end *end)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t tail;

    lock_acquire(&sq->lock);
    tail = atomic_load_explicit(&sq->tail, memory_order_relaxed);
    end->has_culprit = tail != atomic_load_explicit(&sq->next, memory_order_acquire) &&
                       srd_sqe_at(sq, tail)->done && srd_sqe_at(sq, tail)->status != IBV_WC_SUCCESS;
    end->culprit = tail;
    if (end->has_culprit)
        end->status = srd_sqe_at(sq, tail)->status;
    lock_release(&sq->lock);
    return end->has_culprit;
}

unsigned srd_stream_end_due(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE, .keep_responses = true };

    lock_assert_held(&qp->rx_lock);
    if (srd_phase(stream) != SRD_STREAM_UP)
        return 0;
    if (atomic_load_explicit(&stream->cut, memory_order_acquire)) {
        find_culprit(qp, &end);
        end.reset = true;
        end.event = IBV_EVENT_QP_FATAL;
        return srd_stream_fail(qp, &end, now_ms);
    }
    if (!atomic_exchange_explicit(&stream->end_due, false, memory_order_acq_rel))
        return 0;
    if (find_culprit(qp, &end)) {
        end.fault = SRD_FAULT_LOCAL;
        end.keep_responses = stream->params.soft_peer;
        return srd_stream_fail(qp, &end, now_ms);
    }
    if (srd_stream_drained(qp))
        return srd_stream_fail(qp, &end, now_ms);
    if (stream->tx.response_fault != SRD_FAULT_NONE)
        return fail_response(qp, now_ms);
    return 0;
}

/* Whether the peer's stream ends between messages. */
static bool at_border(const struct srd_stream *stream)
{
    const struct srd_rx *rx = &stream->rx;

    return rx->rd == rx->wr && !rx->in_payload && !rx->skip && !rx->send_open && !rx->write_open &&
           !rx->response_open;
}

/*
 * Whether the peer's orderly end leaves the requests posted: not before the initiator's program has confirmed the
 * connection, nor after the program has ended it itself.
 */
static bool keeps_posted(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;

    return atomic_load_explicit(&qp->keep_posted, memory_order_relaxed) &&
           (!stream->params.initiator ||
               atomic_load_explicit(&stream->open, memory_order_acquire)) &&
           !atomic_load_explicit(&stream->closing, memory_order_relaxed);
}

unsigned srd_stream_rx_end(struct srd_qp *qp, int error, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE };
    bool idle;

    lock_assert_held(&qp->rx_lock);
    atomic_store_explicit(&stream->rx_ended, true, memory_order_release);
    switch (srd_phase(stream)) {
    case SRD_STREAM_IDLE: return 0;
    case SRD_STREAM_ENDING:
        if (error)
            return SRD_STREAM_CLOSE;
        lock_acquire(&qp->tx_lock);
        idle = srd_tx_idle(stream);
        lock_release(&qp->tx_lock);
        return idle ? SRD_STREAM_CLOSE : SRD_STREAM_TX;
    case SRD_STREAM_UP: break;
    }
    if (stream->rx.held && !error) {
        /* Messages from before the FIN are still delivered if their receives are posted in time. */
        stream->rx.fin_held = true;
        if (atomic_load_explicit(&stream->rnr_deadline_ms, memory_order_relaxed) == UINT64_MAX)
            atomic_store_explicit(
                &stream->rnr_deadline_ms, srd_stream_ms(now_ms) + SRD_RNR_MS, memory_order_relaxed);
        return 0;
    }
    /* A softrdma peer reads nothing after it has sent its FIN. */
    end.keep_responses =
        !error && at_border(stream) && !srd_ring_used(&stream->out) && !stream->params.soft_peer;
    end.reset = !end.keep_responses;
    end.quiet = stream->params.quiet_end || (!error && at_border(stream) && keeps_posted(qp));
    return srd_stream_fail(qp, &end, now_ms);
}

/* --- start, and how the program ends it --------------------------------------------------------------------------- */

/*
 * Returns the size of staging. With CRC all payloads are copied there, so it has room for four of the largest FPDUs: a
 * call for four is faster than a call for each (docs/internals/measurements.md), and four still fit into a second-level
 * cache, from which TCP copies them.
 */
static uint32_t staging_octets(const struct srd_stream_params *params)
{
    uint32_t several = 4 * srd_tx_fpdu_room(params->fpdu_max_octets);

    return params->crc && several > SRD_TX_STAGING ? several : SRD_TX_STAGING;
}

static bool allocate(struct srd_stream *stream)
{
    struct srd_tx *tx = &stream->tx;

    tx->room = staging_octets(&stream->params);
    stream->rx.staging = srd_buffer_map(SRD_RX_STAGING);
    tx->batch = srd_buffer_map(sizeof(*tx->batch) + tx->room);
    if (!stream->rx.staging || !tx->batch)
        return false;
    tx->iov = tx->batch->iov;
    tx->refs = tx->batch->refs;
    tx->fpdu_end = tx->batch->fpdu_end;
    tx->fpdu_completes = tx->batch->fpdu_completes;
    tx->staging = tx->batch->staging;
    stream->in.mask = srd_ring_mask(stream->params.ird ? stream->params.ird : 1);
    stream->out.mask = srd_ring_mask(stream->params.ord ? stream->params.ord : 1);
    stream->reads_in = calloc(stream->in.mask + (size_t)1, sizeof(*stream->reads_in));
    stream->reads_out = calloc(stream->out.mask + (size_t)1, sizeof(*stream->reads_out));
    return stream->reads_in && stream->reads_out;
}

/* Gets memory and a random seed from the kernel. False: it failed, and logged why. */
static bool equip(struct srd_qp *qp)
{
    uint32_t *seed = &qp->stream.stag_seed;

    if (allocate(&qp->stream) && getrandom(seed, sizeof(*seed), GRND_NONBLOCK) == sizeof(*seed))
        return true;
    log_limited(LOG_ERROR, LOG_SOFT, "queue pair 0x%x cannot begin its connection, which ends: %s",
        qp->qp.qp_num, strerror(errno));
    return false;
}

unsigned srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    const uint8_t *octets = surplus;
    unsigned actions = 0;
    bool failed;

    lock_acquire(&qp->rx_lock);
    if (srd_phase(stream) != SRD_STREAM_IDLE) { /* the stream had its connection already */
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
        failed = !equip(qp);
        if (!failed && !stream->params.soft_peer) {
            lock_acquire(&qp->sq.lock);
            srd_sq_plain_peer_locked(&qp->sq);
            lock_release(&qp->sq.lock);
        }
        if (!failed)
            atomic_store_explicit(&stream->phase, SRD_STREAM_UP, memory_order_release);
    }
    lock_release(&qp->tx_lock);
    if (failed) {
        struct srd_end end = { .fault = SRD_FAULT_NONE, .reset = true };

        actions = srd_stream_fail(qp, &end, now_ms) | SRD_STREAM_DOWN | SRD_STREAM_CLOSE;
    }
    while (surplus_octets && srd_phase(stream) == SRD_STREAM_UP) {
        struct iovec iov[SRD_RX_IOV];
        int n = srd_stream_rx_space(qp, iov);
        size_t taken = 0;

        if (!n)
            break; /* impossible: the surplus behind a startup frame fits into staging */
        for (int i = 0; i < n && surplus_octets; i++) {
            size_t here = iov[i].iov_len < surplus_octets ? iov[i].iov_len : surplus_octets;

            memcpy(iov[i].iov_base, octets, here);
            octets += here;
            surplus_octets -= here;
            taken += here;
        }
        actions |= srd_stream_rx(qp, taken, now_ms);
    }
    lock_release(&qp->rx_lock);
    return actions;
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
    unsigned actions = 0;

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
        set_end_deadline(stream, now_ms + SRD_LINGER_MS);
        if (!atomic_load_explicit(&stream->open, memory_order_acquire) || srd_stream_drained(qp))
            actions = srd_stream_fail(qp, &end, now_ms);
        else
            actions = SRD_STREAM_TX;
    } else if (srd_phase(stream) == SRD_STREAM_IDLE) {
        actions = srd_stream_fail(qp, &end, now_ms);
    }
    return actions | srd_stream_leave_rx(qp);
}

unsigned srd_stream_abort(struct srd_qp *qp, uint64_t now_ms)
{
    /* It sends no Terminate: nothing has failed, and the peer would take it for an error of its oldest request. */
    struct srd_end end = { .fault = SRD_FAULT_NONE };
    unsigned actions;

    lock_acquire(&qp->rx_lock);
    actions = srd_stream_fail(qp, &end, now_ms);
    return actions | srd_stream_leave_rx(qp);
}

unsigned srd_stream_part(struct srd_qp *qp, uint64_t now_ms)
{
    const struct srd_end end = { .fault = SRD_FAULT_NONE, .reset = true, .quiet = true };
    unsigned actions = 0;

    lock_acquire(&qp->rx_lock);
    if (srd_phase(&qp->stream) == SRD_STREAM_UP)
        actions = srd_stream_fail(qp, &end, now_ms);
    return actions | srd_stream_leave_rx(qp);
}

void srd_stream_unreachable(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_end end = { .fault = SRD_FAULT_NONE, .status = IBV_WC_RETRY_EXC_ERR };
    struct srd_sq *sq = &qp->sq;

    lock_acquire(&qp->rx_lock);
    lock_acquire(&sq->lock);
    end.culprit = atomic_load_explicit(&sq->tail, memory_order_relaxed);
    end.has_culprit = end.culprit != atomic_load_explicit(&sq->head, memory_order_relaxed);
    lock_release(&sq->lock);
    if (end.has_culprit)
        srd_stream_fail(qp, &end, now_ms);
    lock_release(&qp->rx_lock);
}

/* --- idle streams ------------------------------------------------------------------------------------------------- */

/* Returns the sum of the counters of progress: none ever falls, so the sum changes if any of them does. */
static uint64_t traffic_of(const struct srd_stream *stream)
{
    return 1 + atomic_load_explicit(&stream->rx_complete, memory_order_relaxed) +
           atomic_load_explicit(&stream->acked_sent, memory_order_relaxed) +
           atomic_load_explicit(&stream->handed, memory_order_relaxed) + stream->rx.acknowledged +
           stream->rx.read_msn + stream->tx.read_msn +
           atomic_load_explicit(&stream->in.tail, memory_order_relaxed) +
           atomic_load_explicit(&stream->out.tail, memory_order_relaxed);
}

static bool is_between_messages(struct srd_stream *stream)
{
    const struct srd_rx *rx = &stream->rx;
    const struct srd_tx *tx = &stream->tx;

    return srd_phase(stream) == SRD_STREAM_UP && !rx->in_payload && rx->rd == rx->wr && !rx->skip &&
           !rx->held && tx->first == tx->count && !tx->n_refs;
}

bool srd_stream_give_back(struct srd_qp *qp, uint64_t *mark)
{
    struct srd_stream *stream = &qp->stream;
    uint64_t traffic = traffic_of(stream);
    bool still = traffic == *mark;

    lock_assert_held(&qp->rx_lock);
    lock_assert_held(&qp->tx_lock);
    *mark = traffic;
    if (!still || !is_between_messages(stream))
        return false;
    srd_buffer_give_back(stream->rx.staging, SRD_RX_STAGING);
    srd_buffer_give_back(stream->tx.batch, sizeof(*stream->tx.batch) + stream->tx.room);
    free(stream->rx.hold);
    stream->rx.hold = NULL;
    return true;
}

/* --- time ------------------------------------------------------------------------------------------------------- */

uint64_t srd_stream_deadline_ms(struct srd_qp *qp)
{
    uint64_t rnr = atomic_load_explicit(&qp->stream.rnr_deadline_ms, memory_order_relaxed);
    uint64_t end = atomic_load_explicit(&qp->stream.end_deadline_ms, memory_order_relaxed);

    return rnr < end ? rnr : end;
}

/* Ends the connection since no receive was posted in time: RFC 5040 has no retry. */
static unsigned rnr_fail(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_rx *rx = &qp->stream.rx;
    /* both begin with the length */
    const uint8_t *held = rx->hold_wr ? rx->hold : rx->staging + rx->rd;
    uint8_t ulpdu[SRD_DDP_UNTAGGED_OCTETS];
    struct srd_end end = { .fault = SRD_FAULT_NO_BUFFER,
        .ulpdu = ulpdu,
        .event = IBV_EVENT_QP_FATAL,
        .keep_responses = qp->stream.params.soft_peer };

    end.ulpdu_octets = (uint32_t)held[0] << 8 | held[1];
    memcpy(ulpdu, held + SRD_FPDU_LENGTH_OCTETS, sizeof(ulpdu));
    return srd_stream_fail(qp, &end, now_ms);
}

/*
 * The wait for a receive has timed out. If a thread that was preempted has posted one in time, and not resumed the
 * stream yet, the message takes that receive.
 */
static unsigned rnr_expired(struct srd_qp *qp, uint64_t now_ms)
{
    if (!srd_rq_is_empty(qp->rq))
        return srd_stream_resume(qp, now_ms);
    if (qp->stream.rx.fin_held && keeps_posted(qp)) {
        const struct srd_end end = { .fault = SRD_FAULT_NONE, .reset = true, .quiet = true };

        return srd_stream_fail(
            qp, &end, now_ms); /* the peer, which has closed, drops the message, too */
    }
    qp->stream.rx.rnr_ended = !qp->stream.rx.fin_held;
    return rnr_fail(qp, now_ms);
}

/*
 * Whether a deadline that has passed begins anew (util/deadline.h): the stream then reads and answers what has come
 * meanwhile. A disconnect gets back the time it lost and no more: its caller may give up after two seconds.
 */
static bool end_begins_anew(struct srd_stream *stream, uint64_t deadline_ms, uint64_t now_ms)
{
    uint64_t late_ms = now_ms - deadline_ms, wait_ms = SRD_DRAIN_MS;

    if (!deadline_ms_begins_anew(&stream->end_again, late_ms))
        return false;
    if (srd_phase(stream) == SRD_STREAM_UP)
        wait_ms = late_ms < SRD_LINGER_MS ? late_ms : SRD_LINGER_MS;
    atomic_store_explicit(&stream->end_deadline_ms, now_ms + wait_ms, memory_order_relaxed);
    return true;
}

unsigned srd_stream_timer(struct srd_qp *qp, uint64_t now_ms)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_end end = { .fault = SRD_FAULT_NONE, .keep_responses = true };
    unsigned actions = srd_stream_end_due(qp, now_ms);
    uint64_t end_ms;

    if (now_ms >= atomic_load_explicit(&stream->rnr_deadline_ms, memory_order_relaxed))
        actions |= rnr_expired(qp, now_ms);
    end_ms = atomic_load_explicit(&stream->end_deadline_ms, memory_order_relaxed);
    if (now_ms < end_ms || end_begins_anew(stream, end_ms, now_ms))
        return actions;
    atomic_store_explicit(&stream->end_deadline_ms, UINT64_MAX, memory_order_relaxed);
    if (srd_phase(stream) == SRD_STREAM_UP)
        return actions | srd_stream_fail(qp, &end, now_ms);
    return actions | SRD_STREAM_CLOSE | SRD_STREAM_LATE;
}

/* --- the fault of a refused look-up ------------------------------------------------------------------------------- */

srd_fault srd_fault_of_sink(enum srd_stag_error error)
{
    switch (error) {
    case SRD_STAG_OK: return SRD_FAULT_NONE;
    case SRD_STAG_BOUNDS: return SRD_FAULT_TAGGED_BOUNDS;
    case SRD_STAG_RIGHTS: return SRD_FAULT_PROTECTION_RIGHTS; /* DDP has no code for rights */
    case SRD_STAG_STREAM: return SRD_FAULT_TAGGED_STREAM;
    case SRD_STAG_WRAP: return SRD_FAULT_TAGGED_WRAP;
    case SRD_STAG_GONE: return SRD_FAULT_LOCAL; /* the peer did nothing wrong */
    default: return SRD_FAULT_TAGGED_STAG;
    }
}

srd_fault srd_fault_of_source(enum srd_stag_error error)
{
    switch (error) {
    case SRD_STAG_OK: return SRD_FAULT_NONE;
    case SRD_STAG_BOUNDS: return SRD_FAULT_PROTECTION_BOUNDS;
    case SRD_STAG_RIGHTS: return SRD_FAULT_PROTECTION_RIGHTS;
    case SRD_STAG_STREAM: return SRD_FAULT_PROTECTION_STREAM;
    case SRD_STAG_WRAP: return SRD_FAULT_PROTECTION_WRAP;
    case SRD_STAG_GONE: return SRD_FAULT_LOCAL;
    default: return SRD_FAULT_PROTECTION_STAG;
    }
}

srd_fault srd_fault_of_invalidate(enum srd_stag_error error)
{
    if (error == SRD_STAG_OK)
        return SRD_FAULT_NONE;
    return error == SRD_STAG_STREAM ? SRD_FAULT_PROTECTION_INVALIDATE : SRD_FAULT_INVALIDATE;
}
