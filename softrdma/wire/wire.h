/* SPDX-License-Identifier: MIT */
/* wire.h - reads and writes integers in wire format: big endian, unaligned. */
#ifndef SOFTRDMA_WIRE_WIRE_H
#define SOFTRDMA_WIRE_WIRE_H

#include <stdint.h>
#include <string.h>

static inline uint16_t wire_get16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t wire_get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t wire_get64(const uint8_t *p)
{
    return (uint64_t)wire_get32(p) << 32 | wire_get32(p + 4);
}

static inline void wire_put16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void wire_put32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}

static inline void wire_put64(uint8_t *p, uint64_t value)
{
    wire_put32(p, (uint32_t)(value >> 32));
    wire_put32(p + 4, (uint32_t)value);
}

/* The CRC alone is stored least significant octet first (RFC 5044 section 4.4). */
static inline uint32_t wire_get_crc(const uint8_t *p)
{
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static inline void wire_put_crc(uint8_t *p, uint32_t crc)
{
    p[0] = (uint8_t)crc;
    p[1] = (uint8_t)(crc >> 8);
    p[2] = (uint8_t)(crc >> 16);
    p[3] = (uint8_t)(crc >> 24);
}

#endif
