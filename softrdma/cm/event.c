/* SPDX-License-Identifier: MIT */
/* event.c - event channels of the connection manager, and the events posted to them. */
#include "softrdma/cm/id.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct srd_event_channel *channel_from(struct rdma_event_channel *channel)
{
    return (struct srd_event_channel *)channel;
}

struct rdma_event_channel *srd_create_event_channel(void)
{
    struct srd_event_channel *channel = calloc(1, sizeof(*channel));
    int error;

    if (!channel)
        return NULL;
    error = srd_evq_init(&channel->q, "softrdma event channel");
    if (error) {
        free(channel);
        errno = -error;
        return NULL;
    }
    channel->ibv.fd = channel->q.fd;
    return &channel->ibv;
}

void srd_destroy_event_channel(struct rdma_event_channel *ibv)
{
    struct srd_event_channel *channel = channel_from(ibv);

    if (!list_empty(&channel->q.queue))
        log_write(
            LOG_WARN, LOG_CM, "destroy_event_channel: events are queued; destroy the ids first");
    srd_evq_fini(&channel->q);
    free(channel);
}

static uint8_t limit_octet(uint16_t limit, bool known)
{
    if (!known || limit == SRD_MPA_READS_AUTO)
        return SRD_MAX_RD_ATOM;
    return limit > UINT8_MAX ? UINT8_MAX : (uint8_t)limit;
}

/* Returns a free record of the id. There always is one: an id reports each kind of event once. */
static struct srd_cm_event *take_record(struct srd_id *id)
{
    for (int i = 0; i < SRD_CM_RECORDS; i++) {
        struct srd_cm_event *event = &id->records[i];

        if (atomic_exchange_explicit(&id->record_used[i], true, memory_order_acquire))
            continue;
        memset(event, 0, sizeof(*event));
        event->record = id;
        srd_id_ref(id);
        return event;
    }
    log_limited(LOG_ERROR, LOG_CM, "a connection id has no record left for an event");
    abort();
}

struct srd_cm_event *srd_cm_event_alloc(struct srd_id *id)
{
    struct srd_cm_event *event = calloc(1, sizeof(*event));

    if (!event)
        return NULL;
    list_node_init(&event->node);
    event->ibv.id = &id->ibv;
    return event;
}

void srd_cm_event_free(struct srd_cm_event *event)
{
    struct srd_id *id = event->record;

    if (!id) {
        free(event);
        return;
    }
    atomic_store_explicit(&id->record_used[event - id->records], false, memory_order_release);
    srd_id_unref(id);
}

struct srd_cm_event *srd_cm_event_record(
    struct srd_id *id, enum rdma_cm_event_type type, int status, const struct srd_mpa_frame *frame)
{
    struct srd_cm_event *event = take_record(id);
    struct rdma_conn_param *param;

    list_node_init(&event->node);
    event->ibv.id = &id->ibv;
    event->ibv.event = type;
    event->ibv.status = status;
    if (!frame)
        return event;
    param = &event->ibv.param.conn;
    param->private_data_len =
        frame->private_octets > UINT8_MAX ? UINT8_MAX : (uint8_t)frame->private_octets;
    memcpy(event->private_data, frame->private_data, param->private_data_len);
    param->private_data = param->private_data_len ? event->private_data : NULL;
    /* This side serves the peer's outstanding Reads, and the other way round. */
    param->responder_resources = limit_octet(frame->ord, frame->enhanced);
    param->initiator_depth = limit_octet(frame->ird, frame->enhanced);
    return event;
}

void srd_cm_post_locked(struct srd_id *owner, struct srd_cm_event *event)
{
    struct srd_event_channel *channel = channel_from(owner->ibv.channel);

    lock_assert_held(&owner->lock);
    event->owner = owner;
    lock_acquire(&channel->q.lock);
    srd_evq_push_locked(&channel->q, &event->node);
    lock_release(&channel->q.lock);
}

void srd_cm_post_event_locked(
    struct srd_id *id, enum rdma_cm_event_type type, int status, const struct srd_mpa_frame *frame)
{
    if (!id->destroyed)
        srd_cm_post_locked(id, srd_cm_event_record(id, type, status, frame));
}

void srd_cm_post_gone_locked(struct srd_id *id)
{
    lock_assert_held(&id->lock);
    if (id->reported && id->peer_gone)
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, NULL);
}

