/* SPDX-License-Identifier: MIT */
/*
 * crc32c_x86.c - CRC-32C by SSE4.2's crc32 instruction, by it and PCLMULQDQ together, and by VPCLMULQDQ.
 *
 * crc32 and PCLMULQDQ run on different ports of the processor, one a cycle each. So a block is cut into four parts
 * that advance together: three streams of crc32, and one that is folded: 128 bits at a time are multiplied by the power
 * of x that moves them onto later octets of the same part, and are added to those. The registers of the four parts,
 * each moved to the end of the block by one more multiplication, sum up to the block's register. While copying, the
 * processor's stores are the bottleneck, and the checksum is nearly free.
 *
 * VPCLMULQDQ multiplies two or four times 128 bits at once (AVX2, AVX-512). Folding alone is faster then: it takes the
 * data in order, as memcpy does, so the processor fetches ahead (crc32c_vectors.h).
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

/* A step takes STREAM_STEP octets of each stream, and LANES times 16 octets of the folded part. */
enum { STREAM_STEP = 32, LANES = 6, FOLDED_STEP = LANES * 16, LONG_STEPS = 42, SHORT_STEPS = 5 };

/*
 * The form of a block of a fixed number of steps: the lengths of its parts, which follow each other, and multipliers.
 */
struct block {
    size_t stream, folded, octets;
    uint64_t over[3]; /* they move the register of each stream to the end of the block */
};

static struct block long_block, short_block;
/* multipliers that move over one lane and over one step: [0] for the low half, [1] for the high half of a lane */
static uint64_t lane_over[2], step_over[2];

/* Returns the multiplier that moves over a number of octets. */
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

/* Returns the 16 octets at at, and copies them if copy. It copies the register: from may change between two loads. */
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

/* Returns the register of the folded part alone. */
FOLD_INLINE uint32_t reduce(const __m128i lane[LANES])
{
    __m128i by = load_pair(lane_over), all = lane[0];

    CRC32C_UNROLL
    for (int i = 1; i < LANES; i++)
        all = _mm_xor_si128(fold(all, by), lane[i]);
    return crc32c_64(
        crc32c_64(0, (uint64_t)_mm_cvtsi128_si64(all)), (uint64_t)_mm_extract_epi64(all, 1));
}

/* Takes one block, and copies it to to if copy. The compiler knows steps and copy. */
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
            __asm__ volatile("" ::: "memory"); /* has the compiler sum the copy, not its source */
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

#define VECTOR                        __m512i
#define VECTOR_OCTETS                 64
#define VECTORS                       4
#define VECTOR_TARGET                 "sse4.2,pclmul,avx512f,avx512vl,vpclmulqdq"
#define VECTOR_NAME(name)             name##_512
#define VECTOR_LOAD(from)             _mm512_loadu_si512(from)
#define VECTOR_STORE(to, value)       _mm512_storeu_si512(to, value)
#define VECTOR_BROADCAST(lane)        _mm512_broadcast_i32x4(lane)
#define VECTOR_FIRST(lane)            _mm512_zextsi128_si512(lane)
#define VECTOR_XOR(a, b)              _mm512_xor_si512(a, b)
#define VECTOR_XOR3(a, b, c)          _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define VECTOR_MULTIPLY(a, b, halves) _mm512_clmulepi64_epi128(a, b, halves)
#define VECTOR_LANE(vector, i)        _mm512_extracti32x4_epi32(vector, i)
#include "softrdma/wire/crc32c_vectors.h"

#define VECTOR                        __m256i
#define VECTOR_OCTETS                 32
#define VECTORS                       8
#define VECTOR_TARGET                 "sse4.2,pclmul,avx2,vpclmulqdq"
#define VECTOR_NAME(name)             name##_256
#define VECTOR_LOAD(from)             _mm256_loadu_si256((const __m256i *)(const void *)(from))
#define VECTOR_STORE(to, value)       _mm256_storeu_si256((__m256i *)(void *)(to), value)
#define VECTOR_BROADCAST(lane)        _mm256_broadcastsi128_si256(lane)
#define VECTOR_FIRST(lane)            _mm256_zextsi128_si256(lane)
#define VECTOR_XOR(a, b)              _mm256_xor_si256(a, b)
#define VECTOR_XOR3(a, b, c)          _mm256_xor_si256(a, _mm256_xor_si256(b, c))
#define VECTOR_MULTIPLY(a, b, halves) _mm256_clmulepi64_epi128(a, b, halves)
#define VECTOR_LANE(vector, i)        _mm256_extracti128_si256(vector, i)
#include "softrdma/wire/crc32c_vectors.h"

static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq");
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

size_t srd_crc32c_native(struct srd_crc32c_method methods[SRD_CRC32C_NATIVE])
{
    size_t count = 0;

    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse4.2"))
        return 0;
    streams_init();
    if (__builtin_cpu_supports("pclmul")) {
        folding_init();
        if (has_avx512()) {
            vectors_init_512();
            methods[count++] = (struct srd_crc32c_method){ "vpclmul", sum_512, copy_512 };
        }
        if (has_avx2()) {
            vectors_init_256();
            methods[count++] = (struct srd_crc32c_method){ "vpclmul.256", sum_256, copy_256 };
        }
        methods[count++] = (struct srd_crc32c_method){ "pclmul", sum_by_folding, copy_by_folding };
    }
    methods[count++] = (struct srd_crc32c_method){ "sse4.2", sum_by_streams, copy_by_streams };
    return count;
}

#endif
