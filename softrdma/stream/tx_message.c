/* SPDX-License-Identifier: MIT */
/*
 * tx_message.c - what goes into a batch: the RTR, acknowledgements, the requests of the send queue in order, responses
 * to the peer's Reads and Atomics, and at the end the Terminate.
 *
 * Responses go between requests, at message borders only (RFC 5040 section 5.5); the two take turns there. They do not
 * wait for the send queue: a fence, a full read depth or a failed request stops that alone.
 *
 * Headers, small payloads and trailers stand one behind the other in a staging buffer, so that a list of small
 * messages is one iovec entry; larger payloads are gathered from registered memory.
 */
#include "softrdma/wire/crc32c.h"

#include "softrdma/memory/dma.h"
#include "softrdma/memory/memory.h"
#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"
#include "util/log.h"

#include <string.h>

enum {
    PAYLOAD_ALIGNMENT = 64, /* in staging, with CRC */
    ALIGNED_OCTETS = 8192,  /* of larger payloads: each takes an entry of the iovec */
};

/* --- one FPDU more: begin, add, end; or begin, add, undo -------------------------------------------------------- */

/* Where it begins in the batch. */
struct fpdu {
    int count, n_refs;
    uint32_t staged, octets;
    size_t last_octets;
    uint32_t crc;
};

/* Whether one more of any size fits. */
static bool batch_has_room(const struct srd_stream *stream)
{
    const struct srd_tx *tx = &stream->tx;
    uint32_t most = stream->params.crc ? stream->params.fpdu_max_octets : SRD_TX_COPY_OCTETS;

    return tx->count + SRD_TX_PIECES + 2 <= SRD_TX_IOV && tx->n_fpdus < SRD_TX_FPDUS &&
           tx->staged + PAYLOAD_ALIGNMENT + 20 + most + 3 + 4 <= tx->room &&
           tx->octets < SRD_TX_BATCH_OCTETS;
}

static bool last_is_memory(const struct srd_tx *tx)
{
    return tx->n_refs && tx->refs[tx->n_refs - 1].iov == tx->count - 1;
}

static uint8_t *stage(struct srd_tx *tx, uint32_t octets)
{
    uint8_t *p = tx->staging + tx->staged;

    if (tx->count && !last_is_memory(tx))
        tx->iov[tx->count - 1].iov_len += octets;
    else
        tx->iov[tx->count++] = (struct iovec){ p, octets };
    tx->staged += octets;
    tx->octets += octets;
    return p;
}

static void add_crc(struct srd_qp *qp, struct fpdu *fpdu, const void *data, uint32_t octets)
{
    if (qp->stream.params.crc)
        fpdu->crc = srd_crc32c(fpdu->crc, data, octets);
}

/* A large payload is copied to the border of a cache line, whatever its header: a third faster. It begins an entry. */
static void align_payload(struct srd_tx *tx, uint32_t header)
{
    uintptr_t at = (uintptr_t)(tx->staging + tx->staged) + header;

    tx->staged += (uint32_t)(-at & (PAYLOAD_ALIGNMENT - 1));
    tx->iov[tx->count++] = (struct iovec){ tx->staging + tx->staged, 0 };
}

static void begin_fpdu(
    struct srd_qp *qp, struct fpdu *fpdu, const struct srd_segment *segment, uint32_t payload)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t octets = SRD_FPDU_LENGTH_OCTETS + srd_segment_octets(segment->tagged);
    uint8_t *p;

    fpdu->count = tx->count;
    fpdu->n_refs = tx->n_refs;
    fpdu->staged = tx->staged;
    fpdu->octets = tx->octets;
    fpdu->last_octets = tx->count ? tx->iov[tx->count - 1].iov_len : 0;
    fpdu->crc = 0;
    if (qp->stream.params.crc && payload > ALIGNED_OCTETS)
        align_payload(tx, octets);
    p = stage(tx, octets);
    srd_fpdu_begin(p, segment, payload);
    add_crc(qp, fpdu, p, octets);
}

static void add_copy(struct srd_qp *qp, struct fpdu *fpdu, const void *data, uint32_t octets)
{
    uint8_t *p = stage(&qp->stream.tx, octets);

    memcpy(p, data, octets);
    add_crc(qp, fpdu, p, octets);
}

