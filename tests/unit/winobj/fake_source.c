/* SPDX-License-Identifier: MIT */
/* fake_source.c - see fake_source.h. */
#include "tests/unit/winobj/fake_source.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/list.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static _Atomic uint32_t progress; /* futex word: changes when any source takes events */

static bool by_background_thread(void)
{
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    return !strcmp(name, "ndspi");
}

static void fake_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct fake_source *fake = container_of(source, struct fake_source, source);
    eventfd_t count = 0;

    if (atomic_fetch_add(&fake->running, 1) || events != EPOLLIN ||
        by_background_thread() != (how == REACTOR_BACKGROUND))
        atomic_store(&fake->broken, true);
    if (eventfd_read(source->fd, &count))
        atomic_store(&fake->broken, true);
    atomic_fetch_add(how == REACTOR_BACKGROUND ? &fake->own_runs : &fake->led_runs, 1);
    if (fake->taken)
        fake->taken(fake, count);
    atomic_fetch_add(&fake->events, (long)count);
    atomic_fetch_add(&progress, 1);
    futex_wake(&progress, INT32_MAX);
    atomic_fetch_sub(&fake->running, 1);
}

static const struct reactor_source_ops fake_ops = { .ready = fake_ready };

void fake_source_prepare(struct fake_source *fake)
{
    reactor_source_init(&fake->source, &fake_ops, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    assert_true(fake->source.fd >= 0);
}

void fake_source_add(struct fake_source *fake)
{
    fake_source_prepare(fake);
    assert_int_equal(reactor_add(&fake->source, EPOLLIN), 0);
}

void fake_source_remove(struct fake_source *fake)
{
    reactor_remove_sync(&fake->source);
    assert_false(fake->broken);
    assert_int_equal(fake->running, 0);
    close(fake->source.fd);
}

void fake_source_fire(struct fake_source *fake, unsigned long count)
{
    assert_int_equal(eventfd_write(fake->source.fd, count), 0);
}

bool fake_source_reached(struct fake_source *fake, long count)
{
    uint64_t end = clock_now_ms() + LONG_MS;

    for (;;) {
        const struct timespec second = { .tv_sec = 1 };
        uint32_t seen = atomic_load(&progress);

        if (atomic_load(&fake->events) >= count)
            return true;
        if (clock_now_ms() >= end)
            return false;
        futex_wait(&progress, seen, &second);
    }
}

int fake_source_alone(void **state)
{
    (void)state;
    return reactor_lend();
}
