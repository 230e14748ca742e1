/* SPDX-License-Identifier: MIT */
/*
 * crc32c_x86.c - CRC-32C by SSE4.2's crc32 instruction, by it and PCLMULQDQ together, and by VPCLMULQDQ.
 *
 * crc32 and PCLMULQDQ run on different ports of the processor, one a cycle each. So a block is cut into four parts
 * that advance together: three streams of crc32, and one that is folded: multiplied, 128 bits at a time, by the power
 * of x that moves it to where more of the same part stands, and added to that. What is left of the four, each moved to
 * the end of the block by one more multiplication, gives the block's register. While copying, the processor's stores
 * are the narrowest place, and the checksum is nearly free.
 *
 * VPCLMULQDQ multiplies four times 128 bits at once. Then folding alone is faster than both together: it takes the data
 * in order, as memcpy does, in wide steps of four registers.
 *
 * Bits are reflected: the first bit on the wire is the lowest one of a register, and stands for the highest power of x.
 * The product of a 64-bit and a 32-bit register, or of two 32-bit ones, is therefore x^33 away from its place as 128 or
 * as 64 bits that crc32 has still to reduce: "over" below takes that off.
 */
#if defined(__x86_64__)

#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>

#define CRC32C_TARGET __attribute__((target("sse4.2")))

static inline CRC32C_TARGET uint64_t crc32c_64(uint64_t crc, uint64_t value)
{
    return _mm_crc32_u64(crc, value);
}

static inline CRC32C_TARGET uint64_t crc32c_8(uint64_t crc, uint8_t value)
{
    return _mm_crc32_u8((uint32_t)crc, value);
}

#include "softrdma/wire/crc32c_streams.h"

#define FOLD_TARGET __attribute__((target("sse4.2,pclmul")))
#define FOLD_INLINE static inline __attribute__((always_inline, target("sse4.2,pclmul")))

/* In a step each stream takes STREAM_STEP octets, and the folded part LANES times 16. */
enum { STREAM_STEP = 32, LANES = 6, FOLDED_STEP = LANES * 16, LONG_STEPS = 42, SHORT_STEPS = 5 };

/* A block of so many steps: where its parts begin, which stand one behind the other, and their multipliers. */
struct block {
    size_t stream, folded, octets;
    uint64_t over[3]; /* from the end of each stream to that of the block */
};

static struct block long_block, short_block;
static uint64_t lane_over[2],
    step_over[2]; /* over one lane, over one step; of the low half, of the high half */

/* The multiplier that moves over so many octets. */
static uint64_t over(size_t octets)
{
    return srd_crc32c_power(8 * (uint64_t)octets - 33);
}

static void block_init(struct block *block, size_t steps)
{
    block->stream = STREAM_STEP * steps;
    block->folded = FOLDED_STEP * steps;
    block->octets = 3 * block->stream + block->folded;
    block->over[0] = over(2 * block->stream + block->folded);
    block->over[1] = over(block->stream + block->folded);
    block->over[2] = over(block->folded);
}

static void folding_init(void)
{
    block_init(&long_block, LONG_STEPS);
    block_init(&short_block, SHORT_STEPS);
    lane_over[0] = over(16 + 8);
    lane_over[1] = over(16);
    step_over[0] = over(FOLDED_STEP + 8);
    step_over[1] = over(FOLDED_STEP);
}

FOLD_INLINE __m128i load_pair(const uint64_t pair[2])
{
    return _mm_loadu_si128((const __m128i *)(const void *)pair);
}

/* The 16 octets at at, copied if copy. The copy is of what the register has: from may change between two loads. */
FOLD_INLINE __m128i take(uint8_t *to, const uint8_t *from, size_t at, bool copy)
{
    __m128i value = _mm_loadu_si128((const __m128i *)(const void *)(from + at));

    if (copy) {
        __asm__("" : "+x"(value));
        _mm_storeu_si128((__m128i *)(void *)(to + at), value);
    }
    return value;
}

FOLD_INLINE __m128i fold(__m128i lane, __m128i by)
{
    return _mm_xor_si128(
        _mm_clmulepi64_si128(lane, by, 0x00), _mm_clmulepi64_si128(lane, by, 0x11));
}

FOLD_INLINE __m128i product(uint64_t crc, uint64_t by)
{
    return _mm_clmulepi64_si128(
        _mm_cvtsi64_si128((long long)crc), _mm_cvtsi64_si128((long long)by), 0);
}

