/* SPDX-License-Identifier: MIT */
/*
 * count.h - a counter that a thread can wait on until it is zero: of events fetched and not acknowledged. Counting
 * makes no system call unless a thread waits.
 */
#ifndef SOFTRDMA_COUNT_H
#define SOFTRDMA_COUNT_H

#include "util/futex.h"

#include <limits.h>

struct srd_count {
    _Atomic uint32_t word; /* top bit: a thread waits */
};

#define SRD_COUNT_AWAITED UINT32_C(0x80000000)

static inline void srd_count_add(struct srd_count *count)
{
    atomic_fetch_add_explicit(&count->word, 1, memory_order_relaxed);
}

/* Subtracts n. At zero another thread may free the object around the counter, so only its address is used then. */
static inline void srd_count_sub(struct srd_count *count, uint32_t n)
{
    if (n &&
        atomic_fetch_sub_explicit(&count->word, n, memory_order_release) == (SRD_COUNT_AWAITED | n))
        futex_wake(&count->word, INT_MAX);
}

/* Returns when the counter is zero. No thread adds to it during the wait. */
static inline void srd_count_wait(struct srd_count *count)
{
    uint32_t word =
        atomic_fetch_or_explicit(&count->word, SRD_COUNT_AWAITED, memory_order_acquire) |
        SRD_COUNT_AWAITED;

    while (word & ~SRD_COUNT_AWAITED) {
        futex_wait(&count->word, word, NULL);
        word = atomic_load_explicit(&count->word, memory_order_acquire);
    }
    atomic_fetch_and_explicit(&count->word, ~SRD_COUNT_AWAITED, memory_order_relaxed);
}

#endif
