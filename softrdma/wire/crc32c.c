/* SPDX-License-Identifier: MIT */
/*
 * crc32c.c - CRC-32C by the SSE4.2 instruction where there is one, else by table, eight octets at a
 * step.
 *
 * The instruction takes three cycles but starts every cycle, so long buffers go through it in three
 * interleaved parts. The parts are joined with tables that move a register over a fixed number of
 * zero octets: moving is linear over GF(2), so four look-ups, one for each octet of the register,
 * give the sum.
 */
#include "softrdma/wire/crc32c.h"

#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

enum { LONG_PART = 2048, SHORT_PART = 256 };

static uint32_t table[8][256];

static void table_init(void)
{
    for (unsigned n = 0; n < 256; n++) {
        uint32_t crc = n;

        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
        table[0][n] = crc;
    }
    for (unsigned n = 0; n < 256; n++)
        for (unsigned k = 1; k < 8; k++)
            table[k][n] = table[k - 1][n] >> 8 ^ table[0][table[k - 1][n] & 255];
}

static uint64_t load_le64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

uint32_t srd_crc32c_table(uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; octets >= 8; octets -= 8, p += 8) {
        uint64_t word = load_le64(p) ^ crc;

        crc = 0;
        for (unsigned k = 0; k < 8; k++)
            crc ^= table[7 - k][word >> 8 * k & 255];
    }
    while (octets--)
        crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

#if defined(__x86_64__)
static bool have_instruction;
static uint32_t over_long[4][256], over_short[4][256];

static void shift_init(uint32_t shift[4][256], size_t zeros)
{
    uint32_t column[32];

    for (unsigned bit = 0; bit < 32; bit++) {
        column[bit] = 1u << bit;
        for (size_t i = 0; i < zeros; i++)
            column[bit] = column[bit] >> 8 ^ table[0][column[bit] & 255];
    }
    for (unsigned k = 0; k < 4; k++)
        for (unsigned n = 0; n < 256; n++) {
            shift[k][n] = 0;
            for (unsigned bit = 0; bit < 8; bit++)
                if (n >> bit & 1)
                    shift[k][n] ^= column[8 * k + bit];
        }
}

static inline uint32_t shift_over(uint32_t shift[4][256], uint32_t crc)
{
    return shift[0][crc & 255] ^ shift[1][crc >> 8 & 255] ^ shift[2][crc >> 16 & 255] ^
           shift[3][crc >> 24];
}

static inline __attribute__((target("sse4.2"))) uint64_t three_parts(
    uint64_t crc0, const uint8_t *p, size_t part, uint32_t shift[4][256])
{
    uint64_t crc1 = 0, crc2 = 0;

    for (size_t i = 0; i < part; i += 8) {
        crc0 = __builtin_ia32_crc32di(crc0, load_le64(p + i));
        crc1 = __builtin_ia32_crc32di(crc1, load_le64(p + i + part));
        crc2 = __builtin_ia32_crc32di(crc2, load_le64(p + i + 2 * part));
    }
    crc0 = shift_over(shift, (uint32_t)crc0) ^ crc1;
    return shift_over(shift, (uint32_t)crc0) ^ crc2;
}

static __attribute__((target("sse4.2"))) uint32_t by_instruction(
    uint32_t crc, const uint8_t *p, size_t octets)
{
    uint64_t reg = ~crc;

    for (; octets >= 3 * LONG_PART; octets -= 3 * LONG_PART, p += 3 * LONG_PART)
        reg = three_parts(reg, p, LONG_PART, over_long);
    for (; octets >= 3 * SHORT_PART; octets -= 3 * SHORT_PART, p += 3 * SHORT_PART)
        reg = three_parts(reg, p, SHORT_PART, over_short);
    for (; octets >= 8; octets -= 8, p += 8)
        reg = __builtin_ia32_crc32di(reg, load_le64(p));
    while (octets--)
        reg = __builtin_ia32_crc32qi((uint32_t)reg, *p++);
    return ~(uint32_t)reg;
}

uint32_t srd_crc32c(uint32_t crc, const void *data, size_t octets)
{
    return have_instruction ? by_instruction(crc, data, octets)
                            : srd_crc32c_table(crc, data, octets);
}
#else
uint32_t srd_crc32c(uint32_t crc, const void *data, size_t octets)
{
    return srd_crc32c_table(crc, data, octets);
}
#endif

/* Before main, so that the data path needs no check. */
static __attribute__((constructor)) void crc32c_init(void)
{
    table_init();
#if defined(__x86_64__)
    shift_init(over_long, LONG_PART);
    shift_init(over_short, SHORT_PART);
    __builtin_cpu_init();
    have_instruction = __builtin_cpu_supports("sse4.2");
#endif
}
