/* SPDX-License-Identifier: MIT */
/*
 * cq.c - completion queues: a ring of exactly the size asked for, and progress by threads that poll it.
 *
 * An empty poll moves the device: with one connection it receives on that socket directly; with more it asks the
 * reactor which are ready, and every second poll receives on the socket that had something last. Either way it makes
 * at most one system call when nothing is there.
 */
#include "softrdma/queues/cq.h"

#include "softrdma/queues/channel.h"
#include "softrdma/context/context.h"
#include "softrdma/events/source.h"
#include "softrdma/queues/hold.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

enum armed { ARMED_NOT, ARMED_SOLICITED, ARMED_ANY };

/*
 * Numbers of empty polls that look at the ring alone. The poll after arming is for completions from before it; octets
 * that are still in the socket end the sleep that follows. After srd_get_cq_event the socket has just been drained, so
 * the next two polls skip it.
 */
enum { IDLE_POLLS_ARMED = 1, IDLE_POLLS_EVENT = 2 };
/* The number of further empty polls of an armed queue that make the thread one that polls. */
enum { ARMED_LOOKS = 4 };

struct srd_cq {
    union { /* must be first; ibv_cq_ex begins with the members of ibv_cq */
        struct ibv_cq ibv;
        struct ibv_cq_ex ex;
    };
    struct lock lock; /* LOCK_SRD_CQ */
    struct ibv_wc *ring;
    uint32_t head; /* index of the entry to fetch next */
    atomic_uint count;
    enum armed armed;
    unsigned armed_looks;   /* number of looks since the queue was armed */
    struct srd_hold *hold;  /* NULL: its events were never moderated */
    bool marks;             /* srd_mark_solicited was called */
    atomic_uint idle_polls; /* number of polls that have still to look at the ring alone */
    atomic_uint vain;       /* number of empty polls of several connections in a row */
    atomic_bool overrun;
    unsigned sources; /* number of connections */
    /* the connection that is polled directly, referenced: the only one, or the one that had something last */
    struct srd_source *source;
    atomic_uint turn;   /* number of polls of several connections */
    atomic_bool polled; /* an empty poll has a connection to look at: sources > 0 */
    atomic_uint users;  /* number of queue pairs, counted once per role */
    struct srd_channel_cq events;
    struct srd_async overrun_event;
    struct ibv_wc current; /* an extended queue's completion between start_poll and end_poll */
};
_Static_assert(offsetof(struct ibv_cq, async_events_completed) ==
                   offsetof(struct ibv_cq_ex, async_events_completed),
    "ibv_cq_ex_to_cq is a cast");

static struct srd_cq *from(struct ibv_cq *cq)
{
    return (struct srd_cq *)cq;
}

struct ibv_wc *srd_cq_current(struct ibv_cq *cq)
{
    return &from(cq)->current;
}

struct ibv_cq *srd_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
    struct srd_cq *cq;
    int error = srd_stale(context)                                            ? EIO
                : cqe < 1 || cqe > SRD_MAX_CQE                                ? EINVAL
                : comp_vector < 0 || comp_vector >= context->num_comp_vectors ? EINVAL
                                                                              : 0;

    if (error) {
        errno = error;
        return NULL;
    }
    cq = calloc(1, sizeof(*cq));
    if (!cq)
        return NULL;
    cq->ring = malloc((size_t)cqe * sizeof(*cq->ring));
    if (!cq->ring) {
        free(cq);
        return NULL;
    }
    lock_init(&cq->lock, LOCK_SRD_CQ, "softrdma cq");
    cq->ibv.context = context;
    cq->ibv.channel = channel;
    cq->ibv.cq_context = cq_context;
    cq->ibv.cqe = cqe;
    pthread_mutex_init(&cq->ibv.mutex, NULL);
    pthread_cond_init(&cq->ibv.cond, NULL);
    srd_channel_attach(channel, &cq->events, &cq->ibv);
    atomic_fetch_add_explicit(&srd_context_from(context)->users, 1, memory_order_relaxed);
    return &cq->ibv;
}

