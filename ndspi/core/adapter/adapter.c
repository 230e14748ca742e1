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

static int no_blocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

static int watch(struct nd_adapter *adapter, int fd, enum nd_adapter_ready ready)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = ready };

    return epoll_ctl(adapter->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Channel, connection manager, epoll. Returns 0 or a negative errno with nothing left open. */
static int open_channels(struct nd_adapter *adapter)
{
    const struct nd_caps *caps = &adapter->port.caps;
    int rc;

    if ((adapter->epoll_fd = epoll_create1(EPOLL_CLOEXEC)) < 0)
        return -errno;
    if (!(adapter->channel = adapter->verbs->create_comp_channel(adapter->port.context))) {
        rc = errno ? -errno : -ENOMEM;
        goto close_epoll;
    }
    if ((rc = nd_cm_init(&adapter->cm, adapter->device, &adapter->object, caps->quirks)))
        goto destroy_channel;
    if ((rc = no_blocking(adapter->channel->fd)) ||
        (rc = no_blocking(adapter->port.context->async_fd)) ||
        (rc = watch(adapter, adapter->channel->fd, ND_READY_CQ)) ||
        (rc = watch(adapter, nd_cm_fd(&adapter->cm), ND_READY_CM)) ||
        (rc = watch(adapter, adapter->port.context->async_fd, ND_READY_ASYNC)))
        goto fini_cm;
    return 0;

fini_cm:
    nd_cm_fini(&adapter->cm);
destroy_channel:
    adapter->verbs->destroy_comp_channel(adapter->channel);
close_epoll:
    close(adapter->epoll_fd);
    return rc;
}

static void close_channels(struct nd_adapter *adapter)
{
    int rc;

    nd_cm_fini(&adapter->cm);
    if ((rc = adapter->verbs->destroy_comp_channel(adapter->channel)))
        log_write(LOG_ERROR, LOG_DEVICE, "cannot destroy a completion channel: %s", strerror(rc));
    close(adapter->epoll_fd);
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

    if (nd_adapter_running()) {
        adapter->end.run = end_deferred;
        nd_defer(&adapter->end);
    } else {
        adapter->destroy(object);
    }
}

static struct nd_sink_source *add_source(struct nd_adapter *adapter)
{
    const struct nd_verbs *verbs = adapter->verbs;
    const struct nd_sink_descriptors descriptors = {
        .fd = adapter->epoll_fd,
        .lead_fd = verbs->progress_fd ? verbs->progress_fd(adapter->port.context) : -1,
        .parts = { [ND_READY_CQ] = adapter->channel->fd,
            [ND_READY_CM] = nd_cm_fd(&adapter->cm),
            [ND_READY_ASYNC] = adapter->port.context->async_fd },
    };

    return adapter->sink->source_add(&nd_adapter_source_ops, adapter, &descriptors);
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
    if (!(adapter->source = add_source(adapter))) {
        rc = -ENOMEM;
        goto close_channels;
    }
    nd_library_pin();
    return ND_SUCCESS;

close_channels:
    close_channels(adapter);
fini_regions:
    nd_regions_fini(&adapter->regions);
fini_port:
    nd_port_fini(&adapter->port);
    log_write(LOG_ERROR, LOG_DEVICE, "%s port %u cannot be opened: %s", device->name, device->port,
        strerror(-rc));
    return nd_status_from_errno(rc);
}

void nd_adapter_fini(struct nd_adapter *adapter)
{
    adapter->sink->source_remove(adapter->source);
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
    lock_acquire(&adapter->lock);
    list_del(&child->link);
    if (atomic_load_explicit(&adapter->usual, memory_order_relaxed) == child)
        atomic_store_explicit(&adapter->usual, NULL, memory_order_relaxed);
    lock_release(&adapter->lock);
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
        "adapter %s: a %s cannot become %u deep: the device makes none deeper than it was created, "
        "and this one has room for %u; create it as deep as it will be needed",
        adapter->device->name, what, asked, room);
    return ND_INSUFFICIENT_RESOURCES;
}

void nd_adapter_describe(const struct nd_adapter *adapter, ND2_ADAPTER_INFO *info)
{
    nd_limits_describe(&adapter->limits, adapter->device->adapter_id, info);
}
