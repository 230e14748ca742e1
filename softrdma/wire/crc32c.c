/* SPDX-License-Identifier: MIT */
/* crc32c.c - chooses the implementation of CRC-32C; has the portable one, by table, eight octets at a step. */
#include "softrdma/wire/crc32c_internal.h"

#define POLYNOMIAL 0x82f63b78u /* reflected */

enum { PIECE_OCTETS = 4096 };

static uint32_t table[8][256];
static struct srd_crc32c_method methods[SRD_CRC32C_NATIVE + 1];
static size_t method_count;

/* --- arithmetic of polynomials ----------------------------------------------------------------------------------- */

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (uint32_t bit = 1u << 31; bit; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

uint32_t srd_crc32c_power(uint64_t n)
{
    uint32_t power = 1u << 31, square = 1u << 30;

    for (; n; n >>= 1) {
        if (n & 1)
            power = multiply(power, square);
        square = multiply(square, square);
    }
    return power;
}

void srd_crc32c_shift_init(struct srd_crc32c_shift *shift, size_t zeros)
{
    uint32_t power = srd_crc32c_power(8 * (uint64_t)zeros);

    for (unsigned k = 0; k < 4; k++)
        for (uint32_t n = 0; n < 256; n++)
            shift->octet[k][n] = multiply(power, n << 8 * k);
}

/* --- by table ---------------------------------------------------------------------------------------------------- */

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

static uint32_t sum_by_table(uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; octets >= 8; octets -= 8, p += 8) {
        uint64_t word = srd_load_le64(p) ^ crc;

        crc = 0;
        CRC32C_UNROLL
        for (unsigned k = 0; k < 8; k++)
            crc ^= table[7 - k][word >> 8 * k & 255];
    }
    while (octets--)
        crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
    return ~crc;
}

static uint32_t copy_by_table(uint32_t crc, void *to, const void *data, size_t octets)
{
    return srd_crc32c_copy_by_pieces(sum_by_table, crc, to, data, octets);
}

/* --- all of them ------------------------------------------------------------------------------------------------- */

uint32_t srd_crc32c_copy_by_pieces(uint32_t (*sum)(uint32_t crc, const void *data, size_t octets),
    uint32_t crc, void *to, const void *data, size_t octets)
{
    const uint8_t *from = data;
    uint8_t *copy = to;

    while (octets) {
        size_t here = octets < PIECE_OCTETS ? octets : PIECE_OCTETS;

        memcpy(copy, from, here);
        crc = sum(crc, copy, here);
        copy += here;
        from += here;
        octets -= here;
    }
    return crc;
}

uint32_t srd_crc32c(uint32_t crc, const void *data, size_t octets)
{
    return methods[0].sum(crc, data, octets);
}

uint32_t srd_crc32c_copy(uint32_t crc, void *to, const void *data, size_t octets)
{
    return methods[0].copy(crc, to, data, octets);
}

const struct srd_crc32c_method *srd_crc32c_method(size_t index)
{
    return index < method_count ? &methods[index] : NULL;
}

/* Runs before main, so that the data path needs no check. */
static __attribute__((constructor)) void crc32c_init(void)
{
    table_init();
#if defined(__x86_64__) || defined(__aarch64__)
    method_count = srd_crc32c_native(methods);
#endif
    methods[method_count++] = (struct srd_crc32c_method){ "table", sum_by_table, copy_by_table };
}
