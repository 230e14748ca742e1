/* SPDX-License-Identifier: MIT */
/* event.c - completion channels, with the device's events and the shim's own; asynchronous events. */
#include "ndspi/verbs/shim/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

struct ibv_comp_channel *shim_create_comp_channel(struct ibv_context *context)
{
    struct shim *shim = (struct shim *)context;
    struct shim_channel *channel = calloc(1, sizeof(*channel));

    if (!channel || !(channel->device = shim->below->create_comp_channel(shim->device))) {
        free(channel);
        return NULL;
    }
    channel->ibv = (struct ibv_comp_channel){ .context = context, .fd = channel->device->fd };
    channel->shim = shim;
    pthread_mutex_init(&channel->mutex, NULL);
    pthread_cond_init(&channel->acknowledged, NULL);
    list_init(&channel->events);
    return &channel->ibv;
}

int shim_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
    struct shim_channel *channel = (struct shim_channel *)ibv;
    int rc = channel->shim->below->destroy_comp_channel(channel->device);

    if (rc)
        return rc;
    pthread_cond_destroy(&channel->acknowledged);
    pthread_mutex_destroy(&channel->mutex);
    free(channel);
    return 0;
}

void shim_raise_locked(struct shim_cq *cq)
{
    struct shim_channel *channel = cq->channel;

    lock_assert_held(&cq->lock);
    if (!cq->armed || !channel)
        return;
    cq->armed = false;
    pthread_mutex_lock(&channel->mutex);
    if (!list_linked(&cq->event_link))
        list_add_tail(&channel->events, &cq->event_link);
    pthread_mutex_unlock(&channel->mutex);
    eventfd_write(channel->shim->event_fd, 1);
}

void shim_end_events(struct shim_cq *cq)
{
    struct shim_channel *channel = cq->channel;

    if (!channel)
        return;
    pthread_mutex_lock(&channel->mutex);
    if (list_linked(&cq->event_link))
        list_del(&cq->event_link);
    while (cq->unacknowledged)
        pthread_cond_wait(&channel->acknowledged, &channel->mutex);
    pthread_mutex_unlock(&channel->mutex);
}

/* The oldest event of the shim's own, or NULL. */
static struct shim_cq *take_event(struct shim_channel *channel)
{
    struct shim_cq *cq = NULL;
    struct list_node *node;

    pthread_mutex_lock(&channel->mutex);
    if ((node = list_pop(&channel->events))) {
        cq = container_of(node, struct shim_cq, event_link);
        cq->unacknowledged++;
    }
    pthread_mutex_unlock(&channel->mutex);
    return cq;
}

int shim_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **out, void **context)
{
    struct shim_channel *channel = (struct shim_channel *)ibv;
    struct shim_cq *cq = take_event(channel);
    struct ibv_cq *device;
    int rc;

    if (!cq) {
        if ((rc = channel->shim->below->get_cq_event(channel->device, &device, (void **)&cq)))
            return rc;
        lock_acquire(&cq->lock);
        cq->armed = false;
        lock_release(&cq->lock);
    }
    *out = &cq->ibv;
    *context = cq->ibv.cq_context;
    return 0;
}

void shim_ack_cq_events(struct ibv_cq *ibv, unsigned events)
{
    struct shim_cq *cq = (struct shim_cq *)ibv;
    struct shim_channel *channel = cq->channel;
    unsigned own;

    pthread_mutex_lock(&channel->mutex);
    own = events < cq->unacknowledged ? events : cq->unacknowledged;
    /*
     * Acknowledges the device's events first: without any left, the queue may be destroyed once the shim's are
     * acknowledged, too.
     */
    if (events > own)
        cq->shim->below->ack_cq_events(cq->device, events - own);
    if (own && !(cq->unacknowledged -= own))
        pthread_cond_broadcast(&channel->acknowledged);
    pthread_mutex_unlock(&channel->mutex);
}

static bool is_of_srq(const struct ibv_async_event *event)
{
    return event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED ||
           event->event_type == IBV_EVENT_SRQ_ERR;
}

static bool is_of_qp(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: return true;
    default: return false;
    }
}

int shim_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    struct shim *shim = (struct shim *)context;
    eventfd_t count;
    int rc;

    eventfd_read(shim->event_fd, &count); /* clears it first, so that a later event sets it again */
    if ((rc = shim->below->get_async_event(shim->device, event)))
        return rc;
    if (event->event_type == IBV_EVENT_CQ_ERR)
        event->element.cq = event->element.cq->cq_context;
    else if (is_of_srq(event))
        event->element.srq = event->element.srq->srq_context;
    else if (is_of_qp(event))
        event->element.qp = event->element.qp->qp_context;
    return 0;
}

void shim_ack_async_event(struct ibv_async_event *event)
{
    struct ibv_async_event devices = *event;
    struct shim *shim;

    if (event->event_type == IBV_EVENT_CQ_ERR) {
        shim = (struct shim *)event->element.cq->context;
        devices.element.cq = ((struct shim_cq *)event->element.cq)->device;
    } else if (is_of_srq(event)) {
        shim = (struct shim *)event->element.srq->context;
        devices.element.srq = ((struct shim_srq *)event->element.srq)->device;
    } else if (is_of_qp(event)) {
        shim = (struct shim *)event->element.qp->context;
        devices.element.qp = ((struct shim_qp *)event->element.qp)->device;
    } else {
        return; /* an event of a port or the device: no call waits for its acknowledgement */
    }
    shim->below->ack_async_event(&devices);
}
