/* SPDX-License-Identifier: MIT */
/* cm_base.c - an id as such: made, referenced, entered by a call of the program. */
#include "softrdma/cm.h"

#include "softrdma/process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* At most one of these per id, without a reference: the last reference takes the id off. */
static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct list_head ids;
} awaited = { .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma awaited"),
    .ids = { { &awaited.ids.n, &awaited.ids.n } } };

static void forked(void)
{
    lock_init(&awaited.lock, LOCK_SRD_CHANNEL, "softrdma awaited");
    list_init(&awaited.ids);
}

SRD_AT_FORK(forked)

void srd_id_await(struct srd_id *id)
{
    lock_acquire(&awaited.lock);
    list_add_tail(&awaited.ids, &id->awaited_node);
    lock_release(&awaited.lock);
}

void srd_id_await_ended(struct srd_id *id)
{
    if (id->generation != srd_generation)
        return; /* the list is the parent's */
    lock_acquire(&awaited.lock);
    list_del(&id->awaited_node);
    lock_release(&awaited.lock);
}

/* A reference, unless the last one is gone. */
static bool ref_living(struct srd_id *id)
{
    unsigned refs = atomic_load_explicit(&id->refs, memory_order_relaxed);

    while (refs && !atomic_compare_exchange_weak_explicit(
                       &id->refs, &refs, refs + 1, memory_order_relaxed, memory_order_relaxed))
        ;
    return refs;
}

int srd_id_awaited(struct srd_id *ids[SRD_CM_AWAITED_MAX])
{
    struct list_node *node;
    int count = 0;

    lock_acquire(&awaited.lock);
    for (node = awaited.ids.n.prev; node != &awaited.ids.n && count < SRD_CM_AWAITED_MAX;
         node = node->prev) {
        struct srd_id *id = list_entry(node, struct srd_id, awaited_node);

        if (ref_living(id))
            ids[count++] = id;
    }
    lock_release(&awaited.lock);
    for (int i = 0; i < count / 2; i++) {
        struct srd_id *id = ids[i];

        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
    return count;
}

struct srd_id *srd_id_new(struct rdma_event_channel *channel, void *context)
{
    struct srd_id *id = calloc(1, sizeof(*id));

    if (!id)
        return NULL;
    lock_init(&id->lock, LOCK_SRD_CM, "softrdma id");
    atomic_init(&id->refs, 1);
    id->generation = srd_generation;
    id->ibv.channel = channel;
    id->ibv.context = context;
    id->ibv.ps = RDMA_PS_TCP;
    id->ibv.qp_type = IBV_QPT_RC;
    id->fd = -1;
    id->rnr_retries = SRD_RNR_FOR_EVER;
    list_init(&id->half_open);
    list_node_init(&id->half_open_node);
    list_node_init(&id->awaited_node);
    return id;
}

void srd_id_ref(struct srd_id *id)
{
    atomic_fetch_add_explicit(&id->refs, 1, memory_order_relaxed);
}

void srd_id_unref(struct srd_id *id)
{
    if (atomic_fetch_sub_explicit(&id->refs, 1, memory_order_acq_rel) != 1)
        return;
    srd_id_await_ended(id);
    if (id->fd >= 0)
        close(id->fd);
    if (id->listener)
        srd_id_unref(id->listener);
    free(id->child_attr);
    free(id);
}

bool srd_id_enter(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);

    if (id->generation != srd_generation) {
        errno = EIO;
        return false;
    }
    lock_acquire(&id->lock);
    return true;
}

int srd_id_leave(struct rdma_cm_id *ibv, int error)
{
    lock_release(&srd_id_from(ibv)->lock);
    if (!error)
        return 0;
    errno = error;
    return -1;
}