/* The register of the folded part alone. */
FOLD_INLINE uint32_t reduce(const __m128i lane[LANES])
{
    __m128i by = load_pair(lane_over), all = lane[0];

    CRC32C_UNROLL
    for (int i = 1; i < LANES; i++)
        all = _mm_xor_si128(fold(all, by), lane[i]);
    return crc32c_64(
        crc32c_64(0, (uint64_t)_mm_cvtsi128_si64(all)), (uint64_t)_mm_extract_epi64(all, 1));
}

/* One block; to: where it is copied, if copy. steps and copy are known to the compiler. */
FOLD_INLINE uint32_t do_block(uint32_t crc, uint8_t *to, const uint8_t *from,
    const struct block *block, size_t steps, bool copy)
{
    const size_t stream = STREAM_STEP * steps;
    const __m128i by = load_pair(step_over);
    uint64_t crc0 = crc, crc1 = 0, crc2 = 0;
    __m128i lane[LANES], sum;

    CRC32C_UNROLL
    for (size_t i = 0; i < LANES; i++)
        lane[i] = take(to, from, 3 * stream + 16 * i, copy);
    for (size_t step = 0;; step++) {
        size_t at = STREAM_STEP * step, folded = 3 * stream + FOLDED_STEP * (step + 1);
        const uint8_t *p = from + at;

        if (copy) {
            CRC32C_UNROLL
            for (size_t i = 0; i < 3; i++) {
                take(to, from, at + stream * i, true);
                take(to, from, at + stream * i + 16, true);
            }
            p = to + at;
            __asm__ volatile("" ::: "memory"); /* the copy is summed, not what it was made from */
        }
        CRC32C_UNROLL
        for (size_t i = 0; i < STREAM_STEP; i += 8) {
            crc0 = crc32c_64(crc0, srd_load_le64(p + i));
            crc1 = crc32c_64(crc1, srd_load_le64(p + i + stream));
            crc2 = crc32c_64(crc2, srd_load_le64(p + i + 2 * stream));
        }
        if (step == steps - 1)
            break;
        CRC32C_UNROLL
        for (size_t i = 0; i < LANES; i++)
            lane[i] = _mm_xor_si128(fold(lane[i], by), take(to, from, folded + 16 * i, copy));
    }
    sum = _mm_xor_si128(_mm_xor_si128(product(crc0, block->over[0]), product(crc1, block->over[1])),
        product(crc2, block->over[2]));
    return (uint32_t)crc32c_64(0, (uint64_t)_mm_cvtsi128_si64(sum)) ^ reduce(lane);
}

static FOLD_TARGET uint32_t sum_by_folding(uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;

    crc = ~crc;
    for (; octets >= long_block.octets; octets -= long_block.octets, p += long_block.octets)
        crc = do_block(crc, NULL, p, &long_block, LONG_STEPS, false);
    for (; octets >= short_block.octets; octets -= short_block.octets, p += short_block.octets)
        crc = do_block(crc, NULL, p, &short_block, SHORT_STEPS, false);
    return ~one_stream(crc, p, octets);
}

static FOLD_TARGET uint32_t copy_by_folding(uint32_t crc, void *to, const void *data, size_t octets)
{
    const uint8_t *p = data;
    uint8_t *copy = to;

    crc = ~crc;
    while (octets >= long_block.octets) {
        crc = do_block(crc, copy, p, &long_block, LONG_STEPS, true);
        p += long_block.octets;
        copy += long_block.octets;
        octets -= long_block.octets;
    }
    while (octets >= short_block.octets) {
        crc = do_block(crc, copy, p, &short_block, SHORT_STEPS, true);
        p += short_block.octets;
        copy += short_block.octets;
        octets -= short_block.octets;
    }
    memcpy(copy, p, octets);
    __asm__ volatile("" ::: "memory");
    return ~one_stream(crc, copy, octets);
}

/* --- by VPCLMULQDQ ------------------------------------------------------------------------------------------------ */

#define WIDE_TARGET __attribute__((target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))
#define WIDE_INLINE                                                                                \
    static inline                                                                                  \
        __attribute__((always_inline, target("sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq")))

/* In a step each wide lane takes 64 octets. */
enum { WIDE_LANES = 4, WIDE_OCTETS = 64, WIDE_STEP = WIDE_LANES * WIDE_OCTETS };

static uint64_t wide_step_over[2], wide_over[2]; /* over one step, over one wide lane */

static void wide_init(void)
{
    lane_over[0] = over(16 + 8);
    lane_over[1] = over(16);
    wide_over[0] = over(WIDE_OCTETS + 8);
    wide_over[1] = over(WIDE_OCTETS);
    wide_step_over[0] = over(WIDE_STEP + 8);
    wide_step_over[1] = over(WIDE_STEP);
}

