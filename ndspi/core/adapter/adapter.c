/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/adapter.h"

#include "ndspi/core/device/trial.h"
#include "ndspi/core/library.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ---- events: what the reactor calls ---- */

/* The caller pins the child. */
static void note_last_cq(struct nd_adapter *adapter, struct nd_child *child)
{
    if (atomic_load_explicit(&adapter->last_cq, memory_order_relaxed) == child)
        return;
    lock_acquire(&adapter->lock);
    atomic_store_explicit(&adapter->last_cq, child, memory_order_relaxed);
    lock_release(&adapter->lock);
}

/*
 * Handles one completion event. Destroying a queue waits until its events are acknowledged, and such a queue cannot be
 * pinned any more: its event is acknowledged here.
 */
static bool run_cq_event(struct nd_adapter *adapter)
{
    struct nd_child *child;
    struct ibv_cq *ibv;
    void *context;

    if (adapter->verbs->get_cq_event(adapter->channel, &ibv, &context))
        return false;
    child = context;
    if (!nd_object_try_pin(child->object)) {
        adapter->verbs->ack_cq_events(ibv, 1);
        return true;
    }
    note_last_cq(adapter, child);
    child->ops->completion(child);
    nd_object_unpin(child->object);
    return true;
}

void nd_adapter_take_unread(struct nd_adapter *adapter)
{
    if (atomic_load_explicit(&adapter->event_unread, memory_order_relaxed) &&
        atomic_exchange_explicit(&adapter->event_unread, false, memory_order_relaxed))
        run_cq_event(adapter);
}

/*
 * Where taking an event is a system call, a waiting thread that an event woke first polls the queue of the previous
 * event: usually the thread waits for that queue, and can return at once. The event stays in the channel until the next
 * Notify, by which time the program has answered its peer.
 */
static bool poll_last_cq(struct nd_adapter *adapter)
{
    struct nd_child *child;
    bool ended;

    lock_acquire(&adapter->lock);
    child = atomic_load_explicit(&adapter->last_cq, memory_order_relaxed);
    if (child && !nd_object_try_pin(child->object))
        child = NULL;
    lock_release(&adapter->lock);
    if (!child)
        return false;
    ended = child->ops->poll_before_event(child);
    if (ended)
        atomic_store_explicit(&adapter->event_unread, true, memory_order_relaxed);
    nd_object_unpin(child->object);
    return ended;
}

/* The object that an event concerns, pinned; NULL: it is being destroyed, or this kind of event is ignored. */
static struct nd_child *find_child(const struct ibv_async_event *event)
{
    struct nd_child *child = NULL;

    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: child = event->element.cq->cq_context; break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR: child = event->element.srq->srq_context; break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR: child = event->element.qp->qp_context; break;
    default: break;
    }
    return child && nd_object_try_pin(child->object) ? child : NULL;
}

static void handle_async(
    struct nd_adapter *adapter, enum ibv_event_type type, struct nd_child *child)
{
    log_write(LOG_DEBUG, LOG_DEVICE, "asynchronous event: %s", ibv_event_type_str(type));
    if (type == IBV_EVENT_DEVICE_FATAL)
        nd_adapter_remove(adapter);
    if (!child)
        return;
    child->ops->event(child, type);
    nd_object_unpin(child->object);
}

/*
 * Acknowledges each event before handling it: the handler may destroy the event's object, which waits for the
 * acknowledgement. The shim's own completion events make the same descriptor readable (verbs/shim/shim.h).
 */
static void run_async(struct nd_adapter *adapter)
{
    struct ibv_async_event event;

    while (!adapter->verbs->get_async_event(adapter->port.context, &event)) {
        struct nd_child *child = find_child(&event);

        adapter->verbs->ack_async_event(&event);
        handle_async(adapter, event.event_type, child);
    }
    while (run_cq_event(adapter))
        ;
}

static struct nd_adapter *adapter_of(struct reactor_source *source)
{
    return container_of(source, struct nd_adapter, channel_source);
}

static void channel_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct nd_adapter *adapter = adapter_of(source);

    (void)events;
    if (!nd_object_try_pin(&adapter->object))
        return;
    if (how == REACTOR_BACKGROUND)
        while (run_cq_event(adapter))
            ;
    else if (how != REACTOR_WAITING || !poll_last_cq(adapter))
        run_cq_event(adapter); /* further events keep the descriptor readable */
    nd_adapter_unpin(adapter);
}

/* The embedded device has an event; it calls this again while it has more. */
static void channel_run(struct reactor_source *source, enum reactor_how how)
{
    struct nd_adapter *adapter = adapter_of(source);

    (void)how;
    if (!nd_object_try_pin(&adapter->object))
        return;
    run_cq_event(adapter);
    nd_adapter_unpin(adapter);
}

