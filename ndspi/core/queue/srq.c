/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/srq.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/status.h"
#include "ndspi/core/device/depth.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOTIFY = 0, ALL_KINDS = 1 };

/* Records never move: completions in flight hold their addresses. So a deeper queue gets another chunk. */
struct nd_srq_chunk {
    struct nd_srq_chunk *next;
    struct nd_request requests[];
};

static HRESULT add_records(struct nd_srq *srq, uint32_t count)
{
    size_t size = sizeof(struct nd_srq_chunk) + (size_t)count * sizeof(struct nd_request);
    struct nd_srq_chunk *chunk = aligned_alloc(_Alignof(struct nd_request), size);

    if (!chunk)
        return ND_NO_MEMORY;
    memset(chunk, 0, size);
    for (uint32_t i = 0; i < count; i++) {
        struct nd_request *request = &chunk->requests[i];

        request->result.RequestType = Nd2RequestTypeReceive;
        request->special = ND_REQUEST_SHARED;
        request->srq = srq;
        request->next = srq->free;
        srq->free = request;
    }
    chunk->next = srq->chunks;
    srq->chunks = chunk;
    srq->records += count;
    return ND_SUCCESS;
}

static void free_records(struct nd_srq *srq)
{
    for (struct nd_srq_chunk *chunk = srq->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
}

static void event(struct nd_child *child, enum ibv_event_type type)
{
    struct nd_srq *srq = container_of(child, struct nd_srq, child);

    if (type == IBV_EVENT_SRQ_LIMIT_REACHED)
        nd_srq_event(srq);
    else
        nd_srq_fail(srq, ND_INTERNAL_ERROR);
}

static void removed(struct nd_child *child)
{
    nd_srq_fail(container_of(child, struct nd_srq, child), ND_DEVICE_REMOVED);
}

static void count(struct nd_child *child, struct nd_counts *counts)
{
    nd_srq_count(container_of(child, struct nd_srq, child), counts);
}

static const struct nd_child_ops child_ops = { .event = event, .removed = removed, .count = count };

static bool make_device_queue(struct nd_srq *srq, uint32_t depth)
{
    const struct nd_adapter *adapter = srq->adapter;
    struct ibv_srq_init_attr init = { .srq_context = &srq->child,
        .attr = { .max_wr = depth, .max_sge = srq->max_sge } };

    srq->ibv = nd_create_srq(&adapter->port, srq->pd, &init, adapter->limits.max_srq_depth);
    srq->room = init.attr.max_wr;
    return srq->ibv;
}

static void cancel(struct nd_object *object)
{
    nd_srq_cancel((struct nd_srq *)object);
}

HRESULT nd_srq_init(struct nd_srq *srq, struct nd_adapter *adapter, struct nd_sink_file *file,
    uint32_t depth, uint32_t sge, uint32_t threshold, uintptr_t affinity,
    void (*destroy)(struct nd_object *object))
{
    HRESULT status;

    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (FAILED(status = add_records(srq, depth)))
        return status;
    srq->adapter = adapter;
    lock_init(&srq->lock, LOCK_QP_QUEUE, "shared receive queue");
    lock_init(&srq->limit_lock, LOCK_SRQ_LIMIT, "shared receive queue limit");
    srq->depth = depth;
    srq->threshold = threshold;
    srq->max_sge = sge;
    srq->max_length = adapter->limits.max_transfer;
    srq->affinity = affinity;
    if (!srq->pd)
        srq->pd = adapter->port.pd;
    if (!make_device_queue(srq, depth)) {
        free_records(srq);
        return nd_status_from_errno(errno ? errno : ENOMEM);
    }
    nd_object_init(&srq->object, destroy);
    nd_pending_init(&srq->pending, adapter->sink, file, &srq->object, cancel);
    if (adapter->dialect->arms && FAILED(nd_pending_prepare(&srq->pending))) {
        nd_pending_fini(&srq->pending);
        adapter->verbs->destroy_srq(srq->ibv);
        free_records(srq);
        return ND_NO_MEMORY;
    }
    nd_adapter_add(adapter, &srq->child, &srq->object, &child_ops);
    return ND_SUCCESS;
}

void nd_srq_close(struct nd_srq *srq)
{
    nd_pending_cancel(&srq->pending);
    nd_object_unpin(&srq->object);
}

void nd_srq_fini(struct nd_srq *srq)
{
    struct nd_adapter *adapter = srq->adapter;
    int rc;

    nd_adapter_drop(adapter, &srq->child);
    if ((rc = adapter->verbs->destroy_srq(srq->ibv)))
        log_write(LOG_ERROR, LOG_QP, "cannot destroy a shared receive queue: %s", strerror(rc));
    nd_pending_fini(&srq->pending);
    free_records(srq);
    nd_adapter_unpin(adapter);
}

/* Only pushes here, and take-all only under the lock: that avoids ABA. Pairs with take_locked. */
void nd_srq_seen(struct nd_srq *srq, struct nd_request *request)
{
    struct nd_request *head = atomic_load_explicit(&srq->returned, memory_order_relaxed);

    do
        request->next = head;
    while (!atomic_compare_exchange_weak_explicit(
        &srq->returned, &head, request, memory_order_release, memory_order_relaxed));
    atomic_fetch_sub_explicit(&srq->held, 1, memory_order_release);
}

static struct nd_request *take_locked(struct nd_srq *srq)
{
    struct nd_request *request;

    if (srq->failed || atomic_load_explicit(&srq->posted, memory_order_acquire) >= srq->depth)
        return NULL;
    if (!srq->free)
        srq->free = atomic_exchange_explicit(&srq->returned, NULL, memory_order_acquire);
    if ((request = srq->free))
        srq->free = request->next;
    return request;
}

HRESULT nd_srq_receive(struct nd_srq *srq, void *context, const ND2_SGE *sge, uint32_t n)
{
    struct nd_request *request;
    struct ibv_recv_wr wr, *bad;
    HRESULT status = ND_SUCCESS;
    uint64_t total = 0;
    int error;

    if (n > srq->max_sge)
        return ND_DATA_OVERRUN;
    if (n && !sge)
        return ND_INVALID_PARAMETER_2;
    for (uint32_t i = 0; i < n; i++)
        total += sge[i].BufferLength;
    if (total > srq->max_length)
        return ND_BUFFER_OVERFLOW;
    lock_acquire(&srq->lock);
    if (!(request = take_locked(srq))) {
        status = srq->failed ? srq->failed : ND_NO_MORE_ENTRIES;
        lock_release(&srq->lock);
        return status;
    }
    request->result.RequestContext = context;
    wr = (struct ibv_recv_wr){ .wr_id = (uintptr_t)request,
        .sg_list = (struct ibv_sge *)(uintptr_t)sge,
        .num_sge = total ? (int)n : 0 };
    /* Counted before the post: the completion may be handled before this thread goes on. */
    atomic_fetch_add_explicit(&srq->posted, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&srq->held, 1, memory_order_relaxed);
    if (ND_UNLIKELY(error = ibv_post_srq_recv(srq->ibv, &wr, &bad))) {
        atomic_fetch_sub_explicit(&srq->posted, 1, memory_order_relaxed);
        atomic_fetch_sub_explicit(&srq->held, 1, memory_order_relaxed);
        request->next = srq->free;
        srq->free = request;
        status = error == ENOMEM ? ND_NO_MORE_ENTRIES : nd_status_from_errno(error);
    }
    lock_release(&srq->lock);
    return status;
}

/* The device's limit: one event when fewer than this are left; 0: none. */
static int set_device_limit(struct nd_srq *srq, uint32_t limit)
{
    struct ibv_srq_attr attr = { .srq_limit = limit };

    return srq->adapter->verbs->modify_srq(srq->ibv, &attr, IBV_SRQ_LIMIT);
}

static bool below_threshold(struct nd_srq *srq, uint32_t threshold)
{
    return threshold && atomic_load_explicit(&srq->held, memory_order_acquire) < threshold;
}

/*
 * Serves the pending Notify requests. They end at once if fewer Receives than the threshold are held; otherwise arms
 * the device's limit, since the device may have completions that were not polled yet, and checks again after arming.
 */
static HRESULT watch_locked(struct nd_srq *srq)
{
    uint32_t threshold = srq->threshold;
    int rc = 0;

    lock_assert_held(&srq->limit_lock);
    if (!nd_pending_count(&srq->pending, ALL_KINDS))
        return ND_SUCCESS;
    if (threshold && !below_threshold(srq, threshold))
        rc = set_device_limit(srq, threshold);
    if (rc) {
        log_write(
            LOG_ERROR, LOG_QP, "cannot arm the limit of a shared receive queue: %s", strerror(rc));
        nd_pending_complete_all(&srq->pending, ALL_KINDS, ND_INTERNAL_ERROR);
        return ND_INTERNAL_ERROR;
    }
    if (below_threshold(srq, threshold)) {
        nd_pending_complete_all(&srq->pending, ALL_KINDS, ND_SUCCESS);
        set_device_limit(srq, 0);
    }
    return ND_SUCCESS;
}

HRESULT nd_srq_notify(struct nd_srq *srq, OVERLAPPED *overlapped)
{
    HRESULT status;

    if (!overlapped)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(srq->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&srq->limit_lock);
    lock_acquire(&srq->lock);
    status = srq->failed ? srq->failed : nd_pending_add(&srq->pending, overlapped, NOTIFY, NULL);
    lock_release(&srq->lock);
    if (SUCCEEDED(status))
        (void)watch_locked(srq); /* the status goes to the request */
    lock_release(&srq->limit_lock);
    return status;
}

/* Arms for a Notify that begins, with both locks held. Returns ND_PENDING, or what the queue failed with. */
static HRESULT begin_arm_locked(struct nd_srq *srq, OVERLAPPED *request)
{
    HRESULT status = ND_PENDING;

    lock_assert_held(&srq->limit_lock);
    lock_acquire(&srq->lock);
    if (srq->failed)
        status = srq->failed;
    else if (!nd_pending_count(&srq->pending, ALL_KINDS))
        status = nd_pending_add(&srq->pending, request, NOTIFY, NULL);
    lock_release(&srq->lock);
    return status;
}

void nd_srq_arm(struct nd_srq *srq, OVERLAPPED *request)
{
    HRESULT status;

    lock_acquire(&srq->limit_lock);
    status = begin_arm_locked(srq, request);
    if (SUCCEEDED(status))
        (void)watch_locked(srq); /* the status goes to the request */
    lock_release(&srq->limit_lock);
    if (FAILED(status))
        (void)nd_pending_complete_now(&srq->pending, request, status);
}

void nd_srq_cancel(struct nd_srq *srq)
{
    nd_pending_cancel(&srq->pending);
}

void nd_srq_event(struct nd_srq *srq)
{
    nd_pending_complete_all(&srq->pending, ALL_KINDS, ND_SUCCESS);
}

void nd_srq_fail(struct nd_srq *srq, HRESULT failed)
{
    lock_acquire(&srq->lock);
    if (!srq->failed)
        srq->failed = failed;
    lock_release(&srq->lock);
    nd_pending_complete_all(&srq->pending, ALL_KINDS, failed);
}

static HRESULT modify_device_queue(struct nd_srq *srq, uint32_t depth)
{
    int rc = nd_resize_srq(&srq->adapter->port, srq->ibv, srq->room, depth);

    if (rc == ENOSPC)
        return nd_adapter_refuse_deeper(
            srq->adapter, LOG_QP, "shared receive queue", depth, srq->room);
    return rc ? nd_status_from_errno(rc) : ND_SUCCESS;
}

/* New records are needed only beyond the greatest depth it ever had. */
static HRESULT set_depth(struct nd_srq *srq, uint32_t depth)
{
    HRESULT status = ND_SUCCESS;
    uint32_t records;

    lock_acquire(&srq->lock);
    records = srq->records;
    if (atomic_load_explicit(&srq->posted, memory_order_acquire) > depth)
        status = ND_BUFFER_OVERFLOW;
    lock_release(&srq->lock);
    if (FAILED(status))
        return status;
    if (depth > records && FAILED(status = modify_device_queue(srq, depth)))
        return status;
    lock_acquire(&srq->lock);
    if (atomic_load_explicit(&srq->posted, memory_order_acquire) > depth)
        status = ND_BUFFER_OVERFLOW;
    else if (depth > srq->records)
        status = add_records(srq, depth - srq->records);
    if (SUCCEEDED(status))
        srq->depth = depth;
    lock_release(&srq->lock);
    return status;
}

/* Checks the new values together with those that are kept. */
static HRESULT check_modify_locked(struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
    lock_assert_held(&srq->limit_lock);
    depth = depth ? depth : srq->depth;
    threshold = threshold ? threshold : srq->threshold;
    return depth > srq->adapter->limits.max_srq_depth || threshold > depth ? ND_INVALID_PARAMETER
                                                                           : ND_SUCCESS;
}

static HRESULT modify_locked(struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
    HRESULT status = check_modify_locked(srq, depth, threshold);

    if (SUCCEEDED(status) && depth)
        status = set_depth(srq, depth);
    if (FAILED(status) || !threshold)
        return status;
    lock_acquire(&srq->lock);
    srq->threshold = threshold;
    lock_release(&srq->lock);
    return watch_locked(srq);
}

HRESULT nd_srq_modify(struct nd_srq *srq, uint32_t depth, uint32_t threshold)
{
    HRESULT status;

    if (nd_adapter_removed(srq->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&srq->limit_lock);
    status = modify_locked(srq, depth, threshold);
    lock_release(&srq->limit_lock);
    return status;
}
