/* SPDX-License-Identifier: MIT */
/* waiter.c - the reactor; each thread's waiter, from a pool that only grows; and how a waiter is woken. */
#include "reactor/internal.h"

#include "util/futex.h"
#include "util/once.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct reactor reactor = {
    .lock = LOCK_INIT(LOCK_REACTOR, "reactor"),
    .set_fd = -1,
    .kick_fd = -1,
    .free_slot = REACTOR_NO_SLOT,
    .next_deadline_ns = REACTOR_NEVER,
    .runs = { { &reactor.runs.n, &reactor.runs.n } },
    .followers = { { &reactor.followers.n, &reactor.followers.n } },
    .background_fd = -1,
};
_Thread_local bool reactor_turning;

static struct list_head pool = { { &pool.n, &pool.n } }; /* the reactor's lock guards it */
static pthread_key_t key;
static struct once key_once = ONCE_INIT;

static _Thread_local struct reactor_waiter *self;

static void give_back(void *value)
{
    struct reactor_waiter *waiter = value;

    self = NULL;
    lock_acquire(&reactor.lock);
    list_add_tail(&pool, &waiter->link);
    lock_release(&reactor.lock);
}

static int make_key(void)
{
    return pthread_key_create(&key, give_back);
}

struct reactor_waiter *reactor_waiter_self(void)
{
    struct reactor_waiter *waiter;
    struct list_node *node;

    if (self)
        return self;
    if (once_run(&key_once, make_key))
        return NULL;
    lock_acquire(&reactor.lock);
    node = list_pop(&pool);
    lock_release(&reactor.lock);
    waiter = node ? list_entry(node, struct reactor_waiter, link) : calloc(1, sizeof(*waiter));
    if (!waiter)
        return NULL;
    list_node_init(&waiter->link);
    if (pthread_setspecific(key, waiter)) {
        give_back(waiter);
        return NULL;
    }
    return self = waiter;
}

void reactor_kick(int fd)
{
    const uint64_t one = 1;

    while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void reactor_drain(int fd)
{
    uint64_t kicks;

    while (read(fd, &kicks, sizeof(kicks)) < 0 && errno == EINTR)
        ;
}

void reactor_signal(struct reactor_waiter *waiter)
{
    if (atomic_fetch_or(&waiter->word, WAITER_SIGNAL) & WAITER_SIGNAL)
        return;
    switch (atomic_load(&waiter->mode)) {
    case WAITER_FUTEX: futex_wake(&waiter->word, 1); break;
    case WAITER_EPOLL: reactor_kick(reactor.kick_fd); break;
    default: break;
    }
}

bool reactor_is_signalled(struct reactor_waiter *waiter)
{
    return atomic_load(&waiter->word) & WAITER_SIGNAL;
}

void reactor_waiters_forked(void)
{
    list_init(&pool); /* the waiters of the parent's other threads are lost */
    if (self)
        list_node_init(&self->link);
}
