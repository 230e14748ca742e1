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

srd_fault srd_segment_decode(struct srd_segment *segment, const uint8_t *ulpdu)
{
    uint32_t queue;

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
    queue = segment->opcode == SRD_OP_READ_REQUEST ? SRD_QN_READ
            : segment->opcode == SRD_OP_TERMINATE  ? SRD_QN_TERMINATE
                                                   : SRD_QN_SEND;
    return segment->qn == queue ? SRD_FAULT_NONE : SRD_FAULT_QN;
}
