/* SPDX-License-Identifier: MIT */
/*
 * tx_fpdu.c - adds an FPDU to the batch.
 *
 * Headers, small payloads and trailers are contiguous in a staging buffer, so that a list of small messages is one
 * iovec entry; larger payloads are gathered from registered memory.
 */
#include "softrdma/stream/tx_fpdu.h"

#include "softrdma/memory/dma.h"
#include "softrdma/wire/crc32c.h"
#include "softrdma/wire/wire.h"

#include <string.h>

uint32_t srd_tx_fpdu_room(uint32_t octets)
{
    return SRD_TX_ALIGNMENT + 20 + octets + 3 + 4;
}

bool srd_tx_has_room(const struct srd_stream *stream)
{
    const struct srd_tx *tx = &stream->tx;
    uint32_t most = stream->params.crc ? stream->params.fpdu_max_octets : SRD_TX_COPY_OCTETS;

    return tx->count + SRD_TX_PIECES + 2 <= SRD_TX_IOV && tx->n_fpdus < SRD_TX_FPDUS &&
           tx->staged + srd_tx_fpdu_room(most) <= tx->room && tx->octets < SRD_TX_BATCH_OCTETS;
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

static void add_crc(struct srd_qp *qp, struct srd_tx_fpdu *fpdu, const void *data, uint32_t octets)
{
    if (qp->stream.params.crc)
        fpdu->crc = srd_crc32c(fpdu->crc, data, octets);
}

/*
 * Begins an iovec entry for a large payload at the border of a cache line, whatever the header's place: copying there
 * is a third faster.
 */
static void align_payload(struct srd_tx *tx, uint32_t header)
{
    uintptr_t at = (uintptr_t)(tx->staging + tx->staged) + header;

    tx->staged += (uint32_t)(-at & (SRD_TX_ALIGNMENT - 1));
    tx->iov[tx->count++] = (struct iovec){ tx->staging + tx->staged, 0 };
}

void srd_tx_fpdu_begin(struct srd_qp *qp, struct srd_tx_fpdu *fpdu,
    const struct srd_segment *segment, uint32_t payload)
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
    if (qp->stream.params.crc && payload > SRD_TX_ALIGNED_OCTETS)
        align_payload(tx, octets);
    p = stage(tx, octets);
    srd_fpdu_begin(p, segment, payload);
    add_crc(qp, fpdu, p, octets);
}

/*
 * Copies a piece of registered memory. crc: in, out: continued over the copy; NULL: no CRC. False: the memory is gone.
 */
static bool fetch_piece(uint8_t *to, const void *from, uint32_t octets, uint32_t *crc)
{
    return crc ? srd_dma_fetch_crc(to, from, octets, crc) : srd_dma_fetch(to, from, octets);
}

/* fetch for a fast region. */
static bool fetch_pages(
    const struct srd_stag_entry *entry, uint8_t *to, uint64_t addr, uint32_t octets, uint32_t *crc)
{
    while (octets) {
        uint32_t here = octets;
        const uint8_t *from = srd_stag_at(entry, addr, &here);

        if (!fetch_piece(to, from, here, crc))
            return false;
        to += here;
        addr += here;
        octets -= here;
    }
    return true;
}

static inline bool fetch(
    const struct srd_stag_entry *entry, uint8_t *to, uint64_t addr, uint32_t octets, uint32_t *crc)
{
    if (__builtin_expect(entry->max_pages, 0))
        return fetch_pages(entry, to, addr, octets, crc);
    return fetch_piece(to, (const void *)(uintptr_t)addr, octets, crc);
}

/* Copies memory that the caller has pinned, and unpins it. */
static inline enum srd_stag_error copy_pinned(
    struct srd_stag_entry *entry, uint8_t *to, uint64_t addr, uint32_t octets, uint32_t *crc)
{
    bool there = fetch(entry, to, addr, octets, crc);

    srd_stag_unpin(entry);
    return there ? SRD_STAG_OK : SRD_STAG_GONE;
}

static inline enum srd_stag_error pin(struct srd_qp *qp, uint32_t key, uint64_t addr,
    uint32_t octets, bool remote, struct srd_stag_entry **entry)
{
    return remote ? srd_stag_pin(qp, key, addr, octets, IBV_ACCESS_REMOTE_READ, true, entry)
                  : srd_stag_pin_send(qp, &qp->stream.tx.seen, key, addr, octets, entry);
}

/* Adds memory to the batch in pieces, each with a pin; the first takes the caller's pin. */
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

enum srd_stag_error srd_tx_fpdu_memory(struct srd_qp *qp, struct srd_tx_fpdu *fpdu, uint32_t key,
    uint64_t addr, uint32_t octets, bool remote)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error = pin(qp, key, addr, octets, remote, &entry);

    if (error)
        return error;
    /*
     * The CRC has to cover the octets that are sent, so they are copied: the program, or a peer, may change this memory
     * at any time, and a Read that finds it half changed is no reason to lose the connection.
     */
    if (qp->stream.params.crc)
        return copy_pinned(entry, stage(&qp->stream.tx, octets), addr, octets, &fpdu->crc);
    gather(qp, entry, key, addr, octets, remote);
    return SRD_STAG_OK;
}

void srd_tx_fpdu_end(struct srd_qp *qp, struct srd_tx_fpdu *fpdu)
{
    struct srd_tx *tx = &qp->stream.tx;
    uint32_t pad = -(tx->octets - fpdu->octets) & 3;
    uint8_t *p = stage(tx, pad + SRD_FPDU_CRC_OCTETS);

    memset(p, 0, pad);
    add_crc(qp, fpdu, p, pad);
    wire_put_crc(p + pad, fpdu->crc);
    srd_tx_border(tx);
}

void srd_tx_fpdu_undo(struct srd_qp *qp, const struct srd_tx_fpdu *fpdu)
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

enum srd_stag_error srd_tx_small_fetch(
    struct srd_qp *qp, uint8_t *to, uint32_t key, uint64_t addr, uint32_t octets, bool remote)
{
    struct srd_stag_entry *entry;
    enum srd_stag_error error = pin(qp, key, addr, octets, remote, &entry);

    return error ? error : copy_pinned(entry, to, addr, octets, NULL);
}

void srd_tx_small_end(struct srd_qp *qp, uint8_t *end)
{
    struct srd_tx *tx = &qp->stream.tx;
    const uint8_t *begin = tx->staging + tx->staged;
    uint32_t pad = -(uint32_t)(end - begin) & 3;

    wire_put32(end, 0); /* the pad is shorter than that */
    end += pad;
    wire_put_crc(end, qp->stream.params.crc ? srd_crc32c(0, begin, (size_t)(end - begin)) : 0);
    stage(tx, (uint32_t)(end - begin) + SRD_FPDU_CRC_OCTETS);
    srd_tx_border(tx);
}

void srd_tx_put(
    struct srd_qp *qp, const struct srd_segment *segment, const void *payload, uint32_t octets)
{
    uint8_t *to = srd_tx_small_begin(&qp->stream.tx, segment, octets);

    if (octets)
        memcpy(to, payload, octets);
    srd_tx_small_end(qp, to + octets);
}
