/* SPDX-License-Identifier: MIT */
/*
 * service.c - the service thread: it has each source's fd (not lead_fd) armed once in a set of its own, serves what
 * nobody waits or polls for, and steps aside for threads of the program (util/standby.h). It is winobj's own, or lent
 * (provider.h).
 */
#include "winobj/waits/service.h"

#include "winobj/provider.h"
#include "winobj/waits/source.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { EPOLL_EVENTS = 16 };
/* In epoll data: the lender's descriptor. */
static const uint64_t lent_token = UINT64_MAX;

struct standby win_service_standby;
static int epfd = -1;
static int lent_fd = -1; /* the lender's; -1: the thread is ours */

struct service {
    /* sources that fired and are left to the foreground: disarmed, pinned */
    struct list_head aside;
    unsigned seen;    /* activity of the foreground at the last look */
    uint64_t busy_ns; /* when it was last seen at work */
    unsigned ticks;   /* until the next look */
};

/*
 * A descriptor is armed again, too, when so many looks have found the foreground at work: once more each time it fires
 * at once, as those of a device do that the kernel or hardware moves; those of one that its leader moves stay quiet,
 * and need no tick.
 */
enum { LOOKS_MIN = 1, LOOKS_MAX = 8 };

/* Looks become rarer while each finds the foreground at work: its threads share their processors with this one. */
enum { TICKS_MAX = 8 };

/* Whether the foreground has been away for a tick. */
static bool service_quiet(struct service *service)
{
    if (standby_quiet(&win_service_standby, &service->seen)) {
        service->ticks = 1;
        return clock_now_ns() - service->busy_ns >= STANDBY_TICK_US * 1000u;
    }
    service->busy_ns = clock_now_ns();
    if (service->ticks < TICKS_MAX)
        service->ticks *= 2;
    return false;
}

static void service_arm(struct win_source_state *state)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = state->id };

    state->armed_ns = clock_now_ns();
    /* Fails only for a source that win_source_remove took out meanwhile. */
    if (epoll_ctl(epfd, EPOLL_CTL_MOD, state->source->fd, &event) < 0 && errno != ENOENT &&
        errno != EBADF)
        log_limited(
            LOG_ERROR, LOG_WIN, "service thread: cannot arm a descriptor: %s", strerror(errno));
}

/* Leaves a source to the foreground, disarmed; the list keeps the pin. */
static void service_put_aside(struct service *service, struct win_source_state *state)
{
    bool at_once =
        clock_now_ns() - state->armed_ns < LOOKS_MAX * TICKS_MAX * STANDBY_TICK_US * 1000u;

    state->patience = !at_once                      ? LOOKS_MIN
                      : state->patience < LOOKS_MAX ? state->patience * 2
                                                    : LOOKS_MAX;
    state->looks = state->patience;
    list_add_tail(&service->aside, &state->aside);
}

/* A source fired. */
static void service_fired(struct service *service, struct win_source_state *state, bool quiet)
{
    if (!quiet) {
        service_put_aside(service, state);
        return;
    }
    win_source_run(state, false, WIN_SOURCE_ANY);
    service_arm(state);
    win_source_unpin(state);
}

/* Lets go of what was removed, and arms again what it is time for: what is ready fires at once. */
static void service_look(struct service *service, bool quiet)
{
    list_for_each_safe (&service->aside, node) {
        struct win_source_state *state = list_entry(node, struct win_source_state, aside);
        bool dead = atomic_load_explicit(&state->dead, memory_order_acquire);

        if (!dead && !quiet && --state->looks)
            continue;
        list_del(node);
        if (!dead)
            service_arm(state);
        win_source_unpin(state);
    }
}

/* Until something fires, or until the next look if one is due (ticks not 0). */
static int service_wait(struct epoll_event *events, unsigned ticks)
{
    struct timespec timeout = { 0, ticks * STANDBY_TICK_US * 1000L };
    static bool no_pwait2;
    int count;

    if (ticks && !no_pwait2) {
        count = epoll_pwait2(epfd, events, EPOLL_EVENTS, &timeout, NULL);
        if (count >= 0 || errno != ENOSYS)
            return count;
        no_pwait2 = true;
    }
    return epoll_wait(
        epfd, events, EPOLL_EVENTS, ticks ? (int)(ticks * STANDBY_TICK_US + 999) / 1000 : -1);
}

static _Noreturn void service_loop(void (*turn)(bool readable))
{
    struct epoll_event events[EPOLL_EVENTS];
    struct service service = { .ticks = 1 };

    list_init(&service.aside);
    for (;;) {
        int count = service_wait(events, list_empty(&service.aside) ? 0 : service.ticks);
        bool quiet = service_quiet(&service), readable = false;

        service_look(&service, quiet);
        for (int i = 0; i < count; i++) {
            struct win_source_state *state;
            if (events[i].data.u64 == WIN_EPOLL_KICK)
                standby_kicked(&win_service_standby);
            else if (events[i].data.u64 == lent_token)
                readable = true;
            else if ((state = win_source_find(events[i].data.u64)))
                service_fired(&service, state, quiet);
        }
        if (turn)
            turn(readable);
    }
}

static void service_main(void *unused)
{
    (void)unused;
    service_loop(NULL);
}

void win_service_serve(void (*turn)(bool readable))
{
    service_loop(turn);
}

void win_service_lend_locked(int fd)
{
    lock_assert_held(&win_progress_lock);
    lent_fd = fd;
}

int win_service_open_locked(void)
{
    int error;

    lock_assert_held(&win_progress_lock);
    if ((error = standby_init(&win_service_standby)) < 0)
        return error;
    if ((epfd = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        error = -errno;
        goto fini_standby;
    }
    if ((error = win_epoll_add(epfd, win_service_standby.kick_fd, EPOLLIN, WIN_EPOLL_KICK)) < 0 ||
        (error = lent_fd < 0 ? thread_start_detached("ndspi-service", service_main, NULL)
                             : win_epoll_add(epfd, lent_fd, EPOLLIN, lent_token)) < 0)
        goto close_epfd;
    return 0;

close_epfd:
    close(epfd);
fini_standby:
    standby_fini(&win_service_standby);
    epfd = -1;
    return error;
}

void win_service_close(void)
{
    close(epfd);
    standby_fini(&win_service_standby);
    epfd = lent_fd = -1;
}

int win_service_watch_locked(struct win_source_state *state)
{
    return win_epoll_add(epfd, state->source->fd, EPOLLIN | EPOLLONESHOT, state->id);
}

void win_service_unwatch_locked(struct win_source_state *state)
{
    epoll_ctl(epfd, EPOLL_CTL_DEL, state->source->fd, NULL);
}
