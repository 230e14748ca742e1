/* SPDX-License-Identifier: MIT */
/* memory.h - protection domains, windows and plain memory, as the rest of the device sees them; stag.h has keys. */
#ifndef SOFTRDMA_MEMORY_MEMORY_H
#define SOFTRDMA_MEMORY_MEMORY_H

#include "softrdma/softrdma.h"
#include "softrdma/memory/stag.h"

/*
 * srd_probe_memory - whether [addr, addr + length) is mapped with the wanted protection.
 * Returns 0, EFAULT, or the error of reading /proc/self/maps.
 */
int srd_probe_memory(const void *addr, size_t length, bool write);

/*
 * Count the users of a protection domain (regions, windows, queue pairs, SRQs): dealloc_pd fails with EBUSY meanwhile.
 */
void srd_pd_get(struct ibv_pd *pd);
void srd_pd_put(struct ibv_pd *pd);

/* Return the entry in the STag table. Neither reads the entry. */
struct srd_stag_entry *srd_mw_entry(struct ibv_mw *mw);
struct srd_stag_entry *srd_mr_entry(struct ibv_mr *mr);

/* Returns the key for the next bind of a type 1 window. */
uint32_t srd_mw_next_key(const struct ibv_mw *mw);

/* Entries of context->ops, with the conventions of ibv_*. */
struct ibv_mw *srd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int srd_dealloc_mw(struct ibv_mw *mw);

#endif