static void take(struct srd_evq *q, struct list_node *node, void *arg)
{
    struct srd_cm_event *event = list_entry(node, struct srd_cm_event, node);

    (void)q;
    srd_count_add(&event->owner->unacked);
    *(struct rdma_cm_event **)arg = &event->ibv;
}

/* Takes a request off its listener, which exists: its event is not acknowledged yet. */
static int take_request(struct srd_cm_event *event)
{
    struct srd_id *incoming = srd_id_from(event->ibv.id);
    int error;

    lock_acquire(&event->owner->lock);
    event->owner->queued--;
    lock_release(&event->owner->lock);
    if (event->owner->tail.sync && srd_migrate_id(&incoming->ibv, NULL)) {
        error = errno;
        srd_id_abandon(incoming); /* refuses the request */
        srd_ack_cm_event(&event->ibv);
        errno = error;
        return -1;
    }
    lock_acquire(&incoming->lock);
    incoming->reported = true;
    srd_cm_post_gone_locked(incoming);
    lock_release(&incoming->lock);
    return 0;
}

int srd_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **ibv)
{
    struct srd_cm_event *event;

    if (srd_evq_get(&channel_from(channel)->q, take, ibv))
        return -1;
    event = (struct srd_cm_event *)*ibv;
    return event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST ? take_request(event) : 0;
}

int srd_ack_cm_event(struct rdma_cm_event *ibv)
{
    struct srd_cm_event *event = (struct srd_cm_event *)ibv;
    struct srd_id *owner;

    if (!event) {
        errno = EINVAL;
        return -1;
    }
    owner = event->owner;
    /* The record may have the last reference to the owner; the owner then stays until unacked is zero. */
    srd_cm_event_free(event);
    srd_count_sub(&owner->unacked, 1);
    return 0;
}

void srd_id_forget_event(struct rdma_cm_id *ibv)
{
    struct rdma_cm_event *event = ibv->event;

    ibv->event = NULL;
    if (event)
        srd_ack_cm_event(event);
}

/* Takes the events of one id off the channel's queue. */
static void collect(
    struct srd_event_channel *channel, struct srd_id *owner, struct list_head *events)
{
    list_init(events);
    lock_acquire(&channel->q.lock);
    list_for_each_safe (&channel->q.queue, node) {
        if (list_entry(node, struct srd_cm_event, node)->owner == owner) {
            list_del(node);
            list_add_tail(events, node);
        }
    }
    srd_evq_announce_locked(&channel->q);
    lock_release(&channel->q.lock);
}

void srd_cm_drop_events(struct srd_id *id)
{
    struct list_head events;
    struct list_node *node;

    collect(channel_from(id->ibv.channel), id, &events);
    while ((node = list_pop(&events)) != NULL) {
        struct srd_cm_event *event = list_entry(node, struct srd_cm_event, node);
        if (event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST)
            srd_id_abandon(srd_id_from(event->ibv.id));
        srd_cm_event_free(event);
    }
    srd_count_wait(&id->unacked);
}

int srd_migrate_id(struct rdma_cm_id *ibv, struct rdma_event_channel *channel)
{
    struct srd_id *id = srd_id_from(ibv);
    struct rdma_event_channel *own = NULL, *left;
    struct list_head events;
    struct list_node *node;

    if (!channel && !(channel = own = srd_create_event_channel()))
        return -1;
    if (!srd_id_enter(ibv)) {
        if (own)
            srd_destroy_event_channel(own);
        return -1;
    }
    /* The lock is held until the old events are in the new channel, so new events come behind them. */
    collect(channel_from(id->ibv.channel), id, &events);
    left = id->tail.sync ? id->ibv.channel : NULL;
    id->tail.sync = own != NULL;
    id->ibv.channel = channel;
    while ((node = list_pop(&events)) != NULL) {
        struct srd_cm_event *event = list_entry(node, struct srd_cm_event, node);
        if (event->ibv.event == RDMA_CM_EVENT_CONNECT_REQUEST)
            event->ibv.id->channel = channel;
        srd_cm_post_locked(id, event);
    }
    lock_release(&id->lock);
    if (left)
        srd_id_forget_event(ibv);
    srd_count_wait(&id->unacked);
    if (left)
        srd_destroy_event_channel(left);
    return 0;
}
