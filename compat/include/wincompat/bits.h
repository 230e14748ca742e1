/* SPDX-License-Identifier: MIT */
/*
 * bits.h - the compiler's functions on Windows: bits, rotations, the processor's clock. __rdtsc and _mm_pause are the
 * compiler's own here too (x86). An index is an unsigned long on Windows; here any integer will do.
 */
#ifndef WINCOMPAT_BITS_H
#define WINCOMPAT_BITS_H

#include <wincompat/types.h>

#if defined(__x86_64__) || defined(__i386__)
#ifdef __clang__ /* has both without their headers, which are slow to compile */
WINCOMPAT_BEGIN
unsigned long long __rdtsc(void);
void _mm_pause(void);
WINCOMPAT_END
#else
#ifdef __cplusplus
extern "C++" {
#endif
#if __has_include(<x86gprintrin.h>)
#include <x86gprintrin.h>
#include <xmmintrin.h>
#else
#include <x86intrin.h>
#endif
#ifdef __cplusplus
}
#endif
#endif
#endif

/* Store the number of the lowest or highest bit that is set; 0 where no bit is: the index stays unchanged. */
#ifdef __cplusplus
extern "C++" {
template <class T> inline unsigned char _BitScanForward(T *index, uint32_t mask)
{
    return mask ? *index = static_cast<T>(__builtin_ctz(mask)), 1 : 0;
}
template <class T> inline unsigned char _BitScanReverse(T *index, uint32_t mask)
{
    return mask ? *index = static_cast<T>(31 - __builtin_clz(mask)), 1 : 0;
}
template <class T> inline unsigned char _BitScanForward64(T *index, unsigned long long mask)
{
    return mask ? *index = static_cast<T>(__builtin_ctzll(mask)), 1 : 0;
}
template <class T> inline unsigned char _BitScanReverse64(T *index, unsigned long long mask)
{
    return mask ? *index = static_cast<T>(63 - __builtin_clzll(mask)), 1 : 0;
}
}
#else
/* In C functions of Windows' types, below macros of the same names for any. */
static inline unsigned char _BitScanForward(ULONG *index, ULONG mask)
{
    return mask ? *index = (ULONG)__builtin_ctz(mask), 1 : 0;
}
static inline unsigned char _BitScanReverse(ULONG *index, ULONG mask)
{
    return mask ? *index = (ULONG)(31 - __builtin_clz(mask)), 1 : 0;
}
static inline unsigned char _BitScanForward64(ULONG *index, ULONG64 mask)
{
    return mask ? *index = (ULONG)__builtin_ctzll(mask), 1 : 0;
}
static inline unsigned char _BitScanReverse64(ULONG *index, ULONG64 mask)
{
    return mask ? *index = (ULONG)(63 - __builtin_clzll(mask)), 1 : 0;
}
#define WINCOMPAT_SCAN(index, type, mask, number)                                                  \
    __extension__({                                                                                \
        const type wincompat_mask_ = (type)(mask);                                                 \
        if (wincompat_mask_)                                                                       \
            *(index) = number;                                                                     \
        (unsigned char)(wincompat_mask_ != 0);                                                     \
    })
#define _BitScanForward(index, mask)                                                               \
    WINCOMPAT_SCAN(index, uint32_t, mask, __builtin_ctz(wincompat_mask_))
#define _BitScanReverse(index, mask)                                                               \
    WINCOMPAT_SCAN(index, uint32_t, mask, 31 - __builtin_clz(wincompat_mask_))
#define _BitScanForward64(index, mask)                                                             \
    WINCOMPAT_SCAN(index, unsigned long long, mask, __builtin_ctzll(wincompat_mask_))
#define _BitScanReverse64(index, mask)                                                             \
    WINCOMPAT_SCAN(index, unsigned long long, mask, 63 - __builtin_clzll(wincompat_mask_))
#endif
#define BitScanForward   _BitScanForward
#define BitScanReverse   _BitScanReverse
#define BitScanForward64 _BitScanForward64
#define BitScanReverse64 _BitScanReverse64

#if !WINCOMPAT_BUILTIN(__popcnt)
static inline unsigned short __popcnt16(unsigned short value)
{
    return (unsigned short)__builtin_popcount(value);
}
static inline unsigned __popcnt(unsigned value)
{
    return (unsigned)__builtin_popcount(value);
}
static inline unsigned long long __popcnt64(unsigned long long value)
{
    return (unsigned long long)__builtin_popcountll(value);
}
#endif

/* A breakpoint: a debugger stops, and continues behind it; without one SIGTRAP ends the process. */
#if !WINCOMPAT_BUILTIN(__debugbreak)
#if defined(__x86_64__) || defined(__i386__)
#define WINCOMPAT_BREAK "int3"
#elif defined(__aarch64__)
#define WINCOMPAT_BREAK "brk #0xf000"
#endif
static inline __attribute__((always_inline)) void __debugbreak(void)
{
    __asm__ __volatile__(WINCOMPAT_BREAK ::: "memory");
}
#endif

/* gcc's headers have macros of the first two names; clang has all four in its Microsoft modes. */
#if !defined(_rotl) && !WINCOMPAT_BUILTIN(_rotl)
static inline unsigned _rotl(unsigned value, int bits)
{
    return value << (bits & 31) | value >> (-bits & 31);
}
#endif
#if !defined(_rotr) && !WINCOMPAT_BUILTIN(_rotr)
static inline unsigned _rotr(unsigned value, int bits)
{
    return value >> (bits & 31) | value << (-bits & 31);
}
#endif
#if !WINCOMPAT_BUILTIN(_rotl64)
static inline unsigned long long _rotl64(unsigned long long value, int bits)
{
    return value << (bits & 63) | value >> (-bits & 63);
}
static inline unsigned long long _rotr64(unsigned long long value, int bits)
{
    return value >> (bits & 63) | value << (-bits & 63);
}
#endif

#endif
