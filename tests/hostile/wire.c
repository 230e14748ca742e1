/* SPDX-License-Identifier: MIT */
#include "tests/hostile/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t wire_crc32c(const uint8_t *octets, size_t length)
{
    static uint32_t table[256];
    uint32_t crc = 0xffffffff;

    if (table[1] == 0)
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t entry = i;

            for (int bit = 0; bit < 8; bit++)
                entry = (entry >> 1) ^ (entry & 1 ? 0x82f63b78 : 0);
            table[i] = entry;
        }
    while (length-- > 0)
        crc = (crc >> 8) ^ table[(crc ^ *octets++) & 0xff];
    return ~crc;
}

void wire_put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

void wire_put32(uint8_t *at, uint32_t value)
{
    wire_put16(at, (uint16_t)(value >> 16));
    wire_put16(at + 2, (uint16_t)value);
}

void wire_put64(uint8_t *at, uint64_t value)
{
    wire_put32(at, (uint32_t)(value >> 32));
    wire_put32(at + 4, (uint32_t)value);
}

uint16_t wire_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] << 8 | at[1]);
}

uint32_t wire_get32(const uint8_t *at)
{
    return (uint32_t)wire_get16(at) << 16 | wire_get16(at + 2);
}

void wire_startup(struct wire *frame, bool reply, uint8_t flags, uint8_t revision,
    const void *private_data, size_t private_length)
{
    memcpy(frame->octets, reply ? "MPA ID Rep Frame" : "MPA ID Req Frame", 16);
    frame->octets[16] = flags;
    frame->octets[17] = revision;
    wire_put16(frame->octets + 18, (uint16_t)private_length);
    if (private_length > 0)
        memcpy(frame->octets + 20, private_data, private_length);
    frame->length = 20 + private_length;
}

void wire_startup2(struct wire *frame, bool reply, uint16_t ird, uint16_t ord)
{
    uint8_t word[4];

    wire_put16(word, (uint16_t)(0x8000 | ird));     /* A: peer-to-peer */
    wire_put16(word + 2, (uint16_t)(0x8000 | ord)); /* C: RTR by zero-length Write */
    wire_startup(frame, reply, WIRE_CRC | WIRE_ENHANCED, 2, word, sizeof word);
}

void wire_crc(struct wire *frame)
{
    size_t length = 2 + (size_t)wire_get16(frame->octets);
    uint32_t crc;

    length += (4 - length % 4) % 4;
    crc = wire_crc32c(frame->octets, length);
    for (int i = 0; i < 4; i++)
        frame->octets[length + i] = (uint8_t)(crc >> (8 * i));
    frame->length = length + 4;
}

void wire_seal(struct wire *frame, size_t ulpdu_length)
{
    size_t length = 2 + ulpdu_length;

    wire_put16(frame->octets, (uint16_t)ulpdu_length);
    memset(frame->octets + length, 0, (4 - length % 4) % 4);
    wire_crc(frame);
}

void wire_tagged(struct wire *frame, unsigned opcode, bool last, uint32_t stag, uint64_t offset,
    const void *payload, size_t length)
{
    frame->octets[2] = last ? 0xc1 : 0x81;
    frame->octets[3] = (uint8_t)(0x40 | opcode);
    wire_put32(frame->octets + 4, stag);
    wire_put64(frame->octets + 8, offset);
    if (length > 0)
        memcpy(frame->octets + 16, payload, length);
    wire_seal(frame, 14 + length);
}

void wire_untagged(struct wire *frame, unsigned opcode, bool last, uint32_t stag, uint32_t queue,
    uint32_t msn, uint32_t message_offset, const void *payload, size_t length)
{
    frame->octets[2] = last ? 0x41 : 0x01;
    frame->octets[3] = (uint8_t)(0x40 | opcode);
    wire_put32(frame->octets + 4, stag);
    wire_put32(frame->octets + 8, queue);
    wire_put32(frame->octets + 12, msn);
    wire_put32(frame->octets + 16, message_offset);
    if (length > 0)
        memcpy(frame->octets + 20, payload, length);
    wire_seal(frame, 18 + length);
}

void wire_read_request(struct wire *frame, uint32_t msn, uint32_t sink_stag, uint64_t sink_offset,
    uint32_t octets, uint32_t source_stag, uint64_t source_offset)
{
    uint8_t header[28];

    wire_put32(header, sink_stag);
    wire_put64(header + 4, sink_offset);
    wire_put32(header + 12, octets);
    wire_put32(header + 16, source_stag);
    wire_put64(header + 20, source_offset);
    wire_untagged(frame, WIRE_READ_REQUEST, true, 0, 1, msn, 0, header, sizeof header);
}

void wire_terminate(struct wire *frame, unsigned fault, const struct wire *about)
{
    size_t octets = !about ? 0 : about->octets[2] & 0x80 ? 14 : 18;
    uint8_t body[6 + 18] = { (uint8_t)(fault >> 12 << 4 | (fault >> 8 & 15)), (uint8_t)fault };

    if (about) {
        body[2] = 0xc0; /* M, D */
        memcpy(body + 4, about->octets, 2);
        memcpy(body + 6, about->octets + 2, octets);
    }
    wire_untagged(frame, WIRE_TERMINATE, true, 0, 2, 1, 0, body, about ? 6 + octets : 4);
}

void wire_acknowledge(struct wire *frame, uint64_t count)
{
    wire_tagged(frame, WIRE_WRITE, true, WIRE_ACK_STAG, count, NULL, 0);
}

void wire_refusal(struct wire *frame, uint8_t flags, const void *private_data,
    size_t private_length, uint16_t claimed)
{
    wire_startup(frame, true, WIRE_REJECT | flags, 2, private_data, private_length);
    frame->octets[9] = 'j'; /* MPA ID Rej Frame */
    wire_put16(frame->octets + 18, claimed);
}

void wire_vector(struct wire *frame, const char *name)
{
    char line[4096], found[64], direction[8], hex[2048];
    FILE *file = fopen(VECTORS_PATH, "r");

    frame->length = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned octet;

        if (line[0] == '#' || sscanf(line, "%63s %7s %2047s", found, direction, hex) != 3 ||
            strcmp(found, name) != 0)
            continue;
        for (size_t i = 0; sscanf(hex + i, "%2x", &octet) == 1; i += 2)
            frame->octets[frame->length++] = (uint8_t)octet;
        break;
    }
    if (file)
        fclose(file);
    if (frame->length == 0) {
        fprintf(stderr, "no test vector %s in %s\n", name, VECTORS_PATH);
        exit(2);
    }
}
