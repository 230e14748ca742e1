/* SPDX-License-Identifier: MIT */
/*
 * progress.c - waits that move the work they wait for: leader, followers, service thread, sources (provider.h).
 *
 * The leader's loop: tell every source that a thread is about to sleep on it (prepare), sleep in epoll on all of them
 * and the kick descriptor, tell them it woke (finish), run those that are ready. Its own wait may end in there, without
 * any system call: who signals a waiter makes one only if that waiter sleeps.
 *
 * The service thread has each source's fd armed once in a set of its own and steps aside for leaders (util/standby.h).
 *
 * A source is run by one thread at a time: who finds it running leaves a mark and the runner runs it again.
 */
#include "winobj/fork.h"
#include "winobj/provider.h"
#include "winobj/waiter.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/standby.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { EPOLL_EVENTS = 16 };

enum source_running { RUN_IDLE, RUNNING, RUN_AGAIN, RUN_AGAIN_LEADING };

struct source_state {
    struct win_source *source;
    unsigned forks;         /* when it was added: another number means that it is a parent's */
    struct list_node link;  /* sources; under lead_lock */
    struct list_node led;   /* the leader's own list of what it prepared */
    struct list_node aside; /* the service thread's own list of what is disarmed */
    bool ready;             /* leader: epoll reported it */
    atomic_bool dead;
    atomic_uint pins;      /* leader, service thread, poller; one for the list */
    atomic_uint running;   /* enum source_running */
    _Atomic uint32_t gone; /* futex word: set when the last pin went */
};

static struct lock lead_lock = LOCK_INIT(LOCK_WIN_WAITER, "progress");
static struct list_head sources = { { &sources.n, &sources.n } };
static struct list_head followers = { { &followers.n, &followers.n } };
static struct win_waiter *leader;
static atomic_uint source_count;
static unsigned forks; /* between this process and its first ancestor */

/* Set up once, when the first source comes. */
static int lead_epfd = -1, service_epfd = -1, kick_fd = -1;
static struct standby standby;
static char kick_mark,
    standby_mark; /* addresses that stand for the two own descriptors in epoll data */

/* sources */

static void source_unpin(struct source_state *state)
{
    if (atomic_fetch_sub_explicit(&state->pins, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&state->gone, 1, memory_order_release);
        futex_wake(&state->gone, 1);
    }
}

/*
 * Runs a source, or has the thread that is in it run it again: for a leader if a leader asks, so that the device is moved,
 * too. (Without that a leader whose lead_fd stays readable and a service thread that does not serve it would keep each
 * other busy for ever.)
 */
static void source_run(struct source_state *state, bool leading)
{
    const unsigned again = leading ? RUN_AGAIN_LEADING : RUN_AGAIN;
    unsigned now = RUN_IDLE;

    while (!atomic_compare_exchange_strong_explicit(&state->running, &now,
        now == RUN_IDLE ? RUNNING : again, memory_order_acquire, memory_order_relaxed))
        if (now >= again)
            return;
    if (now != RUN_IDLE)
        return;
    for (;;) {
        unsigned expected = RUNNING;

        state->source->run(state->source, leading);
        if (atomic_compare_exchange_strong_explicit(
                &state->running, &expected, RUN_IDLE, memory_order_release, memory_order_relaxed))
            return;
        leading = atomic_exchange_explicit(&state->running, RUNNING, memory_order_acquire) ==
                  RUN_AGAIN_LEADING;
    }
}

/* leading */

/* Pins every source on a list of the leader's own. */
static void lead_collect(struct list_head *led)
{
    list_init(led);
    lock_acquire(&lead_lock);
    list_for_each (&sources, node) {
        struct source_state *state = list_entry(node, struct source_state, link);
        atomic_fetch_add_explicit(&state->pins, 1, memory_order_relaxed);
        state->ready = false;
        list_add_tail(led, &state->led);
    }
    lock_release(&lead_lock);
}

