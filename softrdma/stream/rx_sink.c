/* SPDX-License-Identifier: MIT */
/* rx_sink.c - finds where the payload of the segment in progress goes, and places its octets. */
#include "softrdma/memory/dma.h"
#include "softrdma/stream/internal.h"

/* add_range for a fast region. */
static uint32_t add_pages(struct srd_stag_entry *entry, uint64_t addr, uint32_t octets,
    struct srd_piece *pieces, int *n, int max)
{
    uint32_t added = 0;

    for (;;) {
        struct srd_piece *piece = &pieces[(*n)++];

        *piece = (struct srd_piece){ .octets = octets - added, .entry = entry };
        piece->addr = srd_stag_at(entry, addr + added, &piece->octets);
        added += piece->octets;
        if (added == octets || *n == max)
            return added;
        srd_stag_pin_again(entry);
    }
}

/* Adds the pieces of a range while there is room, each with a pin; the first takes the caller's pin. Returns octets. */
static inline uint32_t add_range(struct srd_stag_entry *entry, uint64_t addr, uint32_t octets,
    struct srd_piece *pieces, int *n, int max)
{
    if (__builtin_expect(entry->max_pages, 0))
        return add_pages(entry, addr, octets, pieces, n, max);
    pieces[(*n)++] = (struct srd_piece){ (uint8_t *)(uintptr_t)addr, octets, entry };
    return octets;
}

/* Finds the pieces of a scatter list from octet position on. Returns their number, or -1 with *error. */
static int scatter(struct srd_qp *qp, const struct ibv_sge *sge, uint32_t num_sge,
    uint64_t position, uint32_t octets, struct srd_piece *pieces, int max,
    enum srd_stag_error *error)
{
    struct srd_stag_entry *entry;
    int n = 0;

    for (uint32_t i = 0; i < num_sge && octets && n < max; i++) {
        uint64_t here = sge[i].length;

        if (position >= here) {
            position -= here;
            continue;
        }
        here -= position;
        if (here > octets)
            here = octets;
        *error = srd_rx_pin_entry(
            qp, &sge[i], position, here, qp->stream.rx.sink == SRD_SINK_RECEIVE, &entry);
        if (*error) {
            while (n)
                srd_stag_unpin(pieces[--n].entry);
            return -1;
        }
        octets -= add_range(entry, sge[i].addr + position, (uint32_t)here, pieces, &n, max);
        position = 0;
    }
    return n;
}

int srd_rx_sink(struct srd_qp *qp, uint32_t offset, uint32_t octets, struct srd_piece *pieces,
    int max, enum srd_stag_error *error)
{
    struct srd_stream *stream = &qp->stream;
    struct srd_rx *rx = &stream->rx;
    struct srd_stag_entry *entry;
    struct srd_read_out *read;
    int n = 0;

    switch (rx->sink) {
    case SRD_SINK_WRITE:
        *error = srd_stag_pin(qp, rx->segment.stag, rx->segment.to + offset, octets,
            IBV_ACCESS_REMOTE_WRITE, true, &entry);
        if (*error)
            return -1;
        add_range(entry, rx->segment.to + offset, octets, pieces, &n, max);
        return n;
    case SRD_SINK_RECEIVE:
        return scatter(qp, rx->receive.sge, rx->receive.num_sge, (uint64_t)rx->send_mo + offset,
            octets, pieces, max, error);
    case SRD_SINK_RESPONSE:
        read = srd_read_out_front(stream);
        return scatter(qp, srd_sqe_sge(read->sqe), read->sqe->num_sge,
            (uint64_t)read->received + offset, octets, pieces, max, error);
    default: return 0;
    }
}

enum srd_rx_result srd_rx_sink_failed(
    struct srd_qp *qp, enum srd_stag_error error, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_end end = { .fault = SRD_FAULT_LOCAL,
        .keep_responses = qp->stream.params.soft_peer };

    if (rx->sink == SRD_SINK_WRITE)
        return srd_rx_fault_here(qp, srd_fault_of_sink(error), now_ms, actions);
    if (rx->sink == SRD_SINK_RECEIVE) {
        end.receive_status = IBV_WC_LOC_PROT_ERR;
    } else {
        end.has_culprit = true;
        end.culprit = srd_read_out_front(&qp->stream)->count;
        end.status = IBV_WC_LOC_PROT_ERR;
    }
    *actions |= srd_stream_fail(qp, &end, now_ms);
    return SRD_RX_FAILED;
}

enum srd_rx_result srd_rx_segment_place(
    struct srd_qp *qp, const uint8_t *data, uint32_t octets, uint64_t now_ms, unsigned *actions)
{
    struct srd_rx *rx = &qp->stream.rx;
    struct srd_piece pieces[4];
    enum srd_stag_error error;

    while (octets) {
        int n = srd_rx_sink(qp, rx->placed, octets, pieces, 4, &error);

        if (n < 0)
            return srd_rx_sink_failed(qp, error, now_ms, actions);
        for (int i = 0; i < n; i++) {
            uint32_t here = pieces[i].octets;
            bool ends = rx->segment.tagged && rx->segment.last && rx->placed + here == rx->payload;

            /* Only a message's last octet, which is stored last, orders its octets for the program's loads. */
            bool placed = srd_dma_place(pieces[i].addr, data, here, ends);

            srd_stag_unpin(pieces[i].entry);
            if (!placed) {
                while (++i < n)
                    srd_stag_unpin(pieces[i].entry);
                return srd_rx_sink_failed(qp, SRD_STAG_GONE, now_ms, actions);
            }
            data += here;
            octets -= here;
            rx->placed += here;
        }
    }
    return SRD_RX_DONE;
}
