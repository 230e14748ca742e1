/* SPDX-License-Identifier: MIT */
/*
 * timer.c - timers of ndkwdm.h. Those that are set are in one list, the next to expire first; the reactor has one
 * deadline for all. A timer begins with an event, which waits know.
 */
#include "ndk/verifier/passive.h"
#include "ndk/wdm/wait.h"

#include "reactor/reactor.h"
#include "util/clock.h"
#include "util/log.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

static void expired(struct reactor_source *source, enum reactor_how how);

static const struct reactor_source_ops ops = { .expired = expired };

static struct {
    /* Not util/lock.h: procedures are queued under it, whose mutex is none of those. */
    pthread_mutex_t mutex;
    LIST_ENTRY set; /* sorted by DueTime, which is in ns of clock_now_ns here */
    struct reactor_source source;
    bool ready, added;
} timers = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static PKTIMER first_locked(void)
{
    return IsListEmpty(&timers.set) ? NULL
                                    : CONTAINING_RECORD(timers.set.Flink, KTIMER, TimerListEntry);
}

static void lock_timers(void)
{
    pthread_mutex_lock(&timers.mutex);
    if (!timers.ready)
        InitializeListHead(&timers.set);
    timers.ready = true;
}

/* The deadline is that of the first timer. */
static void unlock_timers(void)
{
    PKTIMER first = first_locked();
    int rc;

    if (first && !timers.added) {
        reactor_source_init(&timers.source, &ops, -1);
        rc = reactor_add(&timers.source, 0);
        timers.added = rc == 0;
        if (rc) /* the next call tries again */
            log_limited(LOG_ERROR, LOG_NDK,
                "cannot watch the time for timers: %s; they do not expire", strerror(-rc));
    }
    if (timers.added)
        reactor_deadline(&timers.source, first ? first->DueTime.QuadPart : REACTOR_NEVER);
    pthread_mutex_unlock(&timers.mutex);
}

static void insert_locked(PKTIMER timer, uint64_t due_ns)
{
    LIST_ENTRY *before = timers.set.Blink;

    while (before != &timers.set &&
           CONTAINING_RECORD(before, KTIMER, TimerListEntry)->DueTime.QuadPart > due_ns)
        before = before->Blink;
    timer->DueTime.QuadPart = due_ns;
    timer->Inserted = 1;
    InsertHeadList(before, &timer->TimerListEntry);
}

/* Returns whether it was set. */
static BOOLEAN remove_locked(PKTIMER timer)
{
    BOOLEAN was_set = timer->Inserted != 0;

    if (was_set)
        RemoveEntryList(&timer->TimerListEntry);
    timer->Inserted = 0;
    return was_set;
}

/* A waiter may free the timer once it is signalled, and its procedure may. */
static void expire_locked(PKTIMER timer, uint64_t now_ns)
{
    uint64_t period_ns = timer->Period * UINT64_C(1000000),
             next = timer->DueTime.QuadPart + period_ns;
    PKDPC dpc = timer->Dpc;

    remove_locked(timer);
    if (period_ns)
        insert_locked(timer, next > now_ns ? next : now_ns + period_ns);
    KeSetEvent(&timer->Header, IO_NO_INCREMENT, FALSE);
    if (dpc)
        KeInsertQueueDpc(dpc, NULL, NULL);
}

static void expired(struct reactor_source *source, enum reactor_how how)
{
    uint64_t now_ns = clock_now_ns();
    PKTIMER first;

    (void)source;
    (void)how;
    lock_timers();
    while ((first = first_locked()) && first->DueTime.QuadPart <= now_ns)
        expire_locked(first, now_ns);
    unlock_timers();
}

VOID KeInitializeTimerEx(PKTIMER timer, TIMER_TYPE type)
{
    *timer = (KTIMER){ .Dpc = NULL };
    KeInitializeEvent(&timer->Header,
        type == SynchronizationTimer ? SynchronizationEvent : NotificationEvent, FALSE);
    timer->Header.Reserved[0] = NDK_KTIMER;
}

VOID KeInitializeTimer(PKTIMER timer)
{
    KeInitializeTimerEx(timer, NotificationTimer);
}

BOOLEAN KeSetTimerEx(PKTIMER timer, LARGE_INTEGER due, LONG period, PKDPC dpc)
{
    uint64_t due_ns = clock_now_ns() + ndk_left_ns(&due);
    BOOLEAN was_set;

    lock_timers();
    was_set = remove_locked(timer);
    KeClearEvent(&timer->Header);
    timer->Period = (ULONG)period;
    timer->Dpc = dpc;
    insert_locked(timer, due_ns);
    unlock_timers();
    return was_set;
}

BOOLEAN KeSetTimer(PKTIMER timer, LARGE_INTEGER due, PKDPC dpc)
{
    return KeSetTimerEx(timer, due, 0, dpc);
}

BOOLEAN KeSetCoalescableTimer(
    PKTIMER timer, LARGE_INTEGER due, ULONG period, ULONG tolerance, PKDPC dpc)
{
    (void)tolerance;
    return KeSetTimerEx(timer, due, (LONG)period, dpc);
}

BOOLEAN KeCancelTimer(PKTIMER timer)
{
    BOOLEAN was_set;

    lock_timers();
    was_set = remove_locked(timer);
    unlock_timers();
    return was_set;
}

BOOLEAN KeReadStateTimer(PKTIMER timer)
{
    return KeReadStateEvent(&timer->Header) != 0;
}

/* ---- time ---- */

NTSTATUS KeDelayExecutionThread(KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER interval)
{
    KEVENT never;

    ndk_wait_expected("KeDelayExecutionThread", "interval", interval);
    KeInitializeEvent(&never, NotificationEvent, FALSE);
    if (interval->QuadPart)
        KeWaitForSingleObject(&never, DelayExecution, mode, alertable, interval);
    else
        sched_yield();
    return STATUS_SUCCESS;
}

VOID KeQuerySystemTime(PLARGE_INTEGER now)
{
    now->QuadPart = ndk_system_time();
}

VOID KeQuerySystemTimePrecise(PLARGE_INTEGER now)
{
    KeQuerySystemTime(now);
}

ULONGLONG KeQueryInterruptTime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (ULONGLONG)now.tv_sec * 10000000 + (ULONGLONG)now.tv_nsec / 100;
}

LARGE_INTEGER KeQueryPerformanceCounter(PLARGE_INTEGER frequency)
{
    LARGE_INTEGER count = { .QuadPart = (LONGLONG)clock_now_ns() };

    if (frequency)
        frequency->QuadPart = 1000000000;
    return count;
}
