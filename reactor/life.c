/* SPDX-License-Identifier: MIT */
/* life.c - makes the reactor, for its first source or for a lent thread, and makes it anew in the child of a fork. */
#include "reactor/internal.h"

#include "util/fork.h"
#include "util/thread.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Makes the epoll set, with the driver's eventfd in it. Returns 0 or a negative errno. */
static int open_locked(void)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = REACTOR_KICK };
    int error;

    lock_assert_held(&reactor.lock);
    if (reactor.open)
        return 0;
    reactor.set_fd = epoll_create1(EPOLL_CLOEXEC);
    reactor.kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    reactor.background_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reactor.set_fd >= 0 && reactor.kick_fd >= 0 && reactor.background_fd >= 0 &&
        !epoll_ctl(reactor.set_fd, EPOLL_CTL_ADD, reactor.kick_fd, &event)) {
        reactor.open = true;
        return 0;
    }
    error = -errno;
    close(reactor.set_fd);
    close(reactor.kick_fd);
    close(reactor.background_fd);
    reactor.set_fd = reactor.kick_fd = reactor.background_fd = -1;
    return error;
}

static int start_locked(void)
{
    int error = open_locked();

    if (error || reactor.background_there)
        return error;
    error = thread_start_detached("ndspi", reactor_background_main, NULL);
    reactor.background_there = !error;
    return error;
}

int reactor_lend(void)
{
    int error = -EBUSY;

    lock_acquire(&reactor.lock);
    if (!reactor.background_there && !(error = open_locked())) {
        reactor.background_there = true;
        atomic_store_explicit(&reactor.lent, true, memory_order_relaxed);
    }
    lock_release(&reactor.lock);
    return error;
}

bool reactor_is_lent(void)
{
    return atomic_load_explicit(&reactor.lent, memory_order_relaxed);
}

int reactor_add(struct reactor_source *source, uint32_t events)
{
    struct reactor_waiter *next = NULL;
    int error;

    lock_acquire(&reactor.lock);
    if (!(error = start_locked()) && !(error = reactor_insert_locked(source, events)))
        next = reactor_appoint_locked();
    lock_release(&reactor.lock);
    reactor_wake_follower(next);
    return error;
}

/* ---- fork: the child has none of the parent's threads, and shares the parent's descriptors ---- */

static void forked_locked(void)
{
    if (reactor.open) {
        close(reactor.set_fd);
        close(reactor.kick_fd);
        close(reactor.background_fd);
    }
    reactor.open = reactor.background_there = false;
    atomic_store_explicit(&reactor.lent, false, memory_order_relaxed);
    reactor.set_fd = reactor.kick_fd = reactor.background_fd = -1;
    reactor.process++;
    reactor.slots = NULL; /* the child does not free the parent's table, nor drop its references */
    reactor.slot_count = 0;
    reactor.free_slot = REACTOR_NO_SLOT;
    atomic_store(&reactor.source_count, 0);
    reactor.heap = NULL;
    reactor.heap_count = 0;
    atomic_store(&reactor.next_deadline_ns, REACTOR_NEVER);
    list_init(&reactor.runs);
    atomic_store(&reactor.any_runs, false);
    reactor.running = NULL;
    reactor.driver = NULL;
    list_init(&reactor.followers);
    atomic_store(&reactor.follower_count, 0);
    reactor.syncers = 0;
    reactor.background = BACKGROUND_AWAKE;
    reactor_turning = false;
    reactor_waiters_forked();
}

FORK_ROW(.place = LOCK_REACTOR, .lock = &reactor.lock, .child = forked_locked);