/* False: the memory is gone. */
static bool fetch_piece(
    struct srd_qp *qp, struct fpdu *fpdu, uint8_t *to, const void *from, uint32_t octets)
{
    if (qp->stream.params.crc)
        return srd_dma_fetch_crc(to, from, octets, &fpdu->crc);
    return srd_dma_fetch(to, from, octets);
}

/* fetch for a fast region. */
static bool fetch_pages(struct srd_qp *qp, struct fpdu *fpdu, const struct srd_stag_entry *entry,
    uint8_t *to, uint64_t addr, uint32_t octets)
{
    while (octets) {
        uint32_t here = octets;
        const uint8_t *from = srd_stag_at(entry, addr, &here);

        if (!fetch_piece(qp, fpdu, to, from, here))
            return false;
        to += here;
        addr += here;
        octets -= here;
    }
    return true;
}

static inline bool fetch(struct srd_qp *qp, struct fpdu *fpdu, const struct srd_stag_entry *entry,
    uint8_t *to, uint64_t addr, uint32_t octets)
{
    if (__builtin_expect(entry->max_pages, 0))
        return fetch_pages(qp, fpdu, entry, to, addr, octets);
    return fetch_piece(qp, fpdu, to, (const void *)(uintptr_t)addr, octets);
}

/* Each piece has a pin; the first has the caller's. */
static void gather(struct srd_qp *qp, struct srd_stag_entry *entry, uint32_t key, uint64_t addr,
    uint32_t octets, bool remote)
{
    struct srd_tx *tx = &qp->stream.tx;

    for (;;) {
        uint32_t here = octets;
        uint8_t *from = srd_stag_at(entry, addr, &here);

        tx->refs[tx->n_refs++] = (struct srd_tx_ref){ .entry = entry,
            .shift = addr - (uintptr_t)from,
            .key = key,
            .request = atomic_load_explicit(&qp->sq.next, memory_order_relaxed),
            .iov = (uint8_t)tx->count,
            .remote = remote };
        tx->iov[tx->count++] = (struct iovec){ from, here };
        tx->octets += here;
        if (here == octets)
            return;
        addr += here;
        octets -= here;
        srd_stag_pin_again(entry);
    }
}

/* Registered memory: copied when small or with CRC, else gathered from where it is and pinned until tx_done. */
static enum srd_stag_error add_memory(struct srd_qp *qp, struct fpdu *fpdu, uint32_t key,
    uint64_t addr, uint32_t octets, bool remote, bool small)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error;

    error =
        srd_stag_pin(qp, key, addr, octets, remote ? IBV_ACCESS_REMOTE_READ : 0, remote, &entry);
    if (error)
        return error;
    /*
     * What the CRC was computed of must be what is sent. The program, or a peer, may change this memory any time: that
     * a Read finds it half changed is no reason to lose the connection.
     */
    if (small || qp->stream.params.crc) {
        uint8_t *copy = stage(&qp->stream.tx, octets);
        bool there = fetch(qp, fpdu, entry, copy, addr, octets);

        srd_stag_unpin(entry);
        return there ? SRD_STAG_OK : SRD_STAG_GONE;
    }
    gather(qp, entry, key, addr, octets, remote);
    return SRD_STAG_OK;
}

static void end_fpdu(struct srd_qp *qp, struct fpdu *fpdu)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t pad = -(tx->octets - fpdu->octets) & 3;
    uint8_t *p = stage(tx, pad + SRD_FPDU_CRC_OCTETS);

    memset(p, 0, pad);
    add_crc(qp, fpdu, p, pad);
    wire_put_crc(p + pad, fpdu->crc);
    srd_tx_border(tx);
}

static void undo_fpdu(struct srd_qp *qp, const struct fpdu *fpdu)
{
    struct srd_tx *tx = &qp->stream.tx;

    while (tx->n_refs > fpdu->n_refs)
        srd_stag_unpin(tx->refs[--tx->n_refs].entry);
    tx->count = fpdu->count;
    tx->staged = fpdu->staged;
    tx->octets = fpdu->octets;
    if (tx->count)
        tx->iov[tx->count - 1].iov_len = fpdu->last_octets;
}

