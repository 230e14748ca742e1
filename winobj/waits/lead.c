/* SPDX-License-Identifier: MIT */
/*
 * lead.c - waits that move the work they wait for: leader and followers (waiter.h).
 *
 * The leader's loop: tell every source that a thread is about to sleep on it (prepare), sleep in epoll on all of them
 * and the kick descriptor, tell them it woke (finish), run those that are ready. Its own wait may end in there, without
 * any system call: who signals a waiter makes one only if that waiter sleeps. Where a device can be slept in
 * (provider.h, wait), the leader sleeps there, and the device has moved when it wakes.
 */
#include "winobj/waits/lead.h"

#include "winobj/provider.h"
#include "winobj/waits/service.h"
#include "winobj/waits/source.h"
#include "winobj/waits/waiter.h"

#include "util/clock.h"
#include "util/futex.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EPOLL_EVENTS = 16 };

static struct list_head followers = { { &followers.n, &followers.n } }; /* win_progress_lock */
static struct win_waiter *leader;                                       /* win_progress_lock */
static int epfd = -1, kick_fd = -1;
/*
 * Of the sources whose device a thread can sleep in, the one last seen ready: the leader sleeps there, with epfd
 * watched, rather than in epfd. win_progress_lock.
 */
static struct win_source_state *host;

static struct win_source_state *led_state(struct list_node *node)
{
    return list_entry(node, struct win_source_state, led);
}

/* Nanoseconds from now to the deadline; 0 when passed. */
static uint64_t time_left_ns(uint64_t deadline_ns)
{
    uint64_t now;

    if (deadline_ns == WIN_NO_DEADLINE)
        return UINT64_MAX;
    now = clock_now_ns();
    return now < deadline_ns ? deadline_ns - now : 0;
}

static int epoll_timeout_ms(uint64_t left_ns)
{
    uint64_t left_ms;

    if (left_ns == UINT64_MAX)
        return -1;
    left_ms = (left_ns + 999999u) / 1000000u;
    return left_ms > 0x3fffffff ? 0x3fffffff : (int)left_ms;
}

/* Epoll data of a part of a source; those of the kick are below all of them. */
static uint64_t part_event(const struct win_source_state *state, unsigned part)
{
    return state->id * (WIN_SOURCE_PARTS + 1) + part;
}

static void mark_ready(struct list_head *led, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 == WIN_EPOLL_KICK)
            continue; /* it was edge-triggered: nothing to drain */
        /* A source that came after they were collected is not on our list: the next round has it. */
        list_for_each (led, node)
            if (led_state(node)->id == events[i].data.u64 / (WIN_SOURCE_PARTS + 1))
                led_state(node)->ready |= 1u << events[i].data.u64 % (WIN_SOURCE_PARTS + 1);
    }
}

static void lead_sleep_in_set(struct list_head *led, int timeout_ms)
{
    struct epoll_event events[EPOLL_EVENTS];

    mark_ready(led, events, epoll_wait(epfd, events, EPOLL_EVENTS, timeout_ms));
}

/* Of several sources of the host's device the busy one is the better host: its events need no descriptor. */
static void host_move(struct list_head *led, struct win_source_state *from)
{
    lock_acquire(&win_progress_lock);
    list_for_each (led, node) {
        struct win_source_state *state = led_state(node);

        if (state->ready && host == from && state->source->lead_fd == from->source->lead_fd &&
            !atomic_load_explicit(&state->dead, memory_order_relaxed))
            host = state;
    }
    lock_release(&win_progress_lock);
}

static void lead_sleep_in_device(struct list_head *led, struct win_source_state *in, int timeout_ms)
{
    bool watched;

    if (in->source->wait(in->source, timeout_ms, &watched))
        in->ready = WIN_SOURCE_DEVICE;
    if (!watched)
        return;
    lead_sleep_in_set(led, 0);
    if (!in->ready)
        host_move(led, in);
}

/* Sleeps on all descriptors, in a device if there is one for it; marks the sources that are ready. */
static void lead_sleep(struct win_waiter *waiter, struct list_head *led,
    struct win_source_state *in, uint64_t deadline_ns)
{
    standby_sleep_begin(&win_service_standby);
    atomic_store(&waiter->mode, WAITER_EPOLL);
    /* Pairs with win_waiter_signal: either it sees the mode, or we see the word. */
    if (!(atomic_load(&waiter->word) & WAITER_SIGNAL)) {
        uint64_t left_ns = time_left_ns(deadline_ns);
        if (left_ns && in)
            lead_sleep_in_device(led, in, epoll_timeout_ms(left_ns));
        else if (left_ns)
            lead_sleep_in_set(led, epoll_timeout_ms(left_ns));
    }
    atomic_store(&waiter->mode, WAITER_AWAKE);
    standby_sleep_end(&win_service_standby);
}

