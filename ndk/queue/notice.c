/* SPDX-License-Identifier: MIT */
#include "ndk/queue/cq.h"

enum { IDLE, QUEUED, RUNNING, DUE_AGAIN };

static void run(struct ndk_call *call)
{
    struct ndk_notice *notice = container_of(call, struct ndk_notice, call);
    uint32_t running = RUNNING;

    atomic_store_explicit(&notice->state, RUNNING, memory_order_relaxed);
    notice->tell(notice, atomic_load_explicit(&notice->status, memory_order_acquire));
    if (atomic_compare_exchange_strong_explicit(
            &notice->state, &running, IDLE, memory_order_acq_rel, memory_order_acquire)) {
        nd_object_unpin(notice->pins);
        return;
    }
    atomic_store_explicit(&notice->state, QUEUED, memory_order_relaxed);
    ndk_worker_give(notice->worker, &notice->call);
}

/* Whether to queue the call to the worker now. */
static bool becomes_due(struct ndk_notice *notice)
{
    uint32_t now = atomic_load_explicit(&notice->state, memory_order_relaxed), next;

    do {
        if (now == QUEUED || now == DUE_AGAIN)
            return false;
        next = now == IDLE ? QUEUED : DUE_AGAIN;
    } while (!atomic_compare_exchange_weak_explicit(
        &notice->state, &now, next, memory_order_acq_rel, memory_order_relaxed));
    return next == QUEUED;
}

/* Locks of the core are held. */
static void ended(struct nd_call *core, HRESULT status)
{
    struct ndk_notice *notice = container_of(core, struct ndk_notice, core);
    int32_t well = STATUS_SUCCESS;

    if (status == ND_CANCELED) /* the queue's close ended it */
        return;
    if (FAILED(status))
        atomic_compare_exchange_strong_explicit(
            &notice->status, &well, status, memory_order_release, memory_order_relaxed);
    if (!becomes_due(notice))
        return;
    nd_object_pin(notice->pins);
    ndk_worker_give(notice->worker, &notice->call);
}

void ndk_notice_init(struct ndk_notice *notice, struct ndk_worker *worker, struct nd_object *pins,
    void (*tell)(struct ndk_notice *notice, NTSTATUS status))
{
    notice->core.end = ended;
    notice->call.run = run;
    notice->worker = worker;
    notice->pins = pins;
    notice->tell = tell;
    atomic_init(&notice->state, IDLE);
    atomic_init(&notice->status, STATUS_SUCCESS);
}
