/* SPDX-License-Identifier: MIT */
/*
 * tx_message.c - fills a batch: the RTR, acknowledgements, the requests of the send queue in order, responses to the
 * peer's Reads (tx_response.c), and at the end the Terminate. tx_extension.c has the messages of RFC 7306.
 *
 * Responses go between requests, at message borders only (RFC 5040 section 5.5), alternating with requests. Responses
 * do not wait for the send queue: a fence, a full read depth or a failed request stops only requests.
 */
#include "softrdma/memory/memory.h"
#include "softrdma/stream/tx_fpdu.h"

#include <string.h>

static bool is_tagged(const struct srd_sqe *sqe)
{
    return sqe->kind == SRD_SQE_WRITE;
}

static void put_acknowledgement(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_segment segment = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = SRD_ACK_STAG
    };

    segment.to = atomic_load_explicit(&stream->rx_complete, memory_order_acquire);
    if (stream->tells) {
        /* It is stored when a frame would be sent: earlier it would end the peer's wait for the answer that follows. */
        atomic_store_explicit(stream->tells, segment.to, memory_order_release);
        *actions |= SRD_STREAM_RING;
    } else {
        srd_tx_put(qp, &segment, NULL, 0);
    }
    qp->tx_counts.acks++;
    atomic_store_explicit(&stream->acked_sent, segment.to, memory_order_relaxed);
}

/* --- requests ------------------------------------------------------------------------------------------------ */

static uint32_t next_count(struct srd_qp *qp)
{
    return atomic_load_explicit(&qp->sq.next, memory_order_relaxed);
}

static void advance(struct srd_qp *qp)
{
    qp->stream.tx.source = SRD_TX_NONE;
    /* Pairs with srd_sq_retire_locked. */
    atomic_store_explicit(&qp->sq.next, next_count(qp) + 1, memory_order_release);
}

/* Ends the request at next, which sends nothing; whatever its status, it completes after those in front of it. */
static void executed(
    struct srd_qp *qp, struct srd_sqe *sqe, enum ibv_wc_status status, unsigned *actions)
{
    lock_acquire(&qp->sq.lock);
    sqe->status = status;
    sqe->done = true;
    lock_release(&qp->sq.lock);
    if (status != IBV_WC_SUCCESS)
        qp->stream.tx.blocked = true;
    advance(qp);
    *actions |= srd_stream_retire(qp, 0) & SRD_STREAM_END_DUE;
}

unsigned srd_tx_fail_request(struct srd_qp *qp, uint32_t count)
{
    struct srd_sqe *sqe = srd_sqe_at(&qp->sq, count);

    lock_acquire(&qp->sq.lock);
    sqe->status = IBV_WC_LOC_PROT_ERR;
    sqe->done = true;
    lock_release(&qp->sq.lock);
    qp->stream.tx.blocked = true;
    if (count == next_count(qp))
        advance(qp);
    return srd_stream_retire(qp, 0) & SRD_STREAM_END_DUE;
}

/* Whether all local keys of a request are valid; asked before the first of several segments, or a Read. */
static bool sges_good(struct srd_qp *qp, struct srd_sqe *sqe, int access)
{
    struct ibv_sge *sge = srd_sqe_sge(sqe);
    struct srd_stag_entry *entry;

    for (int i = 0; i < sqe->num_sge; i++) {
        if (!sge[i].length)
            continue;
        if (srd_stag_pin(qp, sge[i].lkey, sge[i].addr, sge[i].length, access, false, &entry))
            return false;
        srd_stag_unpin(entry);
    }
    return true;
}

/* Returns the entry with the next octets of the request in progress; *here: out: how many of octets it has. */
static inline const struct ibv_sge *next_entry(
    struct srd_tx *tx, struct srd_sqe *sqe, uint32_t octets, uint32_t *here)
{
    const struct ibv_sge *sge = srd_sqe_sge(sqe);

    for (; tx->sge_offset == sge[tx->sge].length; tx->sge_offset = 0)
        tx->sge++;
    *here = sge[tx->sge].length - tx->sge_offset;
    if (*here > octets)
        *here = octets;
    return &sge[tx->sge];
}

/* Adds the next octets of the request in progress as one FPDU. Returns whether its memory is valid. */
static bool put_large(
    struct srd_qp *qp, struct srd_sqe *sqe, const struct srd_segment *segment, uint32_t octets)
{
    struct srd_tx *tx = &qp->stream.tx;
    struct srd_tx_fpdu fpdu;
    uint32_t here;

