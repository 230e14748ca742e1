/* SPDX-License-Identifier: MIT */
/*
 * schedule.h - the reactor on threads that a test schedules: its sources are compiled into the test (schedule.h is
 * included once), with locks, futexes, descriptors, epoll and the clock played by this file. A thread of the play can
 * be preempted at each of those, and at each atomic access. schedule_all plays every order of steps with at most a
 * given number of preemptions, each from the beginning. The passing of time counts as one while a thread can go on.
 *
 * A play ends when no thread can go on, nor will when time passes.
 */
#ifndef TESTS_UNIT_REACTOR_SCHEDULE_H
#define TESTS_UNIT_REACTOR_SCHEDULE_H

#include "tests/support/choices.h"
#include "tests/unit/util/cmocka_test.h"

#include "util/clock.h"
#include "util/fork.h"
#include "util/futex.h"
#include "util/lock.h"
#include "util/once.h"
#include "util/thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <ucontext.h>
#include <unistd.h>

/* Functions of the header ask for it, too. */
static uint64_t play_now(void);
#define clock_now_ns() play_now()

#include "reactor/internal.h"

enum {
    PLAYERS = 6,
    STACK = 64 * 1024,
    FIRST_FD = 1000,
    FDS = 16,
    ITEMS = 8,
    STEPS = 20000,
    CLOCK = PLAYERS
};

/* What a blocked player waits for; it can go on when this is so, or at its deadline. */
enum wants { NOTHING, THE_LOCK, A_WAKE, A_DESCRIPTOR };

static struct player {
    void (*main)(void *argument);
    void *argument;
    bool there, blocked, over;
    enum wants wants;
    const void *word;
    bool woken;
    int fds[2];
    uint64_t deadline_ns;
    struct reactor_waiter waiter;
    /* Its thread-local variables, while it is not on the stage. */
    bool turning;
    struct reactor_waiter *self;
    ucontext_t context;
} players[PLAYERS];

static char stacks[PLAYERS][STACK];

struct item {
    int fd; /* 0: none */
    struct epoll_event event;
    bool edge;
};

static struct descriptor {
    bool there;
    uint64_t count;           /* of an eventfd */
    struct item items[ITEMS]; /* of an epoll set */
} descriptors[FDS];

static struct {
    int on_stage;
    int lock_holder; /* -1: none */
    uint64_t now_ns;
    unsigned preemptions, allowed, steps;
    ucontext_t director;
} play;

static uint64_t play_now(void)
{
    return play.now_ns;
}

static struct player *me(void)
{
    return &players[play.on_stage];
}

/* descriptors */

static struct descriptor *descriptor_of(int fd)
{
    assert_in_range(fd, FIRST_FD, FIRST_FD + FDS - 1);
    assert_true(descriptors[fd - FIRST_FD].there);
    return &descriptors[fd - FIRST_FD];
}

static bool is_readable(int fd);

static bool item_is_ready(const struct item *item)
{
    return item->fd && (item->event.events & EPOLLET ? item->edge : is_readable(item->fd));
}

static bool is_readable(int fd)
{
    const struct descriptor *descriptor = descriptor_of(fd);

    if (descriptor->count)
        return true;
    for (int i = 0; i < ITEMS; i++)
        if (item_is_ready(&descriptor->items[i]))
            return true;
    return false;
}

/* the director */

static bool can_go_on(const struct player *player)
{
    if (!player->there || player->over)
        return false;
    if (!player->blocked || player->deadline_ns <= play.now_ns)
        return true;
    switch (player->wants) {
    case THE_LOCK: return play.lock_holder < 0;
    case A_WAKE: return player->woken;
    case A_DESCRIPTOR:
        return (player->fds[0] && is_readable(player->fds[0])) ||
               (player->fds[1] && is_readable(player->fds[1]));
    default: return false;
    }
}

