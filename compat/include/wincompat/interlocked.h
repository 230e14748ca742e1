/* SPDX-License-Identifier: MIT */
/*
 * interlocked.h - the Interlocked family, for any integer of 4 or 8 bytes, volatile or not; all are full barriers.
 * Increment, Decrement and Add return the new value, the Exchange and the bit forms the old one, as on Windows.
 */
#ifndef WINCOMPAT_INTERLOCKED_H
#define WINCOMPAT_INTERLOCKED_H

#include <wincompat/types.h>

#ifdef __cplusplus

/* Functions, so that ::InterlockedIncrement(...) is one; the operand keeps its own type. */
extern "C++" {
#define WINCOMPAT_INTERLOCKED(name, fn)                                                            \
    template <class T, class V> inline T name(T volatile *p, V v)                                  \
    {                                                                                              \
        static_assert(                                                                             \
            sizeof(T) == 4 || sizeof(T) == 8, "Interlocked functions take 4 or 8 bytes");          \
        return fn(p, static_cast<T>(v), __ATOMIC_SEQ_CST);                                         \
    }
#define WINCOMPAT_INTERLOCKED_STEP(name, step)                                                     \
    template <class T> inline T name(T volatile *p)                                                \
    {                                                                                              \
        return InterlockedAdd(p, step);                                                            \
    }
#define WINCOMPAT_INTERLOCKED_CAS(name)                                                            \
    template <class T, class E, class C> inline T name(T volatile *p, E exchange, C comparand)     \
    {                                                                                              \
        static_assert(                                                                             \
            sizeof(T) == 4 || sizeof(T) == 8, "Interlocked functions take 4 or 8 bytes");          \
        return __sync_val_compare_and_swap(                                                        \
            p, static_cast<T>(comparand), static_cast<T>(exchange));                               \
    }
/* As the compiler's own functions are called on Windows, too. */
#define WINCOMPAT_INTERLOCKED_NAMES(make, name, argument)                                          \
    make(Interlocked##name, argument) make(Interlocked##name##64, argument)                        \
        make(_Interlocked##name, argument) make(_Interlocked##name##64, argument)
WINCOMPAT_INTERLOCKED(InterlockedAdd, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED(InterlockedAdd64, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED(InterlockedExchangeSubtract, __atomic_fetch_sub)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED, Exchange, __atomic_exchange_n)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED, ExchangeAdd, __atomic_fetch_add)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED, And, __atomic_fetch_and)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED, Or, __atomic_fetch_or)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED, Xor, __atomic_fetch_xor)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_STEP, Increment, 1)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_STEP, Decrement, -1)
WINCOMPAT_INTERLOCKED_CAS(InterlockedCompareExchange)
WINCOMPAT_INTERLOCKED_CAS(InterlockedCompareExchange64)
WINCOMPAT_INTERLOCKED_CAS(_InterlockedCompareExchange)
WINCOMPAT_INTERLOCKED_CAS(_InterlockedCompareExchange64)
#undef WINCOMPAT_INTERLOCKED
#undef WINCOMPAT_INTERLOCKED_STEP
#undef WINCOMPAT_INTERLOCKED_CAS
#undef WINCOMPAT_INTERLOCKED_NAMES
template <class T> inline PVOID InterlockedExchangePointer(T *volatile *p, PVOID v)
{
    return __atomic_exchange_n(reinterpret_cast<PVOID volatile *>(p), v, __ATOMIC_SEQ_CST);
}
template <class T>
inline PVOID InterlockedCompareExchangePointer(T *volatile *p, PVOID exchange, PVOID comparand)
{
    return __sync_val_compare_and_swap(reinterpret_cast<PVOID volatile *>(p), comparand, exchange);
}
}

#else

/* In C functions of Windows' types, for their addresses, below macros of the same names that take any integer. */
#define WINCOMPAT_INTERLOCKED_SIZED(name, type, fn)                                                \
    static inline type name(type volatile *p, type v)                                              \
    {                                                                                              \
        return fn(p, v, __ATOMIC_SEQ_CST);                                                         \
    }