    srd_tx_fpdu_begin(qp, &fpdu, segment, octets);
    for (; octets; octets -= here) {
        const struct ibv_sge *sge = next_entry(tx, sqe, octets, &here);

        if (srd_tx_fpdu_memory(qp, &fpdu, sge->lkey, sge->addr + tx->sge_offset, here, false)) {
            srd_tx_fpdu_undo(qp, &fpdu);
            return false;
        }
        tx->sge_offset += here;
    }
    srd_tx_fpdu_end(qp, &fpdu);
    return true;
}

/* Adds the next octets, SRD_TX_COPY_OCTETS at most, as one FPDU with a copy. Inline data is never longer. */
static bool put_small(
    struct srd_qp *qp, struct srd_sqe *sqe, const struct srd_segment *segment, uint32_t octets)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint8_t *to = srd_tx_small_begin(tx, segment, octets);
    uint32_t here;

    if (sqe->inlined) {
        memcpy(to, sqe->tail + tx->offset, octets);
        srd_tx_small_end(qp, to + octets);
        return true;
    }
    for (; octets; octets -= here, to += here) {
        const struct ibv_sge *sge = next_entry(tx, sqe, octets, &here);

        if (srd_tx_small_fetch(qp, to, sge->lkey, sge->addr + tx->sge_offset, here, false))
            return false;
        tx->sge_offset += here;
    }
    srd_tx_small_end(qp, to);
    return true;
}

void srd_tx_message_built(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;

    stream->tx.fpdu_completes[stream->tx.n_fpdus - 1] = true;
    sqe->number = ++stream->numbered;
    stream->tx.last_source = SRD_TX_REQUEST;
    advance(qp);
}

/* Numbers a Write that immediate data follows: the request is not over. */
static void write_built(struct srd_stream *stream)
{
    stream->tx.fpdu_completes[stream->tx.n_fpdus - 1] = true;
    stream->numbered++;
    stream->tx.source = SRD_TX_IMMEDIATE;
}

/* Builds one segment of a Send or Write. Returns whether to go on. */
static bool request_segment(struct srd_qp *qp, struct srd_sqe *sqe, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint32_t most = srd_tx_payload_max(stream, is_tagged(sqe)), octets = sqe->octets - tx->offset;
    struct srd_segment segment = {
        .tagged = is_tagged(sqe), .opcode = sqe->wire_opcode, .stag = sqe->rkey
    };

    if (octets > most)
        octets = most;
    segment.last = tx->offset + octets == sqe->octets;
    if (segment.tagged) {
        segment.opcode = SRD_OP_WRITE;
        segment.to = sqe->remote_addr + tx->offset;
        if (!sqe->octets)
            segment.stag = 0; /* the peer does not check it; the program's might be SRD_ACK_STAG */
    } else {
        segment.qn = SRD_QN_SEND;
        segment.msn = sqe->msn;
        segment.mo = tx->offset;
    }
    _Static_assert((int)SRD_MAX_INLINE <= SRD_TX_COPY_OCTETS, "inline data is small");
    if (!(octets <= SRD_TX_COPY_OCTETS ? put_small(qp, sqe, &segment, octets)
                                       : put_large(qp, sqe, &segment, octets))) {
        executed(qp, sqe, IBV_WC_LOC_PROT_ERR, actions);
        return false;
    }
    tx->offset += octets;
    if (segment.last && __builtin_expect(srd_sqe_write_has_immediate(sqe), 0))
        write_built(stream);
    else if (segment.last)
        srd_tx_message_built(qp, sqe);
    return true;
}

struct srd_read_out *srd_tx_begin_read(struct srd_qp *qp, struct srd_sqe *sqe, uint32_t msn)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_read_out *read = srd_read_out_free(stream);

    read->sqe = sqe;
    read->count = sqe ? next_count(qp) : 0;
    read->octets = sqe ? sqe->octets : 0;
    read->received = 0;
    read->stag = stream->stag_seed + msn * 0x9e3779b1u; /* each Read has another one */
    read->atomic = sqe && srd_sqe_is_atomic(sqe);
    if (sqe)
        sqe->msn = msn;
    return read;
}

static void put_read_request(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;
    uint32_t msn = stream->tx.read_msn++;
    struct srd_read_out *read = srd_tx_begin_read(qp, sqe, msn);
    struct srd_read_request request = { .sink_stag = read->stag, .octets = read->octets };
    struct srd_segment segment = {
        .last = true, .opcode = SRD_OP_READ_REQUEST, .qn = SRD_QN_READ, .msn = msn
    };
    uint8_t header[SRD_READ_REQUEST_OCTETS];

    if (sqe) {
        request.source_stag = sqe->rkey;
        request.source_to = sqe->remote_addr;
    }
    srd_read_request_encode(header, &request);
    srd_tx_put(qp, &segment, header, sizeof(header));
    srd_ring_push(&stream->out);
}