static bool is_tagged(const struct srd_sqe *sqe)
{
    return sqe->kind == SRD_SQE_WRITE;
}

/* The largest payload of one FPDU, such that a full one needs no pad. */
static uint32_t payload_max(const struct srd_stream *stream, bool tagged)
{
    return (stream->params.fpdu_max_octets - SRD_FPDU_LENGTH_OCTETS - srd_segment_octets(tagged) -
               SRD_FPDU_CRC_OCTETS) &
           ~3u;
}

static void put_bare(struct srd_qp *qp, const struct srd_segment *segment)
{
    struct fpdu fpdu;

    begin_fpdu(qp, &fpdu, segment, 0);
    end_fpdu(qp, &fpdu);
}

static void put_acknowledgement(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_segment segment = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = SRD_ACK_STAG
    };

    segment.to = atomic_load_explicit(&stream->rx_complete, memory_order_acquire);
    put_bare(qp, &segment);
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
    atomic_store_explicit(&qp->sq.next, next_count(qp) + 1,
        memory_order_release); /* pairs with srd_sq_retire_locked */
}

/* Ends the request at next without the wire; whatever its status, it completes after those in front of it. */
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
    *actions |= srd_stream_retire(qp, 0) & SRD_STREAM_SETTLE;
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
    return srd_stream_retire(qp, 0) & SRD_STREAM_SETTLE;
}

/* Whether all local keys of a request are good, before the first of several segments, or of a Read. */
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

/* Adds the next octets of the request in progress. */
static bool add_payload(struct srd_qp *qp, struct fpdu *fpdu, struct srd_sqe *sqe, uint32_t octets)
{
    struct srd_tx *tx = &qp->stream.tx;
    struct ibv_sge *sge = srd_sqe_sge(sqe);
    bool small = octets <= SRD_TX_COPY_OCTETS;

    if (sqe->inlined) {
        add_copy(qp, fpdu, sqe->tail + tx->offset, octets);
        return true;
    }
    while (octets) {
        uint32_t n = sge[tx->sge].length - tx->sge_offset;

        if (!n) {
            tx->sge++;
            tx->sge_offset = 0;
            continue;
        }
        if (n > octets)
            n = octets;
        if (add_memory(
                qp, fpdu, sge[tx->sge].lkey, sge[tx->sge].addr + tx->sge_offset, n, false, small))
            return false;
        tx->sge_offset += n;
        octets -= n;
    }
    return true;
}

static void message_built(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;

    stream->tx.fpdu_completes[stream->tx.n_fpdus - 1] = true;
    sqe->number = ++stream->numbered;
    stream->tx.last_source = SRD_TX_REQUEST;
    advance(qp);
}

/* A message that its immediate data follows: the request is not over. */
static void write_built(struct srd_stream *stream)
{
    stream->tx.fpdu_completes[stream->tx.n_fpdus - 1] = true;
    stream->numbered++;
    stream->tx.source = SRD_TX_IMMEDIATE;
}

/* One segment of a Send or Write. Returns whether to go on. */
static bool request_segment(struct srd_qp *qp, struct srd_sqe *sqe, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint32_t most = payload_max(stream, is_tagged(sqe)), octets = sqe->octets - tx->offset;
    struct srd_segment segment = {
        .tagged = is_tagged(sqe), .opcode = sqe->wire_opcode, .stag = sqe->rkey
    };
    struct fpdu fpdu;

    if (octets > most)
        octets = most;
    segment.last = tx->offset + octets == sqe->octets;
    if (segment.tagged) {
        segment.opcode = SRD_OP_WRITE;
        segment.to = sqe->remote_addr + tx->offset;
        if (!sqe->octets)
            segment.stag = 0; /* not checked there; and never the STag of an acknowledgement */
    } else {
        segment.qn = SRD_QN_SEND;
        segment.msn = sqe->msn;
        segment.mo = tx->offset;
    }
    begin_fpdu(qp, &fpdu, &segment, octets);
    if (!add_payload(qp, &fpdu, sqe, octets)) {
        undo_fpdu(qp, &fpdu);
        executed(qp, sqe, IBV_WC_LOC_PROT_ERR, actions);
        return false;
    }
    end_fpdu(qp, &fpdu);
    tx->offset += octets;
    if (segment.last && __builtin_expect(srd_sqe_write_has_immediate(sqe), 0))
        write_built(stream);
    else if (segment.last)
        message_built(qp, sqe);
    return true;
}

