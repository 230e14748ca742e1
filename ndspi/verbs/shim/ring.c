/* SPDX-License-Identifier: MIT */
/* ring.c - the requests posted, and which of them have ended. */
#include "ndspi/verbs/shim/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A Receive's entries, at the index of its record. */
struct shim_recv_shadow {
    int count;
    struct ibv_sge sges[];
};

/* shim_record.before */
enum {
    WAS_FENCED = 1 << 0, /* a Read, which lost its fence */
    WAS_SILENT = 1 << 1, /* a Read, which became signaled since its end has to be known */
    WAS_EMPTY = 1 << 2,  /* a Receive, which got an entry */
};

static struct ibv_sge nothing;

/* ---- records ---- */

static struct shim_record *record_at(const struct shim_ring *ring, uint32_t number)
{
    return &ring->records[number & (ring->size - 1)];
}

static uint64_t id_of(const struct shim_record *record)
{
    return (uintptr_t)record | 1;
}

static size_t shadow_octets(const struct shim_ring *ring)
{
    return sizeof(struct shim_recv_shadow) + ring->max_sge * sizeof(struct ibv_sge);
}

static struct shim_recv_shadow *shadow_at(const struct shim_ring *ring, uint32_t number)
{
    return (struct shim_recv_shadow *)((char *)ring->shadow +
                                       (size_t)(number & (ring->size - 1)) * shadow_octets(ring));
}

int shim_ring_init(struct shim_ring *ring, struct shim_qp *qp, struct shim_cq *cq, uint32_t depth)
{
    lock_init(&ring->lock, LOCK_SHIM_RING, "shim's ring");
    list_node_init(&ring->ready_link);
    list_node_init(&ring->unreported_link);
    ring->qp = qp;
    ring->cq = cq;
    ring->depth = depth;
    for (ring->size = 1; ring->size < depth; ring->size *= 2)
        ;
    if (!(ring->records = calloc(ring->size, sizeof(*ring->records))))
        return ENOMEM;
    for (uint32_t i = 0; i < ring->size; i++)
        ring->records[i].ring = ring;
    if (ring->receives && depth && shim_has(qp->shim, ONE_ATTEMPT) &&
        !(ring->shadow = calloc(ring->size, shadow_octets(ring))))
        return ENOMEM;
    return 0;
}

void shim_ring_fini(struct shim_ring *ring)
{
    free(ring->shadow);
    free(ring->records);
}

/* How many more requests fit. */
static uint32_t room_locked(const struct shim_ring *ring)
{
    /* Acquire: what completed a record comes before it is used anew; pairs with retire_locked. */
    return ring->depth - (atomic_load_explicit(&ring->posted, memory_order_relaxed) -
                             atomic_load_explicit(&ring->oldest, memory_order_acquire));
}

/* The next poll of the completion queue looks at the ring. The queue's lock is held. */
static void be_ready_locked(struct shim_ring *ring)
{
    if (!list_linked(&ring->ready_link))
        list_add_tail(&ring->cq->ready, &ring->ready_link);
}

/* ---- posting ---- */

/* Records a request that the device never gets; it is flushed in its turn. Returns 0 or ENOMEM: there is no room. */
static int flush_in_software_locked(struct shim_ring *ring, uint64_t wr_id)
{
    uint32_t number = atomic_load_explicit(&ring->posted, memory_order_relaxed);
    struct shim_record *record = record_at(ring, number);

    if (!room_locked(ring))
        return ENOMEM;
    record->state = SHIM_POSTED | SHIM_SW_FLUSH;
    lock_acquire(&ring->cq->lock);
    record->wc =
        (struct ibv_wc){ .wr_id = wr_id, .status = IBV_WC_WR_FLUSH_ERR, .qp_num = ring->number };
    atomic_store_explicit(&ring->posted, number + 1, memory_order_release);
    be_ready_locked(ring);
    shim_raise_locked(ring->cq);
    lock_release(&ring->cq->lock);
    return 0;
}