static void async_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct nd_adapter *adapter = container_of(source, struct nd_adapter, async_source);

    (void)events, (void)how;
    if (!nd_object_try_pin(&adapter->object))
        return;
    run_async(adapter);
    nd_adapter_unpin(adapter);
}

const struct reactor_source_ops nd_adapter_channel_ops = { .ready = channel_ready,
    .run = channel_run };
static const struct reactor_source_ops async_ops = { .ready = async_ready };

/* ---- life ---- */

static int no_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

/* Channel and connection manager. Returns 0 or a negative errno with nothing left open. */
static int open_channels(struct nd_adapter *adapter)
{
    const struct nd_caps *caps = &adapter->port.caps;
    int rc;

    if (!(adapter->channel = adapter->verbs->create_comp_channel(adapter->port.context)))
        return errno ? -errno : -ENOMEM;
    if ((rc = nd_cm_init(&adapter->cm, adapter->device, &adapter->object, caps->quirks)))
        goto destroy_channel;
    if ((rc = no_blocking(adapter->channel->fd)) ||
        (rc = no_blocking(adapter->port.context->async_fd)))
        goto fini_cm;
    return 0;

fini_cm:
    nd_cm_fini(&adapter->cm);
destroy_channel:
    adapter->verbs->destroy_comp_channel(adapter->channel);
    return rc;
}

static void close_channels(struct nd_adapter *adapter)
{
    int rc;

    nd_cm_fini(&adapter->cm);
    if ((rc = adapter->verbs->destroy_comp_channel(adapter->channel)))
        log_write(LOG_ERROR, LOG_DEVICE, "cannot destroy a completion channel: %s", strerror(rc));
}

/* Hands the adapter's sources to the reactor, which drives them from now on. Returns 0 or a negative errno. */
static int add_sources(struct nd_adapter *adapter)
{
    const struct nd_verbs *verbs = adapter->verbs;
    struct ibv_context *context = adapter->port.context;
    int rc;

    reactor_source_init(&adapter->channel_source, &nd_adapter_channel_ops, adapter->channel->fd);
    reactor_source_init(&adapter->async_source, &async_ops, context->async_fd);
    if ((rc = reactor_add(&adapter->channel_source, EPOLLIN)))
        return rc;
    if ((rc = reactor_add(&adapter->async_source, EPOLLIN)))
        goto remove_channel;
    if ((rc = reactor_add(&adapter->cm.source, EPOLLIN)))
        goto remove_async;
    if (verbs->progress_attach)
        verbs->progress_attach(adapter->channel, &adapter->channel_source);
    return 0;

remove_async:
    reactor_remove_sync(&adapter->async_source);
remove_channel:
    reactor_remove_sync(&adapter->channel_source);
    return rc;
}

static void remove_sources(struct nd_adapter *adapter)
{
    if (adapter->verbs->progress_attach)
        adapter->verbs->progress_attach(adapter->channel, NULL);
    reactor_remove_sync(&adapter->cm.source);
    reactor_remove_sync(&adapter->async_source);
    reactor_remove_sync(&adapter->channel_source);
}

static void init_members(struct nd_adapter *adapter, const struct nd_device *device,
    const struct nd_dialect *dialect, const struct nd_sink *sink)
{
    adapter->dialect = dialect;
    adapter->sink = sink;
    adapter->device = device;
    lock_init(&adapter->lock, LOCK_ADAPTER, "adapter");
    lock_init(&adapter->memory_lock, LOCK_MEMORY, "adapter's memory");
    list_init(&adapter->children);
    list_init(&adapter->bound_windows);
    list_init(&adapter->invalidating_windows);
}

static void end_deferred(struct nd_deferred *job)
{
    struct nd_adapter *adapter = container_of(job, struct nd_adapter, end);

    adapter->destroy(&adapter->object);
}

/* The last pin is gone. */
static void end(struct nd_object *object)
{
    struct nd_adapter *adapter = (struct nd_adapter *)object;

    if (reactor_in_turn()) {
        adapter->end.run = end_deferred;
        nd_defer(&adapter->end);
    } else {
        adapter->destroy(object);
    }
}

static const char *remedy(int error)
{
    switch (-error) {
    case EAGAIN: return "; raise the limit of threads (ulimit -u, pids.max)";
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    default: return "";
    }
}

