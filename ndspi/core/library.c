/* SPDX-License-Identifier: MIT */
#include "ndspi/core/library.h"

#include <stdatomic.h>

static atomic_ulong library_pins;

void nd_library_pin(void)
{
    atomic_fetch_add_explicit(&library_pins, 1, memory_order_relaxed);
}

void nd_library_unpin(void)
{
    atomic_fetch_sub_explicit(&library_pins, 1, memory_order_release);
}

bool nd_library_in_use(void)
{
    /* Pairs with the release in nd_library_unpin: after it returns false, the end of every object is visible. */
    return atomic_load_explicit(&library_pins, memory_order_acquire) != 0;
}
