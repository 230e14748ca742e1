/* SPDX-License-Identifier: MIT */
/* fake_cq.c - completion queues and channels of the fake device. */
#include "tests/support/fake_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct fake_channel {
    struct ibv_comp_channel channel;
    struct fake_cq *fired[FAKE_EVENTS_MAX]; /* ring */
    unsigned head, count;
};

static struct fake_cq *fake_cqs; /* newest first */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct fake_channel *channel;

    if (fake_gone())
        return NULL;
    channel = fake_new(sizeof *channel);
    channel->channel.context = context;
    channel->channel.fd = fake_descriptor();
    return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    if (channel->refcnt != 0)
        return EBUSY;
    close(channel->fd);
    fake_free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
    struct fake_cq *cq;

    (void)comp_vector;
    if (fake_gone())
        return NULL;
    if (cqe < 1 || cqe > FAKE_CQ_MAX) {
        errno = EINVAL;
        return NULL;
    }
    cq = fake_new(sizeof *cq);
    cq->size = 1;
    while (cq->size < (unsigned)cqe)
        cq->size *= 2;
    cq->entries = calloc(cq->size, sizeof *cq->entries);
    if (!cq->entries)
        fake_abort("out of memory");
    cq->cq = (struct ibv_cq){
        .context = context, .channel = channel, .cq_context = cq_context, .cqe = (int)cq->size
    };
    fake_lock();
    if (channel)
        channel->refcnt++;
    cq->older = fake_cqs;
    fake_cqs = cq;
    fake_unlock();
    return &cq->cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    (void)cq;
    (void)cqe;
    return ENOSYS;
}

int ibv_destroy_cq(struct ibv_cq *ibv_cq)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;
    struct fake_channel *channel = (struct fake_channel *)ibv_cq->channel;
    struct fake_cq **link = &fake_cqs;

    fake_lock();
    if (cq->users) {
        fake_unlock();
        return EBUSY;
    }
    if (cq->events != ibv_cq->comp_events_completed)
        fake_abort("a completion queue is destroyed with events not acknowledged");
    while (*link != cq)
        link = &(*link)->older;
    *link = cq->older;
    if (channel) {
        unsigned kept = 0;

        /* As the kernel does, its undelivered events go with it; the descriptor may show one too
         * many. */
        for (unsigned i = 0; i < channel->count; i++) {
            struct fake_cq *fired = channel->fired[(channel->head + i) % FAKE_EVENTS_MAX];

            if (fired != cq)
                channel->fired[(channel->head + kept++) % FAKE_EVENTS_MAX] = fired;
        }
        channel->count = kept;
        channel->channel.refcnt--;
    }
    fake_unlock();
    free(cq->entries);
    fake_free(cq);
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ibv_channel, struct ibv_cq **cq, void **cq_context)
{
    struct fake_channel *channel = (struct fake_channel *)ibv_channel;
    struct fake_cq *fired = NULL;
    uint64_t one;

    if (read(ibv_channel->fd, &one, sizeof one) != sizeof one)
        return -1;
    fake_lock();
    if (channel->count > 0) {
        fired = channel->fired[channel->head];
        channel->head = (channel->head + 1) % FAKE_EVENTS_MAX;
        channel->count--;
        fired->events++;
    }
    fake_unlock();
    if (!fired) {
        errno = EAGAIN;
        return -1;
    }
    *cq = &fired->cq;
    *cq_context = fired->cq.cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
    fake_lock();
    cq->comp_events_completed += nevents;
    if (cq->comp_events_completed > ((struct fake_cq *)cq)->events)
        fake_abort("more completion events acknowledged than taken");
    fake_unlock();
}

void fake_cq_push_locked(struct fake_cq *cq, const struct ibv_wc *wc)
{
    struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;
    uint64_t one = 1;

    if (cq->dead)
        return;
    if (cq->count == cq->size)
        fake_abort("a completion queue overran");
    cq->entries[(cq->head + cq->count++) & (cq->size - 1)] = *wc;
    if (__builtin_expect(!cq->armed, 1) || (cq->solicited_only && wc->status == IBV_WC_SUCCESS))
        return;
    cq->armed = false;
    if (channel->count == FAKE_EVENTS_MAX)
        fake_abort("the program takes no completion events");
    channel->fired[(channel->head + channel->count++) % FAKE_EVENTS_MAX] = cq;
    if (write(channel->channel.fd, &one, sizeof one) != sizeof one)
        fake_abort("eventfd");
}

int fake_poll_cq(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;
    int count = 0;

    fake_lock();
    while (count < num_entries && cq->count > 0) {
        wc[count++] = cq->entries[cq->head];
        cq->head = (cq->head + 1) & (cq->size - 1);
        cq->count--;
    }
    fake_unlock();
    return count;
}

int fake_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    struct fake_cq *cq = (struct fake_cq *)ibv_cq;

    if (!ibv_cq->channel)
        return EINVAL;
    fake_lock();
    cq->solicited_only = solicited_only && (!cq->armed || cq->solicited_only);
    cq->armed = true;
    fake_unlock();
    return 0;
}

void fake_raise_cq_error(void)
{
    struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };

    fake_lock();
    if (!fake_cqs)
        fake_abort("there is no completion queue");
    fake_cqs->dead = true;
    event.element.cq = &fake_cqs->cq;
    fake_unlock();
    fake_async_raise(&event);
}
