/* SPDX-License-Identifier: MIT */
/*
 * library.h - how many objects of this library live: the exact answer behind DllCanUnloadNow.
 *
 * Provider and class objects and every adapter hold a pin; an adapter's children hold the adapter. The library is
 * linked to stay mapped after dlclose (its idle threads and the verbs libraries below need that): this count only
 * answers the client, it keeps no code in memory.
 */
#ifndef NDSPI_CORE_LIBRARY_H
#define NDSPI_CORE_LIBRARY_H

#include <stdbool.h>

void nd_library_pin(void);
void nd_library_unpin(void);
/* Returns whether anything is pinned now. */
bool nd_library_in_use(void);

#endif
