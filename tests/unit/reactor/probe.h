/* SPDX-License-Identifier: MIT */
/* probe.h - a source made of an eventfd that counts its callbacks, and what the reactor's tests look at inside it. */
#ifndef TESTS_UNIT_REACTOR_PROBE_H
#define TESTS_UNIT_REACTOR_PROBE_H

#include "tests/unit/util/cmocka_test.h"

#include "reactor/internal.h"
#include "tests/support/asleep.h"
#include "tests/support/cancels.h"
#include "util/clock.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct probe {
    struct reactor_source source;
    atomic_int ready, expired, run, freed; /* callbacks */
    _Atomic enum reactor_how how;          /* of the last */
    bool leaves;                           /* ready leaves the descriptor readable */
    /* Called in each callback, when it has been counted. */
    void (*then)(struct probe *probe);
    void *context;
    sem_t ended; /* posted at the end of each callback */
};

static inline struct probe *probe_of(struct reactor_source *source)
{
    return container_of(source, struct probe, source);
}

static inline void probe_called(struct probe *probe, atomic_int *count, enum reactor_how how)
{
    atomic_store(&probe->how, how);
    atomic_fetch_add(count, 1);
    if (probe->then)
        probe->then(probe);
    sem_post(&probe->ended);
}

static inline void probe_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct probe *probe = probe_of(source);
    eventfd_t value;

    assert_int_equal(events, EPOLLIN);
    assert_true(reactor_in_turn());
    if (!probe->leaves)
        assert_int_equal(eventfd_read(source->fd, &value), 0);
    probe_called(probe, &probe->ready, how);
}

static inline void probe_expired(struct reactor_source *source, enum reactor_how how)
{
    probe_called(probe_of(source), &probe_of(source)->expired, how);
}

static inline void probe_run(struct reactor_source *source, enum reactor_how how)
{
    probe_called(probe_of(source), &probe_of(source)->run, how);
}

static inline void probe_free(struct reactor_source *source)
{
    atomic_fetch_add(&probe_of(source)->freed, 1);
}

static const struct reactor_source_ops probe_ops = {
    .ready = probe_ready,
    .expired = probe_expired,
    .run = probe_run,
    .free = probe_free,
};

static inline void probe_init(struct probe *probe)
{
    *probe = (struct probe){ .leaves = false };
    sem_init(&probe->ended, 0, 0);
    reactor_source_init(&probe->source, &probe_ops, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    assert_true(probe->source.fd >= 0);
}

static inline void probe_add(struct probe *probe)
{
    probe_init(probe);
    assert_int_equal(reactor_add(&probe->source, EPOLLIN), 0);
}

static inline void probe_remove(struct probe *probe)
{
    reactor_remove_sync(&probe->source);
    assert_int_equal(probe->freed, 0);
    reactor_unref(&probe->source);
    assert_int_equal(probe->freed, 1);
    close(probe->source.fd);
    sem_destroy(&probe->ended);
}

static inline void probe_fire(struct probe *probe)
{
    assert_int_equal(eventfd_write(probe->source.fd, 1), 0);
}

/* Waits for the end of one callback. */
static inline void probe_await(struct probe *probe)
{
    while (sem_wait(&probe->ended))
        ;
}

/* Whether a thread drives and sleeps. */
static inline bool driver_sleeps(void)
{
    bool sleeps;

    lock_acquire(&reactor.lock);
    sleeps = reactor.driver && atomic_load(&reactor.driver->mode) == WAITER_EPOLL;
    lock_release(&reactor.lock);
    return sleeps;
}

static inline unsigned followers(void)
{
    unsigned count = 0;

    lock_acquire(&reactor.lock);
    list_for_each (&reactor.followers, node)
        count++;
    lock_release(&reactor.lock);
    return count;
}

static inline enum reactor_background_state background_state(void)
{
    enum reactor_background_state state;

    lock_acquire(&reactor.lock);
    state = reactor.background;
    lock_release(&reactor.lock);
    return state;
}

/* A probe's `then` that stays in the callback until go_on is posted; context: a struct held. */
struct held {
    sem_t inside, go_on;
};

static inline void hold(struct probe *probe)
{
    struct held *held = probe->context;

    sem_post(&held->inside);
    while (sem_wait(&held->go_on))
        ;
}

/* A thread in reactor_wait, again and again until `done` is set. */
struct sleeper {
    pthread_t thread;
    struct reactor_waiter *waiter;
    uint64_t deadline_ns;
    int cancel_state;
    bool once; /* one wait, whatever ends it */
    atomic_int number, result;
    atomic_int waits; /* that ended by a signal */
    atomic_bool done;
};

static inline void *sleeper_main(void *argument)
{
    struct sleeper *sleeper = argument;
    int result;

    sleeper->waiter = reactor_waiter_self();
    atomic_store(&sleeper->number, thread_number());
    do {
        result = reactor_wait(sleeper->waiter, sleeper->deadline_ns, sleeper->cancel_state);
        atomic_store(&sleeper->result, result);
        atomic_fetch_add(&sleeper->waits, 1);
    } while (!sleeper->once && !atomic_load(&sleeper->done));
    return NULL;
}

/* deadline_ns: REACTOR_NEVER for none. Returns when it sleeps. */
static inline void sleeper_begin(
    struct sleeper *sleeper, uint64_t deadline_ns, int cancel_state, bool once)
{
    *sleeper = (struct sleeper){
        .deadline_ns = deadline_ns, .cancel_state = cancel_state, .once = once, .result = 1
    };
    assert_int_equal(pthread_create(&sleeper->thread, NULL, sleeper_main, sleeper), 0);
    assert_true(
        SETTLES(atomic_load(&sleeper->number) && thread_is_asleep(atomic_load(&sleeper->number))));
}

static inline void sleeper_start(struct sleeper *sleeper)
{
    sleeper_begin(sleeper, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE, false);
}

static inline void sleeper_end(struct sleeper *sleeper)
{
    atomic_store(&sleeper->done, true);
    reactor_signal(sleeper->waiter);
    pthread_join(sleeper->thread, NULL);
}

#endif
