/* SPDX-License-Identifier: MIT */
/* event.c - events of ndkwdm.h, and waits for all that begins with one. The state is a futex word. */
#include "ndk/wdm/wait.h"

#include "ndk/verifier/passive.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/log.h"

#include <stdatomic.h>
#include <stdbool.h>

/* In KEVENT.Type: tells an event from other objects. */
enum { NOTIFICATION = 0x4E455630, SYNCHRONIZATION = 0x4E455631 };

static _Atomic uint32_t *state_of(PRKEVENT event)
{
    return (_Atomic uint32_t *)&event->State;
}

VOID KeInitializeEvent(PRKEVENT event, EVENT_TYPE type, BOOLEAN signalled)
{
    *event = (KEVENT){ .Type = type == NotificationEvent ? NOTIFICATION : SYNCHRONIZATION,
        .State = signalled != 0 };
}

/* A waiter may return and free the event as soon as the state is stored: after that only the address is used. */
LONG KeSetEvent(PRKEVENT event, KPRIORITY increment, BOOLEAN wait)
{
    int woken = event->Type == NOTIFICATION ? INT32_MAX : 1;
    uint32_t before = atomic_exchange_explicit(state_of(event), 1, memory_order_release);

    (void)increment;
    (void)wait;
    if (!before)
        futex_wake(state_of(event), woken);
    return (LONG)before;
}

LONG KeResetEvent(PRKEVENT event)
{
    return (LONG)atomic_exchange_explicit(state_of(event), 0, memory_order_acq_rel);
}

VOID KeClearEvent(PRKEVENT event)
{
    KeResetEvent(event);
}

LONG KeReadStateEvent(PRKEVENT event)
{
    return (LONG)atomic_load_explicit(state_of(event), memory_order_acquire);
}

static bool taken(PRKEVENT event)
{
    uint32_t one = 1;

    if (event->Type == NOTIFICATION)
        return KeReadStateEvent(event);
    return atomic_compare_exchange_strong_explicit(
        state_of(event), &one, 0, memory_order_acquire, memory_order_relaxed);
}

/* False: the deadline has passed. */
static bool sleep_until(PRKEVENT event, uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns();
    struct timespec left;

    if (now >= deadline_ns)
        return false;
    left.tv_sec = (time_t)((deadline_ns - now) / 1000000000u);
    left.tv_nsec = (long)((deadline_ns - now) % 1000000000u);
    futex_wait(state_of(event), 0, &left);
    return true;
}

/* By Reserved[0] of what an object begins with. */
static const char *const kinds[] = {
    [NDK_KEVENT] = "KEVENT", [NDK_KTIMER] = "KTIMER", [NDK_THREAD] = "thread"
};

NTSTATUS KeWaitForSingleObject(PVOID object, KWAIT_REASON reason, KPROCESSOR_MODE mode,
    BOOLEAN alertable, PLARGE_INTEGER timeout)
{
    PRKEVENT event = object;
    uint64_t deadline_ns = 0;

    (void)reason;
    (void)mode;
    (void)alertable;
    if (event->Type != NOTIFICATION && event->Type != SYNCHRONIZATION) {
        log_limited(
            LOG_ERROR, LOG_NDK, "KeWaitForSingleObject: the object is no event, timer or thread");
        return STATUS_NOT_SUPPORTED;
    }
    if (!timeout || timeout->QuadPart)
        ndk_passive_expected("KeWaitForSingleObject", kinds[event->Reserved[0]], event);
    if (timeout)
        deadline_ns = clock_now_ns() + ndk_left_ns(timeout);
    while (!taken(event)) {
        if (!timeout)
            futex_wait(state_of(event), 0, NULL);
        else if (!sleep_until(event, deadline_ns))
            return taken(event) ? STATUS_SUCCESS : STATUS_TIMEOUT;
    }
    return STATUS_SUCCESS;
}