/* Returns the errno of a post to the device, which names the first request that it refused: it took all before. */
static int meaning_of(const struct shim *shim, int error, bool names_one)
{
    if (error && !names_one && shim_has(shim, UNWAKED))
        return 0; /* the device has all of them but could not be notified: its flush ends them */
    return error < 0 ? -error : error;
}

/* A request of either kind of queue; its ring says which. */
union wr {
    const void *any; /* NULL: none */
    struct ibv_send_wr *send;
    struct ibv_recv_wr *receive;
};

static union wr next_of(const struct shim_ring *ring, union wr wr)
{
    return ring->receives ? (union wr){ .receive = wr.receive->next }
                          : (union wr){ .send = wr.send->next };
}

static void set_next(const struct shim_ring *ring, union wr wr, union wr next)
{
    if (ring->receives)
        wr.receive->next = next.receive;
    else
        wr.send->next = next.send;
}

static void lend_send(const struct shim *shim, struct shim_record *record, struct ibv_send_wr *wr)
{
    bool read = wr->opcode == IBV_WR_RDMA_READ;
    bool silent = !(wr->send_flags & IBV_SEND_SIGNALED);

    if (read && wr->send_flags & IBV_SEND_FENCE && shim_has(shim, READ_FENCE)) {
        wr->send_flags &= ~(unsigned)IBV_SEND_FENCE; /* Reads are in order there */
        record->before |= WAS_FENCED;
    }
    if (read && silent && shim_has(shim, OVERTAKES)) {
        wr->send_flags |= IBV_SEND_SIGNALED;
        record->before |= WAS_SILENT;
    }
    record->state = SHIM_POSTED | (silent ? SHIM_SILENT : 0) |
                    (wr->send_flags & IBV_SEND_SIGNALED ? 0 : SHIM_UNSIGNALED) |
                    (wr->opcode == IBV_WR_LOCAL_INV ? SHIM_INVALIDATE : 0);
    record->wc.wr_id = wr->wr_id;
    wr->wr_id = id_of(record);
}

static void lend_receive(
    struct shim_ring *ring, uint32_t number, struct shim_record *record, struct ibv_recv_wr *wr)
{
    if (!wr->num_sge && shim_has(ring->qp->shim, EMPTY_RECEIVES)) {
        wr->sg_list = &nothing;
        wr->num_sge = 1;
        record->before = WAS_EMPTY;
    }
    if (ring->shadow && atomic_load_explicit(&ring->qp->shadowing, memory_order_relaxed)) {
        struct shim_recv_shadow *shadow = shadow_at(ring, number);

        shadow->count = wr->num_sge;
        memcpy(shadow->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
    }
    record->state = SHIM_POSTED;
    record->wc.wr_id = wr->wr_id;
    wr->wr_id = id_of(record);
}

/* Changes the request as the device needs it, and fills its record. */
static void lend(struct shim_ring *ring, uint32_t number, union wr wr)
{
    struct shim_record *record = record_at(ring, number);

    record->before = 0;
    if (ring->receives)
        lend_receive(ring, number, record, wr.receive);
    else
        lend_send(ring->qp->shim, record, wr.send);
}

/* Restores the client's request. */
static void take_back(const struct shim_ring *ring, uint32_t number, union wr wr)
{
    const struct shim_record *record = record_at(ring, number);

    if (ring->receives)
        wr.receive->wr_id = record->wc.wr_id;
    else
        wr.send->wr_id = record->wc.wr_id;
    if (record->before & WAS_EMPTY) {
        wr.receive->sg_list = NULL;
        wr.receive->num_sge = 0;
    }
    if (record->before & WAS_FENCED)
        wr.send->send_flags |= IBV_SEND_FENCE;
    if (record->before & WAS_SILENT)
        wr.send->send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
}

/* Returns an errno, and the first request that the device refused. */
static int post_to_device(const struct shim_ring *ring, union wr wr, union wr *bad)
{
    int error = ring->receives ? ibv_post_recv(ring->device, wr.receive, &bad->receive)
                               : ibv_post_send(ring->device, wr.send, &bad->send);

    return meaning_of(ring->qp->shim, error, bad->any);
}

/*
 * The device has no request from `number` on. Takes the lock, since a polling thread may be reading the last records.
 */
static void end_at_locked(struct shim_ring *ring, uint32_t number)
{
    lock_acquire(&ring->cq->lock);
    atomic_store_explicit(&ring->posted, number, memory_order_release);
    lock_release(&ring->cq->lock);
}

/*
 * Posts as many requests of the list to the device as fit; meanwhile the list ends after them. Takes back those that
 * the device refused.
 */
static int post_locked(struct shim_ring *ring, union wr wr, union wr *bad)
{
    uint32_t first = atomic_load_explicit(&ring->posted, memory_order_relaxed), number = first;
    const union wr none = { .any = NULL };
    uint32_t room = room_locked(ring);
    union wr rest = wr, last = none;
    int error;

    for (; rest.any && number - first < room; rest = next_of(ring, rest)) {
        lend(ring, number++, rest);
        last = rest;
    }
    *bad = rest;
    if (!last.any)
        return rest.any ? ENOMEM : 0;
    set_next(ring, last, none);
    *bad = none;
    atomic_store_explicit(&ring->posted, number, memory_order_release);
    error = post_to_device(ring, wr, bad);
    set_next(ring, last, rest);
    for (number = first; wr.any != rest.any; wr = next_of(ring, wr), number++) {
        if (error && wr.any == bad->any)
            end_at_locked(ring, number);
        take_back(ring, number, wr);
    }
    if (error || !rest.any)
        return error;
    *bad = rest;
    return ENOMEM;
}

static int post(struct shim_ring *ring, union wr wr, union wr *bad)
{
    int error = 0;

    lock_acquire(&ring->lock);
    if (!ring->closed)
        error = post_locked(ring, wr, bad);
    for (; ring->closed && wr.any && !error; wr = next_of(ring, wr)) {
        *bad = wr;
        error = flush_in_software_locked(ring, ring->receives ? wr.receive->wr_id : wr.send->wr_id);
    }
    lock_release(&ring->lock);
    return error;
}

int shim_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    union wr refused = { .send = NULL };
    int error = post(&((struct shim_qp *)ibv)->send, (union wr){ .send = wr }, &refused);

