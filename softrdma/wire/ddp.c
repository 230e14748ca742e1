/* SPDX-License-Identifier: MIT */
/* ddp.c - segment headers, octet by octet. */
#include "softrdma/wire/ddp.h"

#include "softrdma/wire/wire.h"

enum { DDP_TAGGED = 0x80, DDP_VERSION_MASK = 0x03, DDP_VERSION = 1 };
enum { RDMAP_VERSION_MASK = 0xc0, RDMAP_VERSION = 0x40, RDMAP_OPCODE_MASK = 0x0f };

uint32_t srd_fpdu_begin(uint8_t *out, const struct srd_segment *segment, uint32_t payload_octets)
{
    uint32_t header = srd_segment_octets(segment->tagged);

    wire_put16(out, (uint16_t)(header + payload_octets));
    out[2] = (uint8_t)((segment->tagged ? DDP_TAGGED : 0) | (segment->last ? SRD_DDP_LAST : 0) |
                       DDP_VERSION);
    out[3] = (uint8_t)(RDMAP_VERSION | segment->opcode);
    wire_put32(out + 4, segment->stag);
    if (segment->tagged) {
        wire_put64(out + 8, segment->to);
    } else {
        wire_put32(out + 8, segment->qn);
        wire_put32(out + 12, segment->msn);
        wire_put32(out + 16, segment->mo);
    }
    return SRD_FPDU_LENGTH_OCTETS + header;
}

void srd_read_request_encode(uint8_t *out, const struct srd_read_request *request)
{
    wire_put32(out, request->sink_stag);
    wire_put64(out + 4, request->sink_to);
    wire_put32(out + 12, request->octets);
    wire_put32(out + 16, request->source_stag);
    wire_put64(out + 20, request->source_to);
}

void srd_read_request_decode(struct srd_read_request *request, const uint8_t *in)
{
    request->sink_stag = wire_get32(in);
    request->sink_to = wire_get64(in + 4);
    request->octets = wire_get32(in + 12);
    request->source_stag = wire_get32(in + 16);
    request->source_to = wire_get64(in + 20);
}

void srd_atomic_request_encode(uint8_t *out, const struct srd_atomic_request *request)
{
    wire_put32(out, request->atomic.operation);
    wire_put32(out + 4, request->identifier);
    wire_put32(out + 8, request->stag);
    wire_put64(out + 12, request->to);
    wire_put64(out + 20, request->atomic.data);
    wire_put64(out + 28, request->atomic.mask);
    wire_put64(out + 36, request->atomic.compare);
    wire_put64(out + 44, request->atomic.compare_mask);
}

void srd_atomic_request_decode(struct srd_atomic_request *request, const uint8_t *in)
{
    request->atomic.operation = in[3] & 0x0f; /* the bits before it are reserved */
    request->identifier = wire_get32(in + 4);
    request->stag = wire_get32(in + 8);
    request->to = wire_get64(in + 12);
    request->atomic.data = wire_get64(in + 20);
    request->atomic.mask = wire_get64(in + 28);
    request->atomic.compare = wire_get64(in + 36);
    request->atomic.compare_mask = wire_get64(in + 44);
}

void srd_atomic_response_encode(uint8_t *out, const struct srd_atomic_response *response)
{
    wire_put32(out, response->identifier);
    wire_put64(out + 4, response->original);
}

void srd_atomic_response_decode(struct srd_atomic_response *response, const uint8_t *in)
{
    response->identifier = wire_get32(in);
    response->original = wire_get64(in + 4);
}

uint64_t srd_atomic_result(const struct srd_atomic *atomic, uint64_t value)
{
    uint64_t tops = atomic->mask;

    if (atomic->operation == SRD_ATOMIC_FETCH_ADD) /* no carry leaves the highest bit of a field */
        return ((value & ~tops) + (atomic->data & ~tops)) ^ ((value ^ atomic->data) & tops);
    if ((value ^ atomic->compare) & atomic->compare_mask)
        return value;
    return (value & ~atomic->mask) | (atomic->data & atomic->mask);
}

srd_fault srd_control_check(const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    bool tagged;
    uint8_t opcode;

    if (ulpdu_octets < 2)
        return SRD_FAULT_DDP_LOCAL;
    tagged = ulpdu[0] & DDP_TAGGED;
    if (ulpdu_octets < srd_segment_octets(tagged))
        return SRD_FAULT_DDP_LOCAL;
    if ((ulpdu[0] & DDP_VERSION_MASK) != DDP_VERSION)
        return tagged ? SRD_FAULT_TAGGED_VERSION : SRD_FAULT_UNTAGGED_VERSION;
    if ((ulpdu[1] & RDMAP_VERSION_MASK) != RDMAP_VERSION)
        return SRD_FAULT_RDMAP_VERSION;
    opcode = ulpdu[1] & RDMAP_OPCODE_MASK;
    if (opcode > SRD_OP_TERMINATE ||
        tagged != (opcode == SRD_OP_WRITE || opcode == SRD_OP_READ_RESPONSE))
        return SRD_FAULT_OPCODE;
    return SRD_FAULT_NONE;
}

bool srd_is_extension(const uint8_t *ulpdu)
{
    uint8_t opcode = ulpdu[1] & RDMAP_OPCODE_MASK;

    return !(ulpdu[0] & DDP_TAGGED) && opcode > SRD_OP_TERMINATE &&
           opcode <= SRD_OP_ATOMIC_RESPONSE;
}

srd_fault srd_segment_decode(struct srd_segment *segment, const uint8_t *ulpdu)
{
    static const uint8_t queues[RDMAP_OPCODE_MASK + 1] = {
        [SRD_OP_READ_REQUEST] = SRD_QN_READ,
        [SRD_OP_TERMINATE] = SRD_QN_TERMINATE,
        [SRD_OP_ATOMIC_REQUEST] = SRD_QN_READ,
        [SRD_OP_ATOMIC_RESPONSE] = SRD_QN_ATOMIC_RESPONSE,
    };

    segment->tagged = ulpdu[0] & DDP_TAGGED;
    segment->last = ulpdu[0] & SRD_DDP_LAST;
    segment->opcode = ulpdu[1] & RDMAP_OPCODE_MASK;
    segment->stag = wire_get32(ulpdu + 2);
    if (segment->tagged) {
        segment->to = wire_get64(ulpdu + 6);
        segment->qn = segment->msn = segment->mo = 0;
        return SRD_FAULT_NONE;
    }
    segment->to = 0;
    segment->qn = wire_get32(ulpdu + 6);
    segment->msn = wire_get32(ulpdu + 10);
    segment->mo = wire_get32(ulpdu + 14);
    return segment->qn == queues[segment->opcode] ? SRD_FAULT_NONE : SRD_FAULT_QN;
}