#define WINCOMPAT_INTERLOCKED_STEP(name, type, fn)                                                 \
    static inline type name(type volatile *p)                                                      \
    {                                                                                              \
        return fn(p, 1, __ATOMIC_SEQ_CST);                                                         \
    }
#define WINCOMPAT_INTERLOCKED_SWAP(name, type, fn)                                                 \
    static inline type name(type volatile *p, type exchange, type comparand)                       \
    {                                                                                              \
        return fn(p, comparand, exchange);                                                         \
    }
#define WINCOMPAT_INTERLOCKED_NAMES(make, name, fn)                                                \
    make(Interlocked##name, LONG, fn) make(Interlocked##name##64, LONG64, fn)                      \
        make(_Interlocked##name, LONG, fn) make(_Interlocked##name##64, LONG64, fn)
WINCOMPAT_INTERLOCKED_SIZED(InterlockedAdd, LONG, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED_SIZED(InterlockedAdd64, LONG64, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_SIZED, Exchange, __atomic_exchange_n)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_SIZED, ExchangeAdd, __atomic_fetch_add)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_SIZED, And, __atomic_fetch_and)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_SIZED, Or, __atomic_fetch_or)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_SIZED, Xor, __atomic_fetch_xor)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_STEP, Increment, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED_NAMES(WINCOMPAT_INTERLOCKED_STEP, Decrement, __atomic_sub_fetch)
WINCOMPAT_INTERLOCKED_NAMES(
    WINCOMPAT_INTERLOCKED_SWAP, CompareExchange, __sync_val_compare_and_swap)
