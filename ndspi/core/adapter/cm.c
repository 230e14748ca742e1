/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/cm.h"

#include "ndspi/core/device/provider.h"
#include "ndspi/core/status.h"
#include "ndspi/verbs/cm_event.h"

#include "util/clock.h"
#include "util/deadline.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* ---- an adapter's part ---- */

static const struct reactor_source_ops source_ops;

int nd_cm_init(struct nd_cm *cm, const struct nd_device *device, struct nd_object *adapter,
    nd_quirk_set quirks)
{
    int error;

    cm->verbs = device->verbs;
    cm->device = device;
    cm->adapter = adapter;
    cm->quirks = quirks;
    lock_init(&cm->lock, LOCK_CM_TIMER, "cm timers");
    list_init(&cm->timers);
    list_init(&cm->ids);
    cm->channel = cm->verbs->create_event_channel();
    if (!cm->channel)
        return errno ? -errno : -ENODEV;
    if (fcntl(cm->channel->fd, F_SETFL, fcntl(cm->channel->fd, F_GETFL) | O_NONBLOCK)) {
        error = errno;
        nd_cm_fini(cm);
        return -error;
    }
    reactor_source_init(&cm->source, &source_ops, cm->channel->fd);
    return 0;
}

void nd_cm_fini(struct nd_cm *cm)
{
    cm->verbs->destroy_event_channel(cm->channel);
}

/* ---- ids ---- */

/* Wraps an rdma_cm_id. */
static struct nd_cm_id *wrap(
    struct nd_cm *cm, struct rdma_cm_id *id, const struct nd_cm_owner_ops *ops, void *owner)
{
    struct nd_cm_id *wrapper = calloc(1, sizeof(*wrapper));

    if (!wrapper)
        return NULL;
    wrapper->cm = cm;
    wrapper->id = id;
    wrapper->ops = ops;
    wrapper->owner = owner;
    atomic_init(&wrapper->pins, 1);
    lock_init(&wrapper->lock, LOCK_CM_ID, "cm id");
    nd_object_pin(cm->adapter);
    lock_acquire(&cm->lock);
    list_add_tail(&cm->ids, &wrapper->link);
    lock_release(&cm->lock);
    return wrapper;
}

int nd_cm_id_create(
    struct nd_cm *cm, const struct nd_cm_owner_ops *ops, void *owner, struct nd_cm_id **out)
{
    struct nd_cm_id *wrapper = wrap(cm, NULL, ops, owner);
    int error;

    if (!wrapper)
        return -ENOMEM;
    if (cm->verbs->create_id(cm->channel, &wrapper->id, wrapper, RDMA_PS_TCP)) {
        error = errno;
        wrapper->id = NULL;
        nd_cm_id_set_owner(wrapper, NULL, NULL); /* a removal may be calling the owner */
        nd_cm_id_unpin(wrapper);
        return -error;
    }
    *out = wrapper;
    return 0;
}

void nd_cm_id_pin(struct nd_cm_id *id)
{
    atomic_fetch_add_explicit(&id->pins, 1, memory_order_relaxed);
}

