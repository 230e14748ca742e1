/* SPDX-License-Identifier: MIT */
#include "ndspi/core/pending.h"

#include <assert.h>
#include <stdlib.h>

static struct nd_pending_request *request_of(struct list_node *node)
{
    return list_entry(node, struct nd_pending_request, link);
}

void nd_pending_init(struct nd_pending *pending, const struct nd_sink *sink,
    struct nd_sink_file *file, struct nd_object *object, void (*cancel)(struct nd_object *object))
{
    lock_init(&pending->lock, LOCK_PENDING, "pending");
    pending->sink = sink;
    pending->file = sink->file_ref(file);
    list_init(&pending->requests);
    list_init(&pending->spare);
    pending->users = sink->file_users(file);
    nd_file_users_add(pending->users, &pending->user, object, cancel);
}

void nd_pending_fini(struct nd_pending *pending)
{
    struct list_node *node;

    nd_file_users_remove(pending->users, &pending->user);
    assert(list_empty(&pending->requests));
    while ((node = list_pop(&pending->spare)))
        free(request_of(node));
    pending->sink->file_unref(pending->file);
}

HRESULT nd_pending_prepare(struct nd_pending *pending)
{
    struct nd_pending_request *request = calloc(1, sizeof(*request));

    if (!request)
        return ND_NO_MEMORY;
    lock_acquire(&pending->lock);
    list_add_head(&pending->spare, &request->link);
    lock_release(&pending->lock);
    return ND_SUCCESS;
}

static struct nd_pending_request *take_record_locked(struct nd_pending *pending)
{
    struct list_node *node = list_pop(&pending->spare);

    return node ? request_of(node) : calloc(1, sizeof(struct nd_pending_request));
}

/* The pages of the overlapped calls name one code for a request without memory to queue it. */
static HRESULT as_paged(HRESULT status)
{
    return status == ND_NO_MEMORY ? ND_INSUFFICIENT_RESOURCES : status;
}

static void start_locked(struct nd_pending *pending, OVERLAPPED *overlapped, bool reset)
{
    pending->sink->start(pending->file, overlapped);
    if (reset && pending->sink->reset)
        pending->sink->reset(pending->file, overlapped);
}

static HRESULT add(
    struct nd_pending *pending, OVERLAPPED *overlapped, unsigned kind, void *context, bool reset)
{
    struct nd_pending_request *request;
    HRESULT status = ND_INSUFFICIENT_RESOURCES;

    if (!overlapped)
        return ND_INVALID_PARAMETER;
    lock_acquire(&pending->lock);
    if (nd_file_users_closed(pending->users)) {
        status = ND_INVALID_HANDLE;
    } else if ((request = take_record_locked(pending))) {
        request->overlapped = overlapped;
        request->context = context;
        request->kind = kind;
        request->decided = false;
        request->unreset = !reset;
        status = pending->sink->reserve(pending->file);
        list_add_tail(FAILED(status) ? &pending->spare : &pending->requests, &request->link);
        if (SUCCEEDED(status))
            start_locked(pending, overlapped, reset);
    }
    lock_release(&pending->lock);
    status = as_paged(status);
    return FAILED(status) ? status : ND_PENDING;
}

HRESULT nd_pending_add(
    struct nd_pending *pending, OVERLAPPED *overlapped, unsigned kind, void *context)
{
    return add(pending, overlapped, kind, context, true);
}

HRESULT nd_pending_add_unreset(
    struct nd_pending *pending, OVERLAPPED *overlapped, unsigned kind, void *context)
{
    return add(pending, overlapped, kind, context, !pending->sink->reset);
}

/* While the lock is held, nothing sets the event of a request that is on the list. */
void nd_pending_reset(struct nd_pending *pending)
{
    lock_acquire(&pending->lock);
    list_for_each (&pending->requests, node) {
        struct nd_pending_request *request = request_of(node);

        if (request->unreset)
            pending->sink->reset(pending->file, request->overlapped);
        request->unreset = false;
    }
    lock_release(&pending->lock);
}

/* Frees the record before the client learns of the end: it may issue the next request at once. */
static void end_locked(
    struct nd_pending *pending, struct nd_pending_request *request, HRESULT status)
{
    list_del(&request->link);
    list_add_head(&pending->spare, &request->link);
    pending->sink->complete(pending->file, request->overlapped, status);
}

