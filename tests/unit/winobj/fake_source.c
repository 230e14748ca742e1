/* SPDX-License-Identifier: MIT */
/* fake_source.c - see fake_source.h. */
#include "tests/unit/winobj/fake_source.h"

#include "util/clock.h"
#include "util/futex.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static _Atomic uint32_t progress; /* futex word: changes when any source takes events */

static struct fake_source *fake_of(struct win_source *source)
{
    return container_of(source, struct fake_source, source);
}

static bool fake_prepare(struct win_source *source)
{
    struct fake_source *fake = fake_of(source);

    atomic_fetch_add(&fake->prepares, 1);
    if (atomic_load(&fake->busy))
        return false;
    if (atomic_fetch_add(&fake->prepared, 1) != 0)
        atomic_store(&fake->broken, true); /* two leaders */
    return true;
}

static void fake_finish(struct win_source *source)
{
    struct fake_source *fake = fake_of(source);

    if (atomic_fetch_sub(&fake->prepared, 1) != 1)
        atomic_store(&fake->broken, true);
}

void fake_device_open(struct fake_device *device)
{
    struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };

    memset(device, 0, sizeof(*device));
    device->moved = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    device->set = epoll_create1(EPOLL_CLOEXEC);
    assert_true(device->moved >= 0 && device->set >= 0);
    event.data.fd = device->moved;
    assert_int_equal(epoll_ctl(device->set, EPOLL_CTL_ADD, device->moved, &event), 0);
}

void fake_device_close(struct fake_device *device)
{
    assert_int_equal(device->watched, 0);
    close(device->moved);
    close(device->set);
}

void fake_device_move(struct fake_device *device)
{
    assert_int_equal(eventfd_write(device->moved, 1), 0);
}

static int fake_watch(struct win_source *source, int fd, bool watched)
{
    struct fake_device *device = fake_of(source)->device;
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

    if (!watched) {
        if (!epoll_ctl(device->set, EPOLL_CTL_DEL, fd, NULL))
            atomic_fetch_sub(&device->watched, 1);
        return 0;
    }
    if (!epoll_ctl(device->set, EPOLL_CTL_ADD, fd, &event))
        atomic_fetch_add(&device->watched, 1);
    else if (errno != EEXIST)
        return -errno;
    return 0;
}

static bool fake_wait(struct win_source *source, int timeout_ms, bool *watched)
{
    struct fake_source *fake = fake_of(source);
    struct fake_device *device = fake->device;
    struct epoll_event events[2];
    eventfd_t moved = 0;
    int count;

    if (atomic_load(&fake->prepared) != 1)
        atomic_store(&fake->broken, true);
    atomic_fetch_add(&device->waits, 1);
    atomic_fetch_add(&fake->hosted, 1);
    *watched = false;
    count = epoll_wait(device->set, events, 2, timeout_ms);
    for (int i = 0; i < count; i++)
        if (events[i].data.fd != device->moved)
            *watched = true;
        else if (!eventfd_read(device->moved, &moved))
            atomic_fetch_add(&fake->moved, (long)moved);
    return moved;
}

static bool by_service_thread(void)
{
    char name[16] = "";

    pthread_getname_np(pthread_self(), name, sizeof(name));
    return !strcmp(name, "ndspi-service");
}

static void fake_run(struct win_source *source, bool leading, unsigned ready)
{
    struct fake_source *fake = fake_of(source);
    eventfd_t count = 0, lead = 0;

    if (atomic_fetch_add(&fake->running, 1))
        atomic_store(&fake->broken, true);
    /* the other way round the service thread runs it again for a leader */
    if (!leading && !by_service_thread())
        atomic_store(&fake->broken, true);
    if (!ready || (!leading && ready != WIN_SOURCE_ANY))
        atomic_store(&fake->broken, true);
    if (eventfd_read(source->fd, &count))
        count = 0;
    if (fake->device)
        count += (eventfd_t)atomic_exchange(&fake->moved, 0);
    else if (source->lead_fd >= 0 && !eventfd_read(source->lead_fd, &lead))
        count += lead;
    if (count) {
        atomic_fetch_add(leading ? &fake->led_runs : &fake->own_runs, 1);
        if (fake->taken)
            fake->taken(fake, count);
        atomic_fetch_add(&fake->events, (long)count);
        atomic_fetch_add(&progress, 1);
        futex_wake(&progress, INT32_MAX);
    }
    atomic_fetch_sub(&fake->running, 1);
}

void fake_source_add(struct fake_source *fake)
{
    fake->source = (struct win_source){
        .fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
        .lead_fd = fake->device ? fake->device->set : eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
        .prepare = fake_prepare,
        .finish = fake_finish,
        .run = fake_run,
        .watch = fake->device ? fake_watch : NULL,
        .wait = fake_wait,
    };
    assert_true(fake->source.fd >= 0 && fake->source.lead_fd >= 0);
    assert_int_equal(win_source_add(&fake->source), ERROR_SUCCESS);
}

void fake_source_remove(struct fake_source *fake)
{
    win_source_remove(&fake->source);
    assert_false(fake->broken);
    assert_int_equal(fake->running, 0);
    assert_int_equal(fake->prepared, 0);
    close(fake->source.fd);
    if (!fake->device)
        close(fake->source.lead_fd);
}

void fake_source_fire(struct fake_source *fake, unsigned long count)
{
    assert_int_equal(eventfd_write(fake->source.fd, count), 0);
}

void fake_source_fire_lead(struct fake_source *fake)
{
    assert_int_equal(eventfd_write(fake->source.lead_fd, 1), 0);
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
