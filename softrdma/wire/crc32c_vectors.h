/* SPDX-License-Identifier: MIT */
/*
 * crc32c_vectors.h - CRC-32C by VPCLMULQDQ on vectors of one width: crc32c_x86.c includes it once for each width, and
 * defines these before, which the end of this file undefines:
 *   VECTOR, VECTOR_OCTETS   the type of a vector, its width
 *   VECTORS                 the vectors that advance together: a step takes VECTORS * VECTOR_OCTETS octets
 *   VECTOR_TARGET           the processor's features, for the compiler
 *   VECTOR_NAME(name)       the name of a function or variable of this width
 *   VECTOR_LOAD, ...        the operations, as intrinsics
 */
#define VECTOR_INLINE static inline __attribute__((always_inline, target(VECTOR_TARGET)))
#define VECTOR_STEP   (VECTORS * VECTOR_OCTETS)

/* multipliers that move over one step and over one vector: [0] for the low half, [1] for the high half of a lane */
static uint64_t VECTOR_NAME(over_step)[2], VECTOR_NAME(over_vector)[2];

static void VECTOR_NAME(vectors_init)(void)
{
    VECTOR_NAME(over_vector)[0] = over(VECTOR_OCTETS + 8);
    VECTOR_NAME(over_vector)[1] = over(VECTOR_OCTETS);
    VECTOR_NAME(over_step)[0] = over(VECTOR_STEP + 8);
    VECTOR_NAME(over_step)[1] = over(VECTOR_STEP);
}

/* Returns the vector at at, and copies it if copy. It copies the register, since from may change between two loads. */
VECTOR_INLINE VECTOR VECTOR_NAME(take)(uint8_t *to, const uint8_t *from, size_t at, bool copy)
{
    VECTOR value = VECTOR_LOAD(from + at);

    if (copy) {
        __asm__("" : "+v"(value));
        VECTOR_STORE(to + at, value);
    }
    return value;
}

/* Moves the lanes of a vector by a multiplier, and returns their sum with the vector that is there. */
VECTOR_INLINE VECTOR VECTOR_NAME(fold)(VECTOR lanes, VECTOR by, VECTOR there)
{
    return VECTOR_XOR3(VECTOR_MULTIPLY(lanes, by, 0x00), VECTOR_MULTIPLY(lanes, by, 0x11), there);
}

/* Returns the register of a vector's lanes. */
VECTOR_INLINE uint32_t VECTOR_NAME(reduce)(VECTOR lanes)
{
    __m128i by = load_pair(lane_over), all = VECTOR_LANE(lanes, 0);

    all = _mm_xor_si128(fold(all, by), VECTOR_LANE(lanes, 1));
#if VECTOR_OCTETS == 64
    all = _mm_xor_si128(fold(all, by), VECTOR_LANE(lanes, 2));
    all = _mm_xor_si128(fold(all, by), VECTOR_LANE(lanes, 3));
#endif
    return (uint32_t)crc32c_64(
        crc32c_64(0, (uint64_t)_mm_cvtsi128_si64(all)), (uint64_t)_mm_extract_epi64(all, 1));
}

/* Returns the register after all whole vectors (at least VECTOR_STEP octets), and copies them if copy. */
VECTOR_INLINE uint32_t VECTOR_NAME(do_vectors)(
    uint32_t crc, uint8_t *to, const uint8_t *from, size_t octets, bool copy)
{
    const VECTOR by_step = VECTOR_BROADCAST(load_pair(VECTOR_NAME(over_step)));
    const VECTOR by_vector = VECTOR_BROADCAST(load_pair(VECTOR_NAME(over_vector)));
    VECTOR part[VECTORS];
    size_t at = VECTOR_STEP;

    CRC32C_UNROLL
    for (size_t i = 0; i < VECTORS; i++)
        part[i] = VECTOR_NAME(take)(to, from, VECTOR_OCTETS * i, copy);
    part[0] = VECTOR_XOR(part[0], VECTOR_FIRST(_mm_cvtsi32_si128((int)crc)));
    for (; octets - at >= VECTOR_STEP; at += VECTOR_STEP) {
        CRC32C_UNROLL
        for (size_t i = 0; i < VECTORS; i++)
            part[i] = VECTOR_NAME(fold)(
                part[i], by_step, VECTOR_NAME(take)(to, from, at + VECTOR_OCTETS * i, copy));
    }
    CRC32C_UNROLL
    for (size_t i = 1; i < VECTORS; i++)
        part[0] = VECTOR_NAME(fold)(part[0], by_vector, part[i]);
    for (; octets - at >= VECTOR_OCTETS; at += VECTOR_OCTETS)
        part[0] = VECTOR_NAME(fold)(part[0], by_vector, VECTOR_NAME(take)(to, from, at, copy));
    return VECTOR_NAME(reduce)(part[0]);
}

static __attribute__((target(VECTOR_TARGET))) uint32_t VECTOR_NAME(sum)(
    uint32_t crc, const void *data, size_t octets)
{
    const uint8_t *p = data;
    size_t whole = octets & ~(size_t)(VECTOR_OCTETS - 1);

    if (octets < VECTOR_STEP)
        return ~one_stream(~crc, p, octets);
    crc = VECTOR_NAME(do_vectors)(~crc, NULL, p, octets, false);
    return ~one_stream(crc, p + whole, octets - whole);
}

static __attribute__((target(VECTOR_TARGET))) uint32_t VECTOR_NAME(copy)(
    uint32_t crc, void *to, const void *data, size_t octets)
{
    size_t whole = octets < VECTOR_STEP ? 0 : octets & ~(size_t)(VECTOR_OCTETS - 1);
    const uint8_t *from = data;
    uint8_t *copy = to;

    crc = ~crc;
    if (whole)
        crc = VECTOR_NAME(do_vectors)(crc, copy, from, octets, true);
    memcpy(copy + whole, from + whole, octets - whole);
    __asm__ volatile("" ::: "memory"); /* has the compiler sum the copy, not its source */
    return ~one_stream(crc, copy + whole, octets - whole);
}

#undef VECTOR
#undef VECTOR_OCTETS
#undef VECTORS
#undef VECTOR_TARGET
#undef VECTOR_NAME
#undef VECTOR_LOAD
#undef VECTOR_STORE
#undef VECTOR_BROADCAST
#undef VECTOR_FIRST
#undef VECTOR_XOR
#undef VECTOR_XOR3
#undef VECTOR_MULTIPLY
#undef VECTOR_LANE
#undef VECTOR_INLINE
#undef VECTOR_STEP
