/* SPDX-License-Identifier: MIT */
/* get_results.c - GetResults: from the software queue to the client, and its rarer paths. */
#include "ndspi/core/queue/cq_private.h"
#include "ndspi/core/queue/datapath.h"

#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/srq.h"

#include "util/log.h"

#include <string.h>

const uint32_t nd_operations[] = {
    [Nd2RequestTypeReceive] = ND_OPERATION_RECEIVE,
    [Nd2RequestTypeSend] = ND_OPERATION_SEND,
    [Nd2RequestTypeBind] = ND_OPERATION_BIND,
    [Nd2RequestTypeInvalidate] = ND_OPERATION_INVALIDATE,
    [Nd2RequestTypeRead] = ND_OPERATION_READ,
    [Nd2RequestTypeWrite] = ND_OPERATION_WRITE,
    [ND_REQUEST_TYPE_FAST_REGISTER] = ND_OPERATION_FAST_REGISTER,
};

static void hand_out_v1(const struct nd_cq *cq, const ND2_RESULT *result, ND_RESULT **slot)
{
    ND_RESULT *own = result->RequestContext;
    const ND_RESULT stored = { .Status = result->Status,
        .BytesTransferred = result->BytesTransferred };

    if (!cq->guarded)
        *own = stored;
    else if (!cq->adapter->sink->store(own, &stored, sizeof(stored)))
        log_limited(
            LOG_WARN, LOG_CQ, "the ND_RESULT at %p of a finished request is gone", (void *)own);
    *slot = own;
}

static void hand_out_kernel(const struct nd_cq_entry *entry, void *slot, uint32_t size)
{
    bool failed = FAILED(entry->result.Status);
    struct nd_result result = {
        .status = entry->result.Status,
        .octets = entry->result.BytesTransferred,
        .qp_context = entry->result.QueuePairContext,
        .context = entry->result.RequestContext,
        .type = entry->invalidated ? ND_OPERATION_INVALIDATED
                                   : nd_operations[entry->result.RequestType],
        .vendor = failed ? entry->vendor : 0,
        .token = entry->invalidated ? entry->token : 0,
    };

    memcpy(slot, &result, size);
}

/* Stores one result in the form of its version. */
static void hand_out(
    const struct nd_cq *cq, const struct nd_cq_entry *entry, void *results, size_t at)
{
    switch (cq->adapter->dialect->index) {
    case ND_V2: ((ND2_RESULT *)results)[at] = entry->result; break;
    case ND_V1: hand_out_v1(cq, &entry->result, (ND_RESULT **)results + at); break;
    default: hand_out_kernel(entry, (char *)results + at * cq->poll.size, cq->poll.size); break;
    }
}

/*
 * A window's own result, unless the window was released: then the client may have freed the result. Holds the lock that
 * the release takes, so that nothing is written there after it. Returns how many.
 */
static size_t hand_out_window(
    const struct nd_cq *cq, const struct nd_cq_entry *entry, void *results, size_t at)
{
    bool closed;

    lock_acquire(&cq->adapter->memory_lock);
    if (!(closed = entry->mw->closed))
        hand_out(cq, entry, results, at);
    lock_release(&cq->adapter->memory_lock);
    return !closed;
}

/* Fetches results into the array, from index `at` on. */
static size_t fetch_locked(struct nd_cq *cq, void *results, size_t at, size_t room)
{
    while (at < room && cq->count) {
        struct nd_cq_entry *entry = &cq->entries[cq->head];

        if (ND_UNLIKELY(entry->mw != NULL))
            at += hand_out_window(cq, entry, results, at);
        else
            hand_out(cq, entry, results, at++);
        nd_cq_count_end(entry);
        if (entry->queue)
            nd_cq_free_up_to(
                entry->queue, --entry->queue->unfetched ? entry->next : entry->queue->seen);
        if (entry->srq) {
            nd_srq_fetched(entry->srq);
            nd_object_unpin_later(&entry->srq->object, &cq->dead);
        }
        if (entry->mw)
            nd_object_unpin_later(&entry->mw->object, &cq->dead);
        cq->head = cq->head + 1 == cq->capacity ? 0 : cq->head + 1;
        cq->count--;
    }
    return at;
}

/* An exit of the fast path; noinline keeps it out of that. */
__attribute__((noinline)) unsigned nd_cq_results_rest(
    struct nd_cq_poll *poll, unsigned polled, unsigned left)
{
    struct nd_cq *cq = container_of(poll, struct nd_cq, poll);
    size_t stored = polled - left;
    void *results = poll->results;
    uint32_t room = poll->room;

    for (unsigned i = polled - left; i < polled; i++)
        nd_cq_take_locked(cq, &poll->wc[i]);
    if (ND_UNLIKELY(
            !list_empty(&cq->batches))) /* then the fast path was closed, nothing half done */
        nd_cq_submit_batches_locked(cq);
    /* Where the fast path is open, the device keeps what the array has no room for. */
    if (!poll->usual_room || cq->count < room - stored)
        nd_cq_drain_locked(cq);
    nd_cq_match_notifies_locked(cq, false);
    stored = fetch_locked(cq, results, stored, room);
    nd_cq_unlock_and_deliver(cq);
    return (unsigned)stored;
}

__attribute__((noinline)) unsigned nd_cq_results_release(struct nd_cq_poll *poll, unsigned count)
{
    lock_release_rest(&poll->lock);
    return count;
}

/* The exits of version 1, whose count is wider; tail calls, too. */
static __attribute__((noinline)) size_t rest_v1(
    struct nd_cq_poll *poll, unsigned polled, unsigned left)
{
    return nd_cq_results_rest(poll, polled, left);
}