static bool complete_oldest(
    struct nd_pending *pending, unsigned kind, const void *wanted, HRESULT status, void **context)
{
    bool found = false;

    lock_acquire(&pending->lock);
    list_for_each (&pending->requests, node) {
        struct nd_pending_request *request = request_of(node);

        if (request->kind != kind || request->decided || (wanted && request->context != wanted))
            continue;
        if (context)
            *context = request->context;
        end_locked(pending, request, status);
        found = true;
        break;
    }
    lock_release(&pending->lock);
    return found;
}

bool nd_pending_complete_first(
    struct nd_pending *pending, unsigned kind, HRESULT status, void **context)
{
    return complete_oldest(pending, kind, NULL, status, context);
}

bool nd_pending_complete_match(
    struct nd_pending *pending, unsigned kind, const void *context, HRESULT status)
{
    assert(context);
    return complete_oldest(pending, kind, context, status, NULL);
}

static unsigned decide_locked(struct nd_pending *pending, unsigned kind_mask, HRESULT status)
{
    unsigned count = 0;

    list_for_each (&pending->requests, node) {
        struct nd_pending_request *request = request_of(node);

        if (request->decided || !(kind_mask & 1u << request->kind))
            continue;
        request->decided = true;
        request->status = status;
        count++;
    }
    return count;
}

static void deliver_locked(struct nd_pending *pending)
{
    list_for_each_safe (&pending->requests, node) {
        struct nd_pending_request *request = request_of(node);

        if (request->decided)
            end_locked(pending, request, request->status);
    }
}

unsigned nd_pending_complete_all(struct nd_pending *pending, unsigned kind_mask, HRESULT status)
{
    unsigned count;

    lock_acquire(&pending->lock);
    count = decide_locked(pending, kind_mask, status);
    deliver_locked(pending);
    lock_release(&pending->lock);
    return count;
}

void nd_pending_change(struct nd_pending *pending, unsigned kind)
{
    lock_acquire(&pending->lock);
    list_for_each (&pending->requests, node)
        if (!request_of(node)->decided)
            request_of(node)->kind = kind;
    lock_release(&pending->lock);
}

void nd_pending_cancel(struct nd_pending *pending)
{
    nd_pending_complete_all(pending, ~0u, ND_CANCELED);
}

unsigned nd_pending_decide(struct nd_pending *pending, unsigned kind_mask, HRESULT status)
{
    unsigned count;

    lock_acquire(&pending->lock);
    count = decide_locked(pending, kind_mask, status);
    lock_release(&pending->lock);
    return count;
}

void nd_pending_deliver(struct nd_pending *pending)
{
    lock_acquire(&pending->lock);
    deliver_locked(pending);
    lock_release(&pending->lock);
}

HRESULT nd_pending_reserve(struct nd_pending *pending, const OVERLAPPED *overlapped)
{
    if (!overlapped)
        return ND_INVALID_PARAMETER;
    if (nd_file_users_closed(pending->users))
        return ND_INVALID_HANDLE;
    return as_paged(pending->sink->reserve(pending->file));
}

void nd_pending_unreserve(struct nd_pending *pending)
{
    pending->sink->unreserve(pending->file);
}

HRESULT nd_pending_complete_reserved(
    struct nd_pending *pending, OVERLAPPED *overlapped, HRESULT status)
{
    lock_acquire(&pending->lock);
    pending->sink->start(pending->file, overlapped);
    pending->sink->complete(pending->file, overlapped, status);
    lock_release(&pending->lock);
    return ND_PENDING;
}

HRESULT nd_pending_complete_now(struct nd_pending *pending, OVERLAPPED *overlapped, HRESULT status)
{
    HRESULT reserved = nd_pending_reserve(pending, overlapped);

    return FAILED(reserved) ? reserved : nd_pending_complete_reserved(pending, overlapped, status);
}

unsigned nd_pending_count(struct nd_pending *pending, unsigned kind_mask)
{
    unsigned count = 0;

    lock_acquire(&pending->lock);
    list_for_each (&pending->requests, node)
        count += !request_of(node)->decided && (kind_mask & 1u << request_of(node)->kind);
    lock_release(&pending->lock);
    return count;
}

HRESULT nd_pending_result(struct nd_pending *pending, OVERLAPPED *overlapped, BOOL wait)
{
    if (!overlapped)
        return ND_INVALID_PARAMETER;
    return pending->sink->result(pending->file, overlapped, wait);
}
