/* SPDX-License-Identifier: MIT */
/* channel.c - completion channels. */
#include "softrdma/queues/channel.h"

#include "softrdma/context/context.h"

#include <errno.h>
#include <stdlib.h>

struct srd_channel {
    struct ibv_comp_channel ibv; /* must be first */
    struct srd_evq q;
    atomic_uint users;
};

static struct srd_channel *from(struct ibv_comp_channel *channel)
{
    return (struct srd_channel *)channel;
}

struct ibv_comp_channel *srd_create_comp_channel(struct ibv_context *context)
{
    struct srd_channel *channel;
    int error;

    if (srd_stale(context)) {
        errno = EIO;
        return NULL;
    }
    channel = calloc(1, sizeof(*channel));
    if (!channel)
        return NULL;
    error = srd_evq_init(&channel->q, "softrdma channel");
    if (error) {
        free(channel);
        errno = -error;
        return NULL;
    }
    channel->ibv.context = context;
    channel->ibv.fd = channel->q.fd;
    atomic_fetch_add_explicit(&srd_context_from(context)->users, 1, memory_order_relaxed);
    return &channel->ibv;
}

int srd_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
    struct srd_channel *channel = from(ibv);

    if (atomic_load_explicit(&channel->users, memory_order_acquire))
        return errno = EBUSY;
    srd_evq_fini(&channel->q);
    atomic_fetch_sub_explicit(&srd_context_from(ibv->context)->users, 1, memory_order_release);
    free(channel);
    return 0;
}

void srd_channel_attach(
    struct ibv_comp_channel *channel, struct srd_channel_cq *member, struct ibv_cq *cq)
{
    member->cq = cq;
    list_node_init(&member->node);
    if (channel)
        atomic_fetch_add_explicit(&from(channel)->users, 1, memory_order_relaxed);
}

void srd_channel_detach(struct ibv_comp_channel *ibv, struct srd_channel_cq *member)
{
    struct srd_channel *channel = from(ibv);

    if (!channel)
        return;
    if (!srd_stale(ibv->context)) {
        lock_acquire(&channel->q.lock);
        if (list_linked(&member->node))
            list_del(&member->node);
        srd_evq_announce_locked(&channel->q);
        lock_release(&channel->q.lock);
        srd_count_wait(&member->unacked);
    }
    atomic_fetch_sub_explicit(&channel->users, 1, memory_order_release);
}

void srd_channel_fire(struct ibv_comp_channel *ibv, struct srd_channel_cq *member)
{
    struct srd_channel *channel = from(ibv);

    lock_acquire(&channel->q.lock);
    if (member->queued++ == 0)
        srd_evq_push_locked(&channel->q, &member->node);
    lock_release(&channel->q.lock);
}

static void take(struct srd_evq *q, struct list_node *node, void *arg)
{
    struct srd_channel_cq *member = list_entry(node, struct srd_channel_cq, node);

    srd_count_add(&member->unacked);
    if (--member->queued)
        srd_evq_push_locked(q, node);
    *(struct ibv_cq **)arg = member->cq;
}

int srd_channel_get(struct ibv_comp_channel *ibv, struct ibv_cq **cq)
{
    if (srd_stale(ibv->context)) {
        errno = EIO;
        return -1;
    }
    return srd_evq_get(&from(ibv)->q, take, cq);
}

void srd_progress_attach(struct ibv_comp_channel *ibv, struct reactor_source *source)
{
    if (!srd_stale(ibv->context))
        srd_evq_attach(&from(ibv)->q, source);
}

void srd_channel_acked(struct srd_channel_cq *member, unsigned count)
{
    srd_count_sub(&member->unacked, count);
}
