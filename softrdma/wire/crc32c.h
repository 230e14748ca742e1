/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - CRC-32C (Castagnoli), the check of an FPDU (RFC 5044 section 4.4; RFC 3720 appendix B.4).
 *
 * A checksum is the finished value (start register and final XOR all ones); on the wire its least significant octet
 * comes first. There are several implementations, of which the process chooses one before main.
 */
#ifndef SOFTRDMA_WIRE_CRC32C_H
#define SOFTRDMA_WIRE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * srd_crc32c - returns the checksum of data, continued from crc.
 * crc      in: 0 to begin, or what an earlier call over the octets in front returned
 * data     in: octets octets
 * Returns  the checksum. Threads  any.
 */
uint32_t srd_crc32c(uint32_t crc, const void *data, size_t octets);

/*
 * srd_crc32c_copy - copies data and returns the checksum of the copy, continued from crc. It costs little more than the
 * copy alone. Another thread may change data meanwhile: the checksum is right for the octets that were copied.
 * to       out: octets octets, which no other thread uses; does not overlap data
 */
uint32_t srd_crc32c_copy(uint32_t crc, void *to, const void *data, size_t octets);

/* One implementation. */
struct srd_crc32c_method {
    const char *name;
    uint32_t (*sum)(uint32_t crc, const void *data, size_t octets);
    uint32_t (*copy)(uint32_t crc, void *to, const void *data, size_t octets);
};

/*
 * srd_crc32c_method - returns an implementation that this processor can run; the chosen one, the fastest, has index 0,
 * and the last needs no special instruction. NULL: there are no more.
 */
const struct srd_crc32c_method *srd_crc32c_method(size_t index);

#endif
