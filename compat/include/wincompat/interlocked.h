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
WINCOMPAT_INTERLOCKED(InterlockedAdd, __atomic_add_fetch)
WINCOMPAT_INTERLOCKED(InterlockedExchange, __atomic_exchange_n)
WINCOMPAT_INTERLOCKED(InterlockedExchangeAdd, __atomic_fetch_add)
WINCOMPAT_INTERLOCKED(InterlockedExchangeSubtract, __atomic_fetch_sub)
WINCOMPAT_INTERLOCKED(InterlockedAnd, __atomic_fetch_and)
WINCOMPAT_INTERLOCKED(InterlockedOr, __atomic_fetch_or)
WINCOMPAT_INTERLOCKED(InterlockedXor, __atomic_fetch_xor)
#undef WINCOMPAT_INTERLOCKED
template <class T> inline T InterlockedIncrement(T volatile *p)
{
    return InterlockedAdd(p, 1);
}
template <class T> inline T InterlockedDecrement(T volatile *p)
{
    return InterlockedAdd(p, -1);
}
template <class T, class E, class C>
inline T InterlockedCompareExchange(T volatile *p, E exchange, C comparand)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "Interlocked functions take 4 or 8 bytes");
    return __sync_val_compare_and_swap(p, static_cast<T>(comparand), static_cast<T>(exchange));
}
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

#endif

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
#define _InterlockedCompareExchange64(p, exchange, comparand)                                      \
    InterlockedCompareExchange(p, exchange, comparand)

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

/* The older builtin: gcc refuses the __atomic one under -fsanitize=thread, also in a program. */
#define MemoryBarrier()  __sync_synchronize()
#define YieldProcessor() WINCOMPAT_YIELD()
#if defined(__x86_64__) || defined(__i386__)
#define WINCOMPAT_YIELD() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define WINCOMPAT_YIELD() __asm__ __volatile__("yield" ::: "memory")
#else
#define WINCOMPAT_YIELD() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif

#endif
