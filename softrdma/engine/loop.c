/* SPDX-License-Identifier: MIT */
/* loop.c - the two epoll sets, what is in them, and the foreground's use of them. See loop.h. */
#include "softrdma/engine/engine.h"

#include "softrdma/context.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 32, FIRST_SLOTS = 64 };

/* In place of a source's token: a descriptor that is not the engine's (srd_progress_watch). */
static const uint64_t watched_token = UINT64_MAX;

static uint64_t token_of(const struct srd_source *source)
{
    return (uint64_t)source->generation << 32 | source->slot;
}

static bool is_open(void)
{
    return atomic_load_explicit(&srd_engine.open, memory_order_acquire);
}

int srd_engine_open_locked(void)
{
    struct epoll_event kick = { .events = EPOLLIN, .data.u64 = UINT64_MAX };
    int error;

    lock_assert_held(&srd_engine.lock);
    if (is_open())
        return 0;
    error = standby_init(&srd_engine.standby);
    if (error)
        return error;
    srd_engine.all_fd = epoll_create1(EPOLL_CLOEXEC);
    srd_engine.prog_fd = epoll_create1(EPOLL_CLOEXEC);
    if (srd_engine.all_fd < 0 || srd_engine.prog_fd < 0 ||
        epoll_ctl(srd_engine.prog_fd, EPOLL_CTL_ADD, srd_engine.standby.kick_fd, &kick)) {
        error = -errno;
        log_write(LOG_ERROR, LOG_SOFT,
            "cannot make the epoll sets: %s; check the limit of open files (ulimit -n)",
            strerror(-error));
        if (srd_engine.all_fd >= 0)
            close(srd_engine.all_fd);
        if (srd_engine.prog_fd >= 0)
            close(srd_engine.prog_fd);
        srd_engine.all_fd = srd_engine.prog_fd = -1;
        standby_fini(&srd_engine.standby);
        return error;
    }
    list_init(&srd_engine.aside);
    atomic_store_explicit(&srd_engine.open, true, memory_order_release);
    return 0;
}

static int ensure_open(void)
{
    int error;

    if (is_open())
        return 0;
    lock_acquire(&srd_engine.lock);
    error = srd_engine_open_locked();
    lock_release(&srd_engine.lock);
    return error;
}

/* In the child of a fork: the sets are shared with the parent and must not be touched, only closed. */
static void forked(void)
{
    if (is_open()) {
        close(srd_engine.all_fd);
        close(srd_engine.prog_fd);
        standby_fini(&srd_engine.standby);
    }
    lock_init(&srd_engine.lock, LOCK_SRD_LOOP, "softrdma engine");
    srd_engine.all_fd = srd_engine.prog_fd = -1;
    srd_engine.slots = NULL;
    srd_engine.n_slots = 0;
    srd_engine.free_slot = SRD_NO_SLOT;
    srd_engine.threaded = false;
    atomic_store(&srd_engine.handed, false);
    atomic_store(&srd_engine.open, false);
}

SRD_AT_FORK(forked)

