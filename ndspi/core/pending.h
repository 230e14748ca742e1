/* SPDX-License-Identifier: MIT */
/*
 * pending.h - the overlapped requests of one object that have not ended.
 *
 * Each overlapped-capable core object (cq, srq, mr, connector, listener) embeds one nd_pending. It alone touches the
 * client's OVERLAPPED structures, and it guarantees "exactly once": a request is on the list or it is over.
 *
 * Delivery happens with the pending's own lock held (LOCK_PENDING, just above winobj's leaf locks; the sink never calls
 * back). That gives three promises at once: requests end in issue order, a cancel has delivered everything when it
 * returns, and after nd_pending_cancel at the last Release nothing touches a client's structure again. No other lock
 * of an object may be needed under it; core code calls these with or without its object lock held.
 *
 * An object with a contended lock decides a request under it and delivers after it: a decided request keeps its status,
 * and the next thread that takes the pending's lock (a cancel, too) delivers it.
 */
#ifndef NDSPI_CORE_PENDING_H
#define NDSPI_CORE_PENDING_H

#include "ndspi/core/sink.h"

#include "util/list.h"
#include "util/lock.h"

struct nd_pending_request {
    struct list_node link;
    OVERLAPPED *overlapped;
    void *context; /* the owner's, e.g. the connector of a GetConnectionRequest */
    unsigned kind; /* the owner's: which method; below 32 */
    bool decided;
    bool unreset;   /* nd_pending_reset has to reset its event */
    HRESULT status; /* valid if decided */
};

struct nd_pending {
    struct lock lock;
    const struct nd_sink *sink;
    struct nd_sink_file *file;   /* the object's file; pinned */
    struct list_head requests;   /* issue order */
    struct list_head spare;      /* recycled records, so that Notify allocates once */
    struct nd_file_users *users; /* the file's */
    struct nd_file_user user;    /* this one in that list */
};

/*
 * nd_pending_init - the last step of making an object.
 * sink, file  in: pins the file until fini
 * object      in: the owner of the requests
 * cancel      in: what the object's CancelOverlappedRequests does; called, with the object pinned and without locks,
 *             when the program closes the last handle of the file. From then on no request begins
 */
void nd_pending_init(struct nd_pending *pending, const struct nd_sink *sink,
    struct nd_sink_file *file, struct nd_object *object, void (*cancel)(struct nd_object *object));
/*
 * Reserves a record: if no other request is pending, the next cannot fail for lack of memory. Returns ND_SUCCESS or
 * ND_NO_MEMORY.
 */
HRESULT nd_pending_prepare(struct nd_pending *pending);
/* Requires an empty list (cancel first). */
void nd_pending_fini(struct nd_pending *pending);

/*
 * nd_pending_add - start a request. Returns ND_PENDING, or ND_INSUFFICIENT_RESOURCES with nothing started: no memory
 * for it; ND_INVALID_PARAMETER for a NULL overlapped; ND_INVALID_HANDLE when the program has closed the file. The
 * client's structure is marked pending before this returns.
 */
HRESULT nd_pending_add(
    struct nd_pending *pending, OVERLAPPED *overlapped, unsigned kind, void *context);

/*
 * nd_pending_add_unreset - nd_pending_add, except that it does not reset the event if the sink has a reset of its own.
 * nd_pending_reset has to follow in the same call of the program: it resets the events of the requests that have not
 * ended.
 */
HRESULT nd_pending_add_unreset(
    struct nd_pending *pending, OVERLAPPED *overlapped, unsigned kind, void *context);
void nd_pending_reset(struct nd_pending *pending);

/* Ends the oldest request of a kind. Returns false if there is none. context  out: may be NULL. */
bool nd_pending_complete_first(
    struct nd_pending *pending, unsigned kind, HRESULT status, void **context);
/* Ends the oldest request of a kind that has this context. Returns false if there is none. */
bool nd_pending_complete_match(
    struct nd_pending *pending, unsigned kind, const void *context, HRESULT status);
/* Ends all requests whose kind is in the mask (1 << kind), in issue order. Returns how many. */
unsigned nd_pending_complete_all(struct nd_pending *pending, unsigned kind_mask, HRESULT status);
/* Makes all requests but the decided ones requests of this kind. */
void nd_pending_change(struct nd_pending *pending, unsigned kind);
/* Ends everything with ND_CANCELED; decided requests keep their status. */
void nd_pending_cancel(struct nd_pending *pending);

/* The two halves of nd_pending_complete_all: decide (any lock may be held), and deliver. */
unsigned nd_pending_decide(struct nd_pending *pending, unsigned kind_mask, HRESULT status);
void nd_pending_deliver(struct nd_pending *pending);

/*
 * Starts and ends a request in one step, for calls that are done at once but must not return ND_SUCCESS. Returns
 * ND_PENDING.
 */
HRESULT nd_pending_complete_now(struct nd_pending *pending, OVERLAPPED *overlapped, HRESULT status);
/*
 * nd_pending_complete_now in two steps, for operations that cannot be undone: no memory is needed once
 * nd_pending_reserve has returned ND_SUCCESS (ND_INSUFFICIENT_RESOURCES: no memory; ND_INVALID_PARAMETER: overlapped is
 * NULL; ND_INVALID_HANDLE: the file is closed). One of the other two must follow; nd_pending_complete_reserved returns
 * ND_PENDING.
 */
HRESULT nd_pending_reserve(struct nd_pending *pending, const OVERLAPPED *overlapped);
void nd_pending_unreserve(struct nd_pending *pending);
HRESULT nd_pending_complete_reserved(
    struct nd_pending *pending, OVERLAPPED *overlapped, HRESULT status);
/* Number of pending requests of the kinds in the mask, without the decided ones. */
unsigned nd_pending_count(struct nd_pending *pending, unsigned kind_mask);

/* GetOverlappedResult: the final status, or ND_PENDING; ND_INVALID_PARAMETER for a NULL overlapped. */
HRESULT nd_pending_result(struct nd_pending *pending, OVERLAPPED *overlapped, BOOL wait);

#endif
