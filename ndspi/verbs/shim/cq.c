/* SPDX-License-Identifier: MIT */
/* cq.c - completion queues: makes the device's completions conform to verbs. */
#include "ndspi/verbs/shim/objects.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16 };

/* The kernel's bit in wc_flags for a window that the sender invalidated, with quirk INVALIDATED_BIT. */
enum { INVALIDATED_KERNEL = 1 << 2 };

struct ibv_cq *shim_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
    struct shim *shim = (struct shim *)context;
    struct shim_cq *cq = calloc(1, sizeof(*cq));

    if (!cq) {
        errno = ENOMEM;
        return NULL;
    }
    lock_init(&cq->lock, LOCK_SHIM_CQ, "shim's completion queue");
    list_init(&cq->ready);
    list_init(&cq->unreported);
    list_init(&cq->shared);
    list_node_init(&cq->event_link);
    cq->shim = shim;
    cq->channel = (struct shim_channel *)channel;
    cq->device = shim->below->create_cq(
        shim->device, cqe, cq, cq->channel ? cq->channel->device : NULL, vector);
    if (!cq->device) {
        free(cq);
        return NULL;
    }
    cq->ibv = (struct ibv_cq){
        .context = context, .channel = channel, .cq_context = cq_context, .cqe = cq->device->cqe
    };
    return &cq->ibv;
}

int shim_resize_cq(struct ibv_cq *ibv, int cqe)
{
    struct shim_cq *cq = (struct shim_cq *)ibv;
    int rc = cq->shim->below->resize_cq(cq->device, cqe);

    ibv->cqe = cq->device->cqe;
    return rc;
}

int shim_destroy_cq(struct ibv_cq *ibv)
{
    struct shim_cq *cq = (struct shim_cq *)ibv;
    int rc;

    shim_end_events(cq);
    if ((rc = cq->shim->below->destroy_cq(cq->device)))
        return rc;
    free(cq);
    return 0;
}

int shim_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
    struct shim_cq *cq = (struct shim_cq *)ibv;

    lock_acquire(&cq->lock);
    cq->armed = true;
    lock_release(&cq->lock);
    return ibv_req_notify_cq(cq->device, solicited_only && !shim_has(cq->shim, SOLICITED));
}

/* ---- one completion of the device ---- */

/* Returns whether the record is of a send queue that was flushed before any request had failed. */
static bool is_flushed(const struct shim_record *record)
{
    return record && !record->ring->receives &&
           atomic_load_explicit(&record->ring->qp->flushing, memory_order_acquire);
}

static void mend(const struct shim *shim, struct ibv_wc *wc, const struct shim_record *record)
{
    bool received = !record || record->ring->receives; /* a shared receive queue has no records */

    if (wc->status == IBV_WC_LOC_QP_OP_ERR && shim_has(shim, FLUSH_STATUS) && is_flushed(record))
        wc->status = IBV_WC_WR_FLUSH_ERR;
    if (wc->status == IBV_WC_LOC_QP_OP_ERR && shim_has(shim, LOCAL_STATUS) &&
        !(record && record->state & SHIM_INVALIDATE))
        wc->status = received ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR;
    if (wc->wc_flags & INVALIDATED_KERNEL && shim_has(shim, INVALIDATED_BIT))
        wc->wc_flags |= IBV_WC_WITH_INV;
}

/* A request has failed: the device may forget requests posted from now on, and its flush is kept back no longer. */
static void note_broken(struct shim_qp *qp, struct list_head *broken)
{
    const nd_quirk_set affected = ND_QUIRK_BIT(LATE_RECEIVES) | ND_QUIRK_BIT(LATE_SENDS) |
                                  ND_QUIRK_BIT(FORGOTTEN) | ND_QUIRK_BIT(FLUSHES_AT_END);

    if (qp->shim->quirks & affected &&
        !atomic_exchange_explicit(&qp->broken, true, memory_order_relaxed))
        list_add_tail(broken, &qp->broken_link);
}

static void break_shared_locked(struct shim_cq *cq, uint32_t number, struct list_head *broken)
{
    list_for_each (&cq->shared, node) {
        struct shim_qp *qp = list_entry(node, struct shim_qp, shared_link);

        if (qp->receive.number == number)
            note_broken(qp, broken);
    }
}

