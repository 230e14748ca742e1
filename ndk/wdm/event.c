/* SPDX-License-Identifier: MIT */
/*
 * event.c - events of ndkwdm.h, and waits for all that begins with one. The state is a futex word, on which waits for
 * that object alone sleep. Those for several sleep on one word of the process: they mark the objects that are clear,
 * and who signals a marked one wakes them all.
 */
#include "ndk/wdm/wait.h"

#include "ndk/verifier/passive.h"
#include "ndk/wdm/stop.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/log.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Values of KEVENT.Type, which tell an event from other objects. */
enum { NOTIFICATION = 0x4E455630, SYNCHRONIZATION = 0x4E455631 };

/* KEVENT.State. */
enum {
    CLEAR,
    SIGNALLED,
    MARKED, /* clear; a wait for several is for it, too */
    HELD,   /* signalled; a wait for all of several takes it within moments, or lets go of it */
};

static _Atomic uint32_t marked_signalled; /* rises when a marked object is signalled */

static _Atomic uint32_t *state_of(PRKEVENT event)
{
    return (_Atomic uint32_t *)&event->State;
}

VOID KeInitializeEvent(PRKEVENT event, EVENT_TYPE type, BOOLEAN signalled)
{
    *event = (KEVENT){ .Type = type == NotificationEvent ? NOTIFICATION : SYNCHRONIZATION,
        .State = signalled ? SIGNALLED : CLEAR };
}

/* A waiter may return and free the event as soon as the state is stored: after that only the address is used. */
LONG KeSetEvent(PRKEVENT event, KPRIORITY increment, BOOLEAN wait)
{
    int woken = event->Type == NOTIFICATION ? INT32_MAX : 1;
    uint32_t before = atomic_load_explicit(state_of(event), memory_order_relaxed);

    (void)increment;
    (void)wait;
    while (!atomic_compare_exchange_weak_explicit(state_of(event), &before,
        before == HELD ? HELD : SIGNALLED, memory_order_release, memory_order_relaxed))
        continue;
    if (before == SIGNALLED || before == HELD)
        return 1;
    futex_wake(state_of(event), woken);
    if (before == MARKED) {
        atomic_fetch_add_explicit(&marked_signalled, 1, memory_order_release);
        futex_wake(&marked_signalled, INT32_MAX);
    }
    return 0;
}

/* The state while nobody holds the object. */
static uint32_t state_unheld(PRKEVENT event)
{
    uint32_t state;

    while ((state = atomic_load_explicit(state_of(event), memory_order_acquire)) == HELD)
        sched_yield();
    return state;
}

/* SIGNALLED, and it is CLEAR now; or what it was instead. */
static uint32_t cleared(PRKEVENT event)
{
    uint32_t state;

    do
        state = state_unheld(event);
    while (state == SIGNALLED && !atomic_compare_exchange_weak_explicit(state_of(event), &state,
                                     CLEAR, memory_order_acq_rel, memory_order_relaxed));
    return state;
}

LONG KeResetEvent(PRKEVENT event)
{
    return cleared(event) == SIGNALLED;
}

VOID KeClearEvent(PRKEVENT event)
{
    KeResetEvent(event);
}

LONG KeReadStateEvent(PRKEVENT event)
{
    uint32_t state = atomic_load_explicit(state_of(event), memory_order_acquire);

    return state == SIGNALLED || state == HELD;
}

/* SIGNALLED: the wait for it is over; or what it is instead. */
static uint32_t taken(PRKEVENT event)
{
    if (event->Type == NOTIFICATION)
        return state_unheld(event);
    return cleared(event);
}

/* ---- waits ---- */

/* Names of kinds; the index is Reserved[0] of the KEVENT that an object begins with. */
static const char *const kinds[] = {
    [NDK_KEVENT] = "KEVENT", [NDK_KTIMER] = "KTIMER", [NDK_THREAD] = "thread"
};

/* When a wait has to end. */
struct limit {
    bool none;
    uint64_t deadline_ns;
};

/* False: the wait cannot be made. */
static bool begin_wait(
    const char *call, PRKEVENT event, const LARGE_INTEGER *timeout, struct limit *limit)
{
    if (event->Type != NOTIFICATION && event->Type != SYNCHRONIZATION) {
        log_limited(LOG_ERROR, LOG_NDK, "%s: the object is no event, timer or thread", call);
        return false;
    }
    if (!timeout || timeout->QuadPart)
        ndk_wait_expected(call, kinds[event->Reserved[0]], event);
    limit->none = !timeout;
    if (timeout)
        limit->deadline_ns = clock_now_ns() + ndk_left_ns(timeout);
    return true;
}

