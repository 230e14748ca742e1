/* SPDX-License-Identifier: MIT */
/*
 * crc32c.h - CRC-32C (Castagnoli), the check of an FPDU (RFC 5044 section 4.4; RFC 3720 appendix
 * B.4).
 */
#ifndef SOFTRDMA_WIRE_CRC32C_H
#define SOFTRDMA_WIRE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * srd_crc32c - checksum of data, continued from crc.
 * crc      in: 0 to begin, or what an earlier call over the octets in front returned
 * data     in: octets octets
 * Returns  the finished value (start register and final XOR all ones). On the wire: least
 * significant octet first. Threads  any.
 */
uint32_t srd_crc32c(uint32_t crc, const void *data, size_t octets);

/* The same without the processor's instruction; for machines that have none, and to test the other
 * against. */
uint32_t srd_crc32c_table(uint32_t crc, const void *data, size_t octets);

#endif
