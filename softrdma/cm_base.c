/* SPDX-License-Identifier: MIT */
/* cm_base.c - an id as such: made, referenced, entered by a call of the program. */
#include "softrdma/cm.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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
    list_init(&id->half_open);
    list_node_init(&id->half_open_node);
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
