/* SPDX-License-Identifier: MIT */
/* timer.h - timers, a part of ndkwdm.h. */
#ifndef NDKWDM_TIMER_H
#define NDKWDM_TIMER_H

#include <ndkwdm/work.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _TIMER_TYPE { NotificationTimer, SynchronizationTimer } TIMER_TYPE;

/* A timer, in the consumer's memory; the members are the library's. A thread can wait for it (event.h). */
typedef struct _KTIMER {
    KEVENT Header;
    ULARGE_INTEGER DueTime;
    LIST_ENTRY TimerListEntry;
    PKDPC Dpc;
    ULONG Inserted;
    ULONG Period;
} KTIMER, *PKTIMER, *PRKTIMER;

/*
 * timer out: not set, not signalled. When it expires, a notification timer stays signalled until it is set again, a
 * synchronization timer until a wait takes it.
 */
VOID KeInitializeTimerEx(PKTIMER timer, TIMER_TYPE type);
/* KeInitializeTimerEx with NotificationTimer. */
VOID KeInitializeTimer(PKTIMER timer);
/*
 * Sets it, also one that is set already; it is not signalled then.
 * due     in: in 100 ns; negative: from now; else since 1601-01-01 UTC, by the clock of this moment
 * period  in: in ms; 0: it expires once
 * dpc     in, may be NULL: queued each time it expires, without arguments. Its routine may set the timer
 * Returns TRUE: it was set already.
 */
BOOLEAN KeSetTimerEx(PKTIMER timer, LARGE_INTEGER due, LONG period, PKDPC dpc);
/* KeSetTimerEx with a period of 0: the timer expires once. */
BOOLEAN KeSetTimer(PKTIMER timer, LARGE_INTEGER due, PKDPC dpc);
/* KeSetTimerEx. tolerance: not used. */
BOOLEAN KeSetCoalescableTimer(
    PKTIMER timer, LARGE_INTEGER due, ULONG period, ULONG tolerance, PKDPC dpc);
/*
 * It does not expire any more. FALSE: it was not set; a procedure of its last expiry may be queued or running:
 * KeFlushQueuedDpcs waits for that.
 */
BOOLEAN KeCancelTimer(PKTIMER timer);
/* Whether it is signalled. */
BOOLEAN KeReadStateTimer(PKTIMER timer);

/*
 * Sleeps. Below DISPATCH_LEVEL.
 * mode, alertable  in: not used
 * interval         in: what due is of KeSetTimerEx; 0: other threads run first
 * Returns STATUS_SUCCESS.
 */
NTSTATUS KeDelayExecutionThread(KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER interval);

/* The time now in 100 ns: since 1601-01-01 UTC; since the system started; the same, returned. */
VOID KeQuerySystemTime(PLARGE_INTEGER now);
VOID KeQuerySystemTimePrecise(PLARGE_INTEGER now);
ULONGLONG KeQueryInterruptTime(void);
/* A count that rises by `frequency` a second. frequency: out, may be NULL. */
LARGE_INTEGER KeQueryPerformanceCounter(PLARGE_INTEGER frequency);

#ifdef __cplusplus
}
#endif

#endif
