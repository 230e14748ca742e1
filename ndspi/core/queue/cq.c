/* SPDX-License-Identifier: MIT */
/*
 * cq.c - a completion queue: its life and its depth, the queue pairs and batches attached to it, and the work that
 * follows its lock.
 */
#include "ndspi/core/queue/cq_private.h"

#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"
#include "ndspi/core/status.h"
#include "ndspi/core/device/depth.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- its end, and the work that follows its lock ---- */

/* Drops results that no client will fetch. */
static void drop_entries_locked(struct nd_cq *cq)
{
    for (; cq->count; cq->count--) {
        struct nd_cq_entry *entry = &cq->entries[cq->head];

        nd_cq_count_end(entry);
        if (entry->queue)
            nd_cq_free_up_to(
                entry->queue, --entry->queue->unfetched ? entry->next : entry->queue->seen);
        if (entry->srq)
            nd_object_unpin_later(&entry->srq->object, &cq->dead);
        if (entry->mw)
            nd_object_unpin_later(&entry->mw->object, &cq->dead);
        cq->head = cq->head + 1 == cq->capacity ? 0 : cq->head + 1;
    }
}

/* Unpins the queue pairs that wait for their last completion: none comes any more. */
static void release_closing_locked(struct nd_cq *cq)
{
    struct list_node *node;

    while ((node = list_pop(&cq->closing))) {
        struct nd_queue *queue = list_entry(node, struct nd_queue, closing_link);

        queue->closing = false;
        nd_object_unpin_later(&queue->qp->object, &cq->dead);
    }
}

static void abandon_locked(struct nd_cq *cq)
{
    lock_assert_held(&cq->poll.lock);
    drop_entries_locked(cq);
    release_closing_locked(cq);
}

void nd_cq_fail_locked(struct nd_cq *cq, HRESULT status)
{
    const char *name = nd_status_name(status);

    lock_assert_held(&cq->poll.lock);
    if (cq->failed)
        return;
    log_limited(
        LOG_ERROR, LOG_CQ, "completion queue of depth %u failed: %s", cq->depth, name ? name : "?");
    cq->failed = status;
    if (status != ND_DEVICE_REMOVED)
        atomic_fetch_add_explicit(
            &cq->adapter->counts.completion_queue_errors, 1, memory_order_relaxed);
    abandon_locked(cq);
    if (cq->waiting && nd_pending_decide(&cq->pending, cq->waiting, status))
        cq->deliver = true;
    cq->waiting = 0;
}

static void flush_broken(struct nd_qp *qp)
{
    nd_qp_broke(qp);
    nd_object_unpin(&qp->object);
}

/* Chooses the path that GetResults takes next. */
static void choose_way_locked(struct nd_cq *cq)
{
    bool open = !cq->guarded && !cq->count && !cq->waiting && !cq->failed && !cq->closed &&
                !cq->refused && !cq->taking && list_empty(&cq->closing) && list_empty(&cq->batches);

    cq->poll.counted = open && nd_cq_may_pass_locked(cq);
    cq->poll.usual_room = open && !cq->poll.counted ? ND_CQ_BATCH : 0;
}

void nd_cq_unlock_and_deliver(struct nd_cq *cq)
{
    struct nd_object *dead = NULL;
    struct list_head broken;
    bool deliver = cq->deliver;

    list_init(&broken);
    cq->deliver = false;
    if (!cq->taking) { /* else that thread does it */
        dead = nd_object_take_dead(&cq->dead);
        list_splice_tail(&broken, &cq->broken);
    }
    choose_way_locked(cq);
    lock_release(&cq->poll.lock);
    if (deliver)
        nd_pending_deliver(&cq->pending);
    nd_object_destroy_dead(dead);
    while (ND_UNLIKELY(!list_empty(&broken)))
        flush_broken(list_entry(list_pop(&broken), struct nd_qp, broken_link));
}

/* ---- the queue pairs with an SRQ, by number ---- */

static void set_places(struct nd_cq_shared *shared, struct list_head *places, uint32_t count)
{
    shared->places = places;
    shared->mask = count - 1;
    for (uint32_t i = 0; i < count; i++)
        list_init(&places[i]);
}

static void init_shared(struct nd_cq_shared *shared)
{
    set_places(shared, shared->few, sizeof(shared->few) / sizeof(shared->few[0]));
}

static void free_places(const struct nd_cq_shared *shared, struct list_head *places)
{
    if (places != shared->few)
        free(places);
}

