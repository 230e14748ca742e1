/* SPDX-License-Identifier: MIT */
/*
 * interlocked_forms.h - the further forms of the Interlocked family: what interlocked.h lacks of Acquire, Release and
 * NoFence, which are full barriers, too; those of 8 and 16 bits, of single bits and of sizes; loads and stores with an
 * order.
 */
#ifndef WINCOMPAT_INTERLOCKED_FORMS_H
#define WINCOMPAT_INTERLOCKED_FORMS_H

#include <wincompat/interlocked.h>

/* clang-format off */
#define InterlockedExchangeRelease(p, v) InterlockedExchange(p, v)
#define InterlockedExchangeRelease64(p, v) InterlockedExchange(p, v)
#define InterlockedAndAcquire64(p, v) InterlockedAnd(p, v)
#define InterlockedAndRelease64(p, v) InterlockedAnd(p, v)
#define InterlockedAndNoFence64(p, v) InterlockedAnd(p, v)
#define InterlockedOrAcquire64(p, v) InterlockedOr(p, v)
#define InterlockedOrRelease64(p, v) InterlockedOr(p, v)
#define InterlockedOrNoFence64(p, v) InterlockedOr(p, v)
#define InterlockedXorAcquire64(p, v) InterlockedXor(p, v)
#define InterlockedXorRelease64(p, v) InterlockedXor(p, v)
#define InterlockedXorNoFence64(p, v) InterlockedXor(p, v)
#define InterlockedExchangePointerRelease(p, v) InterlockedExchangePointer(p, v)

/* Of a SIZE_T, or another integer of the width of a pointer. */
#define InterlockedIncrementSizeT(p) InterlockedIncrement(p)
#define InterlockedDecrementSizeT(p) InterlockedDecrement(p)
#define InterlockedExchangeAddSizeT(p, v) InterlockedExchangeAdd(p, v)
/* clang-format on */

WINCOMPAT_BEGIN

/* As their namesakes of 32 bits, on 8 bits. */
#define WINCOMPAT_INTERLOCKED_8(name, fn)                                                          \
    static inline CHAR Interlocked##name##8(CHAR volatile * p, CHAR v)                             \
    {                                                                                              \
        return fn(p, v, __ATOMIC_SEQ_CST);                                                         \
    }
WINCOMPAT_INTERLOCKED_8(Exchange, __atomic_exchange_n)
WINCOMPAT_INTERLOCKED_8(ExchangeAdd, __atomic_fetch_add)
WINCOMPAT_INTERLOCKED_8(And, __atomic_fetch_and)
WINCOMPAT_INTERLOCKED_8(Or, __atomic_fetch_or)
WINCOMPAT_INTERLOCKED_8(Xor, __atomic_fetch_xor)
#undef WINCOMPAT_INTERLOCKED_8

/* As their namesakes of 32 bits, on 16 bits. */
#define WINCOMPAT_INTERLOCKED_16(name, fn)                                                         \
    static inline SHORT Interlocked##name##16(SHORT volatile * p, SHORT v)                         \
    {                                                                                              \
        return fn(p, v, __ATOMIC_SEQ_CST);                                                         \
    }
WINCOMPAT_INTERLOCKED_16(Exchange, __atomic_exchange_n)
WINCOMPAT_INTERLOCKED_16(ExchangeAdd, __atomic_fetch_add)
WINCOMPAT_INTERLOCKED_16(And, __atomic_fetch_and)
WINCOMPAT_INTERLOCKED_16(Or, __atomic_fetch_or)
WINCOMPAT_INTERLOCKED_16(Xor, __atomic_fetch_xor)
#undef WINCOMPAT_INTERLOCKED_16

static inline SHORT InterlockedIncrement16(SHORT volatile *p)
{
    return (SHORT)__atomic_add_fetch(p, 1, __ATOMIC_SEQ_CST);
}

static inline SHORT InterlockedDecrement16(SHORT volatile *p)
{
    return (SHORT)__atomic_sub_fetch(p, 1, __ATOMIC_SEQ_CST);
}

static inline SHORT InterlockedCompareExchange16(SHORT volatile *p, SHORT exchange, SHORT comparand)
{
    return __sync_val_compare_and_swap(p, comparand, exchange);
}

/* One bit, counted from the lowest of *p on. Each returns what it was. */
static inline BOOLEAN InterlockedBitTestAndSet(LONG volatile *p, LONG bit)
{
    ULONG mask = (ULONG)1 << (bit & 31);

    return (__atomic_fetch_or((ULONG volatile *)p + (bit >> 5), mask, __ATOMIC_SEQ_CST) & mask) !=
           0;
}

static inline BOOLEAN InterlockedBitTestAndReset(LONG volatile *p, LONG bit)
{
    ULONG mask = (ULONG)1 << (bit & 31);

    return (__atomic_fetch_and((ULONG volatile *)p + (bit >> 5), ~mask, __ATOMIC_SEQ_CST) & mask) !=
           0;
}

static inline BOOLEAN InterlockedBitTestAndComplement(LONG volatile *p, LONG bit)
{
    ULONG mask = (ULONG)1 << (bit & 31);

    return (__atomic_fetch_xor((ULONG volatile *)p + (bit >> 5), mask, __ATOMIC_SEQ_CST) & mask) !=
           0;
}

static inline BOOLEAN InterlockedBitTestAndSet64(LONG64 volatile *p, LONG64 bit)
{
    ULONG64 mask = (ULONG64)1 << (bit & 63);

    return (__atomic_fetch_or((ULONG64 volatile *)p + (bit >> 6), mask, __ATOMIC_SEQ_CST) & mask) !=
           0;
}

static inline BOOLEAN InterlockedBitTestAndReset64(LONG64 volatile *p, LONG64 bit)
{
    ULONG64 mask = (ULONG64)1 << (bit & 63);

    return (__atomic_fetch_and((ULONG64 volatile *)p + (bit >> 6), ~mask, __ATOMIC_SEQ_CST) &
               mask) != 0;
}

/* Loads and stores: Acquire and Release order what comes after and before, NoFence nothing. */
#define WINCOMPAT_ORDERED(name, type)                                                              \
    static inline type Read##name##Acquire(type const volatile *p)                                 \
    {                                                                                              \
        return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                               \
    }                                                                                              \
    static inline type Read##name##NoFence(type const volatile *p)                                 \
    {                                                                                              \
        return __atomic_load_n(p, __ATOMIC_RELAXED);                                               \
    }                                                                                              \
    static inline VOID Write##name##Release(type volatile *p, type v)                              \
    {                                                                                              \
        __atomic_store_n(p, v, __ATOMIC_RELEASE);                                                  \
    }                                                                                              \
    static inline VOID Write##name##NoFence(type volatile *p, type v)                              \
    {                                                                                              \
        __atomic_store_n(p, v, __ATOMIC_RELAXED);                                                  \
    }
WINCOMPAT_ORDERED(, LONG)
WINCOMPAT_ORDERED(64, LONG64)
WINCOMPAT_ORDERED(ULong, ULONG)
WINCOMPAT_ORDERED(ULong64, ULONG64)
WINCOMPAT_ORDERED(Pointer, PVOID)
#undef WINCOMPAT_ORDERED

WINCOMPAT_END

#endif
