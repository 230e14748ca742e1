/* SPDX-License-Identifier: MIT */
/* notify.c - when a Notify ends. cq.h has the rules. */
#include "ndspi/core/queue/cq_private.h"

#include "ndspi/core/adapter/adapter.h"

#include "util/log.h"
#include "util/probe.h"

#include <string.h>

enum { EVENTS_BETWEEN_ACKNOWLEDGEMENTS = 1 << 12 };

#define FOR_RESULTS (ND_CQ_WAITS(ND_CQ_NOTIFY_ANY) | ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED))

/* Ends all requests that wait for a result together; the results so far complete no other. */
static void complete_notifies_locked(struct nd_cq *cq)
{
    cq->notified = cq->arrived;
    if (nd_pending_decide(&cq->pending, cq->waiting & FOR_RESULTS, ND_SUCCESS))
        cq->deliver = true;
    cq->waiting &= ~FOR_RESULTS;
}

bool nd_cq_match_notifies_locked(struct nd_cq *cq, bool unsure)
{
    uint64_t fetched = cq->arrived - cq->count;
    uint64_t old = fetched > cq->notified ? fetched : cq->notified;
    bool any = cq->waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_ANY) && cq->arrived > old;
    bool solicited = cq->waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED) &&
                     (cq->arrived_solicited > old || (unsure && cq->arrived_perhaps > old));

    if (!any && !solicited)
        return false;
    complete_notifies_locked(cq);
    return true;
}

/*
 * Draining detects an overrun; so if one is possible, a Notify for errors arms the device for every completion. Beside
 * a Notify for solicited ones it does so only if the device marks those.
 */
static enum nd_cq_arming needed(const struct nd_cq *cq, unsigned waiting)
{
    bool looks = waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_ERRORS) && nd_cq_may_pass_locked(cq);

    if (waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_ANY) || nd_cq_drains_closing_locked(cq))
        return ND_CQ_ARMED_ANY;
    if (waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED))
        return cq->marks && looks ? ND_CQ_ARMED_ANY : ND_CQ_ARMED_SOLICITED;
    return looks ? ND_CQ_ARMED_ANY : ND_CQ_NOT_ARMED;
}

/*
 * Arms the device for the waiting requests, unless it is armed so. Returns whether the queue must be drained now:
 * earlier completions raise no event.
 */
static bool arm_locked(struct nd_cq *cq, unsigned waiting)
{
    enum nd_cq_arming arming = needed(cq, waiting);
    int rc;

    if (arming <= cq->armed)
        return false;
    rc = ibv_req_notify_cq(cq->poll.ibv, arming == ND_CQ_ARMED_SOLICITED);
    if (rc) {
        log_write(LOG_ERROR, LOG_CQ, "a completion queue cannot be armed: %s", strerror(rc));
        nd_cq_fail_locked(cq, ND_INTERNAL_ERROR);
        return false;
    }
    cq->armed = arming;
    return true;
}

/* Arms and drains in turn until nothing is left to drain. */
void nd_cq_rearm_locked(struct nd_cq *cq)
{
    while (arm_locked(cq, cq->waiting)) {
        nd_cq_drain_locked(cq);
        nd_cq_match_notifies_locked(cq, true);
    }
}

/*
 * Arms first, for this request, too: then one drain is both the one before the request starts and the one after arming.
 */
static HRESULT start_locked(struct nd_cq *cq, ULONG type, OVERLAPPED *overlapped)
{
    HRESULT status;

    arm_locked(cq, cq->waiting | ND_CQ_WAITS(type));
    nd_cq_drain_locked(cq);
    nd_cq_match_notifies_locked(cq, false);
    if (cq->failed)
        return cq->failed;
    status = nd_pending_add_unreset(&cq->pending, overlapped, type, NULL);
    if (FAILED(status))
        return status;
    if (type == ND_CQ_NOTIFY_SOLICITED && !(cq->waiting & ND_CQ_WAITS(type)))
        cq->solicited_since = cq->arrived;
    cq->waiting |= ND_CQ_WAITS(type);
    nd_cq_match_notifies_locked(cq, true);
    return status;
}

/*
 * The thread is about to sleep where the library does not see it. An answer that comes at once ends the request within
 * the call, as natively within the wait; else others move the device from now on.
 */
static void before_sleep_elsewhere(struct nd_cq *cq, ULONG type)
{
    const struct nd_verbs *verbs = cq->adapter->verbs;
    unsigned kind = ND_CQ_WAITS(type);

    if (verbs->progress_leave && nd_pending_count(&cq->pending, kind)) {
        if (kind & FOR_RESULTS)
            cq->adapter->sink->look();
        if (nd_pending_count(&cq->pending, kind))
            verbs->progress_leave(cq->poll.ibv);
    }
    nd_pending_reset(&cq->pending);
}

