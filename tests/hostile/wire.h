/* SPDX-License-Identifier: MIT */
/*
 * wire.h - iWARP frames as a foreign peer writes them, right or wrong: an encoder of the tests' own, from RFC 5044,
 * 5041, 5040 and 6581, sharing nothing with the device under test.
 */
#ifndef TESTS_HOSTILE_WIRE_H
#define TESTS_HOSTILE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIRE_MAX = 65544 };

/* MPA startup flags, octet 16 of the frame. */
enum { WIRE_MARKERS = 0x80, WIRE_CRC = 0x40, WIRE_REJECT = 0x20, WIRE_ENHANCED = 0x10 };

/* RDMAP opcodes. */
enum {
    WIRE_WRITE = 0,
    WIRE_READ_REQUEST = 1,
    WIRE_READ_RESPONSE = 2,
    WIRE_SEND = 3,
    WIRE_SEND_INVALIDATE = 4,
    WIRE_TERMINATE = 7,
    WIRE_IMMEDIATE = 8,
    WIRE_IMMEDIATE_SOLICITED = 9,
    WIRE_ATOMIC_REQUEST = 10,
    WIRE_ATOMIC_RESPONSE = 11,
};

struct wire {
    uint8_t octets[WIRE_MAX];
    size_t length;
};

uint32_t wire_crc32c(const uint8_t *octets, size_t length);
void wire_put16(uint8_t *at, uint16_t value);
void wire_put32(uint8_t *at, uint32_t value);
void wire_put64(uint8_t *at, uint64_t value);
uint16_t wire_get16(const uint8_t *at);
uint32_t wire_get32(const uint8_t *at);

/*
 * wire_startup - an MPA frame. private_data counts the enhanced word, as PD_Length does.
 */
void wire_startup(struct wire *frame, bool reply, uint8_t flags, uint8_t revision,
    const void *private_data, size_t private_length);
/* The usual revision 2 frame: peer-to-peer model, CRC wanted, an RTR by Write; ird and ord as given. */
void wire_startup2(struct wire *frame, bool reply, uint16_t ird, uint16_t ord);

/* DDP segments, sealed: last sets L. The untagged one has the Invalidate STag, or 0. */
void wire_tagged(struct wire *frame, unsigned opcode, bool last, uint32_t stag, uint64_t offset,
    const void *payload, size_t length);
void wire_untagged(struct wire *frame, unsigned opcode, bool last, uint32_t stag, uint32_t queue,
    uint32_t msn, uint32_t message_offset, const void *payload, size_t length);
void wire_read_request(struct wire *frame, uint32_t msn, uint32_t sink_stag, uint64_t sink_offset,
    uint32_t octets, uint32_t source_stag, uint64_t source_offset);

/*
 * wire_terminate - a Terminate of a fault (layer << 12 | type << 8 | code).
 * about  in: the FPDU whose header it returns, or NULL for none
 */
void wire_terminate(struct wire *frame, unsigned fault, const struct wire *about);

/* What softrdma ends say to each other (docs/wire.md). */
#define WIRE_ACK_STAG 0xffffff41u
void wire_acknowledge(struct wire *frame, uint64_t count);
/* The refusal after the Reply; claimed: what PD_Length says. */
void wire_refusal(struct wire *frame, uint8_t flags, const void *private_data,
    size_t private_length, uint16_t claimed);

/*
 * wire_seal - (re)write ULPDU_Length, pad and CRC of a frame whose ULPDU is in place.
 * ulpdu_length  in: octets of the ULPDU
 */
void wire_seal(struct wire *frame, size_t ulpdu_length);
/* Only the CRC anew, over what ULPDU_Length says. */
void wire_crc(struct wire *frame);

/*
 * wire_vector - the frame of that name in tests/vectors/iwarp-fpdu.txt. Ends the program when there is none.
 */
void wire_vector(struct wire *frame, const char *name);

#endif