    *bad = refused.send;
    return error;
}

int shim_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    union wr refused = { .receive = NULL };
    int error = post(&((struct shim_qp *)ibv)->receive, (union wr){ .receive = wr }, &refused);

    *bad = refused.receive;
    return error;
}

/* Posts one at a time: these have no records. */
int shim_post_srq_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    const struct shim *shim = (const struct shim *)ibv->context;

    for (; wr; wr = wr->next) {
        struct ibv_recv_wr one = *wr, *refused = NULL;
        int error;

        one.next = NULL;
        if (!one.num_sge && shim_has(shim, EMPTY_RECEIVES)) {
            one.sg_list = &nothing;
            one.num_sge = 1;
        }
        error = ibv_post_srq_recv(((struct shim_srq *)ibv)->device, &one, &refused);
        *bad = wr;
        if ((error = meaning_of(shim, error, refused)))
            return error;
    }
    return 0;
}

int shim_ring_post_again_locked(struct shim_ring *ring)
{
    uint32_t end = atomic_load_explicit(&ring->posted, memory_order_relaxed);
    uint32_t number = atomic_load_explicit(&ring->oldest, memory_order_acquire);
    int error = 0;

    lock_assert_held(&ring->lock);
    for (; number != end && !error; number++) {
        struct shim_recv_shadow *shadow = shadow_at(ring, number);
        struct ibv_recv_wr wr = { .wr_id = id_of(record_at(ring, number)),
            .sg_list = shadow->sges,
            .num_sge = shadow->count };
        struct ibv_recv_wr *bad = NULL;

        lock_acquire(&ring->cq->lock);
        record_at(ring, number)->state &= ~(uint32_t)SHIM_WITHHELD;
        lock_release(&ring->cq->lock);
        error = ibv_post_recv(ring->device, &wr, &bad);
        error = meaning_of(ring->qp->shim, error, bad);
    }
    return error;
}

