/* SPDX-License-Identifier: MIT */
/*
 * timer.c - waitable timers: a timerfd for each clock that a timer has been set by, which the reactor waits for.
 *
 * A clock refers to its timer by name (handle.h), so it finds no timer that is gone. timers_lock excludes setting,
 * cancelling and expiring from each other: no earlier setting signals after a new one. In the child of a fork timers do
 * not run until they are set again.
 *
 * A timer has one APC for its completion routine, as on Windows: as long as that is queued, further expirations add
 * nothing to it.
 */
#include "winobj/waits/timer.h"

#include "winobj/fork.h"

#include "reactor/reactor.h"
#include "util/lock.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define UNITS_PER_SECOND 10000000             /* FILETIME counts 100 ns */
#define UNIX_EPOCH       INT64_C(11644473600) /* seconds from 1601, where FILETIME begins */

struct timer_clock {
    struct reactor_source source; /* first; its descriptor is the timerfd */
    HANDLE timer;                 /* the timer's win_object_name */
};

struct win_timer {
    struct win_waitable waitable;
    /* the clocks of relative times and of absolute ones; NULL: not made yet. timers_lock guards them */
    struct timer_clock *clocks[2];
    struct win_timer_routine routine; /* timers_lock */
    struct win_apc apc;
};

static struct lock timers_lock = LOCK_INIT(LOCK_WIN_FILE, "timers");

static void clock_free(struct reactor_source *source)
{
    close(source->fd);
    free(source);
}

/* Takes back the routine's APC, and forgets the routine. */
static void routine_end(struct win_timer *timer)
{
    if (!timer->routine.function)
        return;
    win_apcs_remove(timer->routine.apcs, &timer->apc);
    win_object_unref(timer->routine.thread);
    timer->routine.function = NULL;
}

static void timer_destroy(struct win_object *object)
{
    struct win_timer *timer = (struct win_timer *)object;

    routine_end(timer);
    for (int i = 0; i < 2; i++)
        if (timer->clocks[i]) {
            reactor_remove(&timer->clocks[i]->source);
            reactor_unref(&timer->clocks[i]->source);
        }
    win_waitable_destroy(object);
}

/* The parent's clocks, which the child's reactor does not know. */
static void timer_forked(struct win_object *object)
{
    struct win_timer *timer = (struct win_timer *)object;

    win_waitable_object_forked(object);
    for (int i = 0; i < 2; i++) {
        if (timer->clocks[i])
            clock_free(&timer->clocks[i]->source);
        timer->clocks[i] = NULL;
    }
}

static const struct win_object_type timer_type = {
    .name = "timer",
    .waitable = true,
    .destroy = timer_destroy,
    .descriptor = win_waitable_object_descriptor,
    .forked = timer_forked,
};

void win_timers_forked(void)
{
    lock_init(&timers_lock, LOCK_WIN_FILE, "timers");
}

/* Stops both clocks, and withdraws the routine's APC. */
static void stop_locked(struct win_timer *timer)
{
    static const struct itimerspec never;

    for (int i = 0; i < 2; i++)
        if (timer->clocks[i])
            timerfd_settime(timer->clocks[i]->source.fd, 0, &never, NULL);
    routine_end(timer);
}

static uint64_t filetime_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)(now.tv_sec + UNIX_EPOCH) * UNITS_PER_SECOND + (uint64_t)now.tv_nsec / 100;
}

/* The end of its routine's thread has cancelled a timer. */
static void expire_locked(struct win_timer *timer)
{
    bool calls = timer->routine.function;

    if (calls && win_apcs_closed(timer->routine.apcs)) {
        stop_locked(timer);
        return;
    }
    win_waitable_set(&timer->waitable);
    if (calls)
        win_apcs_queue(timer->routine.apcs, &timer->apc, filetime_now());
}

static void clock_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct win_timer *timer =
        (struct win_timer *)win_object_find(((struct timer_clock *)source)->timer);
    uint64_t times;

    (void)events;
    (void)how;
    if (!timer)
        return;
    lock_acquire(&timers_lock);
    if (read(source->fd, &times, sizeof(times)) == sizeof(times))
        expire_locked(timer);
    lock_release(&timers_lock);
    win_object_unref(&timer->waitable.object);
}

static const struct reactor_source_ops clock_ops = { .ready = clock_ready, .free = clock_free };

