/* SPDX-License-Identifier: MIT */
/*
 * steps.h - in front of the files of softrdma that wake the other end (CMakeLists.txt): another thread, of either host,
 * may run before each atomic load, store and exchange of theirs. It runs as of one processor: what comes of weaker
 * orders of memory is not here.
 */
#ifndef TESTS_SIMULATION_STEPS_H
#define TESTS_SIMULATION_STEPS_H

#include <stdatomic.h>

/* share.c: before a load; before a store, which the next statement does. */
void step(void);
void step_stores(const volatile void *at);

#ifdef __clang__
#define STEP_LOAD_(at, order)            __c11_atomic_load((at), (order))
#define STEP_STORE_(at, value, order)    __c11_atomic_store((at), (value), (order))
#define STEP_EXCHANGE_(at, value, order) __c11_atomic_exchange((at), (value), (order))
#else
#define STEP_LOAD_(at, order)            __atomic_load_n((at), (order))
#define STEP_STORE_(at, value, order)    __atomic_store_n((at), (value), (order))
#define STEP_EXCHANGE_(at, value, order) __atomic_exchange_n((at), (value), (order))
#endif

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#define atomic_load_explicit(at, order) (step(), STEP_LOAD_(at, order))
#define atomic_store_explicit(at, value, order)                                                    \
    (step_stores(at), (void)STEP_STORE_(at, value, order))
#define atomic_exchange_explicit(at, value, order)                                                 \
    (step_stores(at), STEP_EXCHANGE_(at, value, order))
#define atomic_load(at)            atomic_load_explicit(at, memory_order_seq_cst)
#define atomic_store(at, value)    atomic_store_explicit(at, value, memory_order_seq_cst)
#define atomic_exchange(at, value) atomic_exchange_explicit(at, value, memory_order_seq_cst)

#endif
