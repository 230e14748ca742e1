/* SPDX-License-Identifier: MIT */
/*
 * tx_frame.c - one FPDU more in the batch of the send side.
 *
 * Headers, small payloads and trailers stand one behind the other in a staging buffer, so that a list of small
 * messages is one iovec entry; larger payloads are gathered from registered memory.
 */
#include "softrdma/crc32c.h"
#include "softrdma/dma.h"
#include "softrdma/stream_int.h"
#include "softrdma/wire.h"

#include <string.h>

bool srd_tx_room(const struct srd_stream *stream)
{
    const struct srd_tx *tx = &stream->tx;
    uint32_t most = stream->params.crc ? stream->params.fpdu_max_octets : SRD_TX_COPY_OCTETS;

    return tx->count + SRD_MAX_SGE + 2 <= SRD_TX_IOV && tx->n_fpdus < SRD_TX_FPDUS &&
           tx->staged + 20 + most + 3 + 4 <= tx->room && tx->octets < SRD_TX_BATCH_OCTETS;
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

static void add_crc(struct srd_qp *qp, struct srd_tx_mark *mark, const void *data, uint32_t octets)
{
    if (qp->stream.params.crc)
        mark->crc = srd_crc32c(mark->crc, data, octets);
}

void srd_tx_begin(struct srd_qp *qp, struct srd_tx_mark *mark, const struct srd_segment *segment,
    uint32_t payload)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t octets = SRD_FPDU_LENGTH_OCTETS + srd_segment_octets(segment->tagged);
    uint8_t *p;

    mark->count = tx->count;
    mark->n_refs = tx->n_refs;
    mark->staged = tx->staged;
    mark->octets = tx->octets;
    mark->last_octets = tx->count ? tx->iov[tx->count - 1].iov_len : 0;
    mark->crc = 0;
    p = stage(tx, octets);
    srd_fpdu_begin(p, segment, payload);
    add_crc(qp, mark, p, octets);
}

void srd_tx_add_copy(struct srd_qp *qp, struct srd_tx_mark *mark, const void *data, uint32_t octets)
{
    uint8_t *p = stage(&qp->stream.tx, octets);

    memcpy(p, data, octets);
    add_crc(qp, mark, p, octets);
}

enum srd_stag_error srd_tx_add_memory(struct srd_qp *qp, struct srd_tx_mark *mark, uint32_t key,
    uint64_t addr, uint32_t octets, bool remote, bool small)
{
    struct srd_tx *tx = &qp->stream.tx;
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
        uint8_t *copy = stage(tx, octets);
        bool there = srd_dma_fetch(copy, (const void *)(uintptr_t)addr, octets);

        srd_stag_unpin(entry);
        if (!there)
            return SRD_STAG_GONE;
        add_crc(qp, mark, copy, octets);
        return SRD_STAG_OK;
    }
    tx->refs[tx->n_refs++] = (struct srd_tx_ref){ .entry = entry,
        .key = key,
        .request = atomic_load_explicit(&qp->sq.next, memory_order_relaxed),
        .iov = (uint8_t)tx->count,
        .remote = remote };
    tx->iov[tx->count++] = (struct iovec){ (void *)(uintptr_t)addr, octets };
    tx->octets += octets;
    return SRD_STAG_OK;
}

void srd_tx_end(struct srd_qp *qp, struct srd_tx_mark *mark)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t pad = -(tx->octets - mark->octets) & 3;
    uint8_t *p = stage(tx, pad + SRD_FPDU_CRC_OCTETS);

    memset(p, 0, pad);
    add_crc(qp, mark, p, pad);
    wire_put_crc(p + pad, mark->crc);
    srd_tx_border(tx);
}

void srd_tx_undo(struct srd_qp *qp, const struct srd_tx_mark *mark)
{
    struct srd_tx *tx = &qp->stream.tx;

    while (tx->n_refs > mark->n_refs)
        srd_stag_unpin(tx->refs[--tx->n_refs].entry);
    tx->count = mark->count;
    tx->staged = mark->staged;
    tx->octets = mark->octets;
    if (tx->count)
        tx->iov[tx->count - 1].iov_len = mark->last_octets;
}