int srd_resize_cq(struct ibv_cq *ibv, int cqe)
{
    struct srd_cq *cq = from(ibv);
    struct ibv_wc *ring, *old;
    uint32_t count;

    if (srd_stale(ibv->context))
        return errno = EIO;
    if (srd_device_of(ibv->context)->strict)
        return errno = ENOSYS;
    if (cqe < 1 || cqe > SRD_MAX_CQE)
        return errno = EINVAL;
    ring = malloc((size_t)cqe * sizeof(*ring));
    if (!ring)
        return errno = ENOMEM;
    lock_acquire(&cq->lock);
    count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    if (count > (uint32_t)cqe) {
        lock_release(&cq->lock);
        free(ring);
        return errno = EINVAL;
    }
    for (uint32_t i = 0; i < count; i++)
        ring[i] = cq->ring[(cq->head + i) % (uint32_t)ibv->cqe];
    old = cq->ring;
    cq->ring = ring;
    cq->head = 0;
    ibv->cqe = cqe;
    lock_release(&cq->lock);
    free(old);
    return 0;
}

int srd_destroy_cq(struct ibv_cq *ibv)
{
    struct srd_cq *cq = from(ibv);
    unsigned users = atomic_load_explicit(&cq->users, memory_order_acquire);

    if (users) {
        log_write(LOG_INFO, LOG_CQ, "destroy_cq: %u queues still complete into it", users);
        return errno = EBUSY;
    }
    if (!srd_stale(ibv->context))
        srd_async_forget(ibv->context, ibv);
    srd_hold_end(cq->hold);
    srd_channel_detach(ibv->channel, &cq->events);
    atomic_fetch_sub_explicit(&srd_context_from(ibv->context)->users, 1, memory_order_release);
    pthread_mutex_destroy(&ibv->mutex);
    pthread_cond_destroy(&ibv->cond);
    free(cq->ring);
    free(cq);
    return 0;
}

void srd_mark_solicited(struct ibv_cq *ibv)
{
    struct srd_cq *cq = from(ibv);

    lock_acquire(&cq->lock);
    cq->marks = true;
    lock_release(&cq->lock);
}

void srd_ack_cq_events(struct ibv_cq *ibv, unsigned int nevents)
{
    srd_channel_acked(&from(ibv)->events, nevents);
}

/* ---- events ---- */

static void fire_locked(struct srd_cq *cq)
{
    lock_assert_held(&cq->lock);
    cq->armed = ARMED_NOT;
    if (cq->hold)
        srd_hold_give_up(cq->hold);
    if (cq->ibv.channel)
        srd_channel_fire(cq->ibv.channel, &cq->events);
}

/*
 * Whether the event is held back. Never for a failure, nor when the queue is full: without an event it might overrun.
 */
static bool held_locked(struct srd_cq *cq, enum ibv_wc_status status)
{
    return cq->hold && status == IBV_WC_SUCCESS &&
           atomic_load_explicit(&cq->count, memory_order_relaxed) < (uint32_t)cq->ibv.cqe &&
           srd_hold_takes(cq->hold);
}

/* The moderation period is over. */
static void hold_over(void *owner)
{
    struct srd_cq *cq = owner;

    lock_acquire(&cq->lock);
    if (cq->hold->held)
        fire_locked(cq);
    lock_release(&cq->lock);
}

/* Makes the queue's hold, unless it has one. Returns 0 or an errno. */
static int make_hold(struct srd_cq *cq)
{
    struct srd_hold *hold;
    bool has;
    int error;

    lock_acquire(&cq->lock);
    has = cq->hold;
    lock_release(&cq->lock);
    if (has)
        return 0;
    if (!(hold = srd_hold_make(hold_over, cq, &error)))
        return -error;
    lock_acquire(&cq->lock);
    if (!(has = cq->hold))
        cq->hold = hold;
    lock_release(&cq->lock);
    if (has) /* another thread has made one meanwhile */
        srd_hold_end(hold);
    return 0;
}

