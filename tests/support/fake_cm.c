/* SPDX-License-Identifier: MIT */
/* fake_cm.c - the connection manager's half of the fake device. */
#include "tests/support/fake_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_id {
    struct rdma_cm_id id;
    struct fake_id *older;
    bool listening;
    unsigned unacked; /* events of this id that the program took and has not acknowledged */
};

struct fake_event {
    struct rdma_cm_event event;
    struct fake_event *next;
};

struct fake_event_channel {
    struct rdma_event_channel channel;
    struct fake_event *first, **last;
};

static struct fake_id *fake_ids; /* newest first */
static uint16_t fake_next_port = 49152;

static int fake_fail(int error)
{
    errno = error;
    return -1;
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct fake_event_channel *channel;

    if (fake_fails(FAKE_CREATE_EVENT_CHANNEL))
        return NULL;
    channel = fake_new(sizeof *channel);
    channel->channel.fd = fake_descriptor();
    channel->last = &channel->first;
    return &channel->channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ibv_channel)
{
    struct fake_event_channel *channel = (struct fake_event_channel *)ibv_channel;

    if (channel->first)
        fake_abort("an event channel is destroyed with events in it");
    close(ibv_channel->fd);
    fake_free(channel);
}

/* The id that cannot be destroyed until the event is acknowledged: for a request, the listener's. */
static struct fake_id *fake_event_owner(const struct rdma_cm_event *event)
{
    return (struct fake_id *)(event->listen_id ? event->listen_id : event->id);
}

static void fake_event_raise(
    struct fake_id *id, enum rdma_cm_event_type type, int status, struct fake_id *listener)
{
    struct fake_event_channel *channel = (struct fake_event_channel *)id->id.channel;
    struct fake_event *event = fake_new(sizeof *event);
    uint64_t one = 1;

    event->event.id = &id->id;
    event->event.listen_id = listener ? &listener->id : NULL;
    event->event.event = type;
    event->event.status = status;
    event->event.param.conn.responder_resources = 8;
    event->event.param.conn.initiator_depth = 8;
    fake_lock();
    *channel->last = event;
    channel->last = &event->next;
    if (write(channel->channel.fd, &one, sizeof one) != sizeof one)
        fake_abort("eventfd");
    fake_unlock();
}

int rdma_get_cm_event(struct rdma_event_channel *ibv_channel, struct rdma_cm_event **out)
{
    struct fake_event_channel *channel = (struct fake_event_channel *)ibv_channel;
    struct fake_event *event;
    uint64_t one;

    if (read(ibv_channel->fd, &one, sizeof one) != sizeof one)
        return -1;
    fake_lock();
    event = channel->first;
    if (event) {
        channel->first = event->next;
        if (!channel->first)
            channel->last = &channel->first;
        fake_event_owner(&event->event)->unacked++;
    }
    fake_unlock();
    if (!event)
        return fake_fail(EAGAIN);
    *out = &event->event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    fake_lock();
    if (fake_event_owner(event)->unacked-- == 0)
        fake_abort("a connection event is acknowledged twice");
    fake_unlock();
    fake_free(event);
    return 0;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
    enum rdma_port_space ps)
{
    struct fake_id *id;

    if (fake.removed)
        return fake_fail(EIO);
    id = fake_new(sizeof *id);
    id->id.channel = channel;
    id->id.context = context;
    id->id.ps = ps;
    id->id.qp_type = IBV_QPT_RC;
    fake_lock();
    id->older = fake_ids;
    fake_ids = id;
    fake_unlock();
    *out = &id->id;
    return 0;
}

/* Removes the pending events of an id from its channel. Returns them as a chain. */
static struct fake_event *fake_events_take_locked(struct fake_id *id)
{
    struct fake_event_channel *channel = (struct fake_event_channel *)id->id.channel;
    struct fake_event **link = &channel->first, *taken = NULL, **taken_last = &taken;

    while (*link) {
        struct fake_event *event = *link;

        if (event->event.id != &id->id) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        event->next = NULL;
        *taken_last = event;
        taken_last = &event->next;
    }
    channel->last = link;
    return taken;
}

int rdma_destroy_id(struct rdma_cm_id *ibv_id)
{
    struct fake_id *id = (struct fake_id *)ibv_id, **link = &fake_ids;
    struct fake_event *events, *event;

    fake_lock();
    if (id->unacked)
        fake_abort(
            "an id is destroyed with an event not acknowledged: rdma-core would wait for ever");
    while (*link != id)
        link = &(*link)->older;
    *link = id->older;
    events = fake_events_take_locked(id);
    fake_unlock();
    while ((event = events)) {
        events = event->next;
        fake_free(event);
    }
    fake_free(id);
    return 0;
}

/* Whether an address is bindable: only 127.0.0.1, and the wildcard, which belongs to no device. */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
    struct sockaddr_in *in = (struct sockaddr_in *)addr,
                       *src = (struct sockaddr_in *)&id->route.addr.src_addr;

    if (fake_fails(FAKE_BIND_ADDR))
        return -1;
    if (addr->sa_family != AF_INET ||
        (in->sin_addr.s_addr != htonl(INADDR_LOOPBACK) && in->sin_addr.s_addr != htonl(INADDR_ANY)))
        return fake_fail(EADDRNOTAVAIL);
    *src = *in;
    fake_lock();
    fake.bound_port_be = in->sin_port;
    if (src->sin_port == 0)
        src->sin_port = htons(fake_next_port++);
    fake_unlock();
    if (in->sin_addr.s_addr != htonl(INADDR_ANY)) {
        id->verbs = fake_cm_context();
        id->port_num = 1;
    }
    return 0;
}