/* The next moment that a blocked player waits for. */
static uint64_t next_moment(void)
{
    uint64_t next_ns = REACTOR_NEVER;

    for (int i = 0; i < PLAYERS; i++)
        if (players[i].there && players[i].blocked && players[i].deadline_ns > play.now_ns &&
            players[i].deadline_ns < next_ns)
            next_ns = players[i].deadline_ns;
    return next_ns;
}

/* Which player takes the next step; -1: none can any more. */
static int next_player(void)
{
    bool goes_on = can_go_on(me()), spare = play.preemptions < play.allowed;
    int options[PLAYERS + 1], count = 0, next;

    assert_true(++play.steps < STEPS);
    for (;;) {
        if (goes_on && !spare)
            return play.on_stage;
        if (goes_on)
            options[count++] = play.on_stage;
        for (int i = 0; i < PLAYERS; i++)
            if (i != play.on_stage && can_go_on(&players[i]))
                options[count++] = i;
        if (next_moment() != REACTOR_NEVER && (spare || !count))
            options[count++] = CLOCK;
        if (!count)
            return -1;
        next = options[choose((unsigned)count)];
        play.preemptions += goes_on ? next != play.on_stage : next == CLOCK && count > 1;
        if (next != CLOCK)
            return next;
        play.now_ns = next_moment();
        count = 0;
        spare = play.preemptions < play.allowed;
        goes_on = can_go_on(me());
    }
}

static struct reactor_waiter **self_of_stage(void);

static void direct(void)
{
    int next = next_player();
    struct player *from = me();

    if (next == play.on_stage) {
        from->blocked = false;
        return;
    }
    from->turning = reactor_turning;
    from->self = *self_of_stage();
    if (next < 0) {
        swapcontext(&from->context, &play.director);
        return;
    }
    play.on_stage = next;
    me()->blocked = false;
    reactor_turning = me()->turning;
    *self_of_stage() = me()->self;
    swapcontext(&from->context, &me()->context);
}

static void step(void)
{
    direct();
}

static void block(enum wants wants, uint64_t deadline_ns)
{
    me()->wants = wants;
    me()->deadline_ns = deadline_ns;
    me()->blocked = true;
    direct();
}

static void player_begins(void)
{
    me()->main(me()->argument);
    me()->over = true;
    direct();
}

static struct player *player_add(void (*main)(void *argument), void *argument)
{
    struct player *player = players;

    while (player->there)
        player++;
    assert_true(player < players + PLAYERS);
    *player = (struct player){ .main = main, .argument = argument, .there = true };
    list_node_init(&player->waiter.link);
    player->self = &player->waiter;
    getcontext(&player->context);
    player->context.uc_stack.ss_sp = stacks[player - players];
    player->context.uc_stack.ss_size = STACK;
    makecontext(&player->context, player_begins, 0);
    return player;
}

/* what the reactor calls */

static void play_lock(void)
{
    step();
    while (play.lock_holder >= 0)
        block(THE_LOCK, REACTOR_NEVER);
    play.lock_holder = play.on_stage;
}

static void play_release(void)
{
    assert_int_equal(play.lock_holder, play.on_stage);
    play.lock_holder = -1;
}

static uint64_t deadline_of(const struct timespec *timeout)
{
    return timeout
               ? play.now_ns + (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec
               : REACTOR_NEVER;
}

static int play_futex_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *timeout)
{
    step();
    if (*word != expected) {
        errno = EAGAIN;
        return -1;
    }
    me()->word = word;
    me()->woken = false;
    block(A_WAKE, deadline_of(timeout));
    errno = ETIMEDOUT;
    return me()->woken ? 0 : -1;
}

static int play_futex_wake(_Atomic uint32_t *word, int count)
{
    step();
    for (int i = 0; i < PLAYERS && count; i++) {
        struct player *player = &players[i];

        if (!player->there || !player->blocked || player->wants != A_WAKE || player->woken ||
            player->word != word)
            continue;
        player->woken = true;
        count--;
    }
    return 0;
}