/* Makes the table larger, if there is memory. If not, each place has more queue pairs. */
static void grow_shared_locked(struct nd_cq_shared *shared)
{
    uint32_t count = shared->mask + 1;
    struct list_head *old = shared->places, *places;
    struct list_node *node;

    if (shared->count < 2 * count || !(places = malloc(4 * count * sizeof(*places))))
        return;
    set_places(shared, places, 4 * count);
    for (uint32_t i = 0; i < count; i++)
        while ((node = list_pop(&old[i])))
            list_add_tail(
                nd_cq_shared_place(shared, list_entry(node, struct nd_qp, shared_link)->number),
                node);
    free_places(shared, old);
}

void nd_cq_add_shared(struct nd_cq *cq, struct nd_qp *qp)
{
    struct nd_cq_shared *shared = &cq->shared;

    lock_acquire(&cq->poll.lock);
    grow_shared_locked(shared);
    shared->count++;
    list_add_tail(nd_cq_shared_place(shared, qp->number), &qp->shared_link);
    lock_release(&cq->poll.lock);
}

void nd_cq_remove_shared(struct nd_cq *cq, struct nd_qp *qp)
{
    lock_acquire(&cq->poll.lock);
    cq->shared.count--;
    list_del(&qp->shared_link);
    lock_release(&cq->poll.lock);
}

void nd_cq_number_shared(struct nd_cq *cq, struct nd_qp *qp, uint32_t number)
{
    lock_acquire(&cq->poll.lock);
    qp->number = number;
    if (list_linked(&qp->shared_link)) {
        list_del(&qp->shared_link);
        list_add_tail(nd_cq_shared_place(&cq->shared, number), &qp->shared_link);
    }
    lock_release(&cq->poll.lock);
}

/* ---- life ---- */

/* Hidden completions of one queue pair at a time: two forced signals, and some Invalidates. */
enum { RESERVE_PER_QP = 8 };

/* Entries of the device's queue beside the client's. */
static uint32_t reserve_for(unsigned queues)
{
    uint32_t reserve = ND_CQ_RESERVE;

    while (reserve < queues * RESERVE_PER_QP)
        reserve *= 2;
    return reserve;
}

/*
 * Entries for a client that asked for `depth`. Cards round a depth up, and programs that count one result too few rely
 * on it. The sum with the reserve is one less than a power of two, which is what a card rounds up to by itself.
 */
enum { BEYOND_DEPTH = 64 };

static uint32_t capacity_for(const struct nd_adapter *adapter, uint32_t depth)
{
    uint64_t entries = 1;

    while (entries <= (uint64_t)depth + BEYOND_DEPTH + ND_CQ_RESERVE)
        entries *= 2;
    entries -= ND_CQ_RESERVE + 1;
    return entries < adapter->limits.max_cq_depth ? (uint32_t)entries
                                                  : adapter->limits.max_cq_depth;
}

static bool make_device_queue(struct nd_cq *cq, uint32_t capacity)
{
    const struct nd_adapter *adapter = cq->adapter;

    cq->capacity = capacity;
    cq->poll.ibv = nd_create_cq(&adapter->port, (int)(capacity + ND_CQ_RESERVE),
        (int)(adapter->limits.max_cq_depth + ND_CQ_RESERVE), &cq->child, adapter->channel);
    if (cq->poll.ibv)
        cq->poll.poll_cq = cq->poll.ibv->context->ops.poll_cq;
    return cq->poll.ibv;
}

static void completion(struct nd_child *child)
{
    nd_cq_event(container_of(child, struct nd_cq, child));
}

static bool poll_before_event(struct nd_child *child)
{
    return nd_cq_poll_before_event(container_of(child, struct nd_cq, child));
}

/* The only asynchronous event of a CQ is IBV_EVENT_CQ_ERR. */
static void event(struct nd_child *child, enum ibv_event_type type)
{
    (void)type;
    nd_cq_fail(container_of(child, struct nd_cq, child), ND_BUFFER_OVERFLOW);
}

static void removed(struct nd_child *child)
{
    nd_cq_fail(container_of(child, struct nd_cq, child), ND_DEVICE_REMOVED);
}

static void count(struct nd_child *child, struct nd_counts *counts)
{
    nd_cq_count(container_of(child, struct nd_cq, child), counts);
}

static const struct nd_child_ops child_ops = {
    .count = count,
    .poll_before_event = poll_before_event,
    .completion = completion,
    .event = event,
    .removed = removed,
};

static void cancel(struct nd_object *object)
{
    nd_cq_cancel((struct nd_cq *)object);
}