HRESULT nd_adapter_init(struct nd_adapter *adapter, const struct nd_device *device,
    const struct nd_dialect *dialect, const struct nd_sink *sink,
    void (*destroy)(struct nd_object *object))
{
    struct nd_diagnosis diagnosis;
    int rc;

    init_members(adapter, device, dialect, sink);
    nd_object_init(&adapter->object, end);
    adapter->destroy = destroy;
    if ((rc = nd_trial_open(device, true, &adapter->port, &adapter->limits, &diagnosis))) {
        nd_trial_log(device, &diagnosis);
        return nd_status_from_errno(rc);
    }
    adapter->verbs = adapter->port.verbs;
    if (dialect->one_sge_limit)
        nd_limits_level_sge(&adapter->limits);
    if (dialect->handles && (rc = nd_regions_init(&adapter->regions)))
        goto fini_port;
    if ((rc = open_channels(adapter)))
        goto fini_regions;
    if ((rc = add_sources(adapter)))
        goto close_channels;
    nd_library_pin();
    nd_publish(adapter);
    return ND_SUCCESS;

close_channels:
    close_channels(adapter);
fini_regions:
    nd_regions_fini(&adapter->regions);
fini_port:
    nd_port_fini(&adapter->port);
    log_write(LOG_ERROR, LOG_DEVICE, "%s port %u cannot be opened: %s%s", device->name,
        device->port, strerror(-rc), remedy(rc));
    return nd_status_from_errno(rc);
}

void nd_adapter_fini(struct nd_adapter *adapter)
{
    nd_unpublish(adapter);
    remove_sources(adapter);
    if (adapter->sink->forget)
        adapter->sink->forget(adapter);
    close_channels(adapter);
    nd_regions_fini(&adapter->regions);
    nd_port_fini(&adapter->port);
    nd_library_unpin();
}

void nd_adapter_add(struct nd_adapter *adapter, struct nd_child *child, struct nd_object *object,
    const struct nd_child_ops *ops)
{
    child->object = object;
    child->ops = ops;
    nd_adapter_pin(adapter);
    lock_acquire(&adapter->lock);
    list_add_head(&adapter->children, &child->link);
    lock_release(&adapter->lock);
}

void nd_adapter_drop(struct nd_adapter *adapter, struct nd_child *child)
{
    struct nd_counts counts = { 0 };

    lock_acquire(&adapter->lock);
    list_del(&child->link);
    child->ops->count(child, &counts);
    nd_counts_now_none(&counts);
    nd_counts_add(&adapter->ended, &counts);
    if (atomic_load_explicit(&adapter->last_cq, memory_order_relaxed) == child)
        atomic_store_explicit(&adapter->last_cq, NULL, memory_order_relaxed);
    lock_release(&adapter->lock);
}

void nd_adapter_count(struct nd_adapter *adapter, struct nd_counts *counts)
{
    lock_acquire(&adapter->lock);
    *counts = adapter->ended;
    list_for_each (&adapter->children, node) {
        struct nd_child *child = list_entry(node, struct nd_child, link);

        child->ops->count(child, counts);
    }
    lock_release(&adapter->lock);
}

/*
 * A child whose `removed` was not called yet, pinned, or NULL. That call may free other objects, so the caller holds no
 * lock in it. The youngest comes first, so a queue pair before its completion queues: a client that learns of the
 * removal can post no more. Children with told_removal stand at the end.
 */
static struct nd_child *next_to_tell(struct nd_adapter *adapter)
{
    struct nd_child *found = NULL;

    lock_acquire(&adapter->lock);
    list_for_each (&adapter->children, node) {
        struct nd_child *child = list_entry(node, struct nd_child, link);

        if (child->told_removal || !nd_object_try_pin(child->object))
            continue;
        child->told_removal = true;
        found = child;
        list_del(node);
        list_add_tail(&adapter->children, node);
        break;
    }
    lock_release(&adapter->lock);
    return found;
}

void nd_adapter_remove(struct nd_adapter *adapter)
{
    struct nd_child *child;

    if (atomic_exchange(&adapter->removed, true))
        return;
    log_write(LOG_ERROR, LOG_DEVICE, "%s is gone: everything on it fails", adapter->device->name);
    while ((child = next_to_tell(adapter))) {
        child->ops->removed(child);
        nd_object_unpin(child->object);
    }
    nd_cm_removed(&adapter->cm);
}

HRESULT nd_adapter_create_file(struct nd_adapter *adapter, HANDLE *handle)
{
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    return adapter->sink->file_create(adapter, handle);
}

struct nd_sink_file *nd_adapter_file(struct nd_adapter *adapter, HANDLE handle)
{
    return adapter->sink->file_get(handle, adapter);
}

HRESULT nd_adapter_refuse_deeper(const struct nd_adapter *adapter, enum log_topic topic,
    const char *what, uint32_t asked, uint32_t room)
{
    log_write(LOG_WARN, topic,
        "adapter %s: a %s cannot become %u deep: the device cannot make this one deeper than %u; "
        "create it with the greatest depth needed",
        adapter->device->name, what, asked, room);
    return ND_INSUFFICIENT_RESOURCES;
}

void nd_adapter_describe(const struct nd_adapter *adapter, ND2_ADAPTER_INFO *info)
{
    nd_limits_describe(&adapter->limits, adapter->device->adapter_id, info);
}
