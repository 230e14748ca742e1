/* SPDX-License-Identifier: MIT */
/* secure_cache.h - tells the program's callbacks which memory is about to go (AddSecureMemoryCacheCallback). */
#ifndef WIN32_MEMORY_SECURE_CACHE_H
#define WIN32_MEMORY_SECURE_CACHE_H

#include <stddef.h>

/* Blocks of a heap from this size on are reported. */
enum { WIN_SECURE_BLOCK = 65536 };

/*
 * win_memory_goes - calls the callbacks for memory that the caller will free, unmap or protect otherwise next, and that
 * is still there. No lock held. Costs a load while there are no callbacks. Keeps the last error.
 */
void win_memory_goes(const void *address, size_t size);

#endif
