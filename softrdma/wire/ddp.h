/* SPDX-License-Identifier: MIT */
/*
 * ddp.h - FPDUs (RFC 5044 section 4), DDP segments (RFC 5041 section 4) and RDMAP headers (RFC 5040 section 4): encode,
 * decode, and the checks that need nothing but the header itself.
 */
#ifndef SOFTRDMA_WIRE_DDP_H
#define SOFTRDMA_WIRE_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum srd_opcode {
    SRD_OP_WRITE = 0,
    SRD_OP_READ_REQUEST = 1,
    SRD_OP_READ_RESPONSE = 2,
    SRD_OP_SEND = 3,
    SRD_OP_SEND_INV = 4,
    SRD_OP_SEND_SE = 5,
    SRD_OP_SEND_SE_INV = 6,
    SRD_OP_TERMINATE = 7,
};

enum srd_queue { SRD_QN_SEND = 0, SRD_QN_READ = 1, SRD_QN_TERMINATE = 2 };

enum {
    SRD_FPDU_LENGTH_OCTETS = 2,
    SRD_FPDU_CRC_OCTETS = 4,
    SRD_DDP_TAGGED_OCTETS = 14,
    SRD_DDP_UNTAGGED_OCTETS = 18,
    SRD_READ_REQUEST_OCTETS = 28,
    SRD_FPDU_MAX = 65544,
    SRD_DDP_LAST = 0x40, /* in the first octet of a segment */
};

/*
 * Between softrdma ends an acknowledgement is a zero-length RDMA Write to this STag, which no table ever hands out; its
 * tagged offset is the count of completed messages. Own zero-length Writes therefore go to STag 0.
 */
#define SRD_ACK_STAG 0xffffff41u

/*
 * What is wrong with an incoming segment, as a Terminate says it: layer << 12 | type << 8 | code, or SRD_FAULT_NONE.
 * (0 is a fault: RDMAP, local catastrophic.)
 */
typedef int srd_fault;
#define SRD_FAULT(layer, type, code) ((layer) << 12 | (type) << 8 | (code))

enum {
    SRD_FAULT_NONE = -1,
    SRD_FAULT_LOCAL = SRD_FAULT(0, 0, 0x00),
    SRD_FAULT_PROTECTION_STAG = SRD_FAULT(0, 1, 0x00),
    SRD_FAULT_PROTECTION_BOUNDS = SRD_FAULT(0, 1, 0x01),
    SRD_FAULT_PROTECTION_RIGHTS = SRD_FAULT(0, 1, 0x02),
    SRD_FAULT_PROTECTION_STREAM = SRD_FAULT(0, 1, 0x03),
    SRD_FAULT_PROTECTION_WRAP = SRD_FAULT(0, 1, 0x04),
    SRD_FAULT_PROTECTION_INVALIDATE = SRD_FAULT(0, 1, 0x09),
    SRD_FAULT_RDMAP_VERSION = SRD_FAULT(0, 2, 0x05),
    SRD_FAULT_OPCODE = SRD_FAULT(0, 2, 0x06),
    SRD_FAULT_INVALIDATE = SRD_FAULT(0, 2, 0x09),
    SRD_FAULT_UNSPECIFIED = SRD_FAULT(0, 2, 0xff),
    SRD_FAULT_DDP_LOCAL = SRD_FAULT(1, 0, 0x00),
    SRD_FAULT_TAGGED_STAG = SRD_FAULT(1, 1, 0x00),
    SRD_FAULT_TAGGED_BOUNDS = SRD_FAULT(1, 1, 0x01),
    SRD_FAULT_TAGGED_STREAM = SRD_FAULT(1, 1, 0x02),
    SRD_FAULT_TAGGED_WRAP = SRD_FAULT(1, 1, 0x03),
    SRD_FAULT_TAGGED_VERSION = SRD_FAULT(1, 1, 0x04),
    SRD_FAULT_QN = SRD_FAULT(1, 2, 0x01),
    SRD_FAULT_NO_BUFFER = SRD_FAULT(1, 2, 0x02),
    SRD_FAULT_MSN = SRD_FAULT(1, 2, 0x03),
    SRD_FAULT_MO = SRD_FAULT(1, 2, 0x04),
    SRD_FAULT_TOO_LONG = SRD_FAULT(1, 2, 0x05),
    SRD_FAULT_UNTAGGED_VERSION = SRD_FAULT(1, 2, 0x06),
    SRD_FAULT_CRC = SRD_FAULT(2, 0, 0x02),
};

struct srd_segment {
    bool tagged, last;
    uint8_t opcode;
    uint32_t stag;        /* tagged: the sink; untagged: the STag to invalidate, else 0 */
    uint64_t to;          /* tagged */
    uint32_t qn, msn, mo; /* untagged */
};

struct srd_read_request {
    uint32_t sink_stag;
    uint64_t sink_to;
    uint32_t octets;
    uint32_t source_stag;
    uint64_t source_to;
};

static inline uint32_t srd_segment_octets(bool tagged)
{
    return tagged ? SRD_DDP_TAGGED_OCTETS : SRD_DDP_UNTAGGED_OCTETS;
}

/* Pad after a ULPDU of so many octets. */
static inline uint32_t srd_fpdu_pad(uint32_t ulpdu_octets)
{
    return -(ulpdu_octets + SRD_FPDU_LENGTH_OCTETS) & 3;
}

/* Length field, ULPDU, pad and CRC. */
static inline uint32_t srd_fpdu_octets(uint32_t ulpdu_octets)
{
    return SRD_FPDU_LENGTH_OCTETS + ulpdu_octets + srd_fpdu_pad(ulpdu_octets) + SRD_FPDU_CRC_OCTETS;
}

/*
 * srd_fpdu_begin - writes ULPDU_Length and the segment header.
 * Returns the octets written (16 tagged, 20 untagged); behind them go payload, pad and CRC.
 */
uint32_t srd_fpdu_begin(uint8_t *out, const struct srd_segment *segment, uint32_t payload_octets);

/* Writes the 28 octets of a Read Request header (RFC 5040 section 4.4), and reads them. */
void srd_read_request_encode(uint8_t *out, const struct srd_read_request *request);
void srd_read_request_decode(struct srd_read_request *request, const uint8_t *in);

/*
 * srd_control_check - what the first two octets of a ULPDU and its length tell: long enough for its header, versions,
 * opcode. Needs two octets, none if ulpdu_octets < 2.
 */
srd_fault srd_control_check(const uint8_t *ulpdu, uint32_t ulpdu_octets);

/*
 * srd_segment_decode - read the header of a ULPDU that passed srd_control_check; the whole header must be there.
 * Returns SRD_FAULT_QN when the queue is not the opcode's.
 */
srd_fault srd_segment_decode(struct srd_segment *segment, const uint8_t *ulpdu);

#endif