HRESULT nd_cq_notify(struct nd_cq *cq, ULONG type, OVERLAPPED *overlapped)
{
    HRESULT status;
    bool waits;

    if (type > ND_CQ_NOTIFY_SOLICITED || !overlapped)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(cq->adapter))
        return ND_DEVICE_REMOVED;
    PROBE2(notify, cq, type);
    lock_acquire(&cq->poll.lock);
    nd_cq_submit_batches_locked(cq);
    status = start_locked(cq, type, overlapped);
    waits = cq->waiting;
    nd_cq_unlock_and_deliver(cq);
    if (status == ND_PENDING && cq->adapter->sink->sleeps_elsewhere)
        before_sleep_elsewhere(cq, type);
    if (waits)
        nd_adapter_take_unread(cq->adapter); /* arms the queue again if the event was for it */
    return status;
}

/* Returns whether a Notify of this type waits for completions that no pending one waits for. */
static bool is_stronger(const struct nd_cq *cq, ULONG type)
{
    unsigned as_strong = ND_CQ_WAITS(ND_CQ_NOTIFY_ANY);

    if (type != ND_CQ_NOTIFY_ANY)
        as_strong |= ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED);
    if (type == ND_CQ_NOTIFY_ERRORS)
        as_strong |= ND_CQ_WAITS(ND_CQ_NOTIFY_ERRORS);
    return !(cq->waiting & as_strong);
}

static void strengthen_locked(struct nd_cq *cq, ULONG type)
{
    nd_pending_change(&cq->pending, type);
    cq->solicited_since = cq->arrived;
    cq->waiting = ND_CQ_WAITS(type);
    arm_locked(cq, cq->waiting);
    nd_cq_drain_locked(cq);
    nd_cq_match_notifies_locked(cq, true);
}

void nd_cq_arm(struct nd_cq *cq, ULONG type, OVERLAPPED *request)
{
    HRESULT status = ND_PENDING;
    bool waits;

    PROBE2(notify, cq, type);
    lock_acquire(&cq->poll.lock);
    nd_pending_deliver(&cq->pending); /* a decided request ends before it begins again */
    if (!cq->waiting)
        status = start_locked(cq, type, request);
    else if (is_stronger(cq, type))
        strengthen_locked(cq, type);
    waits = cq->waiting;
    nd_cq_unlock_and_deliver(cq);
    if (FAILED(status))
        (void)nd_pending_complete_now(&cq->pending, request, status);
    if (waits)
        nd_adapter_take_unread(cq->adapter); /* arms the queue again if the event was for it */
}

void nd_cq_cancel(struct nd_cq *cq)
{
    lock_acquire(&cq->poll.lock);
    cq->waiting = 0;
    nd_pending_decide(&cq->pending, ~0u, ND_CANCELED);
    cq->deliver = true;
    nd_cq_unlock_and_deliver(cq);
}

bool nd_cq_poll_before_event(struct nd_cq *cq)
{
    bool ended = false;

    lock_acquire(&cq->poll.lock);
    if (cq->armed == ND_CQ_ARMED_ANY && !cq->moderated) {
        nd_cq_drain_locked(cq);
        ended = nd_cq_match_notifies_locked(cq, true) && !cq->waiting &&
                !nd_cq_drains_closing_locked(cq);
    }
    nd_cq_unlock_and_deliver(cq);
    return ended;
}

/*
 * Returns whether the device's event may be for a solicited Receive that completed no pending Notify, because
 * GetResults fetched it first.
 */
static bool solicited_was_fetched_locked(const struct nd_cq *cq)
{
    return cq->waiting & ND_CQ_WAITS(ND_CQ_NOTIFY_SOLICITED) &&
           cq->arrived_perhaps > cq->solicited_since;
}

void nd_cq_event(struct nd_cq *cq)
{
    lock_acquire(&cq->poll.lock);
    if (++cq->unacknowledged == EVENTS_BETWEEN_ACKNOWLEDGEMENTS) {
        cq->adapter->verbs->ack_cq_events(cq->poll.ibv, cq->unacknowledged);
        cq->unacknowledged = 0;
    }
    cq->armed = ND_CQ_NOT_ARMED;
    nd_cq_drain_locked(cq);
    if (solicited_was_fetched_locked(cq))
        complete_notifies_locked(cq);
    else
        nd_cq_match_notifies_locked(cq, true);
    nd_cq_rearm_locked(cq);
    nd_cq_unlock_and_deliver(cq);
}