int rdma_resolve_addr(
    struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr, int timeout_ms)
{
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    (void)timeout_ms;
    fake_lock();
    bool silent = fake.silent_neighbours > 0;
    fake.silent_neighbours -= silent;
    fake_unlock();
    if (((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port == 0 &&
        rdma_bind_addr(id, src_addr ? src_addr : (struct sockaddr *)&any) != 0)
        return -1;
    memcpy(&id->route.addr.dst_addr, dst_addr, sizeof(struct sockaddr_in));
    fake_event_raise((struct fake_id *)id,
        silent ? RDMA_CM_EVENT_ADDR_ERROR : RDMA_CM_EVENT_ADDR_RESOLVED, silent ? -ETIMEDOUT : 0,
        NULL);
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    (void)timeout_ms;
    fake_event_raise((struct fake_id *)id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    return 0;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
    (void)conn_param;
    if (fake.removed)
        return fake_fail(EIO);
    if (fake_fails(FAKE_CONNECT))
        return -1;
    fake_lock();
    bool taken = fake.taken_ports > 0;
    fake.taken_ports -= taken;
    fake.connects += !taken;
    fake_unlock();
    if (taken)
        return fake_fail(EADDRNOTAVAIL);
    if (!fake.no_answer)
        fake_event_raise((struct fake_id *)id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, NULL);
    return 0;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    (void)backlog;
    ((struct fake_id *)id)->listening = true;
    return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
    (void)conn_param;
    if (fake.removed)
        return fake_fail(EIO);
    if (fake_fails(FAKE_ACCEPT))
        return -1;
    if (!fake.no_answer)
        fake_event_raise((struct fake_id *)id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
    (void)id;
    (void)private_data;
    (void)private_data_len;
    return 0;
}

int rdma_establish(struct rdma_cm_id *id)
{
    (void)id;
    return fake.removed ? fake_fail(EIO) : 0;
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    (void)id;
    (void)event;
    return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
    if (!fake.no_answer)
        fake_event_raise((struct fake_id *)id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
    return 0;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *attr_mask)
{
    enum ibv_qp_state state = attr->qp_state;

    (void)id;
    *attr = (struct ibv_qp_attr){ .qp_state = state, .port_num = 1 };
    *attr_mask = IBV_QP_STATE;
    return 0;
}

int rdma_migrate_id(struct rdma_cm_id *ibv_id, struct rdma_event_channel *channel)
{
    struct fake_event_channel *to = (struct fake_event_channel *)channel;
    struct fake_id *id = (struct fake_id *)ibv_id;
    struct fake_event *event, *events;
    uint64_t one = 1;

    fake_lock();
    events = fake_events_take_locked(id);
    id->id.channel = channel;
    while ((event = events)) {
        events = event->next;
        event->next = NULL;
        *to->last = event;
        to->last = &event->next;
        if (write(channel->fd, &one, sizeof one) != sizeof one)
            fake_abort("eventfd");
    }
    fake_unlock();
    return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int optname, void *optval, size_t optlen)
{
    (void)id;
    (void)level;
    (void)optname;
    (void)optval;
    (void)optlen;
    return 0;
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return ((struct sockaddr_in *)&id->route.addr.src_addr)->sin_port;
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return ((struct sockaddr_in *)&id->route.addr.dst_addr)->sin_port;
}

void fake_raise_cm(enum rdma_cm_event_type event, int status)
{
    if (!fake_ids)
        fake_abort("there is no id");
    fake_event_raise(fake_ids, event, status, NULL);
}

void fake_raise_removal(void)
{
    struct fake_id *ids[64];
    unsigned count = 0;

    fake_lock();
    for (struct fake_id *id = fake_ids; id && count < 64; id = id->older)
        ids[count++] = id;
    fake_unlock();
    while (count > 0)
        fake_event_raise(ids[--count], RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL);
}

bool fake_request(void)
{
    struct fake_id *listener;
    struct rdma_cm_id *id;

    fake_lock();
    listener = fake_ids;
    while (listener && !listener->listening)
        listener = listener->older;
    fake_unlock();
    if (!listener ||
        rdma_create_id(listener->id.channel, &id, listener->id.context, RDMA_PS_TCP) != 0)
        return false;
    id->route.addr = listener->id.route.addr;
    memcpy(&id->route.addr.dst_addr, &id->route.addr.src_addr, sizeof id->route.addr.src_addr);
    fake_lock();
    ((struct sockaddr_in *)&id->route.addr.dst_addr)->sin_port = htons(fake_next_port++);
    fake_unlock();
    id->verbs = fake_cm_context();
    id->port_num = 1;
    fake_event_raise((struct fake_id *)id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, listener);
    return true;
}

void fake_set_taken_ports(unsigned times)
{
    fake_lock();
    fake.taken_ports = times;
    fake_unlock();
}

void fake_set_silent_neighbours(unsigned times)
{
    fake_lock();
    fake.silent_neighbours = times;
    fake_unlock();
}

void fake_set_answer(bool answer)
{
    fake_lock();
    fake.no_answer = !answer;
    fake_unlock();
}

unsigned short fake_bound_port_be(void)
{
    unsigned short port_be;

    fake_lock();
    port_be = fake.bound_port_be;
    fake_unlock();
    return port_be;
}

unsigned fake_connects(void)
{
    unsigned connects;

    fake_lock();
    connects = fake.connects;
    fake_unlock();
    return connects;
}
