/* SPDX-License-Identifier: MIT */
/* haste_process.c - with haste.c in LD_PRELOAD: the clocks of a process go HASTE (its environment) times as fast. */
#include "tests/support/haste.h"

#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
    const char *rate = getenv("HASTE");

    if (rate && atoi(rate) > 1)
        haste_begin((unsigned)atoi(rate));
}