/* Returns false if its last pin is gone: it is being destroyed. */
static bool try_pin(struct nd_cm_id *id)
{
    unsigned pins = atomic_load_explicit(&id->pins, memory_order_relaxed);

    while (pins)
        if (atomic_compare_exchange_weak_explicit(
                &id->pins, &pins, pins + 1, memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

static void destroy(struct nd_cm_id *id)
{
    struct nd_object *adapter = id->cm->adapter;

    lock_acquire(&id->cm->lock);
    list_del(&id->link);
    lock_release(&id->cm->lock);
    if (id->id)
        id->cm->verbs->destroy_id(id->id);
    free(id);
    nd_object_unpin(adapter);
}

static void destroy_deferred(struct nd_deferred *job)
{
    destroy(container_of(job, struct nd_cm_id, end));
}

void nd_cm_id_unpin(struct nd_cm_id *id)
{
    if (!id || atomic_fetch_sub_explicit(&id->pins, 1, memory_order_acq_rel) > 1)
        return;
    if (id->id && id->cm->quirks & ND_QUIRK_BIT(SLOW_DESTROY)) {
        id->end.run = destroy_deferred;
        nd_defer(&id->end);
    } else {
        destroy(id);
    }
}

void nd_cm_id_set_owner(struct nd_cm_id *id, const struct nd_cm_owner_ops *ops, void *owner)
{
    lock_acquire(&id->lock);
    id->ops = ops;
    id->owner = owner;
    lock_release(&id->lock);
}

void nd_cm_id_close(struct nd_cm_id *id)
{
    id->cm->verbs->destroy_id(id->id);
    id->id = NULL;
    nd_cm_id_unpin(id);
}

bool nd_cm_id_on_device(const struct nd_cm_id *id)
{
    const struct nd_device *device = id->cm->device;

    return id->id->verbs && id->id->port_num == device->port &&
           !strcmp(id->cm->verbs->get_device_name(id->id->verbs->device), device->name);
}

/* ---- events ---- */

/* Hands an event to the current owner of its id. */
static void deliver(struct nd_cm_id *id, struct nd_cm_event *event)
{
    bool taken = false;

    while (!taken) {
        const struct nd_cm_owner_ops *ops;
        void *owner;

        lock_acquire(&id->lock);
        ops = id->ops;
        owner = id->owner;
        if (owner)
            ops->pin(owner);
        lock_release(&id->lock);
        if (!owner)
            break;
        taken = ops->event(owner, id, event);
        ops->unpin(owner);
    }
    if (!taken && event->request)
        nd_cm_id_unpin(event->request);
}

/*
 * An id that has not had its removal event, pinned; NULL when all have had it. Those that have had it, and newer ids,
 * stand at the end.
 */
static struct nd_cm_id *next_to_tell(struct nd_cm *cm)
{
    struct nd_cm_id *found = NULL;

    lock_acquire(&cm->lock);
    list_for_each (&cm->ids, node) {
        struct nd_cm_id *id = list_entry(node, struct nd_cm_id, link);

        if (id->told_removal)
            continue;
        id->told_removal = true;
        if (!try_pin(id))
            continue;
        found = id;
        list_del(&id->link);
        list_add_tail(&cm->ids, &id->link);
        break;
    }
    lock_release(&cm->lock);
    return found;
}

void nd_cm_removed(struct nd_cm *cm)
{
    struct nd_cm_event event = { .type = RDMA_CM_EVENT_DEVICE_REMOVAL, .status = -ENODEV };
    struct nd_cm_id *id;

    while ((id = next_to_tell(cm))) {
        deliver(id, &event);
        nd_cm_id_unpin(id);
    }
}

/* Copies what an event says, so that it can be acknowledged before it is handled. */
static void copy_event(const struct rdma_cm_event *from, struct nd_cm_event *to)
{
    const struct rdma_conn_param *param = &from->param.conn;

    memset(to, 0, offsetof(struct nd_cm_event, private_data));
    to->type = from->event;
    to->status = from->status;
    switch (from->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST:
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
        to->responder_resources = param->responder_resources;
        to->initiator_depth = param->initiator_depth;
        /* fall through */
    case RDMA_CM_EVENT_REJECTED:
        to->private_data_octets = param->private_data ? param->private_data_len : 0;
        if (to->private_data_octets)
            memcpy(to->private_data, param->private_data, to->private_data_octets);
        break;
    default: break;
    }
}

/* Wraps the id of a request, and makes it its event's. Returns false: there is no memory. */
static bool take_request(struct nd_cm *cm, struct rdma_cm_id *id, struct nd_cm_event *event)
{
    event->request = wrap(cm, id, NULL, NULL);
    if (!event->request) {
        log_limited(LOG_ERROR, LOG_CM, "no memory for a connection request: turned away");
        return false;
    }
    id->context = event->request;
    return true;
}

static bool dispatch_event(struct nd_cm *cm)
{
    struct rdma_cm_id *unwanted = NULL;
    struct rdma_cm_event *event;
    struct nd_cm_event copy;
    struct nd_cm_id *id;
    bool request;

    if (cm->verbs->get_cm_event(cm->channel, &event)) {
        if (errno != EAGAIN && errno != EINTR)
            log_limited(LOG_ERROR, LOG_CM, "the connection manager's events cannot be read: %s",
                strerror(errno));
        return errno == EINTR;
    }
    request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
    /*
     * rdma_destroy_id waits for the acknowledgement, so the id still exists, although its destruction may have begun.
     */
    id = request ? event->listen_id->context : event->id->context;
    if (!try_pin(id))
        id = NULL;
    nd_cm_event_mend(cm->quirks, event);
    copy_event(event, &copy);
    if (request && (!id || !take_request(cm, event->id, &copy)))
        unwanted = event->id;
    log_write(LOG_DEBUG, LOG_CM, "event %s, status %d (%s), for id %p",
        nd_cm_event_name(event->event), event->status,
        event->status < 0 ? strerror(-event->status) : "no errno", (void *)id);
    cm->verbs->ack_cm_event(event);
    if (unwanted)
        cm->verbs->destroy_id(unwanted);
    else if (id)
        deliver(id, &copy);
    nd_cm_id_unpin(id);
    return true;
}

/* ---- deadlines ---- */

static void arm_locked(struct nd_cm *cm)
{
    lock_assert_held(&cm->lock);
    reactor_deadline(&cm->source,
        list_empty(&cm->timers) ? REACTOR_NEVER
                                : list_entry(cm->timers.n.next, struct nd_cm_timer, link)->due_ns);
}

void nd_cm_timer_init(struct nd_cm_timer *timer, void (*expired)(struct nd_cm_timer *timer))
{
    list_node_init(&timer->link);
    timer->expired = expired;
}

static void start_locked(struct nd_cm *cm, struct nd_cm_timer *timer)
{
    struct list_node *before;

    lock_assert_held(&cm->lock);
    list_del(&timer->link);
    timer->due_ns = clock_now_ns() + timer->delay_ns;
    before = cm->timers.n.prev;
    while (before != &cm->timers.n &&
           list_entry(before, struct nd_cm_timer, link)->due_ns > timer->due_ns)
        before = before->prev;
    list_insert_(&timer->link, before, before->next);
}

void nd_cm_timer_start(struct nd_cm *cm, struct nd_cm_timer *timer, unsigned delay_ms)
{
    lock_acquire(&cm->lock);
    timer->delay_ns = delay_ms * (uint64_t)1000000u;
    timer->again = DEADLINE_AGAIN;
    start_locked(cm, timer);
    arm_locked(cm);
    lock_release(&cm->lock);
}

bool nd_cm_timer_stop(struct nd_cm *cm, struct nd_cm_timer *timer)
{
    bool running;

    lock_acquire(&cm->lock);
    running = list_linked(&timer->link);
    if (running) {
        list_del(&timer->link);
        arm_locked(cm);
    }
    lock_release(&cm->lock);
    return running;
}

/* Restarts a timer that is due, if it was found late. Returns whether it did. */
static bool begins_anew_locked(struct nd_cm *cm, struct nd_cm_timer *timer, uint64_t now_ns)
{
    if (!deadline_begins_anew(&timer->again, now_ns - timer->due_ns))
        return false;
    start_locked(cm, timer);
    return true;
}

static struct nd_cm_timer *next_due(struct nd_cm *cm)
{
    struct nd_cm_timer *found = NULL, *timer;
    uint64_t now_ns = clock_now_ns();

    lock_acquire(&cm->lock);
    while (!found && !list_empty(&cm->timers)) {
        timer = list_entry(cm->timers.n.next, struct nd_cm_timer, link);
        if (timer->due_ns > now_ns)
            break;
        if (begins_anew_locked(cm, timer, now_ns))
            continue;
        list_del(&timer->link);
        found = timer;
    }
    arm_locked(cm);
    lock_release(&cm->lock);
    return found;
}

/* ---- callbacks ---- */

static void cm_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct nd_cm *cm = container_of(source, struct nd_cm, source);
    struct nd_object *adapter = cm->adapter;

    (void)events, (void)how;
    if (!nd_object_try_pin(adapter))
        return;
    while (dispatch_event(cm))
        ;
    nd_object_unpin(adapter);
}

static void cm_expired(struct reactor_source *source, enum reactor_how how)
{
    struct nd_cm *cm = container_of(source, struct nd_cm, source);
    struct nd_object *adapter = cm->adapter;
    struct nd_cm_timer *timer;

    (void)how;
    if (!nd_object_try_pin(adapter))
        return;
    while ((timer = next_due(cm)))
        timer->expired(timer);
    nd_object_unpin(adapter);
}

static const struct reactor_source_ops source_ops = { .ready = cm_ready, .expired = cm_expired };

/* ---- errno to status ---- */

HRESULT nd_cm_connect_status(int error, HRESULT otherwise)
{
    switch (error) {
    case ENETUNREACH:
    case ENETDOWN: return ND_NETWORK_UNREACHABLE;
    case EHOSTUNREACH:
    case EHOSTDOWN: return ND_HOST_UNREACHABLE;
    case ETIMEDOUT: return ND_IO_TIMEOUT;
    case ECONNREFUSED: return ND_CONNECTION_REFUSED;
    case ENOMEM: return ND_NO_MEMORY;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case EAGAIN: return ND_INSUFFICIENT_RESOURCES;
    case ENODEV: return ND_DEVICE_REMOVED;
    default: return otherwise;
    }
}

HRESULT nd_cm_bind_status(const struct nd_dialect *dialect, int error)
{
    switch (error) {
    case EADDRINUSE: return dialect->port_taken;
    case ENOMEM: return ND_NO_MEMORY;
    case EMFILE:
    case ENFILE:
    case ENOBUFS: return ND_INSUFFICIENT_RESOURCES;
    case EACCES: /* a port for privileged processes */
    case EPERM: return ND_STATUS_ACCESS_DENIED;
    case EAGAIN: /* no ephemeral port is free */ return dialect->no_port_free;
    default: return ND_INVALID_ADDRESS;
    }
}