/* Builds the RTR, the initiator's first FPDU (RFC 6581 section 9.2). */
static void put_rtr(struct srd_qp *qp)
{
    static const struct srd_segment write = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = 1
    };

    qp->stream.tx.rtr_due = false;
    if (qp->stream.params.rtr == SRD_MPA_RTR_READ)
        put_read_request(qp, NULL);
    else
        srd_tx_put(qp, &write, NULL, 0);
}

/* Executes a request that sends nothing. Returns whether to go on with the next request. */
static bool execute(struct srd_qp *qp, struct srd_sqe *sqe, unsigned *actions)
{
    enum ibv_wc_status status = IBV_WC_SUCCESS;
    bool revokes = sqe->kind != SRD_SQE_BIND || srd_sqe_bind(sqe)->replaces;

    if (revokes && qp->stream.tx.n_refs)
        return false; /* it would wait for the pins of this batch: later, when that is sent */
    if (sqe->kind == SRD_SQE_BIND) {
        status = srd_stag_bind(
            qp, srd_mw_entry(srd_sqe_bind(sqe)->mw), sqe->rkey, &srd_sqe_bind(sqe)->bind);
    } else if (sqe->kind == SRD_SQE_FAST_REG) {
        status = srd_stag_register(qp, sqe->rkey, srd_sqe_fast(sqe));
    } else if (srd_stag_invalidate(qp, sqe->rkey, false)) {
        status = IBV_WC_LOC_PROT_ERR;
    }
    executed(qp, sqe, status, actions);
    return status == IBV_WC_SUCCESS;
}

/* Builds a Read or Atomic Request, one segment, when the depth allows. Returns whether to go on. */
static bool request_read(
    struct srd_qp *qp, struct srd_sqe *sqe, uint32_t outstanding, unsigned *actions)
{
    uint32_t limit = qp->stream.params.ord;

    if (!limit || !sges_good(qp, sqe, srd_sink_access(qp, sqe))) {
        executed(qp, sqe, limit ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_QP_OP_ERR, actions);
        return false;
    }
    if (outstanding >= limit)
        return false;
    if (srd_sqe_is_atomic(sqe))
        srd_tx_atomic_request(qp, sqe);
    else
        put_read_request(qp, sqe);
    qp->stream.tx.last_source = SRD_TX_REQUEST;
    advance(qp);
    return true;
}

/*
 * Begins the next request if that is possible now. Returns true if tx->source is the request now, or the request is
 * built or executed completely.
 */
static bool request_begin(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint32_t next = next_count(qp), outstanding = srd_ring_used(&stream->out);
    struct srd_sqe *sqe;

    if (tx->blocked || next == atomic_load_explicit(&qp->sq.head, memory_order_acquire) ||
        (tx->stop_set && next == tx->stop))
        return false;
    sqe = srd_sqe_at(&qp->sq, next);
    if (sqe->fence && outstanding)
        return false;
    if (sqe->status != IBV_WC_SUCCESS) {
        executed(qp, sqe, sqe->status, actions);
        return false;
    }
    if (srd_sqe_is_local(sqe))
        return execute(qp, sqe, actions);
    if (sqe->kind >= SRD_SQE_READ)
        return request_read(qp, sqe, outstanding, actions);
    if (sqe->octets > srd_tx_payload_max(stream, is_tagged(sqe)) && !sges_good(qp, sqe, 0)) {
        executed(qp, sqe, IBV_WC_LOC_PROT_ERR, actions);
        return false;
    }
    tx->source = SRD_TX_REQUEST;
    tx->offset = tx->sge = tx->sge_offset = 0;
    if (sqe->kind == SRD_SQE_SEND)
        sqe->msn = tx->send_msn++;
    return true;
}

/* --- the batch ----------------------------------------------------------------------------------------------- */

