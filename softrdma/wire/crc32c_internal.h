/* SPDX-License-Identifier: MIT */
/* crc32c_internal.h - what the implementations of CRC-32C share (crc32c.c). */
#ifndef SOFTRDMA_WIRE_CRC32C_INTERNAL_H
#define SOFTRDMA_WIRE_CRC32C_INTERNAL_H

#include "softrdma/wire/crc32c.h"

#include <string.h>

/* Unrolls the short loop that follows, so that the array elements it uses are in registers, or constants. */
#if defined(__clang__)
#define CRC32C_UNROLL _Pragma("unroll")
#else
#define CRC32C_UNROLL _Pragma("GCC unroll 8")
#endif

static inline uint64_t srd_load_le64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Returns x^n modulo the polynomial, in the bit order of registers: the coefficient of x^31 is bit 0. */
uint32_t srd_crc32c_power(uint64_t n);

/*
 * Tables that move a register over a fixed number of zero octets: moving is linear over GF(2), so the four look-ups,
 * one for each octet of the register, give the sum.
 */
struct srd_crc32c_shift {
    uint32_t octet[4][256];
};
void srd_crc32c_shift_init(struct srd_crc32c_shift *shift, size_t zeros);

static inline uint32_t srd_crc32c_shift_over(const struct srd_crc32c_shift *shift, uint32_t crc)
{
    return shift->octet[0][crc & 255] ^ shift->octet[1][crc >> 8 & 255] ^
           shift->octet[2][crc >> 16 & 255] ^ shift->octet[3][crc >> 24];
}

/* Copies for a method that only sums: by pieces that the first-level cache holds. */
uint32_t srd_crc32c_copy_by_pieces(uint32_t (*sum)(uint32_t crc, const void *data, size_t octets),
    uint32_t crc, void *to, const void *data, size_t octets);

/*
 * srd_crc32c_native - lists the methods that use instructions of this processor, the fastest first (crc32c_x86.c,
 * crc32c_aarch64.c). It is called once.
 * methods  out
 * Returns their number, at most SRD_CRC32C_NATIVE.
 */
enum { SRD_CRC32C_NATIVE = 4 };
size_t srd_crc32c_native(struct srd_crc32c_method methods[SRD_CRC32C_NATIVE]);

#endif
