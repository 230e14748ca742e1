/* SPDX-License-Identifier: MIT */
#include "ndspi/wine/deliver.h"

#include "winobj/provider.h"

#include "util/futex.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

__thread struct nd_wine_thread nd_wine_thread;
atomic_uint nd_undelivered;

static struct {
    struct lock lock;
    struct list_head queue;
    uint64_t queued, delivered; /* ever */
    bool busy;                  /* a thread delivers */
    bool kicked;                /* the serving thread was called and has not come yet */
    int set;                    /* lent: an epoll set of the other two */
    int event_fd, timer_fd;
    void (*look)(void);
    atomic_bool look_due;    /* the timer runs (seq_cst: before what the look finds) */
    _Atomic uint32_t rounds; /* of delivery; those who wait sleep on it */
    atomic_uint sleepers;    /* pairs with rounds (both seq_cst) */
} state = { .lock = LOCK_INIT(LOCK_WINE_QUEUE, "Wine's deliveries"),
    .queue = { { &state.queue.n, &state.queue.n } },
    .set = -1,
    .event_fd = -1,
    .timer_fd = -1 };

/* How long a file whose handle the program closed may keep its pending requests. */
enum { LOOK_MS = 100 };

static bool watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return fd >= 0 && !epoll_ctl(state.set, EPOLL_CTL_ADD, fd, &event);
}

static void close_descriptor(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool nd_deliver_init(void (*look)(void))
{
    if (state.set >= 0)
        return true;
    state.look = look;
    state.set = epoll_create1(EPOLL_CLOEXEC);
    state.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    state.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!watch(state.event_fd) || !watch(state.timer_fd))
        log_write(LOG_ERROR, LOG_WIN, "no descriptors for deliveries: %s", strerror(errno));
    else if (win_service_lend(state.set) == ERROR_SUCCESS)
        return true;
    close_descriptor(&state.timer_fd);
    close_descriptor(&state.event_fd);
    close_descriptor(&state.set);
    return false;
}

void nd_deliver_look_later(void)
{
    static const struct itimerspec later = { .it_value.tv_nsec = LOOK_MS * 1000000L };

    if (!atomic_load(&state.look_due) && !atomic_exchange(&state.look_due, true))
        timerfd_settime(state.timer_fd, 0, &later, NULL);
}

static void kick(void)
{
    const uint64_t one = 1;

    while (write(state.event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void nd_deliver(struct nd_delivery *delivery)
{
    bool call = false;

    lock_acquire(&state.lock);
    list_add_tail(&state.queue, &delivery->link);
    state.queued++;
    atomic_fetch_add_explicit(&nd_undelivered, 1, memory_order_relaxed);
    if (nd_wine_thread.inside)
        nd_wine_thread.queued = true;
    else if (!state.kicked)
        call = state.kicked = true;
    lock_release(&state.lock);
    if (call)
        kick();
}

static void sleep_until_round(uint32_t seen)
{
    atomic_fetch_add(&state.sleepers, 1);
    futex_wait(&state.rounds, seen, NULL);
    atomic_fetch_sub(&state.sleepers, 1);
}

/* Delivers what is queued now. The lock is held on entry and on return. */
static void run_batch_locked(void)
{
    struct list_head batch;
    struct list_node *node;
    unsigned count = 0;

    lock_assert_held(&state.lock);
    list_init(&batch);
    list_splice_tail(&batch, &state.queue);
    state.busy = true;
    lock_release(&state.lock);
    while ((node = list_pop(&batch))) {
        struct nd_delivery *delivery = list_entry(node, struct nd_delivery, link);

        delivery->run(delivery);
        count++;
    }
    lock_acquire(&state.lock);
    state.busy = false;
    state.delivered += count;
    atomic_fetch_sub_explicit(&nd_undelivered, count, memory_order_relaxed);
    atomic_fetch_add(&state.rounds, 1);
    if (atomic_load(&state.sleepers))
        futex_wake(&state.rounds, INT_MAX);
}

static void settle_once(void)
{
    uint64_t until;

    nd_wine_thread.queued = false;
    lock_acquire(&state.lock);
    until = state.queued;
    while (state.delivered < until) {
        if (state.busy) {
            uint32_t seen = atomic_load(&state.rounds);

            lock_release(&state.lock);
            sleep_until_round(seen);
            lock_acquire(&state.lock);
        } else {
            run_batch_locked();
        }
    }
    lock_release(&state.lock);
}

/* What is delivered may queue more: a file is closed after its last request. */
void nd_deliver_settle(void)
{
    do
        settle_once();
    while (nd_wine_thread.queued);
}

void nd_deliver_wait(bool (*done)(const void *context), const void *context)
{
    for (;;) {
        uint32_t seen = atomic_load(&state.rounds);

        nd_deliver_settle(); /* also the rest of the delivery that made it done */
        if (done(context))
            return;
        sleep_until_round(seen);
    }
}

/* Whether it was readable; it is not any more. */
static bool take(int fd)
{
    uint64_t count;
    ssize_t octets;

    do
        octets = read(fd, &count, sizeof(count));
    while (octets < 0 && errno == EINTR);
    return octets == sizeof(count);
}

static void turn(bool called)
{
    if (!called) {
        nd_wine_leave();
        return;
    }
    if (take(state.timer_fd)) {
        atomic_store(&state.look_due, false);
        state.look();
    }
    if (take(state.event_fd)) {
        lock_acquire(&state.lock);
        state.kicked = false;
        lock_release(&state.lock);
    }
    nd_deliver_settle();
}

void nd_deliver_serve(void)
{
    pthread_setname_np(pthread_self(), "ndspi-deliver");
    win_service_serve(turn);
}
