/* SPDX-License-Identifier: MIT */
/* event.h - objects to wait for, a part of ndkwdm.h: events, timers. */
#ifndef NDKWDM_EVENT_H
#define NDKWDM_EVENT_H

#include <ndkwdm/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _EVENT_TYPE { NotificationEvent, SynchronizationEvent } EVENT_TYPE;

/* The members are the library's. */
typedef struct _KEVENT {
    LONG Type;
    ULONG State;
    ULONG Waiters;
    ULONG Reserved[3];
} KEVENT, *PKEVENT, *PRKEVENT;

typedef LONG KPRIORITY;
#define IO_NO_INCREMENT 0

typedef enum _KWAIT_REASON {
    Executive,
    FreePage,
    PageIn,
    PoolAllocation,
    DelayExecution,
    Suspended,
    UserRequest,
    WrExecutive
} KWAIT_REASON;
typedef CHAR KPROCESSOR_MODE;
typedef enum _WAIT_TYPE { WaitAll, WaitAny } WAIT_TYPE;
typedef enum _MODE { KernelMode, UserMode, MaximumMode } MODE;

/* event out. A notification event stays signalled until it is reset, a synchronization event until a wait takes it. */
VOID KeInitializeEvent(PRKEVENT event, EVENT_TYPE type, BOOLEAN signalled);
/*
 * Signals it; a thread whose wait this ends may free the event. increment, wait: not used. Returns the state before,
 * 0: not signalled.
 */
LONG KeSetEvent(PRKEVENT event, KPRIORITY increment, BOOLEAN wait);
/* Not signalled any more. Returns the state before. */
LONG KeResetEvent(PRKEVENT event);
/* Resets the event as KeResetEvent does, without a result. */
VOID KeClearEvent(PRKEVENT event);
/* Returns the state. */
LONG KeReadStateEvent(PRKEVENT event);

/*
 * Waits until an object is signalled. Below DISPATCH_LEVEL, but for a timeout of 0.
 * object                   in: a KEVENT; a KTIMER (timer.h); the object of a thread, which is signalled when it has
 *                          ended (thread.h)
 * reason, mode, alertable  in: not used
 * timeout                  in, optional: in 100 ns; negative: from now; else since 1601-01-01 UTC; NULL: for ever
 * Returns STATUS_SUCCESS; STATUS_TIMEOUT: not signalled in that time; STATUS_NOT_SUPPORTED: another object.
 */
NTSTATUS KeWaitForSingleObject(PVOID object, KWAIT_REASON reason, KPROCESSOR_MODE mode,
    BOOLEAN alertable, PLARGE_INTEGER timeout);

struct _KTHREAD;

/* The consumer's memory for KeWaitForMultipleObjects, which does not use it. */
typedef struct _KWAIT_BLOCK {
    LIST_ENTRY WaitListEntry;
    struct _KTHREAD *Thread;
    PVOID Object;
    struct _KWAIT_BLOCK *NextWaitBlock;
    USHORT WaitKey;
    UCHAR WaitType;
    UCHAR BlockState;
    LONG SpareLong;
} KWAIT_BLOCK, *PKWAIT_BLOCK, *PRKWAIT_BLOCK;

#ifndef MAXIMUM_WAIT_OBJECTS
#define MAXIMUM_WAIT_OBJECTS 64
#endif
#define THREAD_WAIT_OBJECTS 3

/*
 * Waits until one of several objects is signalled (WaitAny), or all are at the same time (WaitAll): then the wait takes
 * that one, or all. Below DISPATCH_LEVEL, but for a timeout of 0.
 * count                    in: THREAD_WAIT_OBJECTS at most; with blocks MAXIMUM_WAIT_OBJECTS. More end the program
 * objects                  in: as KeWaitForSingleObject's
 * reason, mode, alertable  in: not used
 * timeout                  in, optional: as KeWaitForSingleObject's
 * blocks                   in, optional: count of them
 * Returns STATUS_WAIT_0 + the first that is signalled; of all STATUS_SUCCESS; STATUS_TIMEOUT: not in that time;
 * STATUS_NOT_SUPPORTED: an object of another kind; STATUS_INVALID_PARAMETER: no object, another type of wait.
 */
NTSTATUS KeWaitForMultipleObjects(ULONG count, PVOID objects[], WAIT_TYPE type, KWAIT_REASON reason,
    KPROCESSOR_MODE mode, BOOLEAN alertable, PLARGE_INTEGER timeout, PKWAIT_BLOCK blocks);

#ifdef __cplusplus
}
#endif

#endif
