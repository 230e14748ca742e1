/* SPDX-License-Identifier: MIT */
/* work.h - deferred work, a part of ndkwdm.h. */
#ifndef NDKWDM_WORK_H
#define NDKWDM_WORK_H

#include <ndkwdm/driver.h>
#include <ndkwdm/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _WORK_QUEUE_TYPE {
    CriticalWorkQueue,
    DelayedWorkQueue,
    HyperCriticalWorkQueue,
    MaximumWorkQueue
} WORK_QUEUE_TYPE;

typedef VOID WORKER_THREAD_ROUTINE(PVOID Parameter);
typedef WORKER_THREAD_ROUTINE *PWORKER_THREAD_ROUTINE;
typedef VOID IO_WORKITEM_ROUTINE(PDEVICE_OBJECT DeviceObject, PVOID Context);
typedef IO_WORKITEM_ROUTINE *PIO_WORKITEM_ROUTINE;
typedef struct _IO_WORKITEM *PIO_WORKITEM;
typedef VOID IO_WORKITEM_ROUTINE_EX(PVOID IoObject, PVOID Context, PIO_WORKITEM IoWorkItem);
typedef IO_WORKITEM_ROUTINE_EX *PIO_WORKITEM_ROUTINE_EX;

/* Deferred work, in the consumer's memory, which is the library's from ExQueueWorkItem until its routine begins. */
typedef struct _WORK_QUEUE_ITEM {
    LIST_ENTRY List;
    PWORKER_THREAD_ROUTINE WorkerRoutine;
    PVOID Parameter;
} WORK_QUEUE_ITEM, *PWORK_QUEUE_ITEM;

/* item out: for routine, called with context. */
#define ExInitializeWorkItem(item, routine, context)                                               \
    ((void)((item)->WorkerRoutine = (routine), (item)->Parameter = (context),                      \
        (item)->List.Flink = NULL))
/* The routine is called once, at PASSIVE_LEVEL, by a thread of the library, and may block. type: not used. */
VOID ExQueueWorkItem(PWORK_QUEUE_ITEM item, WORK_QUEUE_TYPE type);

/* device: for the routine, may be NULL. Returns an item for IoFreeWorkItem; NULL: no memory. */
PIO_WORKITEM IoAllocateWorkItem(PDEVICE_OBJECT device);
/* Not while it is queued; its routine may free it. */
VOID IoFreeWorkItem(PIO_WORKITEM item);
/* Queues an item as ExQueueWorkItem does; the routine gets the item's device, and context. */
VOID IoQueueWorkItem(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE routine, WORK_QUEUE_TYPE type, PVOID context);
/* IoQueueWorkItem for a routine that gets the item, too. */
VOID IoQueueWorkItemEx(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE_EX routine, WORK_QUEUE_TYPE type, PVOID context);
/* Bytes that an item takes, for one in the consumer's memory. */
ULONG IoSizeofWorkItem(void);
/* item out: in place of IoAllocateWorkItem, for IoUninitializeWorkItem. object: for the routine, may be NULL. */
VOID IoInitializeWorkItem(PVOID object, PIO_WORKITEM item);
/* Not while it is queued; its routine may do it. The memory is the consumer's again. */
VOID IoUninitializeWorkItem(PIO_WORKITEM item);

struct _KDPC;
typedef VOID KDEFERRED_ROUTINE(
    struct _KDPC *Dpc, PVOID DeferredContext, PVOID SystemArgument1, PVOID SystemArgument2);
typedef KDEFERRED_ROUTINE *PKDEFERRED_ROUTINE;

/* A deferred procedure, in the consumer's memory; the members are the library's. */
typedef struct _KDPC {
    ULONG Queued;
    LIST_ENTRY DpcListEntry;
    PKDEFERRED_ROUTINE DeferredRoutine;
    PVOID DeferredContext, SystemArgument1, SystemArgument2;
    PVOID DpcData;
} KDPC, *PKDPC, *PRKDPC;

/* dpc out: for routine, called with context. */
VOID KeInitializeDpc(PRKDPC dpc, PKDEFERRED_ROUTINE routine, PVOID context);
/*
 * The routine is called once, at DISPATCH_LEVEL, by a thread of the library, which runs one at a time in their order.
 * argument1, argument2: for the routine. FALSE: it is queued already, and nothing changes.
 */
BOOLEAN KeInsertQueueDpc(PRKDPC dpc, PVOID argument1, PVOID argument2);
/* Takes it back. FALSE: it was not queued; its routine may be running. */
BOOLEAN KeRemoveQueueDpc(PRKDPC dpc);
/* Passive. Returns when the routines of all that were queued have returned. */
VOID KeFlushQueuedDpcs(void);

#ifdef __cplusplus
}
#endif

#endif
