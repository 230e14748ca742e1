/* SPDX-License-Identifier: MIT */
/* dma.c - see dma.h. */
#include "softrdma/memory/dma.h"

#include "softrdma/wire/crc32c.h"
#include "util/guard.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>

void srd_dma_guard(void)
{
    guard_install();
}

void srd_dma_gone(const void *at, size_t octets)
{
    log_limited(LOG_WARN, LOG_MR,
        "%zu octets at %p are registered, but not all of them are mapped any more; the request "
        "that "
        "needs them fails",
        octets, at);
}

__attribute__((noinline)) bool srd_dma_place(
    uint8_t *to, const uint8_t *from, size_t octets, bool last_apart)
{
    struct guard guard;

    if (_setjmp(guard.env)) {
        srd_dma_gone(to, octets);
        return false;
    }
    guard_begin(&guard, to, octets);
    memcpy(to, from, octets - last_apart);
    if (last_apart)
        __atomic_store_n(to + octets - 1, from[octets - 1], __ATOMIC_RELEASE);
    guard_end();
    return true;
}

__attribute__((noinline)) bool srd_dma_fetch(void *to, const void *from, size_t octets)
{
    struct guard guard;

    if (_setjmp(guard.env)) {
        srd_dma_gone(from, octets);
        return false;
    }
    guard_begin(&guard, from, octets);
    memcpy(to, from, octets);
    guard_end();
    return true;
}

__attribute__((noinline)) int srd_dma_share(
    void *to, const void *from, size_t octets, const void *shared)
{
    const void *own = shared == to ? from : to;
    struct guard guard;

    switch (_setjmp(guard.env)) {
    case GUARD_FAULT: srd_dma_gone(own, octets); return -EFAULT;
    case GUARD_FAULT_OTHER: return -ENOMEM;
    default: break;
    }
    guard.other_at = (uintptr_t)shared;
    guard_begin(&guard, own, octets);
    guard.other_octets = octets;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, from, octets);
    guard_end();
    return 0;
}

__attribute__((noinline)) bool srd_dma_fetch_crc(
    void *to, const void *from, size_t octets, uint32_t *crc)
{
    struct guard guard;

    if (_setjmp(guard.env)) {
        srd_dma_gone(from, octets);
        return false;
    }
    guard_begin(&guard, from, octets);
    *crc = srd_crc32c_copy(*crc, to, from, octets);
    guard_end();
    return true;
}

__attribute__((noinline)) bool srd_dma_atomic(
    uint64_t *at, const struct srd_atomic *atomic, uint64_t *original)
{
    struct guard guard;
    uint64_t value;

    if (_setjmp(guard.env)) {
        srd_dma_gone(at, sizeof(*at));
        return false;
    }
    guard_begin(&guard, at, sizeof(*at));
    value = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        at, &value, srd_atomic_result(atomic, value), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        ;
    guard_end();
    *original = value;
    return true;
}