static __attribute__((noinline)) size_t release_v1(struct nd_cq_poll *poll, unsigned count)
{
    return nd_cq_results_release(poll, count);
}

/* The device had nothing (polled: 0), or the poll failed; the general form reports either. */
static __attribute__((noinline)) size_t results_none(struct nd_cq_poll *poll, int polled)
{
    if (ND_UNLIKELY(polled < 0))
        return nd_cq_results_rest(poll, 0, 0);
    lock_release(&poll->lock);
    return 0;
}

static inline __attribute__((always_inline)) size_t results_count(
    enum nd_dialect_index dialect, struct nd_cq_poll *poll, int polled)
{
    const struct ibv_wc *wc = poll->wc;
    char *results = poll->results;
    unsigned left = (unsigned)polled;

    if (ND_UNLIKELY(polled <= 0))
        return results_none(poll, polled);
    do {
        if (!nd_cq_translate_locked(dialect, wc++, results))
            return dialect == ND_V2 ? nd_cq_results_rest(poll, (unsigned)polled, left)
                                    : rest_v1(poll, (unsigned)polled, left);
        results += dialect == ND_V2 ? sizeof(ND2_RESULT) : sizeof(ND_RESULT *);
    } while (--left);
    if (ND_UNLIKELY(!lock_release_quick(&poll->lock)))
        return dialect == ND_V2 ? nd_cq_results_release(poll, (unsigned)polled)
                                : release_v1(poll, (unsigned)polled);
    return (unsigned)polled;
}

size_t nd_cq_results_count_v1(struct nd_cq_poll *poll, int polled)
{
    return results_count(ND_V1, poll, polled);
}

unsigned nd_cq_results_count_v2(struct nd_cq_poll *poll, int polled)
{
    return (unsigned)results_count(ND_V2, poll, polled);
}

__attribute__((noinline)) unsigned nd_cq_results_rest_kernel(
    struct nd_cq_poll *poll, unsigned polled, unsigned left)
{
    poll->size = sizeof(struct nd_result);
    return nd_cq_results_rest(poll, polled, left);
}

__attribute__((noinline)) unsigned nd_cq_results_rest_kernel_short(
    struct nd_cq_poll *poll, unsigned polled, unsigned left)
{
    poll->size = ND_RESULT_SHORT;
    return nd_cq_results_rest(poll, polled, left);
}

/* size in: a constant */
static inline __attribute__((always_inline)) unsigned results_count_kernel(
    struct nd_cq_poll *poll, int polled, uint32_t size)
{
    const struct ibv_wc *wc = poll->wc;
    char *results = poll->results;
    unsigned left = (unsigned)polled;

    if (ND_UNLIKELY(polled <= 0)) {
        poll->size = size;
        return (unsigned)results_none(poll, polled);
    }
    do {
        if (!nd_cq_translate_kernel_locked(wc++, (struct nd_result *)(void *)results, size))
            return nd_cq_results_rest_of_size(poll, (unsigned)polled, left, size);
        results += size;
    } while (--left);
    if (ND_UNLIKELY(!lock_release_quick(&poll->lock)))
        return nd_cq_results_release(poll, (unsigned)polled);
    return (unsigned)polled;
}

unsigned nd_cq_results_count_kernel(struct nd_cq_poll *poll, int polled)
{
    return results_count_kernel(poll, polled, sizeof(struct nd_result));
}

unsigned nd_cq_results_count_kernel_short(struct nd_cq_poll *poll, int polled)
{
    return results_count_kernel(poll, polled, ND_RESULT_SHORT);
}

/*
 * Does what the fast path does, but counts first all that the device has, whatever the array's size: it polls straight
 * into the array only if that empties the device's queue.
 */
static unsigned results_counted(struct nd_cq *cq, struct nd_cq_poll *poll)
{
    int polled = ibv_poll_cq(poll->ibv, ND_CQ_BATCH, poll->wc);
    unsigned count = polled > 0 ? (unsigned)polled : 0;

    if (polled == ND_CQ_BATCH || count > poll->room || count > cq->depth)
        return nd_cq_results_rest(poll, count, count);
    switch (cq->adapter->dialect->index) {
    case ND_V2: return nd_cq_results_count_v2(poll, polled);
    case ND_V1: return (unsigned)nd_cq_results_count_v1(poll, polled);
    default:
        return poll->size == ND_RESULT_SHORT ? nd_cq_results_count_kernel_short(poll, polled)
                                             : nd_cq_results_count_kernel(poll, polled);
    }
}

unsigned nd_cq_results_deep(struct nd_cq_poll *poll, void *results, uint32_t room)
{
    poll->results = results;
    poll->room = room;
    return poll->counted ? results_counted(container_of(poll, struct nd_cq, poll), poll)
                         : nd_cq_results_rest(poll, 0, 0);
}

unsigned nd_cq_results_deep_kernel(
    struct nd_cq_poll *poll, void *results, uint32_t room, uint32_t size)
{
    poll->size = size;
    return nd_cq_results_deep(poll, results, room);
}

unsigned nd_cq_results_general(struct nd_cq_poll *poll, void *results, uint32_t room)
{
    lock_acquire(&poll->lock);
    return nd_cq_results_deep(poll, results, room);
}

unsigned nd_cq_results_general_kernel(
    struct nd_cq_poll *poll, void *results, uint32_t room, uint32_t size)
{
    lock_acquire(&poll->lock);
    return nd_cq_results_deep_kernel(poll, results, room, size);
}