int srd_modify_cq(struct ibv_cq *ibv, struct ibv_modify_cq_attr *attr)
{
    struct srd_cq *cq = from(ibv);
    int error;

    if (srd_stale(ibv->context))
        return errno = EIO;
    if (attr->attr_mask != IBV_CQ_ATTR_MODERATE)
        return errno = EINVAL;
    if ((error = make_hold(cq)))
        return errno = error;
    lock_acquire(&cq->lock);
    cq->hold->count = attr->moderate.cq_period ? attr->moderate.cq_count : 0;
    cq->hold->us = attr->moderate.cq_period;
    if (cq->hold->held)
        fire_locked(cq);
    lock_release(&cq->lock);
    return 0;
}

/* Stores one more entry, for which there is room. */
static inline void put_locked(
    struct srd_cq *cq, uint32_t count, const struct ibv_wc *wc, bool solicited)
{
    uint32_t size = (uint32_t)cq->ibv.cqe, at;

    if (!count)
        cq->head = 0; /* start over, so that few pages of a deep ring are ever touched */
    at = cq->head + count;
    at = at >= size ? at - size : at;
    cq->ring[at] = *wc;
    if (solicited && cq->marks && wc->status == IBV_WC_SUCCESS)
        cq->ring[at].wc_flags |= SRD_WC_SOLICITED;
    atomic_store_explicit(&cq->count, count + 1, memory_order_relaxed);
}

/* The queue is armed: raises the event, if this entry makes one. */
static __attribute__((noinline)) void tell_locked(
    struct srd_cq *cq, enum ibv_wc_status status, bool solicited)
{
    if ((cq->armed == ARMED_ANY || solicited) && !held_locked(cq, status))
        fire_locked(cq);
}

static __attribute__((noinline, cold)) void raise_overrun(struct srd_cq *cq)
{
    struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR, .element.cq = &cq->ibv };

    log_limited(LOG_ERROR, LOG_CQ,
        "completion queue of %d entries overran; make it as deep as the requests it serves",
        cq->ibv.cqe);
    srd_async_raise(cq->ibv.context, &event, &cq->overrun_event);
}

void srd_cq_push(struct ibv_cq *ibv, const struct ibv_wc *wc, bool solicited)
{
    struct srd_cq *cq = from(ibv);
    bool lost = false;
    uint32_t count;

    lock_acquire(&cq->lock);
    count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    if (cq->overrun || count == (uint32_t)ibv->cqe) {
        lost = !cq->overrun;
        cq->overrun = true;
    } else {
        put_locked(cq, count, wc, solicited);
    }
    if (cq->armed != ARMED_NOT)
        tell_locked(cq, wc->status, solicited);
    lock_release(&cq->lock);
    if (lost)
        raise_overrun(cq);
}

/* Takes up to wanted entries; a poll mostly finds one or two. */
static int take_some(struct srd_cq *cq, int wanted, struct ibv_wc *wc)
{
    uint32_t count, head;
    int taken = 0;

    lock_acquire(&cq->lock);
    count = atomic_load_explicit(&cq->count, memory_order_relaxed);
    if (!count && cq->overrun)
        taken = -EIO;
    for (head = cq->head; count && taken < wanted; count--) {
        wc[taken++] = cq->ring[head];
        head = head + 1 == (uint32_t)cq->ibv.cqe ? 0 : head + 1;
    }
    cq->head = head;
    atomic_store_explicit(&cq->count, count, memory_order_relaxed);
    lock_release(&cq->lock);
    return taken;
}

static inline int take(struct srd_cq *cq, int wanted, struct ibv_wc *wc)
{
    /* A completion pushed by another thread is seen at the latest by the next poll. */
    if (!atomic_load_explicit(&cq->count, memory_order_relaxed) &&
        !atomic_load_explicit(&cq->overrun, memory_order_relaxed))
        return 0;
    return take_some(cq, wanted, wc);
}

/*
 * Whether the thread that polls will poll again before it sleeps. While the queue is armed that is not known: programs
 * poll once more between the arming and the sleep. A program that polls more often than that polls an armed queue.
 */