void shim_ring_close(struct shim_ring *ring)
{
    lock_acquire(&ring->lock);
    if (!ring->closed) {
        ring->closed = true;
        ring->given = atomic_load_explicit(&ring->posted, memory_order_relaxed);
    }
    lock_release(&ring->lock);
}

/* ---- completing ---- */

void shim_ring_done_locked(struct shim_record *record, const struct ibv_wc *wc)
{
    if ((record->state & (SHIM_POSTED | SHIM_DONE)) != SHIM_POSTED)
        return; /* it has ended already: the shim has flushed it */
    /* Copies all but wr_id, which is first. */
    memcpy(&record->wc.status, &wc->status, sizeof(*wc) - offsetof(struct ibv_wc, status));
    record->wc.qp_num = record->ring->number;
    record->state |= SHIM_DONE;
    record->ring->done++;
}

void shim_ring_flush_unreported_locked(struct shim_ring *ring)
{
    const struct ibv_wc success = { .status = IBV_WC_SUCCESS };
    const struct ibv_wc flushed = { .status = IBV_WC_WR_FLUSH_ERR };
    uint32_t number = atomic_load_explicit(&ring->oldest, memory_order_relaxed);
    bool lost = ring->failed;

    /* Stops at `given`: the shim has flushed the requests from there on, and they may have ended already. */
    for (; (int32_t)(ring->given - number) > 0; number++) {
        struct shim_record *record = record_at(ring, number);

        /* Unsignaled requests before the first one that is missing or failed have succeeded. */
        lost = lost || !(record->state & (SHIM_UNSIGNALED | SHIM_DONE)) ||
               (record->state & SHIM_DONE && record->wc.status != IBV_WC_SUCCESS);
        shim_ring_done_locked(record, lost ? &flushed : &success);
    }
    be_ready_locked(ring);
}

void shim_ring_complete_withheld_locked(struct shim_ring *ring)
{
    const struct ibv_wc flushed = { .status = IBV_WC_WR_FLUSH_ERR };
    uint32_t end = atomic_load_explicit(&ring->posted, memory_order_acquire);
    uint32_t number = atomic_load_explicit(&ring->oldest, memory_order_relaxed);

    for (; number != end; number++)
        if (record_at(ring, number)->state & SHIM_WITHHELD)
            shim_ring_done_locked(record_at(ring, number), &flushed);
    be_ready_locked(ring);
}

/* Release: the record is the posting side's; pairs with room_locked. */
static void retire_locked(struct shim_ring *ring, struct shim_record *record, uint32_t number)
{
    ring->done -= (record->state & SHIM_DONE) != 0;
    ring->failed |= record->state & SHIM_DONE && record->wc.status != IBV_WC_SUCCESS;
    record->state = 0;
    atomic_store_explicit(&ring->oldest, number + 1, memory_order_release);
}

/* Returns whether the oldest request has ended: an unsignaled one ends with a later completion of the device. */
static bool is_over(const struct shim_ring *ring, const struct shim_record *record)
{
    return record->state & (SHIM_DONE | SHIM_SW_FLUSH) ||
           (record->state & SHIM_UNSIGNALED && ring->done);
}

static bool is_reported(const struct shim_record *record)
{
    if (record->state & SHIM_SW_FLUSH)
        return true;
    return record->state & SHIM_DONE &&
           (!(record->state & SHIM_SILENT) || record->wc.status != IBV_WC_SUCCESS);
}

int shim_ring_deliver_locked(struct shim_ring *ring, struct ibv_wc *wc, int room)
{
    uint32_t number = atomic_load_explicit(&ring->oldest, memory_order_relaxed);
    uint32_t end = atomic_load_explicit(&ring->posted, memory_order_acquire);
    int count = 0;

    lock_assert_held(&ring->cq->lock);
    for (; number != end; number++) {
        struct shim_record *record = record_at(ring, number);

        if (!is_over(ring, record))
            break;
        if (is_reported(record)) {
            if (count == room) {
                be_ready_locked(ring);
                return count;
            }
            wc[count++] = record->wc;
        }
        retire_locked(ring, record, number);
    }
    if (list_linked(&ring->ready_link))
        list_del(&ring->ready_link);
    return count;
}
