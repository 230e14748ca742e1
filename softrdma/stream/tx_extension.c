/* SPDX-License-Identifier: MIT */
/*
 * tx_extension.c - builds messages of RFC 7306, which only a softrdma peer gets: Immediate Data behind a Write, Atomic
 * Requests and their Responses. Each is one segment.
 */
#include "softrdma/stream/tx_fpdu.h"
#include "softrdma/wire/wire.h"

void srd_tx_immediate(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_segment segment = {
        .last = true, .opcode = sqe->wire_opcode, .qn = SRD_QN_SEND, .msn = qp->stream.tx.send_msn++
    };
    uint8_t data[SRD_IMMEDIATE_OCTETS] = { 0 };

    wire_put32(data + 4, sqe->immediate);
    sqe->msn = segment.msn;
    srd_tx_put(qp, &segment, data, sizeof(data));
    srd_tx_message_built(qp, sqe);
}

void srd_tx_atomic_request(struct srd_qp *qp, struct srd_sqe *sqe)
{
    struct srd_stream *stream = &qp->stream;
    uint32_t msn = stream->tx.read_msn++;
    const struct srd_sqe_atomic *operands = srd_sqe_atomic(sqe);
    struct srd_segment segment = {
        .last = true, .opcode = SRD_OP_ATOMIC_REQUEST, .qn = SRD_QN_READ, .msn = msn
    };
    struct srd_atomic_request request = { .identifier = srd_tx_begin_read(qp, sqe, msn)->stag,
        .stag = sqe->rkey,
        .to = sqe->remote_addr };
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
    srd_tx_put(qp, &segment, header, sizeof(header));
    srd_ring_push(&stream->out);
}

void srd_tx_atomic_response(struct srd_qp *qp, const struct srd_read_in *read)
{
    struct srd_tx *tx = &qp->stream.tx;
    struct srd_segment segment = { .last = true,
        .opcode = SRD_OP_ATOMIC_RESPONSE,
        .qn = SRD_QN_ATOMIC_RESPONSE,
        .msn = tx->atomic_msn++ };
    uint8_t header[SRD_ATOMIC_RESPONSE_OCTETS];

    srd_atomic_response_encode(header, &read->original);
    srd_tx_put(qp, &segment, header, sizeof(header));
    tx->last_source = SRD_TX_RESPONSE;
    srd_ring_pop(&qp->stream.in);
}