/* Sleeps until the word changes, or for a shorter time. False: the limit has passed. */
static bool slept(_Atomic uint32_t *word, uint32_t now, const struct limit *limit)
{
    uint64_t now_ns = limit->none ? 0 : clock_now_ns();
    struct timespec left;

    if (!limit->none && now_ns >= limit->deadline_ns)
        return false;
    left.tv_sec = (time_t)((limit->deadline_ns - now_ns) / 1000000000u);
    left.tv_nsec = (long)((limit->deadline_ns - now_ns) % 1000000000u);
    futex_wait(word, now, limit->none ? NULL : &left);
    return true;
}

NTSTATUS KeWaitForSingleObject(PVOID object, KWAIT_REASON reason, KPROCESSOR_MODE mode,
    BOOLEAN alertable, PLARGE_INTEGER timeout)
{
    PRKEVENT event = object;
    struct limit limit = { .none = true };
    uint32_t state;

    (void)reason;
    (void)mode;
    (void)alertable;
    if (!begin_wait("KeWaitForSingleObject", event, timeout, &limit))
        return STATUS_NOT_SUPPORTED;
    while ((state = taken(event)) != SIGNALLED)
        if (!slept(state_of(event), state, &limit))
            return taken(event) == SIGNALLED ? STATUS_SUCCESS : STATUS_TIMEOUT;
    return STATUS_SUCCESS;
}

/* ---- waits for several ---- */

/* One wait at a time holds objects. A leaf. */
static pthread_mutex_t holder = PTHREAD_MUTEX_INITIALIZER;

static void let_go(PRKEVENT event, uint32_t state)
{
    uint32_t held = HELD; /* an event that is named twice has been let go already */

    atomic_compare_exchange_strong_explicit(
        state_of(event), &held, state, memory_order_release, memory_order_relaxed);
}

/* Takes all of them, or none. */
static bool all_taken(PVOID *objects, ULONG count)
{
    uint32_t state = SIGNALLED;
    ULONG held;

    pthread_mutex_lock(&holder);
    for (held = 0; held < count; held++) {
        state = SIGNALLED;
        if (!atomic_compare_exchange_strong_explicit(state_of(objects[held]), &state, HELD,
                memory_order_acquire, memory_order_relaxed) &&
            state != HELD)
            break;
    }
    for (ULONG i = 0; i < held; i++) {
        PRKEVENT event = objects[i];

        let_go(event, held == count && event->Type == SYNCHRONIZATION ? CLEAR : SIGNALLED);
    }
    pthread_mutex_unlock(&holder);
    return held == count;
}

/* STATUS_WAIT_0 + index of what ended the wait; STATUS_PENDING: nothing has yet. */
static NTSTATUS several_taken(PVOID *objects, ULONG count, WAIT_TYPE type)
{
    if (type == WaitAll)
        return all_taken(objects, count) ? STATUS_WAIT_0 : STATUS_PENDING;
    for (ULONG i = 0; i < count; i++)
        if (taken(objects[i]) == SIGNALLED)
            return (NTSTATUS)(STATUS_WAIT_0 + i);
    return STATUS_PENDING;
}

static void mark(PVOID *objects, ULONG count)
{
    for (ULONG i = 0; i < count; i++) {
        uint32_t clear = CLEAR;

        atomic_compare_exchange_strong_explicit(
            state_of(objects[i]), &clear, MARKED, memory_order_acq_rel, memory_order_relaxed);
    }
}

/* Reads the word before it marks the objects: a thread that signals a marked object afterwards changes the word. */
static NTSTATUS wait_for_several(
    PVOID *objects, ULONG count, WAIT_TYPE type, const struct limit *limit)
{
    for (;;) {
        uint32_t now = atomic_load_explicit(&marked_signalled, memory_order_acquire);
        NTSTATUS status;

        mark(objects, count);
        status = several_taken(objects, count, type);
        if (status != STATUS_PENDING)
            return status;
        if (!slept(&marked_signalled, now, limit)) {
            status = several_taken(objects, count, type);
            return status == STATUS_PENDING ? STATUS_TIMEOUT : status;
        }
    }
}

NTSTATUS KeWaitForMultipleObjects(ULONG count, PVOID objects[], WAIT_TYPE type, KWAIT_REASON reason,
    KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER timeout, PKWAIT_BLOCK blocks)
{
    ULONG most = blocks ? MAXIMUM_WAIT_OBJECTS : THREAD_WAIT_OBJECTS;
    struct limit limit = { .none = true };

    (void)reason;
    (void)mode;
    (void)alertable;
    if (count > most)
        ndk_stop("KeWaitForMultipleObjects: %u objects; with%s wait blocks it takes %u", count,
            blocks ? "" : "out", most);
    if (!count || (type != WaitAll && type != WaitAny))
        return STATUS_INVALID_PARAMETER;
    for (ULONG i = 0; i < count; i++)
        if (!begin_wait("KeWaitForMultipleObjects", objects[i], timeout, &limit))
            return STATUS_NOT_SUPPORTED;
    return wait_for_several(objects, count, type, &limit);
}