static HANDLE timer_create_win(bool named, BOOL manual_reset)
{
    struct win_timer *timer = named ? NULL : calloc(1, sizeof(*timer));

    if (!timer) {
        SetLastError(named ? ERROR_NOT_SUPPORTED : ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    win_waitable_init(&timer->waitable, manual_reset ? WAITABLE_MANUAL : WAITABLE_AUTO, false);
    list_node_init(&timer->apc.link);
    return win_waitable_open(&timer->waitable, &timer_type);
}

/*
 * CreateWaitableTimerA, CreateWaitableTimerW - a new unnamed timer, not set. attributes are ignored (handles are not
 * inherited).
 * manual_reset  it stays signalled until the program sets it again; else one wait takes the signal
 * Returns       NULL with ERROR_NOT_SUPPORTED for a name (processes share no timers), ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE WINAPI CreateWaitableTimerA(LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, LPCSTR name)
{
    (void)attributes;
    return timer_create_win(name != NULL, manual_reset);
}

HANDLE WINAPI CreateWaitableTimerW(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, LPCWSTR name)
{
    (void)attributes;
    return timer_create_win(name != NULL, manual_reset);
}

static HANDLE timer_create_ex(bool named, DWORD flags)
{
    if (flags &
        ~(DWORD)(CREATE_WAITABLE_TIMER_MANUAL_RESET | CREATE_WAITABLE_TIMER_HIGH_RESOLUTION)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return timer_create_win(named, !!(flags & CREATE_WAITABLE_TIMER_MANUAL_RESET));
}

/*
 * CreateWaitableTimerExA, CreateWaitableTimerExW - CreateWaitableTimer by flags; each timer is one of high resolution.
 * Another flag is ERROR_INVALID_PARAMETER. A handle has all rights.
 */
HANDLE WINAPI CreateWaitableTimerExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return timer_create_ex(name != NULL, flags);
}

HANDLE WINAPI CreateWaitableTimerExW(
    LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access)
{
    (void)attributes;
    (void)access;
    return timer_create_ex(name != NULL, flags);
}

static struct timer_clock *clock_new(struct win_timer *timer, int id)
{
    struct timer_clock *clock = calloc(1, sizeof(*clock));
    int fd = timerfd_create(id, TFD_CLOEXEC | TFD_NONBLOCK);

    if (!clock || fd < 0) {
        if (fd >= 0)
            close(fd);
        free(clock);
        return NULL;
    }
    reactor_source_init(&clock->source, &clock_ops, fd);
    clock->timer = win_object_name(&timer->waitable.object);
    if (!reactor_add(&clock->source, EPOLLIN))
        return clock;
    reactor_unref(&clock->source);
    return NULL;
}

static struct timespec timespec_of(int64_t units)
{
    return (struct timespec){ .tv_sec = units / UNITS_PER_SECOND,
        .tv_nsec = units % UNITS_PER_SECOND * 100 };
}

/* Sets the clock of the due time: below 0 a time from now on, else a date. */
static bool start_locked(struct win_timer *timer, int64_t due, LONG period_ms)
{
    int clock = due >= 0;
    struct itimerspec spec = { .it_interval = timespec_of((int64_t)period_ms * 10000) };

    if (!timer->clocks[clock] &&
        !(timer->clocks[clock] = clock_new(timer, clock ? CLOCK_REALTIME : CLOCK_MONOTONIC)))
        return false;
    spec.it_value = timespec_of(clock ? due : -(uint64_t)due > INT64_MAX ? INT64_MAX : -due);
    if (clock)
        spec.it_value.tv_sec -= UNIX_EPOCH;
    if (spec.it_value.tv_sec < 0 || (!spec.it_value.tv_sec && !spec.it_value.tv_nsec))
        spec.it_value = (struct timespec){ .tv_nsec = 1 }; /* it has passed; 0 would stop it */
    return !timerfd_settime(
        timer->clocks[clock]->source.fd, clock ? TFD_TIMER_ABSTIME : 0, &spec, NULL);
}

BOOL win_timer_set(
    HANDLE handle, int64_t due, LONG period_ms, const struct win_timer_routine *routine)
{
    struct win_timer *timer = (struct win_timer *)win_handle_pin(handle, &timer_type);
    bool done;

    if (!timer) {
        if (routine->function)
            win_object_unref(routine->thread);
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    lock_acquire(&timers_lock);
    stop_locked(timer);
    win_waitable_reset(&timer->waitable);
    timer->routine = *routine;
    timer->apc.routine = routine->function;
    timer->apc.context = routine->context;
    if (!(done = start_locked(timer, due, period_ms)))
        routine_end(timer);
    lock_release(&timers_lock);
    win_object_unref(&timer->waitable.object);
    if (!done)
        SetLastError(ERROR_NO_SYSTEM_RESOURCES);
    return done;
}

/*
 * CancelWaitableTimer - stops a timer; whether it is signalled stays as it is, and its completion routine is not called
 * any more. FALSE with ERROR_INVALID_HANDLE.
 */
BOOL WINAPI CancelWaitableTimer(HANDLE handle)
{
    struct win_timer *timer = (struct win_timer *)win_handle_pin(handle, &timer_type);

    if (!timer) {
        SetLastError(ERROR_INVALID_HANDLE);
        return FALSE;
    }
    lock_acquire(&timers_lock);
    stop_locked(timer);
    lock_release(&timers_lock);
    win_object_unref(&timer->waitable.object);
    return TRUE;
}
