/* SPDX-License-Identifier: MIT */
/*
 * cm.h - the connection manager side of an adapter: its event channel, its connection ids, its deadlines.
 *
 * An nd_cm_id is one rdma_cm_id and its owner (a connector or a listener). Pins keep it: its owner holds one, and so
 * does every call that uses the id without a lock; the last unpin destroys the rdma_cm_id. So a release in one thread
 * never pulls an id from under a connect in another.
 *
 * Dispatch copies and acknowledges each event before handling it: rdma_destroy_id waits for acknowledgements, and the
 * handler may destroy the event's id. Where the kernel can take seconds over destroying an id (it may have to wait for
 * the peer), that is deferred (deferred.h).
 *
 * Threads: any. Locks: LOCK_CM_ID guards an id's owner; it is a leaf but for the owner's pin.
 */
#ifndef NDSPI_CORE_ADAPTER_CM_H
#define NDSPI_CORE_ADAPTER_CM_H

#include "ndspi/core/base.h"
#include "ndspi/core/deferred.h"
#include "ndspi/core/dialect.h"
#include "ndspi/core/object.h"
#include "ndspi/verbs/quirks.h"
#include "ndspi/verbs/verbs.h"

#include "reactor/reactor.h"
#include "util/list.h"
#include "util/lock.h"

#include <stdatomic.h>

struct nd_cm_id;
struct nd_device;

enum { ND_CM_PRIVATE_DATA_OCTETS = 256 };

/* A copied rdma_cm_event. */
struct nd_cm_event {
    enum rdma_cm_event_type type;
    int status;                  /* the event's own: an errno, or a reject reason */
    uint8_t responder_resources; /* Reads the peer may have in flight here */
    uint8_t initiator_depth;     /* Reads we may have in flight there */
    struct nd_cm_id *request;    /* CONNECT_REQUEST: the new id; its one pin goes to its taker */
    uint8_t private_data_octets;
    uint8_t private_data
        [ND_CM_PRIVATE_DATA_OCTETS]; /* the last member, since not every event clears it */
};

/* What an owner of ids provides. */
struct nd_cm_owner_ops {
    void (*pin)(void *owner);
    void (*unpin)(void *owner);
    /* Called without locks, the owner pinned. Returns false if the id has another owner by now: ask for it again. */
    bool (*event)(void *owner, struct nd_cm_id *id, struct nd_cm_event *event);
};

struct nd_cm_id {
    struct nd_cm *cm;
    struct rdma_cm_id *id;
    atomic_uint pins;
    struct lock lock; /* guards the next two */
    const struct nd_cm_owner_ops *ops;
    void *owner;
    struct list_node link; /* nd_cm.ids; nd_cm.lock */
    bool told_removal;     /* the owner gets or got RDMA_CM_EVENT_DEVICE_REMOVAL; nd_cm.lock */
    struct nd_deferred end;
};

/*
 * A call to be made at a time unless it is cancelled before. A timer that is found late is restarted (util/deadline.h).
 */
struct nd_cm_timer {
    struct list_node link;
    uint64_t due_ns; /* when it expires, by clock_now_ns */
    uint64_t delay_ns;
    unsigned again; /* how often it may still be restarted */
    void (*expired)(
        struct nd_cm_timer *timer); /* called from a turn of the reactor, without locks */
};

struct nd_cm {
    const struct nd_verbs *verbs;
    const struct nd_device *device;
    struct nd_object *adapter; /* pinned by each id */
    struct rdma_event_channel *channel;
    nd_quirk_set quirks;          /* the device's */
    struct reactor_source source; /* the channel's, and the deadline of the first timer */
    struct lock lock;             /* LOCK_CM_TIMER; guards the lists */
    struct list_head timers;      /* sorted by due_ns */
    struct list_head ids;
};

/*
 * nd_cm_init - for an adapter that is being opened on a device.
 * quirks  in: the device's
 * Returns 0 or a negative errno (ENODEV: no connection manager). The adapter adds `source` to the reactor, and removes
 * it before nd_cm_fini.
 */
int nd_cm_init(struct nd_cm *cm, const struct nd_device *device, struct nd_object *adapter,
    nd_quirk_set quirks);
/* Called when all ids are gone, since each pins the adapter. */
void nd_cm_fini(struct nd_cm *cm);

/*
 * nd_cm_removed - the device is gone: every id gets RDMA_CM_EVENT_DEVICE_REMOVAL, whether the system reported one or
 * not. Any thread, no locks held.
 */
void nd_cm_removed(struct nd_cm *cm);

/*
 * nd_cm_id_create - a new id.
 * ops, owner  in: the id's owner; not pinned by this
 * Returns 0 or a negative errno. The caller holds the one pin. Pins the adapter until the id is destroyed.
 */
int nd_cm_id_create(
    struct nd_cm *cm, const struct nd_cm_owner_ops *ops, void *owner, struct nd_cm_id **id);
void nd_cm_id_pin(struct nd_cm_id *id);
/* The last one destroys the id; then no locks may be held. NULL is allowed. */
void nd_cm_id_unpin(struct nd_cm_id *id);

/*
 * nd_cm_id_set_owner - changes its owner; NULL, NULL = none: its events are dropped. An owner does this before it dies.
 * May be called with the locks of both owners held.
 */
void nd_cm_id_set_owner(struct nd_cm_id *id, const struct nd_cm_owner_ops *ops, void *owner);

/*
 * nd_cm_id_close - destroys the rdma_cm_id now, in this thread, and drops the caller's pin. For listening ids alone:
 * when it returns no new request can arrive. No other thread may be using the id; no locks held.
 */
void nd_cm_id_close(struct nd_cm_id *id);

/* Returns whether the address it is bound to is one of the adapter's own port. */
bool nd_cm_id_on_device(const struct nd_cm_id *id);

/* Starts a timer that is not running, or moves one that is. */
void nd_cm_timer_start(struct nd_cm *cm, struct nd_cm_timer *timer, unsigned delay_ms);
/* Returns whether it was running: if so, it never calls expired. May be called with the owner's lock held. */
bool nd_cm_timer_stop(struct nd_cm *cm, struct nd_cm_timer *timer);
void nd_cm_timer_init(struct nd_cm_timer *timer, void (*expired)(struct nd_cm_timer *timer));

/* ND_* for an errno of a connection attempt; `otherwise` for an errno that says nothing about the network. */
HRESULT nd_cm_connect_status(int error, HRESULT otherwise);
/* ND_* for a failed bind or listen; ND_STATUS_ACCESS_DENIED: the port is for privileged processes. */
HRESULT nd_cm_bind_status(const struct nd_dialect *dialect, int error);

#endif
