/* SPDX-License-Identifier: MIT */
/* counts.c - what queues have counted, for a reader; core/adapter/counts.h. */
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"

/* What the reader wants to know of one ring. */
struct ring {
    uint64_t posted, pending, octets, received, failed, flushed, shared;
    struct nd_queue_counts counts;
};

/* Records in use: until their results are fetched. A marker that completed has moved `freed` past `next`. */
static uint32_t pending_locked(const struct nd_queue *queue)
{
    const struct nd_request *freed = atomic_load_explicit(&queue->freed, memory_order_relaxed);

    return queue->marked && !queue->unfetched ? 0 : nd_queue_distance(queue, freed, queue->next);
}

/* Reads both sides at one moment, so that no request is counted as posted and ended, or as neither. */
static void read_ring(struct nd_queue *queue, struct ring *ring)
{
    struct nd_cq *cq = queue->cq;

    lock_acquire(&queue->lock);
    lock_acquire(&cq->poll.lock);
    ring->posted = queue->counts.posted + nd_queue_distance(queue, queue->counts.base, queue->next);
    ring->pending = pending_locked(queue);
    ring->counts = queue->counts;
    ring->octets = queue->octets;
    ring->received = queue->received;
    ring->failed = queue->failed;
    ring->flushed = queue->flushed;
    ring->shared = queue->shared;
    lock_release(&cq->poll.lock);
    lock_release(&queue->lock);
}

static void add_initiator(const struct ring *ring, struct nd_counts *to)
{
    const struct nd_queue_counts *counts = &ring->counts;

    to->sends += ring->posted - counts->reads - counts->writes - counts->others;
    to->send_octets += ring->octets;
    to->reads += counts->reads;
    to->read_octets += counts->read_octets;
    to->writes += counts->writes;
    to->write_octets += counts->write_octets;
    to->others += counts->others;
    to->failed += ring->failed;
    to->flushed += ring->flushed;
    to->now.initiator_pending += ring->pending;
}

static void add_receives(const struct ring *ring, struct nd_counts *to)
{
    to->receives += ring->posted - ring->pending - ring->failed - ring->flushed + ring->shared;
    to->receive_octets += ring->received;
    to->failed += ring->failed;
    to->flushed += ring->flushed;
    to->now.receive_pending += ring->pending;
}

static void add_wire(struct nd_qp *qp, struct nd_counts *to)
{
    const struct nd_verbs *verbs = qp->adapter->verbs;
    struct nd_counts its = { 0 };
    const char *path = nd_qp_path(qp);

    if (path && path[0] == 's')
        to->now.by_memory++;
    else if (path)
        to->now.by_tcp++;
    if (!verbs->query_counters)
        return;
    verbs->query_counters(qp->ibv, &its.wire, NULL);
    nd_counts_add_terminates(&its, its.wire.tx_terminate, its.wire.tx_terminates, 0);
    nd_counts_add_terminates(&its, its.wire.rx_terminate, 0, its.wire.rx_terminates);
    nd_counts_add(to, &its);
}

void nd_qp_count(struct nd_qp *qp, struct nd_counts *counts)
{
    struct ring ring;

    read_ring(&qp->initiator, &ring);
    add_initiator(&ring, counts);
    read_ring(&qp->receive, &ring);
    add_receives(&ring, counts);
    add_wire(qp, counts);
    counts->now.queue_pairs++;
    counts->now.initiator_depth += qp->initiator.depth;
    counts->now.receive_depth += qp->receive.depth;
}

void nd_cq_count(struct nd_cq *cq, struct nd_counts *counts)
{
    counts->now.completion_queues++;
    lock_acquire(&cq->poll.lock);
    counts->now.results_depth += cq->depth;
    counts->now.results_waiting += cq->count;
    lock_release(&cq->poll.lock);
}

void nd_srq_count(struct nd_srq *srq, struct nd_counts *counts)
{
    counts->now.shared_receive_queues++;
    lock_acquire(&srq->lock);
    counts->now.receive_depth += srq->depth;
    lock_release(&srq->lock);
    counts->now.receive_pending += atomic_load_explicit(&srq->posted, memory_order_relaxed);
}