static int grow_slots_locked(void)
{
    uint32_t old = srd_engine.n_slots, count = old ? old * 2 : FIRST_SLOTS;
    struct srd_slot *slots = realloc(srd_engine.slots, count * sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    for (uint32_t i = old; i < count; i++)
        slots[i] =
            (struct srd_slot){ .generation = 1, .next_free = i + 1 < count ? i + 1 : SRD_NO_SLOT };
    srd_engine.slots = slots;
    srd_engine.n_slots = count;
    srd_engine.free_slot = old;
    return 0;
}

/* One set, made to agree with events (0: out of it). */
static int apply_locked(
    struct srd_source *source, int set, bool *in, uint32_t events, uint32_t extra)
{
    struct epoll_event event = { .events = events | extra, .data.u64 = token_of(source) };
    int op = !events ? EPOLL_CTL_DEL : *in ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (!events && !*in)
        return 0;
    if (epoll_ctl(set, op, source->fd, &event))
        return -errno;
    *in = events;
    return 0;
}

/* arm: also in the background set when it is aside. */
static int update_locked(struct srd_source *source, bool arm)
{
    uint32_t events = source->ops->interest(source);
    int error = 0;

    if (events != source->events || !events)
        error = apply_locked(source, srd_engine.all_fd, &source->in_all, events, 0);
    if (arm || !events ||
        (events != source->events && !atomic_load_explicit(&source->aside, memory_order_relaxed))) {
        int second =
            apply_locked(source, srd_engine.prog_fd, &source->in_prog, events, EPOLLONESHOT);
        error = error ? error : second;
    }
    source->events = events;
    return error;
}

static void leave_aside_locked(struct srd_source *source)
{
    if (!atomic_load_explicit(&source->aside, memory_order_relaxed))
        return;
    atomic_store_explicit(&source->aside, false, memory_order_relaxed);
    source->handed = false;
    list_del(&source->aside_node);
}

void srd_engine_aside_locked(struct srd_source *source)
{
    lock_assert_held(&srd_engine.lock);
    if (source->slot == SRD_NO_SLOT || atomic_load_explicit(&source->aside, memory_order_relaxed))
        return;
    atomic_store_explicit(&source->aside, true, memory_order_relaxed);
    list_add_tail(&srd_engine.aside, &source->aside_node);
}

/* Returns whether the progress thread has to be told. */
static bool leave_locked(struct srd_source *source)
{
    lock_assert_held(&srd_engine.lock);
    source->left = atomic_load_explicit(&source->activity, memory_order_relaxed);
    source->handed = atomic_load_explicit(&source->aside, memory_order_relaxed);
    return source->handed;
}

/* one: NULL for every one aside. */
static void leave(struct srd_source *one)
{
    bool handed = false;

    lock_acquire(&srd_engine.lock);
    atomic_store_explicit(&srd_engine.left,
        atomic_load_explicit(&srd_engine.standby.activity, memory_order_relaxed),
        memory_order_relaxed);
    if (one) {
        handed = leave_locked(one);
    } else {
        list_for_each (&srd_engine.aside, node)
            handed = leave_locked(list_entry(node, struct srd_source, aside_node)) || handed;
    }
    if (handed)
        handed = !atomic_exchange_explicit(&srd_engine.handed, true, memory_order_relaxed);
    lock_release(&srd_engine.lock);
    if (handed)
        standby_kick(&srd_engine.standby);
}

void srd_source_leave(struct srd_source *source)
{
    if (source->process == srd_generation)
        leave(source);
}

void srd_loop_leave(void)
{
    if (is_open())
        leave(NULL);
}

static void remove_locked(struct srd_source *source)
{
    struct srd_slot *slot = &srd_engine.slots[source->slot];

    apply_locked(source, srd_engine.all_fd, &source->in_all, 0, 0);
    apply_locked(source, srd_engine.prog_fd, &source->in_prog, 0, 0);
    leave_aside_locked(source);
    srd_timer_release();
    slot->source = NULL;
    slot->generation++;
    slot->next_free = srd_engine.free_slot;
    srd_engine.free_slot = source->slot;
    source->slot = SRD_NO_SLOT;
}

int srd_engine_add_locked(struct srd_source *source)
{
    struct srd_slot *slot;
    int error;

    lock_assert_held(&srd_engine.lock);
    error = srd_engine.free_slot == SRD_NO_SLOT ? grow_slots_locked() : 0;
    if (!error)
        error = srd_timer_reserve();
    if (error)
        return error;
    slot = &srd_engine.slots[srd_engine.free_slot];
    source->slot = srd_engine.free_slot;
    source->generation = slot->generation;
    srd_engine.free_slot = slot->next_free;
    slot->source = source;
    srd_source_ref(source);
    error = update_locked(source, true);
    if (error) {
        remove_locked(source);
        srd_source_unref(source); /* not the last: the caller has one */
    }
    return error;
}

void srd_source_update(struct srd_source *source)
{
    int error = 0;

    if (source->process != srd_generation)
        return;
    lock_acquire(&srd_engine.lock);
    if (source->slot != SRD_NO_SLOT && source->ops->interest(source) != source->events)
        error = update_locked(source, false);
    lock_release(&srd_engine.lock);
    if (error)
        log_limited(
            LOG_ERROR, LOG_SOFT, "epoll_ctl on a connection: %s; it may stall", strerror(-error));
}

void srd_source_remove(struct srd_source *source)
{
    bool known;

    if (source->process != srd_generation)
        return;
    srd_source_deadline(source, UINT64_MAX);
    lock_acquire(&srd_engine.lock);
    known = source->slot != SRD_NO_SLOT;
    if (known)
        remove_locked(source);
    lock_release(&srd_engine.lock);
    if (known)
        srd_source_unref(source);
}

struct srd_source *srd_engine_find(uint64_t token)
{
    uint32_t slot = (uint32_t)token;
    struct srd_source *source = NULL;

    lock_acquire(&srd_engine.lock);
    if (slot < srd_engine.n_slots && srd_engine.slots[slot].generation == token >> 32)
        source = srd_engine.slots[slot].source;
    if (source)
        srd_source_ref(source);
    lock_release(&srd_engine.lock);
    return source;
}

void srd_engine_rearm(struct srd_source *source)
{
    lock_acquire(&srd_engine.lock);
    if (source->slot != SRD_NO_SLOT) {
        leave_aside_locked(source);
        update_locked(source, true);
    }
    lock_release(&srd_engine.lock);
}

/* Moves what is ready in the foreground set, or will be in time. Returns how many are. watched: or'ed, may be NULL */
static int run_set(int timeout_ms, bool *watched)
{
    struct epoll_event events[EVENTS];
    int count = epoll_wait(srd_engine.all_fd, events, EVENTS, timeout_ms);

    for (int i = 0; i < count; i++) {
        struct srd_source *source = srd_engine_find(events[i].data.u64);

        if (watched && events[i].data.u64 == watched_token)
            *watched = true;
        if (!source)
            continue;
        source->ops->ready(source, events[i].events, false);
        srd_source_unref(source);
    }
    return count;
}

bool srd_loop_run(void)
{
    if (!is_open())
        return false;
    standby_active(&srd_engine.standby);
    return run_set(0, NULL) > 0;
}

bool srd_loop_sleep(int timeout_ms)
{
    bool watched = false;

    run_set(timeout_ms, &watched);
    return watched;
}

static void sleep_ended(void *unused)
{
    (void)unused;
    standby_sleep_end(&srd_engine.standby);
}

/* poll(2) with the caller's cancelability; a thread that is canceled there has ended its sleep, too. */
static int poll_cancelable(struct pollfd *fds, nfds_t count, int cancel_state)
{
    int disabled, result;

    pthread_cleanup_push(sleep_ended, NULL);
    pthread_setcancelstate(cancel_state, &disabled);
    result = poll(fds, count, -1) < 0 ? -errno : 0;
    pthread_setcancelstate(disabled, NULL);
    pthread_cleanup_pop(1);
    return result;
}

int srd_loop_wait(int fd, int cancel_state)
{
    struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
    int error = ensure_open();

    if (error)
        return error;
    fds[1].fd = srd_engine.all_fd;
    standby_sleep_begin(&srd_engine.standby);
    srd_timer_run_soon();
    return poll_cancelable(fds, 2, cancel_state);
}

int srd_progress_fd(struct ibv_context *context)
{
    int error = srd_stale(context) ? -EIO : ensure_open();

    if (error) {
        errno = -error;
        return -1;
    }
    return srd_engine.all_fd;
}

bool srd_progress_sleep(struct ibv_context *context)
{
    if (srd_stale(context) || ensure_open())
        return true; /* nothing of ours can move; the descriptor, if there is one, shows what does */
    standby_sleep_begin(&srd_engine.standby);
    srd_timer_run_soon();
    return true;
}

void srd_progress_wake(struct ibv_context *context)
{
    if (!srd_stale(context) && is_open())
        standby_sleep_end(&srd_engine.standby);
}

int srd_progress_watch(struct ibv_context *context, int fd)
{
    struct epoll_event event = { .events = EPOLLIN, .data.u64 = watched_token };

    if (srd_stale(context) || !is_open())
        return -EIO;
    if (epoll_ctl(srd_engine.all_fd, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
        return -errno;
    return 0;
}

void srd_progress_unwatch(struct ibv_context *context, int fd)
{
    if (!srd_stale(context) && is_open())
        epoll_ctl(srd_engine.all_fd, EPOLL_CTL_DEL, fd, NULL);
}

void srd_progress_run(struct ibv_context *context)
{
    if (!srd_stale(context))
        srd_loop_run();
}
