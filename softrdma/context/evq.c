/* SPDX-License-Identifier: MIT */
/* evq.c - see evq.h. */
#include "softrdma/context/evq.h"

#include "reactor/reactor.h"
#include "softrdma/process.h"
#include "softrdma/softrdma.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A thread that blocks in srd_evq_get; on its stack, in the queue's list. */
struct waiter {
    struct list_node link;
    /* NULL: there was no memory for it, so the thread waits at the descriptor, not in the list */
    struct reactor_waiter *thread;
};

int srd_evq_init(struct srd_evq *q, const char *name)
{
    lock_init(&q->lock, LOCK_SRD_CHANNEL, name);
    list_init(&q->queue);
    list_init(&q->waiters);
    q->source = NULL;
    q->readable = false;
    atomic_init(&q->closed, false);
    q->sleepers = (struct srd_count){ 0 };
    q->generation = srd_generation;
    q->fd = eventfd(0, EFD_CLOEXEC);
    return q->fd < 0 ? -errno : 0;
}

/* Makes the descriptor readable, or not. Neither call blocks: it writes only at zero, and reads only above zero. */
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
        list_for_each (&q->waiters, node)
            reactor_signal(list_entry(node, struct waiter, link)->thread);
        lock_release(&q->lock);
        srd_count_wait(&q->sleepers);
    }
    close(q->fd);
    q->fd = -1;
}

void srd_evq_attach(struct srd_evq *q, struct reactor_source *source)
{
    lock_acquire(&q->lock);
    q->source = source;
    srd_evq_announce_locked(q);
    lock_release(&q->lock);
}

void srd_evq_announce_locked(struct srd_evq *q)
{
    bool queued = !list_empty(&q->queue), shown = queued;

    lock_assert_held(&q->lock);
    if (atomic_load_explicit(&q->closed, memory_order_relaxed))
        return;
    if (queued && q->source) {
        reactor_run(q->source);
        shown = false;
    } else if (queued && !list_empty(&q->waiters)) {
        reactor_signal(list_entry(q->waiters.n.next, struct waiter, link)->thread);
        shown = false;
    }
    if (shown == q->readable)
        return;
    show(q, shown);
    q->readable = shown;
}

void srd_evq_push_locked(struct srd_evq *q, struct list_node *node)
{
    list_add_tail(&q->queue, node);
    srd_evq_announce_locked(q);
}

static bool fetch(
    struct srd_evq *q, void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    struct list_node *node;

    lock_acquire(&q->lock);
    node = atomic_load_explicit(&q->closed, memory_order_relaxed) ? NULL : list_pop(&q->queue);
    if (node) {
        take(q, node, arg);
        srd_evq_announce_locked(q);
    }
    lock_release(&q->lock);
    return node;
}

/* Whether it is a synchronous signal, which interrupts no sleep. Sanitizers and Wine handle these. */
static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
           signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

/*
 * A kernel's device blocks in read(2), which continues after a handler with SA_RESTART; a wait in the reactor does not.
 * The thread does not learn which signal ended its wait, so it continues if every handler has SA_RESTART.
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

/* A blocking call under way; on the stack of its thread. */
struct sleep {
    struct srd_evq *q;
    struct waiter waiter;
};

static void enter(struct sleep *sleep)
{
    srd_count_add(&sleep->q->sleepers);
    list_node_init(&sleep->waiter.link);
    if (!sleep->waiter.thread)
        return;
    lock_acquire(&sleep->q->lock);
    list_add_tail(&sleep->q->waiters, &sleep->waiter.link);
    lock_release(&sleep->q->lock);
}

/* Leaves the list; if this waiter was woken for an event that it did not fetch, another waiter is woken. */
static void leave(void *argument)
{
    struct sleep *sleep = argument;

    lock_acquire(&sleep->q->lock);
    list_del(&sleep->waiter.link);
    srd_evq_announce_locked(sleep->q);
    lock_release(&sleep->q->lock);
    srd_count_sub(&sleep->q->sleepers, 1);
}

/* Waits until the descriptor is readable. Returns 0 or an errno. */
static int wait_at_descriptor(struct srd_evq *q, int cancel_state)
{
    struct pollfd shown = { .fd = q->fd, .events = POLLIN };
    int error, state;

    pthread_setcancelstate(cancel_state, &state);
    error = poll(&shown, 1, -1) < 0 ? errno : 0;
    pthread_setcancelstate(state, NULL);
    return error;
}

/*
 * Sleeps until an event is fetched.
 * cancel_state  the caller's (pthread_setcancelstate)
 * Returns 0, an errno, or ECANCELED: the queue is being destroyed.
 */
static int wait_and_fetch(struct sleep *sleep, int cancel_state,
    void (*take)(struct srd_evq *, struct list_node *, void *), void *arg)
{
    for (;;) {
        int error;

        if (atomic_load(&sleep->q->closed))
            return ECANCELED;
        if (fetch(sleep->q, take, arg))
            return 0;
        error = sleep->waiter.thread
                    ? -reactor_wait(sleep->waiter.thread, REACTOR_NEVER, cancel_state)
                    : wait_at_descriptor(sleep->q, cancel_state);
        if (error && !(error == EINTR && signals_restart()) && !atomic_load(&sleep->q->closed))
            return error;
    }
}

/* Sleeps although the queue is gone, as a read(2) does whose descriptor was closed. */
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
    struct sleep sleep = { .q = q, .waiter.thread = reactor_waiter_self() };
    int error, state;

    enter(&sleep);
    pthread_cleanup_push(leave, &sleep);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    error = wait_and_fetch(&sleep, state, take, arg);
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
        /* A callback of the reactor does not poll: its thread drives the device already. */
        if (!reactor_in_turn() && reactor_poll() && fetch(q, take, arg))
            return 0;
        errno = EAGAIN;
        return -1;
    }
    error = get_blocking(q, take, arg);
    if (!error)
        return 0;
    errno = error;
    return -1;
}
