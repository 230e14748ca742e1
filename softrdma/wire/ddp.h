/* SPDX-License-Identifier: MIT */
/*
 * ddp.h - FPDUs (RFC 5044 section 4), DDP segments (RFC 5041 section 4) and RDMAP headers (RFC 5040 section 4, RFC 7306
 * sections 5 and 6): encode, decode, and the checks that need nothing but the header itself.
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
    /* RFC 7306's, which only softrdma ends exchange */
    SRD_OP_IMMEDIATE = 8,
    SRD_OP_IMMEDIATE_SE = 9,
    SRD_OP_ATOMIC_REQUEST = 10,
    SRD_OP_ATOMIC_RESPONSE = 11,
};

enum srd_queue {
    SRD_QN_SEND = 0,
    SRD_QN_READ = 1,
    SRD_QN_TERMINATE = 2,
    SRD_QN_ATOMIC_RESPONSE = 3,
};

enum {
    SRD_FPDU_LENGTH_OCTETS = 2,
    SRD_FPDU_CRC_OCTETS = 4,
    SRD_DDP_TAGGED_OCTETS = 14,
    SRD_DDP_UNTAGGED_OCTETS = 18,
    SRD_READ_REQUEST_OCTETS = 28,
    SRD_IMMEDIATE_OCTETS = 8,
    SRD_ATOMIC_REQUEST_OCTETS = 52,
    SRD_ATOMIC_RESPONSE_OCTETS = 12,
    SRD_FPDU_MAX = 65544,
    SRD_DDP_LAST = 0x40, /* a flag in the first octet of a segment */
};

/*
 * Between softrdma ends an acknowledgement is a zero-length RDMA Write to this STag, which no table ever hands out; its
 * tagged offset is the count of completed messages. A program's zero-length Writes therefore go to STag 0.
 */
#define SRD_ACK_STAG 0xffffff41u

/*
 * A flag in a Send's opcode between softrdma ends: the Send has immediate data, in the field of the Invalidate STag. It
 * is a reserved bit of the second octet, which other receivers ignore.
 */
enum { SRD_SEND_IMMEDIATE = 0x20 };

/*
 * The error of an incoming segment, as a Terminate says it: layer << 12 | type << 8 | code, or SRD_FAULT_NONE.
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
    SRD_FAULT_MISALIGNED = SRD_FAULT(0, 2, 0x07), /* RFC 7306 section 8.2 */
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
    /* tagged: the sink; untagged: the STag to invalidate, a Send's immediate data, or 0 */
    uint32_t stag;
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

/* The operation of an Atomic Request (RFC 7306 section 5.1). */
enum srd_atomic_operation { SRD_ATOMIC_FETCH_ADD = 0, SRD_ATOMIC_CMP_SWAP = 2 };

struct srd_atomic {
    uint8_t operation; /* enum srd_atomic_operation, or any other value of 4 bits */
    /* FetchAdd: the addend, and the highest bit of each field. CmpSwap: the new value, and the bits to store. */
    uint64_t data, mask;
    /* CmpSwap: the value to compare, and the bits that have to be equal */
    uint64_t compare, compare_mask;
};

struct srd_atomic_request {
    uint32_t identifier; /* the response returns it */
    uint32_t stag;
    uint64_t to;
    struct srd_atomic atomic;
};

struct srd_atomic_response {
    uint32_t identifier;
    uint64_t original; /* the value from before */
};

static inline uint32_t srd_segment_octets(bool tagged)
{
    return tagged ? SRD_DDP_TAGGED_OCTETS : SRD_DDP_UNTAGGED_OCTETS;
}

/* Returns the octets of pad behind a ULPDU. */
static inline uint32_t srd_fpdu_pad(uint32_t ulpdu_octets)
{
    return -(ulpdu_octets + SRD_FPDU_LENGTH_OCTETS) & 3;
}

/* Returns the octets of an FPDU: length field, ULPDU, pad and CRC. */
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

/* Write and read the headers of RFC 7306: 52 and 12 octets. */
void srd_atomic_request_encode(uint8_t *out, const struct srd_atomic_request *request);
void srd_atomic_request_decode(struct srd_atomic_request *request, const uint8_t *in);
void srd_atomic_response_encode(uint8_t *out, const struct srd_atomic_response *response);
void srd_atomic_response_decode(struct srd_atomic_response *response, const uint8_t *in);

/* Returns what an Atomic stores in place of value (RFC 7306 section 5.1). */
uint64_t srd_atomic_result(const struct srd_atomic *atomic, uint64_t value);

/*
 * srd_control_check - checks the length of a ULPDU and its first two octets: it is long enough for its header;
 * versions; an opcode of RFC 5040. It reads two octets, none if ulpdu_octets < 2. srd_is_extension - whether a ULPDU
 * whose opcode alone srd_control_check refused has an opcode of RFC 7306.
 */
srd_fault srd_control_check(const uint8_t *ulpdu, uint32_t ulpdu_octets);
bool srd_is_extension(const uint8_t *ulpdu);

/*
 * srd_segment_decode - reads the header of a ULPDU that passed these checks; the whole header must be there.
 * Returns SRD_FAULT_NONE; SRD_FAULT_QN when the queue is not the opcode's.
 */
srd_fault srd_segment_decode(struct srd_segment *segment, const uint8_t *ulpdu);

#endif