static struct source_state *led_state(struct list_node *node)
{
    return list_entry(node, struct source_state, led);
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

static void drain_kick(void)
{
    uint64_t count;

    while (read(kick_fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

static void mark_ready(struct list_head *led, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &kick_mark) {
            drain_kick();
            continue;
        }
        /* A source that came after lead_collect is not on our list: the next round has it. */
        list_for_each (led, node)
            if (led_state(node) == events[i].data.ptr)
                led_state(node)->ready = true;
    }
}

/* Sleeps on all descriptors; marks the sources that are ready. */
static void lead_epoll(struct win_waiter *waiter, struct list_head *led, uint64_t deadline_ns)
{
    struct epoll_event events[EPOLL_EVENTS];
    int count = 0;

    standby_sleep_begin(&standby);
    atomic_store(&waiter->mode, WAITER_EPOLL);
    /* Pairs with win_waiter_signal: either it sees the mode, or we see the word. */
    if (!(atomic_load(&waiter->word) & WAITER_SIGNAL)) {
        uint64_t left_ns = time_left_ns(deadline_ns);
        if (left_ns)
            count = epoll_wait(lead_epfd, events, EPOLL_EVENTS, epoll_timeout_ms(left_ns));
    }
    atomic_store(&waiter->mode, WAITER_AWAKE);
    standby_sleep_end(&standby);
    mark_ready(led, events, count);
}

/* One source has work at once: no sleep, but a look at the others, so that a busy one does not starve them. */
static void lead_look(struct list_head *led)
{
    struct epoll_event events[EPOLL_EVENTS];

    if (led->n.next != led->n.prev)
        mark_ready(led, events, epoll_wait(lead_epfd, events, EPOLL_EVENTS, 0));
}

/* One round of leading: prepare, sleep, finish, run. */
static void lead_round(struct win_waiter *waiter, uint64_t deadline_ns)
{
    struct list_head led;
    struct list_node *node, *prepared_end;
    bool sleep = true;

    lead_collect(&led);
    for (node = led.n.next; node != &led.n; node = node->next) {
        struct win_source *source = led_state(node)->source;
        if (source->prepare && !source->prepare(source)) {
            led_state(node)->ready = true;
            sleep = false;
            break;
        }
    }
    prepared_end = node;
    if (sleep)
        lead_epoll(waiter, &led, deadline_ns);
    else
        lead_look(&led);
    for (node = led.n.next; node != prepared_end; node = node->next) {
        struct win_source *source = led_state(node)->source;
        if (source->finish)
            source->finish(source);
    }
    while ((node = list_pop(&led))) {
        struct source_state *state = led_state(node);
        if (state->ready)
            source_run(state, true);
        source_unpin(state);
    }
    standby_active(&standby);
}

/* Takes the lead if it is free and there is something to lead. */
static bool lead_take(struct win_waiter *waiter)
{
    bool taken;

    lock_acquire(&lead_lock);
    taken = !leader && !list_empty(&sources);
    if (taken)
        leader = waiter;
    lock_release(&lead_lock);
    return taken;
}

/* Gives the lead to a follower, if there is one. */
static void lead_pass(void)
{
    struct list_node *node = NULL;
    struct win_waiter *next = NULL;

    lock_acquire(&lead_lock);
    if (!list_empty(&sources))
        node = list_pop(&followers);
    if (node) {
        next = list_entry(node, struct win_waiter, follower);
        atomic_fetch_or(&next->word, WAITER_LEAD);
    }
    leader = next;
    lock_release(&lead_lock);
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

    lock_acquire(&lead_lock);
    if (!leader && !list_empty(&sources)) {
        leader = waiter;
        lead = true;
    } else {
        list_add_tail(&followers, &waiter->follower);
    }
    lock_release(&lead_lock);
    return lead;
}

/* Leaves the followers. Returns whether the lead was passed to this waiter meanwhile. */
static bool follow_leave(struct win_waiter *waiter)
{
    lock_acquire(&lead_lock);
    if (list_linked(&waiter->follower))
        list_del(&waiter->follower);
    lock_release(&lead_lock);
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
    if (atomic_load_explicit(&source_count, memory_order_relaxed))
        standby_active(&standby);
}

void win_progress_poll(bool stays)
{
    struct win_waiter *waiter;
    struct list_head led;
    struct list_node *node;

    if (!atomic_load_explicit(&source_count, memory_order_relaxed))
        return;
    if (!(waiter = win_waiter_self()) || !lead_take(waiter))
        return;
    lead_collect(&led);
    while ((node = list_pop(&led))) {
        source_run(led_state(node), true);
        source_unpin(led_state(node));
    }
    if (stays)
        standby_active(&standby);
    lead_pass();
}

/* the service thread */

struct service {
    struct list_head
        aside;        /* sources that fired and are left to the foreground: disarmed, pinned */
    unsigned seen;    /* activity of the foreground at the last look */
    uint64_t busy_ns; /* when it was last seen at work */
    unsigned sound;   /* looks in a row at which a thread slept on as leader */
};

/* looks until the tick stops while a thread sleeps soundly as leader; it must kick at its end, which costs it something */
enum { SERVICE_SOUND = 8 };

/* Whether the foreground has been away for a tick. */
static bool service_quiet(struct service *service)
{
    unsigned before = service->seen;

    if (standby_quiet(&standby, &service->seen))
        return clock_now_ns() - service->busy_ns >= STANDBY_TICK_US * 1000u;
    service->sound = service->seen == before ? service->sound + 1 : 0;
    service->busy_ns = clock_now_ns();
    return false;
}

static void service_arm(struct source_state *state)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = state };