static int play_descriptor(void)
{
    for (int i = 0; i < FDS; i++)
        if (!descriptors[i].there) {
            descriptors[i] = (struct descriptor){ .there = true };
            return FIRST_FD + i;
        }
    fail_msg("no descriptor is left");
    return -1;
}

static int play_epoll_ctl(int set, int op, int fd, struct epoll_event *event)
{
    struct item *items = descriptor_of(set)->items, *item = NULL;

    for (int i = ITEMS; i-- > 0;)
        if (items[i].fd == (op == EPOLL_CTL_ADD ? 0 : fd))
            item = &items[i];
    for (int i = 0; i < ITEMS && op == EPOLL_CTL_ADD; i++)
        if (items[i].fd == fd) {
            errno = EEXIST;
            return -1;
        }
    assert_non_null(item);
    *item = op == EPOLL_CTL_DEL
                ? (struct item){ .fd = 0 }
                : (struct item){ .fd = fd, .event = *event, .edge = is_readable(fd) };
    return 0;
}

static int play_epoll(int set, struct epoll_event *events, int room, uint64_t deadline_ns)
{
    struct item *items = descriptor_of(set)->items;
    int count = 0;

    step();
    for (;;) {
        for (int i = 0; i < ITEMS && count < room; i++)
            if (item_is_ready(&items[i])) {
                items[i].edge = false;
                events[count] = items[i].event;
                events[count++].events = EPOLLIN;
            }
        if (count || deadline_ns <= play.now_ns)
            return count;
        me()->fds[0] = set;
        me()->fds[1] = 0;
        block(A_DESCRIPTOR, deadline_ns);
    }
}

static int play_epoll_wait(int set, struct epoll_event *events, int room, int timeout_ms)
{
    return play_epoll(set, events, room,
        timeout_ms < 0 ? REACTOR_NEVER : play.now_ns + (uint64_t)timeout_ms * 1000000u);
}

static int play_poll(struct pollfd *fds, nfds_t count, uint64_t deadline_ns)
{
    int found = 0;

    assert_in_range(count, 1, 2);
    step();
    for (;;) {
        for (nfds_t i = 0; i < count; i++)
            found += !!(fds[i].revents = is_readable(fds[i].fd) ? POLLIN : 0);
        if (found || deadline_ns <= play.now_ns)
            return found;
        me()->fds[0] = fds[0].fd;
        me()->fds[1] = count > 1 ? fds[1].fd : 0;
        block(A_DESCRIPTOR, deadline_ns);
    }
}

static ssize_t play_write(int fd, const void *value, size_t size)
{
    uint64_t count;

    assert_int_equal(size, sizeof(count));
    memcpy(&count, value, size);
    step();
    descriptor_of(fd)->count += count;
    for (int i = 0; i < FDS; i++)
        for (int k = 0; k < ITEMS; k++)
            if (descriptors[i].items[k].fd == fd)
                descriptors[i].items[k].edge = true;
    return (ssize_t)size;
}

static ssize_t play_read(int fd, void *value, size_t size)
{
    step();
    memcpy(value, &descriptor_of(fd)->count, size);
    descriptor_of(fd)->count = 0;
    return (ssize_t)size;
}

static int play_start(const char *name, void (*main)(void *argument), void *argument)
{
    (void)name;
    player_add(main, argument);
    return 0;
}

/* Accesses of what other threads change without the lock. */
#undef atomic_load
#undef atomic_store
#undef atomic_fetch_or
#undef atomic_fetch_and
#undef atomic_load_explicit
#undef atomic_store_explicit
#define step_unless_locked()                                                                       \
    do {                                                                                           \
        if (play.lock_holder != play.on_stage)                                                     \
            step();                                                                                \
    } while (0)
#define atomic_load(p)                                                                             \
    __extension__({                                                                                \
        step();                                                                                    \
        *(p) + 0;                                                                                  \
    })