/* One source has work at once: no sleep, but a look at the others, so that a busy one does not starve them. */
static void lead_look(struct list_head *led, struct win_source_state *in)
{
    if (led->n.next != led->n.prev)
        lead_sleep_in_set(led, 0);
    if (in)
        in->ready |= WIN_SOURCE_DEVICE; /* whose lead_fd is not in the set */
}

/* Pins all sources. Returns the one in whose device to sleep, or NULL. */
static struct win_source_state *lead_collect(struct list_head *led)
{
    struct win_source_state *in;

    lock_acquire(&win_progress_lock);
    win_sources_collect_locked(led);
    in = host;
    lock_release(&win_progress_lock);
    return in;
}

/* One round of leading: prepare, sleep, finish, run. */
static void lead_round(struct win_waiter *waiter, uint64_t deadline_ns)
{
    struct list_head led;
    struct list_node *node, *prepared_end;
    struct win_source_state *in = lead_collect(&led);
    bool sleep = true;

    for (node = led.n.next; node != &led.n; node = node->next) {
        struct win_source *source = led_state(node)->source;
        if (source->prepare && !source->prepare(source)) {
            led_state(node)->ready = WIN_SOURCE_ANY;
            sleep = false;
            break;
        }
    }
    prepared_end = node;
    if (sleep)
        lead_sleep(waiter, &led, in, deadline_ns);
    else
        lead_look(&led, in);
    for (node = led.n.next; node != prepared_end; node = node->next) {
        struct win_source *source = led_state(node)->source;
        if (source->finish)
            source->finish(source);
    }
    while ((node = list_pop(&led))) {
        struct win_source_state *state = led_state(node);
        if (state->ready)
            win_source_run(state, true, state->ready);
        win_source_unpin(state);
    }
    standby_active(&win_service_standby);
}

/* Takes the lead if it is free and there is something to lead. */
static bool lead_take(struct win_waiter *waiter)
{
    bool taken;

    lock_acquire(&win_progress_lock);
    taken = !leader && win_sources_any_locked();
    if (taken)
        leader = waiter;
    lock_release(&win_progress_lock);
    return taken;
}

/* Gives the lead to a follower, if there is one. */
static void lead_pass(void)
{
    struct list_node *node = NULL;
    struct win_waiter *next = NULL;

    lock_acquire(&win_progress_lock);
    if (win_sources_any_locked())
        node = list_pop(&followers);
    if (node) {
        next = list_entry(node, struct win_waiter, follower);
        atomic_fetch_or(&next->word, WAITER_LEAD);
    }
    leader = next;
    lock_release(&win_progress_lock);
    if (next && atomic_load(&next->mode) == WAITER_FUTEX)
        futex_wake(&next->word, 1);
}