    /* Fails only for a source that win_source_remove took out meanwhile. */
    if (epoll_ctl(service_epfd, EPOLL_CTL_MOD, state->source->fd, &event) < 0 && errno != ENOENT &&
        errno != EBADF)
        log_write(
            LOG_ERROR, LOG_WIN, "service thread: cannot arm a descriptor: %s", strerror(errno));
}

/* Pins the source an event names; NULL when it has been removed since. */
static struct source_state *service_find(const void *event_data)
{
    struct source_state *found = NULL;

    lock_acquire(&lead_lock);
    list_for_each (&sources, node)
        if (list_entry(node, struct source_state, link) == event_data)
            found = list_entry(node, struct source_state, link);
    if (found)
        atomic_fetch_add_explicit(&found->pins, 1, memory_order_relaxed);
    lock_release(&lead_lock);
    return found;
}

/* A source fired. Foreground threads at work: leave it to them, disarmed; the list keeps the pin. */
static void service_fired(struct service *service, struct source_state *state, bool quiet)
{
    if (!quiet) {
        list_add_tail(&service->aside, &state->aside);
        return;
    }
    source_run(state, false);
    service_arm(state);
    source_unpin(state);
}

/* Lets go of what was removed, and when the foreground is away arms the rest again: what is ready fires at once. */
static void service_look(struct service *service, bool quiet)
{
    list_for_each_safe (&service->aside, node) {
        struct source_state *state = list_entry(node, struct source_state, aside);
        bool dead = atomic_load_explicit(&state->dead, memory_order_acquire);

        if (!dead && !quiet)
            continue;
        list_del(node);
        if (!dead)
            service_arm(state);
        source_unpin(state);
    }
}

static int service_wait(struct epoll_event *events, bool tick)
{
    struct timespec timeout = { 0, STANDBY_TICK_US * 1000L };
    static bool no_pwait2;
    int count;

    if (tick && !no_pwait2) {
        count = epoll_pwait2(service_epfd, events, EPOLL_EVENTS, &timeout, NULL);
        if (count >= 0 || errno != ENOSYS)
            return count;
        no_pwait2 = true;
    }
    return epoll_wait(service_epfd, events, EPOLL_EVENTS, tick ? 1 : -1);
}

static void *service_main(void *arg)
{
    struct epoll_event events[EPOLL_EVENTS];
    struct service service = { 0 };

    (void)arg;
    list_init(&service.aside);
    for (;;) {
        bool parked = service.sound >= SERVICE_SOUND && standby_park(&standby);
        int count = service_wait(events, !list_empty(&service.aside) && !parked);
        bool quiet;

        standby_unpark(&standby);
        quiet = service_quiet(&service);
        for (int i = 0; i < count; i++) {
            struct source_state *state;
            if (events[i].data.ptr == &standby_mark) {
                standby_kicked(&standby);
                service.sound = 0;
            } else if ((state = service_find(events[i].data.ptr))) {
                service_fired(&service, state, quiet);
            }
        }
        service_look(&service, quiet);
    }
    return NULL;
}

