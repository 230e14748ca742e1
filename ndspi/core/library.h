/* SPDX-License-Identifier: MIT */
/*
 * library.h - how many objects of this library live: the exact answer behind DllCanUnloadNow.
 *
 * Provider and class objects and every adapter hold a pin; an adapter's children hold the adapter. The library itself
 * is linked so that it stays mapped (its idle threads and the verbs libraries below outlive a dlclose), so this count
 * is a statement to the client, not what keeps code in memory.
 */
#ifndef NDSPI_CORE_LIBRARY_H
#define NDSPI_CORE_LIBRARY_H

#include <stdbool.h>

void nd_library_pin(void);
void nd_library_unpin(void);
/* Whether anything is pinned now. */
bool nd_library_in_use(void);

#endif