static void kick_leader(void)
{
    uint64_t one = 1;

    while (write(kick_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void win_waiter_signal(struct win_waiter *waiter)
{
    if (atomic_fetch_or(&waiter->word, WAITER_SIGNAL) & WAITER_SIGNAL)
        return;
    switch (atomic_load(&waiter->mode)) {
    case WAITER_FUTEX: futex_wake(&waiter->word, 1); break;
    case WAITER_EPOLL: kick_leader(); break;
    default: break;
    }
}

/* following */

static void follow_sleep(struct win_waiter *waiter, uint64_t deadline_ns)
{
    uint64_t left_ns = time_left_ns(deadline_ns);
    struct timespec timeout = { (time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u) };

    if (!left_ns)
        return;
    atomic_store(&waiter->mode, WAITER_FUTEX);
    futex_wait(&waiter->word, 0, left_ns == UINT64_MAX ? NULL : &timeout);
    atomic_store(&waiter->mode, WAITER_AWAKE);
}

/* Joins the followers, or takes the lead when nobody has it. Returns whether it leads. */
static bool follow_join(struct win_waiter *waiter)
{
    bool lead = false;

    lock_acquire(&win_progress_lock);
    if (!leader && win_sources_any_locked()) {
        leader = waiter;
        lead = true;
    } else {
        list_add_tail(&followers, &waiter->follower);
    }
    lock_release(&win_progress_lock);
    return lead;
}

/* Leaves the followers. Returns whether the lead was passed to this waiter meanwhile. */
static bool follow_leave(struct win_waiter *waiter)
{
    lock_acquire(&win_progress_lock);
    if (list_linked(&waiter->follower))
        list_del(&waiter->follower);
    lock_release(&win_progress_lock);
    return atomic_fetch_and(&waiter->word, ~(uint32_t)WAITER_LEAD) & WAITER_LEAD;
}

bool win_wait_sleep(struct win_waiter *waiter, uint64_t deadline_ns)
{
    bool lead = follow_join(waiter);
    bool in_time = true;

    while (!(atomic_load(&waiter->word) & WAITER_SIGNAL) &&
           (in_time = time_left_ns(deadline_ns) > 0)) {
        if (lead) {
            lead_round(waiter, deadline_ns);
            continue;
        }
        follow_sleep(waiter, deadline_ns);
        if (atomic_fetch_and(&waiter->word, ~(uint32_t)WAITER_LEAD) & WAITER_LEAD)
            lead = true;
    }
    if (!lead)
        lead = follow_leave(waiter);
    if (lead)
        lead_pass();
    atomic_fetch_and(&waiter->word, ~(uint32_t)WAITER_SIGNAL);
    return in_time;
}

void win_progress_stay(void)
{
    if (win_sources_any())
        standby_active(&win_service_standby);
}

void win_progress_poll(bool stays)
{
    struct win_waiter *waiter;
    struct list_head led;
    struct list_node *node;

    if (!win_sources_any())
        return;
    if (!(waiter = win_waiter_self()) || !lead_take(waiter))
        return;
    lead_collect(&led);
    while ((node = list_pop(&led))) {
        win_source_run(led_state(node), true, WIN_SOURCE_ANY);
        win_source_unpin(led_state(node));
    }
    if (stays)
        standby_active(&win_service_standby);
    lead_pass();
}

/* the set */

int win_lead_open_locked(void)
{
    int error;

    lock_assert_held(&win_progress_lock);
    if ((kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return -errno;
    if ((epfd = epoll_create1(EPOLL_CLOEXEC)) < 0) {
        error = -errno;
        goto close_kick;
    }
    if ((error = win_epoll_add(epfd, kick_fd, EPOLLIN | EPOLLET, WIN_EPOLL_KICK)) < 0)
        goto close_epfd;
    return 0;

close_epfd:
    close(epfd);
close_kick:
    close(kick_fd);
    epfd = kick_fd = -1;
    return error;
}

void win_lead_close(void)
{
    close(epfd);
    close(kick_fd);
    epfd = kick_fd = -1;
}

/* Has the leader sleep in the device of a new source, or on its lead_fd. Returns 0 or a negative errno. */
static int watch_device_locked(struct win_source_state *state)
{
    struct win_source *source = state->source;
    int error;

    if (source->lead_fd < 0 || win_source_with_lead_fd_locked(source->lead_fd))
        return 0;
    if (host || !source->watch)
        return win_epoll_add(epfd, source->lead_fd, EPOLLIN, part_event(state, WIN_SOURCE_PARTS));
    if (!(error = source->watch(source, epfd, true)))
        host = state;
    return error;
}

static unsigned part_count(const struct win_source *source)
{
    return source->part_count ? source->part_count : 1;
}

static int part_fd(const struct win_source *source, unsigned part)
{
    return source->part_count ? source->parts[part] : source->fd;
}

static void unwatch_parts(const struct win_source *source, unsigned count)
{
    while (count--)
        epoll_ctl(epfd, EPOLL_CTL_DEL, part_fd(source, count), NULL);
}

int win_lead_watch_locked(struct win_source_state *state)
{
    unsigned part, count = part_count(state->source);
    int error = 0;

    for (part = 0; part < count && !error; part++)
        error = win_epoll_add(epfd, part_fd(state->source, part), EPOLLIN, part_event(state, part));
    if (error)
        part--; /* the last one is not in */
    else
        error = watch_device_locked(state);
    if (error)
        unwatch_parts(state->source, part);
    return error;
}

/* The descriptor stays for as long as a source has it; any of them is run for it. */
void win_lead_unwatch_locked(struct win_source_state *state)
{
    int lead_fd = state->source->lead_fd;
    struct win_source_state *heir = win_source_with_lead_fd_locked(lead_fd);
    struct epoll_event event = { .events = EPOLLIN,
        .data.u64 = heir ? part_event(heir, WIN_SOURCE_PARTS) : 0 };

    unwatch_parts(state->source, part_count(state->source));
    if (host == state)
        host = heir;
    else if (lead_fd >= 0 && (!host || host->source->lead_fd != lead_fd))
        epoll_ctl(epfd, heir ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, lead_fd, &event);
}

void win_lead_let_go_locked(struct win_source_state *state)
{
    struct win_source *source = state->source;

    lock_assert_held(&win_progress_lock);
    if (source->watch && !win_source_with_lead_fd_locked(source->lead_fd))
        source->watch(source, epfd, false);
}

void win_lead_sources_changed_locked(void)
{
    struct list_node *node;

    lock_assert_held(&win_progress_lock);
    if (leader) {
        kick_leader(); /* to prepare the newcomer too, or to let go of the one that went */
    } else if (win_sources_any_locked() && (node = list_pop(&followers))) {
        leader = list_entry(node, struct win_waiter, follower);
        atomic_fetch_or(&leader->word, WAITER_LEAD);
        futex_wake(&leader->word, 1);
    }
}

void win_lead_forked(void)
{
    list_init(&followers);
    leader = NULL;
    host = NULL;
}
