/* SPDX-License-Identifier: MIT */
/*
 * tx.c - the send side of a stream: offers a batch of FPDUs as one iovec until all of it is sent.
 *
 * Registered memory in the batch is pinned only from srd_stream_tx to srd_stream_tx_done: a full socket must not keep
 * the program from deregistering. Memory that is offered again is looked up again; if it is gone by then, an FPDU stays
 * incomplete, and the connection is closed.
 */
#include "softrdma/memory/dma.h"
#include "softrdma/memory/memory.h"
#include "softrdma/stream/internal.h"
#include "util/log.h"

#include <stdlib.h>
#include <string.h>

static void batch_clear(struct srd_tx *tx)
{
    tx->first = tx->count = tx->n_refs = 0;
    tx->n_fpdus = tx->n_gone = tx->octets = tx->taken = tx->staged = 0;
    if (__builtin_expect(tx->salvage != NULL, 0)) {
        free(tx->salvage);
        tx->salvage = NULL;
    }
}

static void unpin(struct srd_tx *tx)
{
    for (int i = 0; i < tx->n_refs; i++) {
        if (tx->refs[i].entry)
            srd_stag_unpin(tx->refs[i].entry);
        tx->refs[i].entry = NULL;
    }
}

/* Pins a piece again. False: it is gone; a fast region may also have been registered with other pages since. */
static bool repin_piece(struct srd_qp *qp, struct srd_tx_ref *ref)
{
    const struct iovec *iov = &qp->stream.tx.iov[ref->iov];
    uint64_t addr = (uintptr_t)iov->iov_base + ref->shift;
    uint32_t here = (uint32_t)iov->iov_len;

    if (srd_stag_pin(qp, ref->key, addr, here, ref->remote ? IBV_ACCESS_REMOTE_READ : 0,
            ref->remote, &ref->entry)) {
        ref->entry = NULL;
        return false;
    }
    return srd_stag_at(ref->entry, addr, &here) == iov->iov_base && here == iov->iov_len;
}

/* Looks up and pins the memory of entries that are offered again; end: the entry behind the last of them. */
static bool repin(struct srd_qp *qp, int end)
{
    struct srd_tx *tx = &qp->stream.tx;

    for (int i = 0; i < tx->n_refs && tx->refs[i].iov < end; i++) {
        if (tx->refs[i].iov < tx->first || tx->refs[i].entry)
            continue;
        if (!repin_piece(qp, &tx->refs[i])) {
            unpin(tx);
            return false;
        }
    }
    return true;
}

/* Ends the connection, since an FPDU is half sent and cannot be completed. */
static void cut_off(struct srd_qp *qp, unsigned *actions)
{
    log_limited(LOG_WARN, LOG_SOFT,
        "queue pair %#x: memory was deregistered, invalidated or unmapped while it was being sent; "
        "the connection is cut",
        qp->qp.qp_num);
    atomic_store_explicit(&qp->stream.cut, true, memory_order_release);
    *actions |= srd_phase(&qp->stream) == SRD_STREAM_UP ? SRD_STREAM_END_DUE : SRD_STREAM_CLOSE;
}

bool srd_tx_idle(struct srd_stream *stream)
{
    struct srd_tx *tx = &stream->tx;

    return tx->first == tx->count && !tx->terminate_octets && !tx->ack_last &&
           !srd_ring_used(&stream->in);
}

bool srd_stream_has_more(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;

    lock_assert_held(&qp->tx_lock);
    return tx->first != tx->count || srd_phase(stream) != SRD_STREAM_UP ||
           atomic_load_explicit(&qp->sq.next, memory_order_relaxed) !=
               atomic_load_explicit(&qp->sq.head, memory_order_acquire) ||
           srd_ring_used(&stream->in) || srd_stream_owes_ack(qp);
}

int srd_stream_tx(
    struct srd_qp *qp, struct iovec iov[SRD_TX_IOV], uint64_t now_ms, unsigned *actions)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    int n;

    (void)now_ms;
    lock_assert_held(&qp->tx_lock);
    if (srd_phase(stream) == SRD_STREAM_IDLE ||
        atomic_load_explicit(&stream->cut, memory_order_acquire))
        return 0;
    if (tx->first == tx->count) {
        srd_tx_build(qp, actions);
    } else if (!repin(qp, tx->count)) {
        cut_off(qp, actions);
        return 0;
    }
    n = tx->count - tx->first;
    if (n == 1) /* the usual case, without a call of memcpy */
        iov[0] = tx->iov[tx->first];
    else
        memcpy(iov, tx->iov + tx->first, (size_t)n * sizeof(*iov));
    if (!n && srd_phase(stream) == SRD_STREAM_ENDING &&
        atomic_load_explicit(&stream->rx_ended, memory_order_acquire))
        *actions |= SRD_STREAM_CLOSE;
    return n;
}