HRESULT nd_cq_init(struct nd_cq *cq, struct nd_adapter *adapter, struct nd_sink_file *file,
    uint32_t depth, uintptr_t affinity, void (*destroy)(struct nd_object *object))
{
    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    cq->adapter = adapter;
    lock_init(&cq->poll.lock, LOCK_CQ, "completion queue");
    lock_init(&cq->size_lock, LOCK_CQ_SIZE, "completion queue size");
    list_init(&cq->closing);
    init_shared(&cq->shared);
    list_init(&cq->batches);
    list_init(&cq->broken);
    if (!make_device_queue(cq, capacity_for(adapter, depth)) && !make_device_queue(cq, depth))
        return nd_status_from_errno(errno ? errno : ENOMEM);
    cq->guarded = adapter->dialect->index == ND_V1 && adapter->sink->store;
    cq->poll.usual_room = cq->guarded ? 0 : ND_CQ_BATCH;
    cq->depth = depth;
    cq->affinity = affinity;
    if (adapter->verbs->mark_solicited && !nd_has_quirk(&adapter->port.caps, SOLICITED)) {
        adapter->verbs->mark_solicited(cq->poll.ibv);
        cq->marks = true;
    }
    if (!(cq->entries = malloc(cq->capacity * sizeof(*cq->entries)))) {
        adapter->verbs->destroy_cq(cq->poll.ibv);
        return ND_NO_MEMORY;
    }
    nd_object_init(&cq->object, destroy);
    nd_pending_init(&cq->pending, adapter->sink, file, &cq->object, cancel);
    if (adapter->dialect->arms && FAILED(nd_pending_prepare(&cq->pending))) {
        nd_pending_fini(&cq->pending);
        free(cq->entries);
        adapter->verbs->destroy_cq(cq->poll.ibv);
        return ND_NO_MEMORY;
    }
    nd_adapter_add(adapter, &cq->child, &cq->object, &child_ops);
    return ND_SUCCESS;
}

void nd_cq_close(struct nd_cq *cq)
{
    lock_acquire(&cq->poll.lock);
    cq->closed = true;
    cq->waiting = 0;
    abandon_locked(cq);
    nd_cq_unlock_and_deliver(cq);
    nd_pending_cancel(&cq->pending);
    nd_object_unpin(&cq->object);
}

void nd_cq_fini(struct nd_cq *cq)
{
    struct nd_adapter *adapter = cq->adapter;
    int rc;

    nd_adapter_drop(adapter, &cq->child);
    if (cq->unacknowledged)
        adapter->verbs->ack_cq_events(cq->poll.ibv, cq->unacknowledged);
    if ((rc = adapter->verbs->destroy_cq(cq->poll.ibv)))
        log_write(LOG_ERROR, LOG_CQ, "cannot destroy a completion queue: %s", strerror(rc));
    nd_pending_fini(&cq->pending);
    free(cq->entries);
    free_places(&cq->shared, cq->shared.places);
    nd_adapter_unpin(adapter);
}

void nd_cq_fail(struct nd_cq *cq, HRESULT status)
{
    lock_acquire(&cq->poll.lock);
    nd_cq_fail_locked(cq, status);
    nd_cq_unlock_and_deliver(cq);
}

bool nd_cq_passed(struct nd_cq *cq)
{
    bool passed;

    lock_acquire(&cq->poll.lock);
    passed = cq->passed;
    lock_release(&cq->poll.lock);
    return passed;
}

/* ---- Resize ---- */

/* Entries move to the start of a ring of the new size. */
static HRESULT resize_ring_locked(struct nd_cq *cq, uint32_t capacity)
{
    struct nd_cq_entry *entries = malloc(capacity * sizeof(*entries));
    uint32_t first = cq->capacity - cq->head;

    if (!entries)
        return ND_NO_MEMORY;
    if (first > cq->count)
        first = cq->count;
    memcpy(entries, cq->entries + cq->head, first * sizeof(*entries));
    memcpy(entries + first, cq->entries, (cq->count - first) * sizeof(*entries));
    free(cq->entries);
    cq->entries = entries;
    cq->head = 0;
    cq->capacity = capacity;
    return ND_SUCCESS;
}

/* Checks that the queue may shrink to this depth. */
static HRESULT check_waiting(struct nd_cq *cq, uint32_t depth)
{
    HRESULT status = ND_SUCCESS;

    lock_acquire(&cq->poll.lock);
    nd_cq_drain_locked(cq);
    nd_cq_match_notifies_locked(cq, true);
    if (cq->failed)
        status = cq->failed;
    else if (cq->count > depth)
        status = ND_BUFFER_OVERFLOW;
    nd_cq_unlock_and_deliver(cq);
    return status;
}

