/* SPDX-License-Identifier: MIT */
/* stream_state.c - a stream's memory, and what is known to be complete on either side of it. */
#include "softrdma/stream_int.h"

#include <stdlib.h>
#include <string.h>

void srd_stream_init(struct srd_stream *stream)
{
    memset(stream, 0, sizeof(*stream));
    stream->rx.send_msn = stream->rx.read_msn = 1;
    stream->tx.send_msn = stream->tx.read_msn = 1;
    stream->tx.response_fault = SRD_FAULT_NONE;
    atomic_init(&stream->rnr_deadline_ms, UINT64_MAX);
    atomic_init(&stream->end_deadline_ms, UINT64_MAX);
}

void srd_stream_fini(struct srd_stream *stream)
{
    free(stream->rx.staging);
    free(stream->rx.hold);
    free(stream->tx.staging);
    free(stream->tx.salvage);
    free(stream->reads_in);
    free(stream->reads_out);
}

bool srd_stream_owes_ack(struct srd_qp *qp)
{
    struct srd_stream *stream = &qp->stream;

    return atomic_load_explicit(&stream->phase, memory_order_acquire) == SRD_STREAM_UP &&
           stream->params.soft_peer &&
           atomic_load_explicit(&stream->rx_complete, memory_order_acquire) !=
               atomic_load_explicit(&stream->acked_sent, memory_order_relaxed);
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
    unsigned wants = 0;

    lock_acquire(&sq->lock);
    if (complete > sq->complete)
        sq->complete = complete;
    result = srd_sq_retire_locked(qp);
    if (result == SRD_SQ_CULPRIT ||
        (atomic_load_explicit(&stream->closing, memory_order_acquire) &&
            atomic_load_explicit(&sq->tail, memory_order_relaxed) == stream->tx.stop)) {
        atomic_store_explicit(&stream->settle, true, memory_order_release);
        wants = SRD_STREAM_SETTLE;
    } else if (atomic_load_explicit(&sq->next, memory_order_relaxed) !=
               atomic_load_explicit(&sq->head, memory_order_relaxed)) {
        wants = SRD_STREAM_TX;
    }
    lock_release(&sq->lock);
    return wants;
}