/* What directly follows a Write: a message of its own (RFC 7306 section 6). */
static bool immediate_segment(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_segment segment = {
        .last = true, .opcode = sqe->wire_opcode, .qn = SRD_QN_SEND, .msn = qp->stream.tx.send_msn++
    };
    uint8_t data[SRD_IMMEDIATE_OCTETS] = { 0 };
    struct fpdu fpdu;

    wire_put32(data + 4, sqe->immediate);
    sqe->msn = segment.msn;
    begin_fpdu(qp, &fpdu, &segment, sizeof(data));
    add_copy(qp, &fpdu, data, sizeof(data));
    end_fpdu(qp, &fpdu);
    message_built(qp, sqe);
    return true;
}

/* A place among the Reads and Atomics that are out; sqe: NULL for the RTR. */
static inline struct srd_read_out *begin_read(struct srd_qp *qp, struct srd_sqe *sqe, uint32_t msn)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_read_out *read = srd_read_out_free(stream);

    read->sqe = sqe;
    read->count = sqe ? next_count(qp) : 0;
    read->octets = sqe ? sqe->octets : 0;
    read->received = 0;
    read->stag = stream->stag_seed + msn * 0x9e3779b1u; /* another one for each */
    read->atomic = sqe && srd_sqe_is_atomic(sqe);
    if (sqe)
        sqe->msn = msn;
    return read;
}

static inline void put_header(
    struct srd_qp *qp, uint8_t opcode, uint32_t msn, const uint8_t *header, uint32_t octets)
{
    struct srd_segment segment = { .last = true, .opcode = opcode, .qn = SRD_QN_READ, .msn = msn };
    struct fpdu fpdu;

    begin_fpdu(qp, &fpdu, &segment, octets);
    add_copy(qp, &fpdu, header, octets);
    end_fpdu(qp, &fpdu);
}

static void put_read_request(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;
    uint32_t msn = stream->tx.read_msn++;
    struct srd_read_out *read = begin_read(qp, sqe, msn);
    struct srd_read_request request = { .sink_stag = read->stag, .octets = read->octets };
    uint8_t header[SRD_READ_REQUEST_OCTETS];

    if (sqe) {
        request.source_stag = sqe->rkey;
        request.source_to = sqe->remote_addr;
    }
    srd_read_request_encode(header, &request);
    put_header(qp, SRD_OP_READ_REQUEST, msn, header, sizeof(header));
    srd_ring_push(&stream->out);
}

/* RFC 7306 section 5.2.1; verbs' Atomics are those of all 64 bits. */
static void put_atomic_request(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;
    uint32_t msn = stream->tx.read_msn++;
    const struct srd_sqe_atomic *operands = srd_sqe_atomic(sqe);
    struct srd_atomic_request request = {
        .identifier = begin_read(qp, sqe, msn)->stag, .stag = sqe->rkey, .to = sqe->remote_addr
    };
    uint8_t header[SRD_ATOMIC_REQUEST_OCTETS];

    if (sqe->kind == SRD_SQE_FETCH_ADD)
        request.atomic =
            (struct srd_atomic){ .operation = SRD_ATOMIC_FETCH_ADD, .data = operands->compare_add };
    else
        request.atomic = (struct srd_atomic){ .operation = SRD_ATOMIC_CMP_SWAP,
            .data = operands->swap,
            .mask = UINT64_MAX,
            .compare = operands->compare_add,
            .compare_mask = UINT64_MAX };
    srd_atomic_request_encode(header, &request);
    put_header(qp, SRD_OP_ATOMIC_REQUEST, msn, header, sizeof(header));
    srd_ring_push(&stream->out);
}