/* Resizes with the reserve for its queue pairs, or near the device's limit, which refuses that, ND_CQ_RESERVE. */
static int resize_to(struct nd_cq *cq, uint32_t capacity, uint32_t reserve)
{
    int rc = nd_resize_cq(&cq->adapter->port, cq->poll.ibv, (int)(capacity + reserve));

    if (rc && reserve > ND_CQ_RESERVE)
        rc = nd_resize_cq(&cq->adapter->port, cq->poll.ibv, (int)(capacity + ND_CQ_RESERVE));
    return rc;
}

/* capacity  out: what it has room for */
static HRESULT resize_device_queue(struct nd_cq *cq, uint32_t depth, uint32_t *capacity)
{
    const struct nd_adapter *adapter = cq->adapter;
    uint32_t reserve;
    int rc;

    lock_assert_held(&cq->size_lock);
    lock_acquire(&cq->poll.lock);
    reserve = reserve_for(cq->queues);
    lock_release(&cq->poll.lock);
    *capacity = capacity_for(adapter, depth);
    if ((rc = resize_to(cq, *capacity, reserve))) {
        *capacity = depth;
        rc = resize_to(cq, depth, reserve);
    }
    if (rc == ENOSPC)
        return nd_adapter_refuse_deeper(adapter, LOG_CQ, "completion queue", depth,
            (uint32_t)cq->poll.ibv->cqe - ND_CQ_RESERVE);
    if (rc)
        return rc == EINVAL ? ND_BUFFER_OVERFLOW : nd_status_from_errno(rc);
    return ND_SUCCESS;
}

/* Resizes our own queue like the device's; on failure restores the device's. */
static HRESULT resize_own_queue(struct nd_cq *cq, uint32_t depth, uint32_t capacity)
{
    HRESULT status;

    lock_assert_held(&cq->size_lock);
    lock_acquire(&cq->poll.lock);
    if (cq->count > depth)
        status = ND_BUFFER_OVERFLOW;
    else
        status = resize_ring_locked(cq, capacity);
    if (SUCCEEDED(status)) {
        cq->depth = depth;
        cq->passed = false;
    }
    lock_release(&cq->poll.lock);
    if (FAILED(status) && resize_to(cq, cq->capacity, ND_CQ_RESERVE))
        log_write(
            LOG_WARN, LOG_CQ, "a completion queue keeps its new size although resizing it failed");
    return status;
}

/* Passing the depth may have become possible: then a pending Notify has to detect an overrun. */
static void depths_changed(struct nd_cq *cq, uint32_t more_results)
{
    lock_acquire(&cq->poll.lock);
    cq->most += more_results;
    nd_cq_rearm_locked(cq);
    nd_cq_unlock_and_deliver(cq);
}

/*
 * The device's queue grows before ours does and shrinks after it: no completion ever loses its room. The device's
 * resize blocks, so the lock of polling is not held.
 */
HRESULT nd_cq_resize(struct nd_cq *cq, uint32_t depth)
{
    struct nd_adapter *adapter = cq->adapter;
    uint32_t capacity;
    HRESULT status;

    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (!depth || depth > adapter->limits.max_cq_depth)
        return ND_INVALID_PARAMETER;
    if (FAILED(status = check_waiting(cq, depth)))
        return status;
    lock_acquire(&cq->size_lock);
    if (SUCCEEDED(status = resize_device_queue(cq, depth, &capacity)))
        status = resize_own_queue(cq, depth, capacity);
    lock_release(&cq->size_lock);
    if (SUCCEEDED(status))
        depths_changed(cq, 0);
    return status;
}

/* ---- the queue pairs attached ---- */

void nd_cq_attach(struct nd_cq *cq, uint32_t most)
{
    struct nd_adapter *adapter = cq->adapter;
    unsigned queues;
    int rc;

    lock_acquire(&cq->size_lock); /* else a Resize of another thread would be undone here */
    lock_acquire(&cq->poll.lock);
    queues = ++cq->queues;
    lock_release(&cq->poll.lock);
    /*
     * Grows in steps; if the device cannot grow, hidden completions use the entries that the client leaves.
     */
    if (reserve_for(queues) > reserve_for(queues - 1) &&
        (rc = nd_resize_cq(
             &adapter->port, cq->poll.ibv, (int)(cq->capacity + reserve_for(queues)))) &&
        rc != ENOSPC)
        log_write(LOG_INFO, LOG_CQ, "no reserve for %u queue pairs on one completion queue: %s",
            queues, strerror(rc));
    lock_release(&cq->size_lock);
    depths_changed(cq, most);
}

