/* SPDX-License-Identifier: MIT */
/*
 * dma.h - the processor's accesses to the program's memory, in a device's place. A registered range may have lost its
 * memory since: the program has unmapped it, or cut the file behind it. The access then fails, and with it the request,
 * as an access by the kernel does (EFAULT); without a guard it would end the process.
 *
 * The guard is util/guard.h's, which says what other handlers of the process see. An access to memory that is mapped
 * and protected fails, too, unless the program's own handler mends the fault.
 *
 * Threads: any. An access takes no lock and makes no system call; it may be made with locks held.
 */
#ifndef SOFTRDMA_MEMORY_DMA_H
#define SOFTRDMA_MEMORY_DMA_H

#include "softrdma/wire/ddp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Installs the handlers, at the first call. */
void srd_dma_guard(void);

/*
 * srd_dma_place - copies octets (> 0) into the program's memory at to.
 * last_apart: store the last octet after all others, with release order
 * srd_dma_fetch - copies octets from the program's memory at from.
 * srd_dma_fetch_crc - copies as srd_dma_fetch does, and continues crc over the copy (srd_crc32c_copy).
 * False: some of that memory does not exist. A part may have been copied.
 *
 * The program may use the memory at the same time (toolchain/tsan.supp).
 */
bool srd_dma_place(uint8_t *to, const uint8_t *from, size_t octets, bool last_apart);
bool srd_dma_fetch(void *to, const void *from, size_t octets);
bool srd_dma_fetch_crc(void *to, const void *from, size_t octets, uint32_t *crc);

/*
 * srd_dma_share - copies octets (> 0) between the program's memory and memory that a peer shares.
 * shared  in: to or from, whichever the peer shares
 * Returns 0; -EFAULT: some of the program's memory does not exist; -ENOMEM: the kernel has no page for the shared
 * memory.
 */
int srd_dma_share(void *to, const void *from, size_t octets, const void *shared);

/* srd_dma_atomic - executes an Atomic by an atomic instruction; at is aligned. original out: the value from before. */
bool srd_dma_atomic(uint64_t *at, const struct srd_atomic *atomic, uint64_t *original);

/* Logs that an access by the kernel failed, as the functions above log their own failures. */
void srd_dma_gone(const void *at, size_t octets);

#endif