/* take for 64 octets. */
WIDE_INLINE __m512i take_wide(uint8_t *to, const uint8_t *from, size_t at, bool copy)
{
    __m512i value = _mm512_loadu_si512(from + at);

    if (copy) {
        __asm__("" : "+v"(value));
        _mm512_storeu_si512(to + at, value);
    }
    return value;
}

/* Four lanes, moved and added to what stands there. */
WIDE_INLINE __m512i fold_wide(__m512i lanes, __m512i by, __m512i there)
{
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(lanes, by, 0x00),
        _mm512_clmulepi64_epi128(lanes, by, 0x11), there, 0x96);
}

/* The register of four lanes. */
WIDE_INLINE uint32_t reduce_wide(__m512i lanes)
{
    __m128i by = load_pair(lane_over), all = _mm512_castsi512_si128(lanes);

    all = _mm_xor_si128(fold(all, by), _mm512_extracti32x4_epi32(lanes, 1));
    all = _mm_xor_si128(fold(all, by), _mm512_extracti32x4_epi32(lanes, 2));
    all = _mm_xor_si128(fold(all, by), _mm512_extracti32x4_epi32(lanes, 3));
    return (uint32_t)crc32c_64(
        crc32c_64(0, (uint64_t)_mm_cvtsi128_si64(all)), (uint64_t)_mm_extract_epi64(all, 1));
}

/* The register after all of 64 octets that there are (WIDE_STEP at least), copied if copy. */
WIDE_INLINE uint32_t do_wide(
    uint32_t crc, uint8_t *to, const uint8_t *from, size_t octets, bool copy)
{
    const __m512i by_step = _mm512_broadcast_i32x4(load_pair(wide_step_over));
    const __m512i by_lane = _mm512_broadcast_i32x4(load_pair(wide_over));
    __m512i lane[WIDE_LANES];
    size_t at = WIDE_STEP;

    CRC32C_UNROLL
    for (size_t i = 0; i < WIDE_LANES; i++)
        lane[i] = take_wide(to, from, WIDE_OCTETS * i, copy);
    lane[0] = _mm512_xor_si512(lane[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    for (; octets - at >= WIDE_STEP; at += WIDE_STEP) {
        CRC32C_UNROLL
        for (size_t i = 0; i < WIDE_LANES; i++)
            lane[i] = fold_wide(lane[i], by_step, take_wide(to, from, at + WIDE_OCTETS * i, copy));
    }
    CRC32C_UNROLL
    for (size_t i = 1; i < WIDE_LANES; i++)
        lane[0] = fold_wide(lane[0], by_lane, lane[i]);
    for (; octets - at >= WIDE_OCTETS; at += WIDE_OCTETS)
        lane[0] = fold_wide(lane[0], by_lane, take_wide(to, from, at, copy));
    return reduce_wide(lane[0]);
}

static WIDE_TARGET uint32_t sum_wide(uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;
    size_t whole = octets & ~(size_t)(WIDE_OCTETS - 1);

    if (octets < WIDE_STEP)
        return ~one_stream(~crc, p, octets);
    crc = do_wide(~crc, NULL, p, octets, false);
    return ~one_stream(crc, p + whole, octets - whole);
}

static WIDE_TARGET uint32_t copy_wide(uint32_t crc, void *to, const void *data, size_t octets)
{
    size_t whole = octets < WIDE_STEP ? 0 : octets & ~(size_t)(WIDE_OCTETS - 1);
    const uint8_t *from = data;
    uint8_t *copy = to;

    crc = ~crc;
    if (whole)
        crc = do_wide(crc, copy, from, octets, true);
    memcpy(copy + whole, from + whole, octets - whole);
    __asm__ volatile("" ::: "memory"); /* the copy is summed, not what it was made from */
    return ~one_stream(crc, copy + whole, octets - whole);
}

static bool has_wide(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq");
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

size_t srd_crc32c_native(struct srd_crc32c_method methods[SRD_CRC32C_NATIVE])
{
    size_t count = 0;

    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2"))
        return 0;
    streams_init();
    if (__builtin_cpu_supports("pclmul") && has_wide()) {
        wide_init();
        methods[count++] = (struct srd_crc32c_method){ "vpclmul", sum_wide, copy_wide };
    }
    if (__builtin_cpu_supports("pclmul")) {
        folding_init();
        methods[count++] = (struct srd_crc32c_method){ "pclmul", sum_by_folding, copy_by_folding };
    }
    methods[count++] = (struct srd_crc32c_method){ "sse4.2", sum_by_streams, copy_by_streams };
    return count;
}

#endif
