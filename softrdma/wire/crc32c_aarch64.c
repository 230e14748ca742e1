/* SPDX-License-Identifier: MIT */
/* crc32c_aarch64.c - CRC-32C by the CRC32CX instruction of ARMv8 (optional in 8.0, there since 8.1). */
#if defined(__aarch64__)

#include <stdint.h>

#define CRC32C_TARGET /* each asm statement enables the instruction itself */

static inline CRC32C_TARGET uint64_t crc32c_64(uint64_t crc, uint64_t value)
{
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(value));
    return crc;
}

static inline CRC32C_TARGET uint64_t crc32c_8(uint64_t crc, uint8_t value)
{
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(value));
    return crc;
}

#include "softrdma/wire/crc32c_streams.h"

#include <sys/auxv.h>

#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif

size_t srd_crc32c_native(struct srd_crc32c_method methods[SRD_CRC32C_NATIVE])
{
    if (!(getauxval(AT_HWCAP) & HWCAP_CRC32))
        return 0;
    streams_init();
    methods[0] = (struct srd_crc32c_method){ "crc32cx", sum_by_streams, copy_by_streams };
    return 1;
}

#endif