/* Counts the messages that TCP has taken by now. */
static unsigned count_handed(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    uint64_t before = atomic_load_explicit(&stream->handed, memory_order_relaxed), handed = before;

    for (; tx->n_gone < tx->n_fpdus && tx->fpdu_end[tx->n_gone] <= tx->taken; tx->n_gone++) {
        handed += tx->fpdu_completes[tx->n_gone];
        qp->tx_counts.fpdus++;
    }
    if (handed == before)
        return 0;
    /* Pairs with the check of an acknowledgement. */
    atomic_store_explicit(&stream->handed, handed, memory_order_release);
    /* If the peer is not softrdma, a message is complete when TCP has taken it (RFC 5040 section 5.5). */
    if (stream->params.soft_peer || srd_phase(stream) != SRD_STREAM_UP)
        return 0;
    return srd_stream_retire(qp, handed) & SRD_STREAM_END_DUE;
}

unsigned srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms)
{
    struct srd_tx *tx = &qp->stream.tx;
    unsigned actions;

    (void)now_ms;
    lock_assert_held(&qp->tx_lock);
    unpin(tx);
    tx->taken += (uint32_t)octets;
    qp->tx_counts.octets += octets;
    while (tx->first < tx->count && octets >= tx->iov[tx->first].iov_len)
        octets -= tx->iov[tx->first++].iov_len;
    if (tx->first < tx->count) {
        tx->iov[tx->first].iov_base = (char *)tx->iov[tx->first].iov_base + octets;
        tx->iov[tx->first].iov_len -= octets;
    }
    actions = count_handed(qp);
    if (tx->first == tx->count)
        batch_clear(tx);
    return actions;
}

/* --- memory that is gone ----------------------------------------------------------------------------------------- */

/* Returns the first piece of memory that cannot be read; NULL: all can. */
static struct srd_tx_ref *find_gone(struct srd_tx *tx)
{
    for (int i = 0; i < tx->n_refs; i++) {
        struct iovec *iov = &tx->iov[tx->refs[i].iov];

        if (tx->refs[i].iov >= tx->first && srd_probe_memory(iov->iov_base, iov->iov_len, false))
            return &tx->refs[i];
    }
    return NULL;
}

/* Marks the response or request failed whose memory cannot be sent; the stream ends when its turn comes. */
static unsigned fail_owner(struct srd_qp *qp, const struct srd_tx_ref *ref)
{
    struct srd_stream *stream = &qp->stream;

    if (ref->remote && srd_phase(stream) == SRD_STREAM_UP) {
        stream->tx.response_fault = srd_fault_of_source(SRD_STAG_GONE);
        atomic_store_explicit(&stream->end_due, true, memory_order_release);
        return SRD_STREAM_END_DUE;
    }
    if (ref->remote) { /* the stream has ended: no more responses can be sent */
        atomic_store_explicit(&stream->in.tail,
            atomic_load_explicit(&stream->in.head, memory_order_relaxed), memory_order_release);
        return 0;
    }
    return srd_tx_fail_request(qp, ref->request);
}

/* Removes the FPDU that has this piece, and all behind it. False: a part of that FPDU is sent already. */
static bool take_back(struct srd_tx *tx, const struct srd_tx_ref *ref)
{
    uint32_t at = tx->taken, begin, keep, fpdu = 0;
    int i;

    for (i = tx->first; i < ref->iov; i++)
        at += (uint32_t)tx->iov[i].iov_len;
    while (tx->fpdu_end[fpdu] <= at)
        fpdu++;
    begin = fpdu ? tx->fpdu_end[fpdu - 1] : 0;
    if (begin < tx->taken)
        return false;
    keep = begin - tx->taken;
    for (i = tx->first; keep; i++) {
        if (tx->iov[i].iov_len > keep)
            tx->iov[i].iov_len = keep;
        keep -= (uint32_t)tx->iov[i].iov_len;
    }
    tx->count = i;
    while (tx->n_refs && tx->refs[tx->n_refs - 1].iov >= i)
        tx->n_refs--;
    tx->n_fpdus = fpdu;
    tx->octets = begin;
    tx->source = SRD_TX_NONE;
    tx->broken_off = true;
    if (tx->first == tx->count)
        batch_clear(tx);
    return true;
}

