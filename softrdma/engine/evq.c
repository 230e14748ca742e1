/* SPDX-License-Identifier: MIT */
/* evq.c - see evq.h. */
#include "softrdma/engine/evq.h"

#include "softrdma/engine/loop.h"
#include "softrdma/process.h"
#include "softrdma/softrdma.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/*
 * The queue this thread is about to fetch from: an event it queues itself, while it moves the
 * device, needs no descriptor made readable. srd_evq_get sets that right before it returns or
 * sleeps.
 */
static _Thread_local struct srd_evq *fetching;

static _Thread_local bool fetches_only;

void srd_progress_fetch_only(bool on)
{
    fetches_only = on;
}

int srd_evq_init(struct srd_evq *q, const char *name)
{
    lock_init(&q->lock, LOCK_SRD_CHANNEL, name);
    list_init(&q->queue);
    q->readable = false;
    atomic_init(&q->closed, false);
    q->sleepers = (struct srd_count){ 0 };
    q->generation = srd_generation;
    q->fd = eventfd(0, EFD_CLOEXEC);
    return q->fd < 0 ? -errno : 0;
}

/* Neither can block: written only at zero, read only when not. */
static void show(struct srd_evq *q, bool readable)
{
    uint64_t count = 1;
    ssize_t n;

    do
        n = readable ? write(q->fd, &count, sizeof(count)) : read(q->fd, &count, sizeof(count));
    while (n < 0 && errno == EINTR);
}

void srd_evq_fini(struct srd_evq *q)
{
    if (q->generation == srd_generation) {
        lock_acquire(&q->lock);
        atomic_store(&q->closed, true);
        if (!q->readable)
            show(q, true);
        lock_release(&q->lock);
        srd_count_wait(&q->sleepers);
    }
    close(q->fd);
    q->fd = -1;
}

void srd_evq_settle_locked(struct srd_evq *q)
{
    bool queued = !list_empty(&q->queue);

    lock_assert_held(&q->lock);
    if (queued == q->readable || atomic_load_explicit(&q->closed, memory_order_relaxed))
        return;
    show(q, queued);
    q->readable = queued;
}

void srd_evq_push_locked(struct srd_evq *q, struct list_node *node)
{
    list_add_tail(&q->queue, node);
    if (fetching != q)
        srd_evq_settle_locked(q);
}

struct list_node *srd_evq_pop_locked(struct srd_evq *q)
{
    struct list_node *node = list_pop(&q->queue);

    if (node && fetching != q)
        srd_evq_settle_locked(q);
    return node;
}

static bool fetch(
    struct srd_evq *q, void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    struct list_node *node;

    lock_acquire(&q->lock);
    node = atomic_load_explicit(&q->closed, memory_order_relaxed) ? NULL : srd_evq_pop_locked(q);
    if (node)
        take(q, node, arg);
    srd_evq_settle_locked(q);
    lock_release(&q->lock);
    return node;
}

/* Lets the device move; what that queues here is fetched next by this thread. */
static void run(struct srd_evq *q)
{
    fetching = q;
    srd_loop_run();
    fetching = NULL;
}

unsigned srd_evq_sleep(struct srd_evq *q, int timeout_ms, bool *watched)
{
    unsigned queued = 0;

    fetching = q;
    *watched = srd_loop_sleep(timeout_ms);
    fetching = NULL;
    lock_acquire(&q->lock);
    list_for_each (&q->queue, node)
        queued++;
    lock_release(&q->lock);
    return queued;
}

/* What a thread does to itself: no sleep is interrupted by that. Sanitizers and Wine handle these. */
static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
           signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

/*
 * Where a kernel's device blocks in read(2), which goes on behind a handler with SA_RESTART; poll(2) does not. Which
 * signal it was nobody tells: it is as there while no handler asks for EINTR.
 */
static bool signals_restart(void)
{
    struct sigaction action;

    for (int number = 1; number < NSIG; number++)
        if (!is_fault(number) && !sigaction(number, NULL, &action) &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
            !(action.sa_flags & SA_RESTART))
            return false;
    return true;
}

static void leave(void *q)
{
    srd_count_sub(&((struct srd_evq *)q)->sleepers, 1);
}

/*
 * Sleeps until an event is fetched.
 * cancel_state  the caller's (pthread_setcancelstate)
 * Returns 0, an errno, or ECANCELED: the queue is being destroyed.
 */
static int wait_and_fetch(struct srd_evq *q, int cancel_state,
    void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    for (;;) {
        int error = -srd_loop_wait(q->fd, cancel_state);

        if (atomic_load(&q->closed))
            return ECANCELED;
        if (error == EINTR && signals_restart())
            continue;
        if (error)
            return error;
        run(q);
        if (fetch(q, take, arg))
            return 0;
    }
}

/* What a read(2) does whose descriptor was closed: it goes on. */
static int sleep_on(void)
{
    do
        pause();
    while (signals_restart());
    return EINTR;
}

static int get_blocking(
    struct srd_evq *q, void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    int error, state;

    srd_count_add(&q->sleepers);
    pthread_cleanup_push(leave, q);
    /* A thread that were canceled while it moves the device would keep locks. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    error = wait_and_fetch(q, state, take, arg);
    pthread_setcancelstate(state, NULL);
    pthread_cleanup_pop(1);
    return error == ECANCELED ? sleep_on() : error;
}

int srd_evq_get(
    struct srd_evq *q, void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    int flags, error;

    if (q->generation != srd_generation) {
        errno = EIO;
        return -1;
    }
    if (fetch(q, take, arg))
        return 0;
    flags = fcntl(q->fd, F_GETFL);
    if (flags < 0)
        return -1;
    if (flags & O_NONBLOCK) {
        if (!fetches_only) {
            run(q);
            if (fetch(q, take, arg))
                return 0;
        }
        errno = EAGAIN;
        return -1;
    }
    error = get_blocking(q, take, arg);
    if (!error)
        return 0;
    errno = error;
    return -1;
}
