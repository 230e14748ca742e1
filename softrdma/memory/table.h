/* SPDX-License-Identifier: MIT */
/* table.h - the inside of the STag table, for stag.c, and for explain.c, which looks again at what stag.c refused. */
#ifndef SOFTRDMA_MEMORY_TABLE_H
#define SOFTRDMA_MEMORY_TABLE_H

#include "softrdma/memory/stag.h"
#include "softrdma/queues/qp.h"

static inline struct srd_stag_table *srd_stag_table_of(const struct srd_qp *qp)
{
    return &srd_device_of(((const struct ibv_qp *)qp)->context)->stags;
}

static inline struct srd_stag_entry **srd_stag_bucket(struct srd_stag_table *table, uint32_t key)
{
    return &table->buckets[key >> 8 & table->mask]; /* keys are random, so no hash is needed */
}

/* Finds an entry by its index alone; its key octet may differ. NULL: there is none. */
static inline struct srd_stag_entry *srd_stag_find_locked(
    struct srd_stag_table *table, uint32_t key)
{
    struct srd_stag_entry *entry = *srd_stag_bucket(table, key);

    while (entry && entry->key >> 8 != key >> 8)
        entry = entry->next;
    return entry;
}

/* Checks an access to the entry that was found (NULL: none). The table's lock is held. */
enum srd_stag_error srd_stag_check_locked(const struct srd_stag_entry *entry,
    const struct srd_qp *qp, const struct srd_stag_question *question);

#endif