unsigned srd_stream_tx_fault(struct srd_qp *qp)
{
    struct srd_tx *tx = &qp->stream.tx;
    struct srd_tx_ref *ref = find_gone(tx), gone;
    unsigned actions = 0;

    lock_assert_held(&qp->tx_lock);
    unpin(tx);
    if (ref) {
        gone = *ref;
        srd_dma_gone(tx->iov[gone.iov].iov_base, tx->iov[gone.iov].iov_len);
        actions = fail_owner(qp, &gone);
    }
    if (!ref || !take_back(tx, &gone))
        cut_off(qp, &actions);
    return actions;
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

/* Copies the next octets of the batch to out. False: memory is gone. */
static bool copy_rest(struct srd_qp *qp, uint8_t *out, uint32_t octets)
{
    struct srd_tx *tx = &qp->stream.tx;
    size_t offered = 0;
    bool there = true;
    int end = tx->first;

    while (offered < octets)
        offered += tx->iov[end++].iov_len;
    if (!repin(qp, end))
        return false;
    for (int i = tx->first; octets && there; i++) {
        uint32_t n = tx->iov[i].iov_len < octets ? (uint32_t)tx->iov[i].iov_len : octets;

        there = srd_dma_fetch(out, tx->iov[i].iov_base, n);
        out += n;
        octets -= n;
    }
    unpin(tx);
    return there;
}

/*
 * Copies the part of the batch that still has to be sent, all of it or the FPDU under way, since the flush gives the
 * program its memory back. Returns false, with the batch as it was, when memory is gone.
 */
static bool salvage(struct srd_qp *qp, bool all)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t end = tx->taken, rest;
    uint8_t *copy = NULL;

    for (uint32_t i = 0; i < tx->n_fpdus && end == tx->taken; i++) {
        uint32_t begin = i ? tx->fpdu_end[i - 1] : 0;

        if (begin < tx->taken && tx->fpdu_end[i] > tx->taken)
            end = tx->fpdu_end[i];
    }
    if (all)
        end = tx->octets;
    rest = end - tx->taken;
    if (rest && (!(copy = malloc(rest)) || !copy_rest(qp, copy, rest))) {
        free(copy);
        return false;
    }
    batch_clear(tx);
    if (rest) {
        tx->salvage = copy;
        tx->iov[0] = (struct iovec){ copy, rest };
        tx->count = 1;
        tx->octets = rest;
        srd_tx_border(tx);
    }
    return true;
}

/*
 * Whether this end may send a Terminate. A responder that has not received a valid FPDU only closes (RFC 5044 section
 * 7.1.3). A fault found above MPA is in a valid FPDU.
 */
static bool may_send_terminate(struct srd_stream *stream, srd_fault fault)
{
    if (stream->params.initiator || atomic_load_explicit(&stream->open, memory_order_acquire))
        return true;
    return fault != SRD_FAULT_NONE && fault != SRD_FAULT_LOCAL && fault != SRD_FAULT_CRC;
}

void srd_tx_halt(struct srd_qp *qp, const struct srd_end *end)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_tx *tx = &stream->tx;
    bool keep = end->keep_responses && !tx->broken_off; /* a removed response cannot go on */
    /* built FPDUs are dropped: the Terminate then has no header, and is about the oldest request */
    bool missing = false;

    lock_assert_held(&qp->tx_lock);
    unpin(tx);
    if (end->reset) {
        batch_clear(tx);
        atomic_store_explicit(&stream->in.tail,
            atomic_load_explicit(&stream->in.head, memory_order_relaxed), memory_order_release);
        return;
    }
    if (!keep) {
        atomic_store_explicit(&stream->in.tail,
            atomic_load_explicit(&stream->in.head, memory_order_relaxed), memory_order_release);
        tx->source = SRD_TX_NONE;
    } else if (srd_tx_in_request(tx)) {
        tx->source = SRD_TX_NONE;
    }
    if (tx->first != tx->count && !salvage(qp, keep || end->keep_built)) {
        missing = true;
        if (keep || !end->keep_built || !salvage(qp, false)) {
            batch_clear(tx);
            atomic_store_explicit(&stream->cut, true, memory_order_release);
        }
    }
    if (!may_send_terminate(stream, end->fault))
        return;
    tx->ack_last = stream->params.soft_peer;
    if (end->fault == SRD_FAULT_NONE)
        return;
    qp->tx_counts.terminate = end->fault;
    tx->terminate_octets = srd_terminate_build(end->fault, missing ? NULL : end->ulpdu,
        missing ? 0 : end->ulpdu_octets, stream->params.crc, tx->terminate);
}
