/* SPDX-License-Identifier: MIT */
/*
 * stack.c - how deep the calls of Windows programs go on the native side. In ndspi.so as the test wine.stack loads it
 * this table of calls stands before the real one: it paints the stack below each call and looks afterwards how far the
 * paint is gone. Says so of each call that is the deepest yet; one that leaves none ends the process.
 */
#include "wine/unix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Wine gives a call 1 MB, of which its own system calls need some. */
enum { LIMIT = 32 << 10, GAP = 1 << 10, OFTEN = 256, ENTRIES = 120 };

static const uint64_t paint = 0x5afe57ac5afe57ac;

/* The serving thread never returns: the others look at its stack. */
static _Atomic(uint64_t *) serving;
static atomic_size_t deepest, deepest_serving;

static void judge(const char *what, unsigned call, size_t depth, atomic_size_t *most)
{
    if (depth <= atomic_load(most))
        return;
    atomic_store(most, depth);
    fprintf(stderr, "stack: %s, call %u: %zu bytes\n", what, call, depth);
    if (depth < LIMIT)
        return;
    fprintf(stderr, "stack: that, or more: no paint is left\n");
    abort();
}

/* What is below the caller's frame: where the paint begins, from the lowest address on. */
static __attribute__((noinline)) uint64_t *lay_paint(const void *frame)
{
    volatile uint64_t *low = (uint64_t *)((uintptr_t)frame / 64 * 64 - LIMIT);

    for (size_t i = 0; i < (LIMIT - GAP) / sizeof(*low); i++)
        low[i] = paint;
    return (uint64_t *)low;
}

static size_t depth_below(const volatile uint64_t *low)
{
    size_t clean = 0;

    while (clean < (LIMIT - GAP) / sizeof(*low) && low[clean] == paint)
        clean++;
    return LIMIT - clean * sizeof(*low);
}

static __attribute__((noinline)) int32_t measured(unsigned call, void *args)
{
    static atomic_uint times[ENTRIES];
    unsigned before = atomic_fetch_add_explicit(&times[call], 1, memory_order_relaxed);
    uint64_t *low;
    int32_t result;

    if (before >= OFTEN && before % OFTEN) /* polling */
        return nd_wine_plain_calls[call](args);
    low = lay_paint(__builtin_frame_address(0));
    if (call == ND_CALL_SERVE)
        atomic_store(&serving, low);
    result = nd_wine_plain_calls[call](args);
    judge("a call of a program", call, depth_below(low), &deepest);
    low = atomic_load(&serving);
    if (low)
        judge("the thread that serves", ND_CALL_SERVE, depth_below(low), &deepest_serving);
    return result;
}

#define ENTRY(n)                                                                                   \
    static int32_t entry_##n(void *args)                                                           \
    {                                                                                              \
        return measured(n, args);                                                                  \
    }
#define ROW(n) [n] = entry_##n,
/* As decimal digits. */
#define TEN(row, tens)                                                                             \
    row(tens##0) row(tens##1) row(tens##2) row(tens##3) row(tens##4) row(tens##5) row(tens##6)     \
        row(tens##7) row(tens##8) row(tens##9)
/* clang-format off */
#define ALL(row)                                                                                   \
    TEN(row, ) TEN(row, 1) TEN(row, 2) TEN(row, 3) TEN(row, 4) TEN(row, 5) TEN(row, 6)             \
    TEN(row, 7) TEN(row, 8) TEN(row, 9) TEN(row, 10) TEN(row, 11)
/* clang-format on */

ALL(ENTRY)

_Static_assert((int)ND_CALLS <= ENTRIES, "more calls: more rows");

/* What Wine looks up. */
#undef __wine_unix_call_funcs
__attribute__((visibility("default")))
nd_wine_call *const __wine_unix_call_funcs[ENTRIES] = { ALL(ROW) };