static bool looks_again_locked(struct srd_cq *cq)
{
    lock_assert_held(&cq->lock);
    return cq->armed == ARMED_NOT || cq->armed_looks == ARMED_LOOKS ||
           ++cq->armed_looks == ARMED_LOOKS;
}

/*
 * Returns the connection to poll now; NULL: all. With several, every second poll is of the one that had something last:
 * it mostly has the next message, too, and then the others cost nothing.
 */
static struct srd_source *source_of_turn_locked(struct srd_cq *cq)
{
    unsigned turn;

    lock_assert_held(&cq->lock);
    if (!cq->source)
        return NULL;
    if (cq->sources != 1) {
        turn = atomic_load_explicit(&cq->turn, memory_order_relaxed);
        atomic_store_explicit(&cq->turn, turn + 1, memory_order_relaxed);
        if (turn % 2)
            return NULL;
    }
    return cq->source;
}

/*
 * Begins a look without a reference. Returns whether it has begun; if not, the caller gets a reference to the source.
 */
static bool enter_locked(struct srd_cq *cq, struct srd_source *source)
{
    lock_assert_held(&cq->lock);
    if (source->ops->enter && source->ops->enter(source))
        return true;
    srd_source_ref(source);
    return false;
}

static void leave(struct srd_source *source)
{
    if (!source)
        return;
    srd_source_leave(source);
    srd_source_unref(source);
}

static bool is_ours(const struct srd_cq *cq, struct srd_source *source)
{
    return atomic_load_explicit(&source->queues[0], memory_order_relaxed) == cq ||
           atomic_load_explicit(&source->queues[1], memory_order_relaxed) == cq;
}

/*
 * A look at all connections has found something: from now on the queue polls this connection directly, or none if
 * several were ready.
 * only  the one that was ready, with a reference for this call; NULL: several were
 */
static void prefer(struct srd_cq *cq, struct srd_source *only)
{
    struct srd_source *left = NULL;

    lock_acquire(&cq->lock);
    if (cq->source != only && (only ? is_ours(cq, only) : cq->sources > 1)) {
        left = cq->source;
        cq->source = only;
        only = NULL;
    }
    lock_release(&cq->lock);
    leave(left);
    if (only)
        srd_source_unref(only);
}

/*
 * Counts a poll of one of several connections, or of all. As with a single connection (conn.c), owed acknowledgements
 * go out after SRD_SOON_LOOKS empty polls.
 */
static void looked(struct srd_cq *cq, bool moved)
{
    unsigned vain = moved ? 0 : atomic_load_explicit(&cq->vain, memory_order_relaxed) + 1;

    atomic_store_explicit(&cq->vain, vain, memory_order_relaxed);
    reactor_active();
    if (vain == SRD_SOON_LOOKS)
        srd_run_soon();
}

/* Returns whether any connection received or sent anything. */
static bool look_at_all(struct srd_cq *cq)
{
    struct srd_source *only;
    bool moved = srd_sources_poll(&only);

    if (moved)
        prefer(cq, only);
    looked(cq, moved);
    return moved;
}

/* Moves the queue's connections. Returns whether any received or sent anything. */
static bool progress(struct srd_cq *cq)
{
    struct srd_source *source;
    bool moved, several, again, entered;

    if (!atomic_load_explicit(&cq->polled, memory_order_relaxed))
        return false;
    lock_acquire(&cq->lock);
    source = source_of_turn_locked(cq);
    several = cq->sources > 1;
    again = looks_again_locked(cq);
    entered = source && enter_locked(cq, source);
    lock_release(&cq->lock);
    if (!source)
        return look_at_all(cq);
    if (entered) {
        moved = source->ops->poll_entered(source, again);
    } else {
        moved = source->ops->poll(source, again);
        srd_source_unref(source);
    }
    if (several)
        looked(cq, moved);
    return moved;
}

/* Returns the queue's source, with a reference, if it has been polled since it was left; otherwise NULL. */
static struct srd_source *polled_source_locked(struct srd_cq *cq)
{
    lock_assert_held(&cq->lock);
    if (!cq->source || !srd_source_was_polled(cq->source))
        return NULL;
    srd_source_ref(cq->source);
    return cq->source;
}