/* RFC 6581 section 9.2: the initiator's first FPDU. */
static void put_rtr(struct srd_qp *qp)
{
    static const struct srd_segment write = {
        .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = 1
    };

    qp->stream.tx.rtr_due = false;
    if (qp->stream.params.rtr == SRD_MPA_RTR_READ)
        put_read_request(qp, NULL);
    else
        put_bare(qp, &write);
}

/* Executes what needs no wire. Returns whether to go on with the next request. */
static bool execute(struct srd_qp *qp, struct srd_sqe *sqe, unsigned *actions)
{
    enum ibv_wc_status status = IBV_WC_SUCCESS;

    if (sqe->kind == SRD_SQE_BIND) {
        status = srd_stag_bind(
            qp, srd_mw_entry(srd_sqe_bind(sqe)->mw), sqe->rkey, &srd_sqe_bind(sqe)->bind);
    } else if (qp->stream.tx.n_refs) {
        return false; /* would wait for our own pins: when this batch is gone */
    } else if (sqe->kind == SRD_SQE_FAST_REG) {
        status = srd_stag_register(qp, sqe->rkey, srd_sqe_fast(sqe));
    } else if (srd_stag_invalidate(qp, sqe->rkey, false)) {
        status = IBV_WC_LOC_PROT_ERR;
    }
    executed(qp, sqe, status, actions);
    return status == IBV_WC_SUCCESS;
}

/* A Read or Atomic: one segment, when the depth allows. Returns whether to go on. */
static bool request_read(
    struct srd_qp *qp, struct srd_sqe *sqe, uint32_t outstanding, unsigned *actions)
{
    uint32_t limit = qp->stream.params.ord;

    if (!limit || !sges_good(qp, sqe, IBV_ACCESS_LOCAL_WRITE)) {
        executed(qp, sqe, limit ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_QP_OP_ERR, actions);
        return false;
    }
    if (outstanding >= limit)
        return false;
    if (srd_sqe_is_atomic(sqe))
        put_atomic_request(qp, sqe);
    else
        put_read_request(qp, sqe);
    qp->stream.tx.last_source = SRD_TX_REQUEST;
    advance(qp);
    return true;
}

/*
 * Begins the next request if that is possible now. On return with true either tx->source is the request, or it has been
 * dealt with altogether.
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
    if (sqe->octets > payload_max(stream, is_tagged(sqe)) && !sges_good(qp, sqe, 0)) {
        executed(qp, sqe, IBV_WC_LOC_PROT_ERR, actions);
        return false;
    }
    tx->source = SRD_TX_REQUEST;
    tx->offset = tx->sge = tx->sge_offset = 0;
    if (sqe->kind == SRD_SQE_SEND)
        sqe->msn = tx->send_msn++;
    return true;
}

/* --- responses ----------------------------------------------------------------------------------------------- */

/* RFC 7306 section 5.2.2. */
static bool atomic_response(struct srd_qp *qp, const struct srd_read_in *read)
{
    struct srd_tx *tx = &qp->stream.tx;
    struct srd_segment segment = { .last = true,
        .opcode = SRD_OP_ATOMIC_RESPONSE,
        .qn = SRD_QN_ATOMIC_RESPONSE,
        .msn = tx->atomic_msn++ };
    uint8_t header[SRD_ATOMIC_RESPONSE_OCTETS];
    struct fpdu fpdu;

    srd_atomic_response_encode(header, &read->original);
    begin_fpdu(qp, &fpdu, &segment, sizeof(header));
    add_copy(qp, &fpdu, header, sizeof(header));
    end_fpdu(qp, &fpdu);
    tx->last_source = SRD_TX_RESPONSE;
    srd_ring_pop(&qp->stream.in);
    return true;
}