/* The unfetched entry with which nd_cq.arrived reached this value (its low bits). */
static struct nd_cq_entry *entry_locked(struct nd_cq *cq, uint32_t arrived)
{
    uint32_t younger = (uint32_t)cq->arrived - arrived;
    uint64_t at = (uint64_t)cq->head + cq->count - 1 - younger;

    return &cq->entries[at < cq->capacity ? at : at - cq->capacity];
}

/*
 * Drops the references to a queue from its results. Does not visit the results of others, of which there may be many.
 */
static void forget_queue_locked(struct nd_cq *cq, const struct nd_queue *queue)
{
    uint32_t left = cq->count ? queue->unfetched : 0, arrived = queue->newest;

    lock_assert_held(&cq->poll.lock);
    for (; left; left--) {
        struct nd_cq_entry *entry = entry_locked(cq, arrived);

        entry->queue = NULL;
        arrived = entry->older;
    }
}

void nd_cq_detach(struct nd_cq *cq, struct nd_queue *queue, uint32_t most)
{
    lock_acquire(&cq->poll.lock);
    cq->queues--;
    cq->most -= most;
    forget_queue_locked(cq, queue);
    nd_cq_unlock_and_deliver(cq);
}

void nd_cq_close_queue(struct nd_cq *cq, struct nd_queue *queue)
{
    bool drains;

    lock_acquire(&cq->poll.lock);
    if (!cq->closed && !cq->failed) {
        nd_cq_drain_locked(cq);
        nd_cq_match_notifies_locked(cq, true);
    }
    if (!cq->closed && !cq->failed && !nd_queue_idle_locked(queue)) {
        queue->closing = true;
        nd_object_pin(&queue->qp->object);
        list_add_tail(&cq->closing, &queue->closing_link);
    }
    if ((drains = nd_cq_drains_closing_locked(cq)))
        nd_cq_rearm_locked(cq);
    nd_cq_unlock_and_deliver(cq);
    if (drains)
        nd_adapter_take_unread(cq->adapter); /* arms the queue again if the event was for it */
}

/* ---- their batches: the open ones, and what the device refused ---- */

void nd_cq_batch_begins(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    list_add_tail(&cq->batches, &queue->batch_link);
    nd_cq_unlock_and_deliver(cq);
}

void nd_cq_batch_ends(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    list_del(&queue->batch_link);
    nd_cq_unlock_and_deliver(cq);
}

/*
 * Submits each open batch once. A queue leaves the list before its queue pair's last pin goes (nd_qp_close). The
 * queue's lock comes before LOCK_CQ, so this drops LOCK_CQ meanwhile.
 */
void nd_cq_submit_batches_locked(struct nd_cq *cq)
{
    unsigned open = 0;

    lock_assert_held(&cq->poll.lock);
    list_for_each (&cq->batches, node)
        open++;
    for (; open && !list_empty(&cq->batches); open--) {
        struct list_node *node = list_pop(&cq->batches);
        struct nd_queue *queue = list_entry(node, struct nd_queue, batch_link);
        struct nd_qp *qp = queue->qp;

        list_add_tail(&cq->batches, node);
        nd_object_pin(&qp->object);
        nd_cq_unlock_and_deliver(cq);
        nd_queue_submit(queue);
        nd_object_unpin(&qp->object);
        lock_acquire(&cq->poll.lock);
    }
}

void nd_cq_refuse(
    struct nd_cq *cq, struct nd_request *first, const struct nd_request *end, HRESULT status)
{
    struct nd_queue *queue = first->queue;

    lock_acquire(&cq->poll.lock);
    for (struct nd_request *request = first; request != end; request = request->next) {
        request->special |= ND_REQUEST_REFUSED;
        request->result.Status = status;
        status = ND_CANCELED;
        queue->refused++;
        cq->refused++;
    }
    nd_cq_unlock_and_deliver(cq);
}

bool nd_cq_is_turn_of(struct nd_cq *cq, const struct nd_request *request)
{
    bool is_turn;

    lock_acquire(&cq->poll.lock);
    is_turn = nd_queue_oldest_locked(request->queue) == request;
    nd_cq_unlock_and_deliver(cq);
    return is_turn;
}

void nd_cq_end_refused(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    nd_cq_drain_locked(cq);
    nd_cq_end_refused_locked(cq, queue, NULL);
    nd_cq_match_notifies_locked(cq, true);
    nd_cq_unlock_and_deliver(cq);
}