static int add_descriptor(int epfd, int fd, uint32_t mask, void *data)
{
    struct epoll_event event = { .events = mask, .data.ptr = data };

    return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int service_start(void)
{
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t thread;
    int error;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    error = pthread_create(&thread, &attr, service_main, NULL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!error)
        pthread_setname_np(thread, "ndspi-service");
    return -error;
}

void win_progress_fork_begin(void)
{
    lock_acquire(&lead_lock);
}

void win_progress_fork_end(void)
{
    lock_release(&lead_lock);
}

/* The child has none of our threads, and its parent's adapters are not its own: it starts empty. */
void win_progress_forked(void)
{
    list_init(&sources);
    list_init(&followers);
    leader = NULL;
    atomic_store_explicit(&source_count, 0, memory_order_relaxed);
    forks++;
    if (lead_epfd < 0)
        return;
    close(lead_epfd);
    close(service_epfd);
    close(kick_fd);
    standby_fini(&standby);
    lead_epfd = service_epfd = kick_fd = -1;
}

/* Once per process; again after a failure. Lock held: first use of a rarely taken lock, no call blocks. */
static int progress_init_locked(void)
{
    int error;

    lock_assert_held(&lead_lock);
    if (lead_epfd >= 0)
        return 0;
    if ((error = standby_init(&standby)) < 0)
        return error;
    error = -ENOMEM;
    if ((kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        goto fini_standby;
    if ((service_epfd = epoll_create1(EPOLL_CLOEXEC)) < 0)
        goto close_kick;
    if ((lead_epfd = epoll_create1(EPOLL_CLOEXEC)) < 0)
        goto close_service;
    if ((error = add_descriptor(lead_epfd, kick_fd, EPOLLIN, &kick_mark)) < 0 ||
        (error = add_descriptor(service_epfd, standby.kick_fd, EPOLLIN, &standby_mark)) < 0 ||
        (error = service_start()) < 0)
        goto close_lead;
    return 0;

close_lead:
    close(lead_epfd);
    lead_epfd = -1;
close_service:
    close(service_epfd);
close_kick:
    close(kick_fd);
fini_standby:
    standby_fini(&standby);
    return error;
}

/* A source on the list with this lead_fd: those of one device share it, and it is slept on once. */
static struct source_state *source_with_lead_fd_locked(int lead_fd)
{
    lock_assert_held(&lead_lock);
    list_for_each (&sources, node) {
        struct source_state *state = list_entry(node, struct source_state, link);

        if (lead_fd >= 0 && state->source->lead_fd == lead_fd)
            return state;
    }
    return NULL;
}

/* The descriptor stays for as long as a source has it; any of them is run for it. */
static void lead_fd_unwatch_locked(int lead_fd)
{
    struct source_state *heir = source_with_lead_fd_locked(lead_fd);
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = heir };

    if (lead_fd >= 0)
        epoll_ctl(lead_epfd, heir ? EPOLL_CTL_MOD : EPOLL_CTL_DEL, lead_fd, &event);
}

/* Puts the descriptors of a source, which is not on the list yet, where they are slept on. */
static int source_watch(struct source_state *state)
{
    struct win_source *source = state->source;
    int error = add_descriptor(lead_epfd, source->fd, EPOLLIN, state);

    if (error < 0)
        return error;
    if (source->lead_fd >= 0 && !source_with_lead_fd_locked(source->lead_fd) &&
        (error = add_descriptor(lead_epfd, source->lead_fd, EPOLLIN, state)) < 0)
        goto unwatch_fd;
    if ((error = add_descriptor(service_epfd, source->fd, EPOLLIN | EPOLLONESHOT, state)) < 0)
        goto unwatch_lead_fd;
    return 0;

unwatch_lead_fd:
    lead_fd_unwatch_locked(source->lead_fd);
unwatch_fd:
    epoll_ctl(lead_epfd, EPOLL_CTL_DEL, source->fd, NULL);
    return error;
}

DWORD win_source_add(struct win_source *source)
{
    struct source_state *state = calloc(1, sizeof(*state));
    struct list_node *node;
    int error;

    if (!state)
        return ERROR_NOT_ENOUGH_MEMORY;
    state->source = source;
    state->forks = forks;
    atomic_init(&state->pins, 1);
    list_node_init(&state->led);
    list_node_init(&state->aside);

    lock_acquire(&lead_lock);
    if ((error = progress_init_locked()) < 0 || (error = source_watch(state)) < 0) {
        lock_release(&lead_lock);
        log_write(
            LOG_ERROR, LOG_WIN, "cannot watch an adapter's descriptors: %s", strerror(-error));
        free(state);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    list_add_tail(&sources, &state->link);
    atomic_fetch_add_explicit(&source_count, 1, memory_order_relaxed);
    /* Threads that were waiting with nothing to lead now have something. */
    if (!leader && (node = list_pop(&followers))) {
        leader = list_entry(node, struct win_waiter, follower);
        atomic_fetch_or(&leader->word, WAITER_LEAD);
        futex_wake(&leader->word, 1);
    } else if (leader) {
        kick_leader(); /* to prepare the newcomer too */
    }
    source->state = state;
    lock_release(&lead_lock);
    return ERROR_SUCCESS;
}

void win_source_remove(struct win_source *source)
{
    struct source_state *state = source->state;

    if (state->forks != forks)
        return; /* nothing of it runs in this process */
    lock_acquire(&lead_lock);
    atomic_store_explicit(&state->dead, true, memory_order_release);
    list_del(&state->link);
    epoll_ctl(lead_epfd, EPOLL_CTL_DEL, source->fd, NULL);
    lead_fd_unwatch_locked(source->lead_fd);
    epoll_ctl(service_epfd, EPOLL_CTL_DEL, source->fd, NULL);
    atomic_fetch_sub_explicit(&source_count, 1, memory_order_relaxed);
    /* Whoever has it pinned lets go: the leader at its next round, the service thread at its next look. */
    if (leader)
        kick_leader();
    lock_release(&lead_lock);
    standby_kick(&standby);
    source_unpin(state);
    while (!atomic_load_explicit(&state->gone, memory_order_acquire))
        futex_wait(&state->gone, 0, NULL);
    free(state);
    source->state = NULL;
}