/* One segment of the oldest response to a Read (RFC 5040 section 5.3). Returns whether to go on. */
static bool read_response(struct srd_qp *qp, struct srd_read_in *read, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint32_t most = payload_max(stream, true), octets = read->request.octets - read->sent;
    struct srd_segment segment = { .tagged = true, .opcode = SRD_OP_READ_RESPONSE };
    enum srd_stag_error error = SRD_STAG_OK;
    struct fpdu fpdu;

    if (octets > most)
        octets = most;
    segment.last = read->sent + octets == read->request.octets;
    segment.stag = read->request.sink_stag;
    segment.to = read->request.sink_to + read->sent;
    begin_fpdu(qp, &fpdu, &segment, octets);
    if (octets)
        error = add_memory(qp, &fpdu, read->request.source_stag,
            read->request.source_to + read->sent, octets, true, octets <= SRD_TX_COPY_OCTETS);
    if (error) {
        undo_fpdu(qp, &fpdu);
        tx->response_fault = srd_fault_of_source(error);
        atomic_store_explicit(&stream->settle, true, memory_order_release);
        *actions |= SRD_STREAM_SETTLE;
        return false;
    }
    end_fpdu(qp, &fpdu);
    read->sent += octets;
    tx->source = SRD_TX_RESPONSE;
    if (segment.last) {
        tx->source = SRD_TX_NONE;
        tx->last_source = SRD_TX_RESPONSE;
        /* The slot is free: a peer that has the response may ask for more. */
        srd_ring_pop(&stream->in);
    }
    return true;
}

static bool response_segment(struct srd_qp *qp, unsigned *actions)
{
    struct srd_read_in *read = srd_read_in_front(&qp->stream);

    return read->atomic ? atomic_response(qp, read) : read_response(qp, read, actions);
}

/* --- the batch ----------------------------------------------------------------------------------------------- */

/* One step at a message border or in a message. Returns whether anything was done. */
static bool step(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    bool responses = srd_ring_used(&stream->in) && tx->response_fault == SRD_FAULT_NONE;

    if (tx->source == SRD_TX_NONE) {
        if (responses && tx->last_source != SRD_TX_RESPONSE)
            return response_segment(qp, actions);
        if (!request_begin(qp, actions))
            return responses && response_segment(qp, actions);
    }
    if (tx->source == SRD_TX_REQUEST)
        return request_segment(qp, srd_sqe_at(&qp->sq, next_count(qp)), actions);
    if (tx->source == SRD_TX_RESPONSE)
        return responses && response_segment(qp, actions);
    if (tx->source == SRD_TX_IMMEDIATE)
        return immediate_segment(qp, srd_sqe_at(&qp->sq, next_count(qp)));
    return true;
}

/* After the end: the final acknowledgement, what the peer is still owed, the Terminate. */
static void build_ending(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    unsigned ignored = 0;

    if (tx->ack_last) {
        tx->ack_last = false;
        put_acknowledgement(qp);
    }
    while (srd_ring_used(&stream->in) && batch_has_room(stream))
        if (!response_segment(qp, &ignored)) {
            /* The source has gone: nothing more can be answered, the peer sees the end of the stream. */
            atomic_store_explicit(&stream->in.tail,
                atomic_load_explicit(&stream->in.head, memory_order_relaxed), memory_order_release);
            break;
        }
    if (tx->terminate_octets && batch_has_room(stream)) { /* nothing is owed any more */
        tx->iov[tx->count++] = (struct iovec){ tx->terminate, tx->terminate_octets };
        tx->octets += tx->terminate_octets;
        srd_tx_border(tx);
        tx->terminate_octets = 0;
    }
}

void srd_tx_build(struct srd_qp *qp, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;

    if (srd_phase(stream) == SRD_STREAM_ENDING) {
        build_ending(qp);
        return;
    }
    if (!atomic_load_explicit(&stream->open, memory_order_acquire))
        return;
    if (tx->rtr_due)
        put_rtr(qp);
    if (srd_stream_owes_ack(qp))
        put_acknowledgement(qp);
    while (!tx->broken_off && batch_has_room(stream) && step(qp, actions))
        ;
}

/* --- which request a Terminate is about ------------------------------------------------------------------------ */

/* Whether its last message is, or will be, one of the queue of Sends. */
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
        end++; /* the one in progress */
    for (uint32_t i = tail; i != end; i++) {
        const struct srd_sqe *sqe = srd_sqe_at(sq, i);

        if (srd_sqe_is_local(sqe) || sqe->status != IBV_WC_SUCCESS || sqe->done)
            continue;
        /* To others than soft peers only Reads are still out; and without a header it is the oldest. */
        if (!terminate->has_segment || matches(sqe, &terminate->segment)) {
            *culprit = i;
            return true;
        }
    }
    return false;
}
