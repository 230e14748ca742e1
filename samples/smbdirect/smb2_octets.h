/* SPDX-License-Identifier: MIT */
/* smb2_octets.h - little-endian numbers at any place. */
#ifndef SMB2_OCTETS_H
#define SMB2_OCTETS_H

#include <stdint.h>

static inline void put16(uint8_t *to, uint16_t value)
{
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}

static inline void put32(uint8_t *to, uint32_t value)
{
    put16(to, (uint16_t)value);
    put16(to + 2, (uint16_t)(value >> 16));
}

static inline void put64(uint8_t *to, uint64_t value)
{
    put32(to, (uint32_t)value);
    put32(to + 4, (uint32_t)(value >> 32));
}

static inline uint16_t get16(const uint8_t *from)
{
    return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t get32(const uint8_t *from)
{
    return get16(from) | (uint32_t)get16(from + 2) << 16;
}

static inline uint64_t get64(const uint8_t *from)
{
    return get32(from) | (uint64_t)get32(from + 4) << 32;
}

#endif