#define atomic_store(p, v)                                                                         \
    __extension__({                                                                                \
        step();                                                                                    \
        *(p) = (v);                                                                                \
    })
#define atomic_fetch_or(p, v)                                                                      \
    __extension__({                                                                                \
        step();                                                                                    \
        uint32_t old_ = *(p);                                                                      \
        *(p) = old_ | (v);                                                                         \
        old_;                                                                                      \
    })
#define atomic_fetch_and(p, v)                                                                     \
    __extension__({                                                                                \
        step();                                                                                    \
        uint32_t old_ = *(p);                                                                      \
        *(p) = old_ & (v);                                                                         \
        old_;                                                                                      \
    })
#define atomic_load_explicit(p, order)                                                             \
    __extension__({                                                                                \
        step_unless_locked();                                                                      \
        *(p) + 0;                                                                                  \
    })
#define atomic_store_explicit(p, v, order)                                                         \
    __extension__({                                                                                \
        step_unless_locked();                                                                      \
        *(p) = (v);                                                                                \
    })

#define lock_acquire(lock)                       play_lock()
#define lock_release(lock)                       play_release()
#define lock_assert_held(lock)                   assert_int_equal(play.lock_holder, play.on_stage)
#define futex_wait(word, value, timeout)         play_futex_wait(word, value, timeout)
#define futex_wake(word, count)                  play_futex_wake(word, count)
#define epoll_create1(flags)                     play_descriptor()
#define eventfd(value, flags)                    play_descriptor()
#define epoll_ctl(set, op, fd, event)            play_epoll_ctl(set, op, fd, event)
#define epoll_wait(set, events, room, ms)        play_epoll_wait(set, events, room, ms)
#define epoll_pwait2(set, events, room, time, m) play_epoll(set, events, room, deadline_of(time))
#define ppoll(fds, count, time, m)               play_poll(fds, count, deadline_of(time))
#define poll(fds, count, ms)                     play_poll(fds, count, play.now_ns)
#define read(fd, value, size)                    play_read(fd, value, size)
#define write(fd, value, size)                   play_write(fd, value, size)
#define thread_start_detached(name, main, arg)   play_start(name, main, arg)

/* A play does not fork. */
#undef FORK_ROW
#define FORK_ROW(...)                                                                              \
    static __attribute__((unused)) const struct fork_row fork_row = { __VA_ARGS__ }

#include "reactor/waiter.c" /* NOLINT: this is the point */

#include "reactor/source.c"

#include "reactor/turn.c"

#include "reactor/drive.c"

#include "reactor/background.c"

#include "reactor/life.c"

static struct reactor_waiter **self_of_stage(void)
{
    return &self;
}

/* plays */

static struct reactor pristine;

static void play_begins(void)
{
    free(reactor.slots);
    free(reactor.heap);
    reactor = pristine;
    memset(&background, 0, sizeof(background));
    memset(&background_waiter, 0, sizeof(background_waiter));
    reactor_activity = 0;
    memset(descriptors, 0, sizeof(descriptors));
    for (int i = 0; i < PLAYERS; i++)
        players[i].there = false;
    play.on_stage = 0;
    play.lock_holder = -1;
    play.now_ns = 1000000000;
    play.preemptions = play.steps = 0;
}

/*
 * Plays all orders of what begin adds (player_add; the first one begins), with up to so many preemptions. check: after
 * each. Returns how many there were.
 */
static unsigned long schedule_all(unsigned preemptions, void (*begin)(void), void (*check)(void))
{
    unsigned long plays = 0;

    if (!pristine.free_slot)
        pristine = reactor;
    play.allowed = preemptions;
    do {
        play_begins();
        begin();
        reactor_turning = false;
        self = players[0].self;
        swapcontext(&play.director, &players[0].context);
        check();
        plays++;
    } while (choices_next());
    return plays;
}

#endif
