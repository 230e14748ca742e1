/* SPDX-License-Identifier: MIT */
/* fence.h - a full fence between a store and a load of atomics that another thread loads and stores. */
#ifndef UTIL_FENCE_H
#define UTIL_FENCE_H

#include <stdatomic.h>

/* The thread sanitizer knows no fences, which gcc says; it finds no race between atomics in any case. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

static inline void fence_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