void srd_progress_leave(struct ibv_cq *ibv)
{
    struct srd_cq *cq = from(ibv);
    struct srd_source *source;

    if (srd_stale(ibv->context))
        return;
    srd_run_soon();
    lock_acquire(&cq->lock);
    source = polled_source_locked(cq);
    lock_release(&cq->lock);
    leave(source);
    reactor_leave();
}

int srd_poll_cq(struct ibv_cq *ibv, int num_entries, struct ibv_wc *wc)
{
    struct srd_cq *cq = from(ibv);
    unsigned idle;
    int count;

    if (srd_stale(ibv->context) || num_entries < 0)
        return -EINVAL;
    count = take(cq, num_entries, wc);
    if (count || !num_entries)
        return count;
    idle = atomic_load_explicit(&cq->idle_polls, memory_order_relaxed);
    if (idle) {
        atomic_store_explicit(&cq->idle_polls, idle - 1, memory_order_relaxed);
        return 0;
    }
    return progress(cq) ? take(cq, num_entries, wc) : 0;
}

int srd_req_notify_cq(struct ibv_cq *ibv, int solicited_only)
{
    struct srd_cq *cq = from(ibv);
    struct srd_source *source;

    if (srd_stale(ibv->context))
        return errno = EIO;
    lock_acquire(&cq->lock);
    if (!solicited_only || srd_device_of(ibv->context)->strict)
        cq->armed = ARMED_ANY;
    else if (cq->armed == ARMED_NOT)
        cq->armed = ARMED_SOLICITED;
    cq->armed_looks = 0;
    atomic_store_explicit(&cq->idle_polls, IDLE_POLLS_ARMED, memory_order_relaxed);
    /* The thread that arms the queue stops polling its connection: messages have to wake waiting threads now. */
    source = polled_source_locked(cq);
    lock_release(&cq->lock);
    leave(source);
    return 0;
}

int srd_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    if (srd_channel_get(channel, cq))
        return -1;
    atomic_store_explicit(&from(*cq)->idle_polls, IDLE_POLLS_EVENT, memory_order_relaxed);
    *cq_context = (*cq)->cq_context;
    return 0;
}

void srd_cq_attach_qp(struct ibv_cq *cq, struct srd_qp *qp)
{
    (void)qp;
    atomic_fetch_add_explicit(&from(cq)->users, 1, memory_order_relaxed);
}

void srd_cq_forget_qp(struct ibv_cq *cq, struct srd_qp *qp)
{
    (void)qp;
    atomic_fetch_sub_explicit(&from(cq)->users, 1, memory_order_release);
}

/* Replaces was by now in the source's list of queues. */
static void set_queue(struct srd_source *source, const void *was, const void *now)
{
    for (int i = 0; i < 2; i++) {
        const void *expected = was;

        if (atomic_compare_exchange_strong(&source->queues[i], &expected, now))
            return;
    }
}

void srd_cq_attach_source(struct ibv_cq *ibv, struct srd_source *source)
{
    struct srd_cq *cq = from(ibv);

    lock_acquire(&cq->lock);
    if (cq->sources++ == 0) {
        cq->source = source;
        srd_source_ref(source);
    }
    set_queue(source, NULL, cq);
    atomic_store_explicit(&cq->polled, true, memory_order_relaxed);
    lock_release(&cq->lock);
}

void srd_cq_detach_source(struct ibv_cq *ibv, struct srd_source *source)
{
    struct srd_cq *cq = from(ibv);
    struct srd_source *drop = NULL;

    lock_acquire(&cq->lock);
    set_queue(source, cq, NULL);
    atomic_store_explicit(&cq->polled, --cq->sources > 0, memory_order_relaxed);
    if (cq->source == source) {
        drop = source;
        cq->source = NULL; /* the next poll asks the reactor for a ready one */
    }
    lock_release(&cq->lock);
    if (drop)
        srd_source_unref(drop);
}
