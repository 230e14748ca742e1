/* SPDX-License-Identifier: MIT */
/*
 * adapter.h - an open device as its client sees it: protection domain, channels, limits, and the sources through which
 * waiting threads drive it (reactor/reactor.h).
 *
 * Every other object pins its adapter. The lock (LOCK_ADAPTER) guards the list of children, which holds no pins: a
 * child leaves it when it is destroyed.
 */
#ifndef NDSPI_CORE_ADAPTER_ADAPTER_H
#define NDSPI_CORE_ADAPTER_ADAPTER_H

#include "ndspi/core/adapter/cm.h"
#include "ndspi/core/adapter/region_table.h"
#include "ndspi/core/base.h"
#include "ndspi/core/adapter/counts.h"
#include "ndspi/core/adapter/publish.h"
#include "ndspi/core/deferred.h"
#include "ndspi/core/device/limits.h"
#include "ndspi/core/device/provider.h"
#include "ndspi/core/dialect.h"
#include "ndspi/core/object.h"
#include "ndspi/core/sink.h"
#include "ndspi/core/device/port.h"

#include "reactor/reactor.h"
#include "util/list.h"
#include "util/lock.h"
#include "util/log.h"

struct nd_child;
struct nd_frmr;

enum { ND_FRMR_BUCKETS = 64 };

/* What an adapter asks of its children, which stand above it. Called without locks, the child pinned. */
struct nd_child_ops {
    /* Handles and acknowledges the device's completion event for this child. NULL: the device raises none. */
    void (*completion)(struct nd_child *child);
    /*
     * Present with `completion`: polls before the event is read. Returns true if it completed a Notify and none is
     * pending now: then the event may stay unread.
     */
    bool (*poll_before_event)(struct nd_child *child);
    /* An asynchronous event about this child. NULL: the device raises none. */
    void (*event)(struct nd_child *child, enum ibv_event_type type);
    /* The device is gone. */
    void (*removed)(struct nd_child *child);
    /* Adds what it has counted. Called with the adapter's lock. */
    void (*count)(struct nd_child *child, struct nd_counts *counts);
};

/* Embedded in a queue or queue pair; the context of its device object, through which an event finds the child. */
struct nd_child {
    struct nd_object *object; /* the queue or queue pair */
    const struct nd_child_ops *ops;
    struct list_node link; /* nd_adapter.children; the adapter's lock */
    bool told_removal;     /* ops->removed was called, or is about to be; the adapter's lock */
};

struct nd_adapter {
    struct nd_object object;                   /* first */
    void (*destroy)(struct nd_object *object); /* the facade's */
    const struct nd_dialect *dialect;
    const struct nd_sink *sink;
    const struct nd_device *device;
    const struct nd_verbs *verbs;
    struct nd_port port;
    struct nd_limits limits;
    struct ibv_comp_channel *channel; /* all completion queues report here; not blocking */
    struct nd_cm cm;
    /* Waiting threads run these sources and the connection manager's (cm.source). */
    struct reactor_source channel_source, async_source;
    /* The child of the last completion event; the lock is held to change it. */
    _Atomic(struct nd_child *) last_cq;
    atomic_bool event_unread; /* a driver left an event in the channel */
    atomic_bool removed;
    struct lock lock;          /* guards children */
    struct nd_counts ended;    /* what destroyed children had counted */
    struct list_head children; /* youngest first; at the end those with told_removal */
    struct nd_adapter_counts counts;
    struct lock memory_lock; /* LOCK_MEMORY: registration of regions, binding of windows */
    struct list_head bound_windows, invalidating_windows;
    struct nd_regions regions;              /* a dialect with handles: its regions */
    struct nd_frmr *frmrs[ND_FRMR_BUCKETS]; /* fast regions by key; memory_lock */
    atomic_uint frmr_count;
    struct nd_published published;
    struct nd_deferred end;
};

/* What the reactor calls for the completion channel; extern for the tests. */
extern const struct reactor_source_ops nd_adapter_channel_ops;

/*
 * nd_adapter_init - open a device.
 * adapter  out: on success with one pin, the application's; nothing to undo on failure
 * device   in: found by the provider
 * destroy  in: called when the last pin is gone; calls nd_adapter_fini, then frees
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED, or what the device says.
 */
HRESULT nd_adapter_init(struct nd_adapter *adapter, const struct nd_device *device,
    const struct nd_dialect *dialect, const struct nd_sink *sink,
    void (*destroy)(struct nd_object *object));
void nd_adapter_fini(struct nd_adapter *adapter);

static inline void nd_adapter_pin(struct nd_adapter *adapter)
{
    nd_object_pin(&adapter->object);
}

/*
 * Drops a pin. The last one closes the device: at once, or from a thread of its own when the caller is in a turn of the
 * reactor (whose sources this may be). No lock may be held.
 */
static inline void nd_adapter_unpin(struct nd_adapter *adapter)
{
    nd_object_unpin(&adapter->object);
}

/*
 * nd_adapter_add - a child is ready: from now on the adapter calls its ops. Pins the adapter.
 * nd_adapter_drop - the child is being destroyed, whose last step is nd_adapter_unpin. No lock held.
 */
void nd_adapter_add(struct nd_adapter *adapter, struct nd_child *child, struct nd_object *object,
    const struct nd_child_ops *ops);
void nd_adapter_drop(struct nd_adapter *adapter, struct nd_child *child);

/* The device is gone: calls answer ND_DEVICE_REMOVED. */
static inline bool nd_adapter_removed(const struct nd_adapter *adapter)
{
    return atomic_load_explicit(&adapter->removed, memory_order_relaxed);
}

/*
 * nd_adapter_take_unread - takes the completion event that a driver may have left in the channel (adapter.c), so that
 * its queue can be armed. The caller pins a child; no lock held.
 */
void nd_adapter_take_unread(struct nd_adapter *adapter);

/*
 * The device was lost: fails queues and pending requests with ND_DEVICE_REMOVED. Any thread, no lock held; idempotent.
 */
void nd_adapter_remove(struct nd_adapter *adapter);

/* Makes an overlapped file. Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. */
HRESULT nd_adapter_create_file(struct nd_adapter *adapter, HANDLE *handle);

/* Returns the adapter's file that a handle names, pinned; NULL: it names no file of this adapter. */
struct nd_sink_file *nd_adapter_file(struct nd_adapter *adapter, HANDLE handle);

/*
 * nd_adapter_refuse_deeper - logs that the device cannot make a queue deeper, and that its reserve is not enough.
 * what         in: the kind of queue
 * asked, room  in: the depth asked for, and the greatest that this queue can have
 * Returns ND_INSUFFICIENT_RESOURCES.
 */
HRESULT nd_adapter_refuse_deeper(const struct nd_adapter *adapter, enum log_topic topic,
    const char *what, uint32_t asked, uint32_t room);

/* counts out: what the adapter and its objects have counted until now (counts.c). Any thread; no lock held. */
void nd_adapter_count(struct nd_adapter *adapter, struct nd_counts *counts);

/* Fills in ND2_ADAPTER_INFO but for InfoVersion, which the facade sets. */
void nd_adapter_describe(const struct nd_adapter *adapter, ND2_ADAPTER_INFO *info);

#endif