/*
 * Returns whether to withhold a failed request from the client: the shim has posted the Receive again, or will after
 * the attempt to connect; or completes the request when the queue pair goes to the error state, as the client has to
 * ask for.
 */
static bool withhold_locked(struct shim_record *record, const struct ibv_wc *wc)
{
    const struct shim_ring *ring = record->ring;
    struct shim_qp *qp = ring->qp;
    bool shadowing = ring->shadow && atomic_load_explicit(&qp->shadowing, memory_order_acquire);
    bool kept = wc->status == IBV_WC_WR_FLUSH_ERR &&
                atomic_load_explicit(&qp->keeping, memory_order_acquire);

    if (ring->shadow && wc->qp_num != ring->number)
        return true;
    if (!shadowing && !kept)
        return false;
    record->state |= SHIM_WITHHELD;
    return true;
}

/* Returns how many completions go to the client: none or one. */
static int take_locked(
    struct shim_cq *cq, struct ibv_wc *wc, struct ibv_wc *out, struct list_head *broken)
{
    struct shim_record *record = (struct shim_record *)(uintptr_t)(wc->wr_id & ~(uint64_t)1);
    bool failed = wc->status != IBV_WC_SUCCESS;

    if (!(wc->wr_id & 1)) {
        mend(cq->shim, wc, NULL);
        if (failed)
            break_shared_locked(cq, wc->qp_num, broken);
        *out = *wc;
        return 1;
    }
    if (failed && withhold_locked(record, wc))
        return 0;
    mend(cq->shim, wc, record);
    if (failed)
        note_broken(record->ring->qp, broken);
    shim_ring_done_locked(record, wc);
    return shim_ring_deliver_locked(record->ring, out, 1);
}

/* ---- polling ---- */

static int deliver_ready_locked(struct shim_cq *cq, struct ibv_wc *out, int room)
{
    int count = 0;

    while (!list_empty(&cq->ready) && count < room)
        count += shim_ring_deliver_locked(
            list_entry(cq->ready.n.next, struct shim_ring, ready_link), out + count, room - count);
    return count;
}

/* Completes the requests that the device will never complete. Returns whether there were any. */
static bool flush_unreported_locked(struct shim_cq *cq)
{
    struct list_node *node;
    bool any = false;

    while ((node = list_pop(&cq->unreported))) {
        shim_ring_flush_unreported_locked(list_entry(node, struct shim_ring, unreported_link));
        any = true;
    }
    return any;
}

static void break_all(struct list_head *broken)
{
    struct list_node *node;

    while ((node = list_pop(broken))) {
        struct shim_qp *qp = list_entry(node, struct shim_qp, broken_link);
        int rc = shim_qp_to_error(qp);

        if (rc)
            log_limited(LOG_ERROR, LOG_QP, "queue pair %u cannot be flushed: %s", qp->ibv.qp_num,
                strerror(rc));
    }
}

/*
 * Polls the device once, for at most `room` completions. Returns how many it had, or a negative number; adds to count.
 */
static int look_locked(
    struct shim_cq *cq, struct ibv_wc *out, int room, int *count, struct list_head *broken)
{
    struct ibv_wc wc[BATCH];
    int polled = ibv_poll_cq(cq->device, room, wc);

    for (int i = 0; i < polled; i++) {
        int told = take_locked(cq, &wc[i], out, broken);

        out += told;
        *count += told;
    }
    return polled;
}

int shim_poll_cq(struct ibv_cq *ibv, int room, struct ibv_wc *wc)
{
    struct shim_cq *cq = (struct shim_cq *)ibv;
    int count = 0, polled = 0, asked;
    struct list_head broken;

    list_init(&broken);
    lock_acquire(&cq->lock);
    while ((count += deliver_ready_locked(cq, wc + count, room - count)) < room) {
        asked = room - count < BATCH ? room - count : BATCH;
        polled = look_locked(cq, wc + count, asked, &count, &broken);
        if (!list_empty(&broken)) {
            lock_release(&cq->lock);
            break_all(&broken);
            lock_acquire(&cq->lock);
        } else if (polled < asked && (polled < 0 || !flush_unreported_locked(cq))) {
            break;
        }
    }
    lock_release(&cq->lock);
    return count ? count : polled < 0 ? polled : 0;
}
