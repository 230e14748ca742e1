/* SPDX-License-Identifier: MIT */
/*
 * crc32c_streams.h - CRC-32C by a processor's instruction. The file for that processor includes it, and defines before:
 *   CRC32C_TARGET          the attribute that lets the compiler use the instruction
 *   crc32c_64(crc, value)  the register after eight octets, the first one in the lowest bits
 *   crc32c_8(crc, value)   the register after one octet
 * Registers are 32 bits in a uint64_t, the rest zero, so that the compiler adds no instruction that clears it.
 *
 * The instruction takes three cycles but starts every cycle, so long buffers go through it in three interleaved
 * streams, joined by tables.
 */
#ifndef SOFTRDMA_WIRE_CRC32C_STREAMS_H
#define SOFTRDMA_WIRE_CRC32C_STREAMS_H

#include "softrdma/wire/crc32c_internal.h"

enum { LONG_STREAM = 2048, SHORT_STREAM = 256 };

static struct srd_crc32c_shift over_long, over_short;

static void streams_init(void)
{
    srd_crc32c_shift_init(&over_long, LONG_STREAM);
    srd_crc32c_shift_init(&over_short, SHORT_STREAM);
}

/* Returns the register after octets that are too few for three streams. */
static inline CRC32C_TARGET uint32_t one_stream(uint32_t start, const uint8_t *p, size_t octets)
{
    uint64_t crc = start;

    for (; octets >= 8; octets -= 8, p += 8)
        crc = crc32c_64(crc, srd_load_le64(p));
    while (octets--)
        crc = crc32c_8(crc, *p++);
    return (uint32_t)crc;
}

static inline CRC32C_TARGET uint32_t three_streams(
    uint32_t crc, const uint8_t *p, size_t stream, const struct srd_crc32c_shift *shift)
{
    uint64_t crc0 = crc, crc1 = 0, crc2 = 0;

    for (size_t i = 0; i < stream; i += 8) {
        crc0 = crc32c_64(crc0, srd_load_le64(p + i));
        crc1 = crc32c_64(crc1, srd_load_le64(p + i + stream));
        crc2 = crc32c_64(crc2, srd_load_le64(p + i + 2 * stream));
    }
    crc = srd_crc32c_shift_over(shift, (uint32_t)crc0) ^ (uint32_t)crc1;
    return srd_crc32c_shift_over(shift, crc) ^ (uint32_t)crc2;
}

static CRC32C_TARGET uint32_t sum_by_streams(uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; octets >= 3 * LONG_STREAM; octets -= 3 * LONG_STREAM, p += 3 * LONG_STREAM)
        crc = three_streams(crc, p, LONG_STREAM, &over_long);
    for (; octets >= 3 * SHORT_STREAM; octets -= 3 * SHORT_STREAM, p += 3 * SHORT_STREAM)
        crc = three_streams(crc, p, SHORT_STREAM, &over_short);
    return ~one_stream(crc, p, octets);
}

static uint32_t copy_by_streams(uint32_t crc, void *to, const void *data, size_t octets)
{
    return srd_crc32c_copy_by_pieces(sum_by_streams, crc, to, data, octets);
}

#endif