/* Takes one step, at a message border or in a message. Returns whether anything was done. */
static bool step(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    bool responses = srd_ring_used(&stream->in) && tx->response_fault == SRD_FAULT_NONE;

    if (tx->source == SRD_TX_NONE) {
        if (responses && tx->last_source != SRD_TX_RESPONSE)
            return srd_tx_response(qp, actions);
        if (!request_begin(qp, actions))
            return responses && srd_tx_response(qp, actions);
    }
    if (tx->source == SRD_TX_REQUEST)
        return request_segment(qp, srd_sqe_at(&qp->sq, next_count(qp)), actions);
    if (tx->source == SRD_TX_RESPONSE)
        return responses && srd_tx_response(qp, actions);
    if (tx->source == SRD_TX_IMMEDIATE)
        srd_tx_immediate(qp, srd_sqe_at(&qp->sq, next_count(qp)));
    return true;
}

/* Builds what is sent after the end: the final acknowledgement, responses that are still owed, the Terminate. */
static void build_ending(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    unsigned ignored = 0;

    if (tx->ack_last) {
        tx->ack_last = false;
        put_acknowledgement(qp, actions);
    }
    while (srd_ring_used(&stream->in) && srd_tx_has_room(stream))
        if (!srd_tx_response(qp, &ignored)) {
            /* The source is gone: no more responses can be sent, and the peer sees the end of the stream. */
            atomic_store_explicit(&stream->in.tail,
                atomic_load_explicit(&stream->in.head, memory_order_relaxed), memory_order_release);
            break;
        }
    if (tx->terminate_octets && srd_tx_has_room(stream)) { /* no response is owed any more */
        tx->iov[tx->count++] = (struct iovec){ tx->terminate, tx->terminate_octets };
        tx->octets += tx->terminate_octets;
        srd_tx_border(tx);
        tx->terminate_octets = 0;
        qp->tx_counts.terminates++;
    }
}

/* Whether a step may have something to do; asking costs less than the step. */
static bool may_step(struct srd_qp *qp)
{
    return next_count(qp) != atomic_load_explicit(&qp->sq.head, memory_order_acquire) ||
           srd_ring_used(&qp->stream.in);
}

void srd_tx_build(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;

    if (srd_phase(stream) == SRD_STREAM_ENDING) {
        build_ending(qp, actions);
        return;
    }
    if (!atomic_load_explicit(&stream->open, memory_order_acquire))
        return;
    if (tx->rtr_due)
        put_rtr(qp);
    if (srd_stream_owes_ack(qp))
        put_acknowledgement(qp, actions);
    while (may_step(qp) && !tx->broken_off && srd_tx_has_room(stream) && step(qp, actions))
        ;
}

/* --- which request a Terminate is about ------------------------------------------------------------------------ */

/* Whether the request's last message goes to the peer's queue of Sends, and so takes a Receive. */
static bool takes_receive(const struct srd_sqe *sqe)
{
    return sqe->kind == SRD_SQE_SEND ||
           (sqe->kind == SRD_SQE_WRITE && srd_sqe_write_has_immediate(sqe));
}

static bool matches(const struct srd_sqe *sqe, const struct srd_segment *segment)
{
    if (segment->tagged)
        return sqe->kind == SRD_SQE_WRITE && segment->opcode == SRD_OP_WRITE &&
               sqe->rkey == segment->stag && segment->to - sqe->remote_addr < sqe->octets;
    if (segment->qn == SRD_QN_SEND)
        return takes_receive(sqe) && sqe->msn == segment->msn;
    if (segment->qn == SRD_QN_READ)
        return (sqe->kind == SRD_SQE_READ || srd_sqe_is_atomic(sqe)) && sqe->msn == segment->msn;
    return false;
}

bool srd_tx_attribute(struct srd_qp *qp, const struct srd_terminate *terminate, uint32_t *culprit)
{
    struct srd_sq *sq = &qp->sq;
    uint32_t tail = atomic_load_explicit(&sq->tail, memory_order_relaxed), end = next_count(qp);
    enum srd_terminate_class class = srd_terminate_classify(terminate);

    lock_assert_held(&qp->tx_lock);
    if (class == SRD_CLASS_TRANSPORT || class == SRD_CLASS_SETUP)
        return false;
    if (srd_tx_in_request(&qp->stream.tx))
        end++; /* includes the request in progress */
    for (uint32_t i = tail; i != end; i++) {
        const struct srd_sqe *sqe = srd_sqe_at(sq, i);

        if (srd_sqe_is_local(sqe) || sqe->status != IBV_WC_SUCCESS || sqe->done)
            continue;
        /* A Terminate without a header is about the oldest. With a foreign peer only Reads are outstanding. */
        if (!terminate->has_segment || matches(sqe, &terminate->segment)) {
            *culprit = i;
            return true;
        }
    }
    return false;
}
