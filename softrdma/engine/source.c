/* SPDX-License-Identifier: MIT */
/* source.c - one source, and the engine that sources are handed to: what timers, sets and threads stand on. */
#include "softrdma/engine/engine.h"
#include "softrdma/process.h"

#include <string.h>

struct srd_engine srd_engine = {
    .lock = LOCK_INIT(LOCK_SRD_LOOP, "softrdma engine"),
    .all_fd = -1,
    .prog_fd = -1,
    .free_slot = SRD_NO_SLOT,
};

void srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd)
{
    memset(source, 0, sizeof(*source));
    source->ops = ops;
    source->fd = fd;
    atomic_init(&source->refs, 1);
    source->slot = SRD_NO_SLOT;
    source->process = srd_generation;
    atomic_init(&source->deadline_ms, UINT64_MAX);
    source->heap_index = -1;
    list_node_init(&source->aside_node);
}

void srd_source_ref(struct srd_source *source)
{
    atomic_fetch_add_explicit(&source->refs, 1, memory_order_relaxed);
}

void srd_source_unref(struct srd_source *source)
{
    if (atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) == 1)
        source->ops->free(source);
}