#undef WINCOMPAT_INTERLOCKED_SIZED
#undef WINCOMPAT_INTERLOCKED_STEP
#undef WINCOMPAT_INTERLOCKED_SWAP
#undef WINCOMPAT_INTERLOCKED_NAMES
static inline PVOID InterlockedExchangePointer(PVOID volatile *p, PVOID v)
{
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
static inline PVOID InterlockedCompareExchangePointer(
    PVOID volatile *p, PVOID exchange, PVOID comparand)
{
    return __sync_val_compare_and_swap(p, comparand, exchange);
}

#define WINCOMPAT_INTERLOCKED_CHECK(p)                                                             \
    _Static_assert(sizeof(*(p)) == 4 || sizeof(*(p)) == 8,                                         \
        "Interlocked functions take integers of 4 or 8 bytes")
#define WINCOMPAT_INTERLOCKED(fn, p, v)                                                            \
    __extension__({                                                                                \
        WINCOMPAT_INTERLOCKED_CHECK(p);                                                            \
        fn((p), (v), __ATOMIC_SEQ_CST);                                                            \
    })
#define WINCOMPAT_INTERLOCKED_CAS(p, exchange, comparand)                                          \
    __extension__({                                                                                \
        WINCOMPAT_INTERLOCKED_CHECK(p);                                                            \
        __sync_val_compare_and_swap((p), (comparand), (exchange));                                 \
    })

#define InterlockedIncrement(p)           WINCOMPAT_INTERLOCKED(__atomic_add_fetch, p, 1)
#define InterlockedDecrement(p)           WINCOMPAT_INTERLOCKED(__atomic_sub_fetch, p, 1)
#define InterlockedAdd(p, v)              WINCOMPAT_INTERLOCKED(__atomic_add_fetch, p, v)
#define InterlockedExchange(p, v)         WINCOMPAT_INTERLOCKED(__atomic_exchange_n, p, v)
#define InterlockedExchangeAdd(p, v)      WINCOMPAT_INTERLOCKED(__atomic_fetch_add, p, v)
#define InterlockedExchangeSubtract(p, v) WINCOMPAT_INTERLOCKED(__atomic_fetch_sub, p, v)
#define InterlockedAnd(p, v)              WINCOMPAT_INTERLOCKED(__atomic_fetch_and, p, v)
#define InterlockedOr(p, v)               WINCOMPAT_INTERLOCKED(__atomic_fetch_or, p, v)
#define InterlockedXor(p, v)              WINCOMPAT_INTERLOCKED(__atomic_fetch_xor, p, v)
#define InterlockedCompareExchange(p, exchange, comparand)                                         \
    WINCOMPAT_INTERLOCKED_CAS(p, exchange, comparand)
#define InterlockedExchangePointer(p, v)                                                           \
    WINCOMPAT_INTERLOCKED(__atomic_exchange_n, (void *volatile *)(p), (void *)(v))
#define InterlockedCompareExchangePointer(p, exchange, comparand)                                  \
    WINCOMPAT_INTERLOCKED_CAS((void *volatile *)(p), (void *)(exchange), (void *)(comparand))

#define InterlockedIncrement64(p)      InterlockedIncrement(p)
#define InterlockedDecrement64(p)      InterlockedDecrement(p)
#define InterlockedAdd64(p, v)         InterlockedAdd(p, v)
#define InterlockedExchange64(p, v)    InterlockedExchange(p, v)
#define InterlockedExchangeAdd64(p, v) InterlockedExchangeAdd(p, v)
#define InterlockedAnd64(p, v)         InterlockedAnd(p, v)
#define InterlockedOr64(p, v)          InterlockedOr(p, v)
#define InterlockedXor64(p, v)         InterlockedXor(p, v)
#define InterlockedCompareExchange64(p, exchange, comparand)                                       \
    InterlockedCompareExchange(p, exchange, comparand)

/* As the compiler's own functions are called on Windows. */
#define _InterlockedIncrement(p)      InterlockedIncrement(p)
#define _InterlockedDecrement(p)      InterlockedDecrement(p)
#define _InterlockedExchange(p, v)    InterlockedExchange(p, v)
#define _InterlockedExchangeAdd(p, v) InterlockedExchangeAdd(p, v)
#define _InterlockedAnd(p, v)         InterlockedAnd(p, v)
#define _InterlockedOr(p, v)          InterlockedOr(p, v)
#define _InterlockedXor(p, v)         InterlockedXor(p, v)
#define _InterlockedCompareExchange(p, exchange, comparand)                                        \
    InterlockedCompareExchange(p, exchange, comparand)
#define _InterlockedIncrement64(p)      InterlockedIncrement(p)
#define _InterlockedDecrement64(p)      InterlockedDecrement(p)
#define _InterlockedExchange64(p, v)    InterlockedExchange(p, v)
#define _InterlockedExchangeAdd64(p, v) InterlockedExchangeAdd(p, v)
#define _InterlockedAnd64(p, v)         InterlockedAnd(p, v)
#define _InterlockedOr64(p, v)          InterlockedOr(p, v)
#define _InterlockedXor64(p, v)         InterlockedXor(p, v)
#define _InterlockedCompareExchange64(p, exchange, comparand)                                      \
    InterlockedCompareExchange(p, exchange, comparand)

#endif

/* Forms with a weaker order: all here are full barriers, as on Windows' x64. */
#define InterlockedIncrementAcquire              InterlockedIncrement
#define InterlockedIncrementAcquire64            InterlockedIncrement64
#define InterlockedIncrementRelease              InterlockedIncrement
#define InterlockedIncrementRelease64            InterlockedIncrement64
#define InterlockedIncrementNoFence              InterlockedIncrement
#define InterlockedIncrementNoFence64            InterlockedIncrement64
#define InterlockedDecrementAcquire              InterlockedDecrement
#define InterlockedDecrementAcquire64            InterlockedDecrement64
#define InterlockedDecrementRelease              InterlockedDecrement
#define InterlockedDecrementRelease64            InterlockedDecrement64
#define InterlockedDecrementNoFence              InterlockedDecrement
#define InterlockedDecrementNoFence64            InterlockedDecrement64
#define InterlockedAddAcquire                    InterlockedAdd
#define InterlockedAddAcquire64                  InterlockedAdd64
#define InterlockedAddRelease                    InterlockedAdd
#define InterlockedAddRelease64                  InterlockedAdd64
#define InterlockedAddNoFence                    InterlockedAdd
#define InterlockedAddNoFence64                  InterlockedAdd64
#define InterlockedExchangeAcquire               InterlockedExchange
#define InterlockedExchangeAcquire64             InterlockedExchange64
#define InterlockedExchangeNoFence               InterlockedExchange
#define InterlockedExchangeNoFence64             InterlockedExchange64
#define InterlockedExchangeAddAcquire            InterlockedExchangeAdd
#define InterlockedExchangeAddAcquire64          InterlockedExchangeAdd64
#define InterlockedExchangeAddRelease            InterlockedExchangeAdd
#define InterlockedExchangeAddRelease64          InterlockedExchangeAdd64
#define InterlockedExchangeAddNoFence            InterlockedExchangeAdd
#define InterlockedExchangeAddNoFence64          InterlockedExchangeAdd64
#define InterlockedAndAcquire                    InterlockedAnd
#define InterlockedAnd64Acquire                  InterlockedAnd64
#define InterlockedAndRelease                    InterlockedAnd
#define InterlockedAnd64Release                  InterlockedAnd64
#define InterlockedAndNoFence                    InterlockedAnd
#define InterlockedAnd64NoFence                  InterlockedAnd64
#define InterlockedOrAcquire                     InterlockedOr
#define InterlockedOr64Acquire                   InterlockedOr64
#define InterlockedOrRelease                     InterlockedOr
#define InterlockedOr64Release                   InterlockedOr64
#define InterlockedOrNoFence                     InterlockedOr
#define InterlockedOr64NoFence                   InterlockedOr64
#define InterlockedXorAcquire                    InterlockedXor
#define InterlockedXor64Acquire                  InterlockedXor64
#define InterlockedXorRelease                    InterlockedXor
#define InterlockedXor64Release                  InterlockedXor64
#define InterlockedXorNoFence                    InterlockedXor
#define InterlockedXor64NoFence                  InterlockedXor64
#define InterlockedCompareExchangeAcquire        InterlockedCompareExchange
#define InterlockedCompareExchangeAcquire64      InterlockedCompareExchange64
#define InterlockedCompareExchangeRelease        InterlockedCompareExchange
#define InterlockedCompareExchangeRelease64      InterlockedCompareExchange64
#define InterlockedCompareExchangeNoFence        InterlockedCompareExchange
#define InterlockedCompareExchangeNoFence64      InterlockedCompareExchange64
#define InterlockedExchangePointerAcquire        InterlockedExchangePointer
#define InterlockedExchangePointerNoFence        InterlockedExchangePointer
#define InterlockedCompareExchangePointerAcquire InterlockedCompareExchangePointer
#define InterlockedCompareExchangePointerRelease InterlockedCompareExchangePointer
#define InterlockedCompareExchangePointerNoFence InterlockedCompareExchangePointer

/* Barriers of the compiler. A program may declare them itself, in front or behind. */
WINCOMPAT_BEGIN
#if WINCOMPAT_BUILTIN(_ReadWriteBarrier)
void _ReadWriteBarrier(void);
void _ReadBarrier(void);
void _WriteBarrier(void);
#else
#ifdef __cplusplus
#define WINCOMPAT_BARRIER inline
#else
#define WINCOMPAT_BARRIER extern inline __attribute__((gnu_inline, always_inline))
#endif
WINCOMPAT_BARRIER void _ReadWriteBarrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
WINCOMPAT_BARRIER void _ReadBarrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
WINCOMPAT_BARRIER void _WriteBarrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
#endif
WINCOMPAT_END

#if defined(__x86_64__) || defined(__i386__)
#define WINCOMPAT_YIELD() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define WINCOMPAT_YIELD() __asm__ __volatile__("yield" ::: "memory")
#else
#define WINCOMPAT_YIELD() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif

/* The older builtin: gcc refuses the __atomic one under -fsanitize=thread, also in a program. */
static inline void MemoryBarrier(void)
{
    __sync_synchronize();
}
static inline void YieldProcessor(void)
{
    WINCOMPAT_YIELD();
}

#endif
