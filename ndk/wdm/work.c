/* SPDX-License-Identifier: MIT */
/*
 * work.c - work items and deferred procedures of ndkwdm.h: each kind has a list and threads that serve it. More threads
 * start while all are busy; they stay. The reactor tries again to start one that could not be.
 */
#include "ndk/verifier/passive.h"

#include "reactor/again.h"
#include "util/log.h"
#include "util/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { WORKERS_MOST = 64 };

struct team {
    const char *name;
    unsigned most;
    void (*run)(struct team *team); /* its first entry; called and left with the mutex held */
    /* Not util/lock.h: threads sleep on the conditions. No lock is taken under it. */
    pthread_mutex_t mutex;
    pthread_cond_t given, done;
    bool ready; /* the list is */
    LIST_ENTRY entries;
    unsigned count, idle, threads;
    uint64_t entries_given, entries_done;
    struct reactor_again again; /* starts a thread later that could not be started */
};

static void serve(void *argument)
{
    struct team *team = argument;

    pthread_mutex_lock(&team->mutex);
    for (;;) {
        if (IsListEmpty(&team->entries)) {
            team->idle++;
            pthread_cond_wait(&team->given, &team->mutex);
            team->idle--;
            continue;
        }
        team->count--;
        team->run(team);
        team->entries_done++;
        pthread_cond_broadcast(&team->done);
    }
}

static void start_again(struct reactor_source *source, enum reactor_how how);

static const struct reactor_source_ops again_ops = { .expired = start_again };

static void start_locked(struct team *team)
{
    int error = thread_start_detached(team->name, serve, team);

    if (!error)
        team->threads++;
    else if (!team->threads)
        log_limited(LOG_ERROR, LOG_NDK,
            "cannot start the thread for deferred work: %s; the work waits (raise the limit on "
            "threads)",
            strerror(-error));
    if (error) /* also where threads are busy: they may wait for this work */
        reactor_again(&team->again, &again_ops);
}

static void start_if_wanted_locked(struct team *team)
{
    if (team->count > team->idle && team->threads < team->most)
        start_locked(team);
}

static void start_again(struct reactor_source *source, enum reactor_how how)
{
    struct team *team = container_of(source, struct team, again.source);

    (void)how;
    pthread_mutex_lock(&team->mutex);
    start_if_wanted_locked(team);
    pthread_mutex_unlock(&team->mutex);
}

static void lock_team(struct team *team)
{
    pthread_mutex_lock(&team->mutex);
    if (!team->ready)
        InitializeListHead(&team->entries);
    team->ready = true;
}

static void give_locked(struct team *team, LIST_ENTRY *entry)
{
    InsertTailList(&team->entries, entry);
    team->count++;
    team->entries_given++;
    start_if_wanted_locked(team);
    pthread_cond_signal(&team->given);
}

/* ---- work items ---- */

static void run_work(struct team *team);

static struct team workers = {
    .name = "ndk-work",
    .most = WORKERS_MOST,
    .run = run_work,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .given = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

/* The owner may reuse the item when the routine begins. */
static void run_work(struct team *team)
{
    WORK_QUEUE_ITEM *item =
        CONTAINING_RECORD(RemoveHeadList(&team->entries), WORK_QUEUE_ITEM, List);
    PWORKER_THREAD_ROUTINE routine = item->WorkerRoutine;
    PVOID parameter = item->Parameter;

    pthread_mutex_unlock(&team->mutex);
    routine(parameter);
    pthread_mutex_lock(&team->mutex);
}

VOID ExQueueWorkItem(PWORK_QUEUE_ITEM item, WORK_QUEUE_TYPE type)
{
    (void)type;
    lock_team(&workers);
    give_locked(&workers, &item->List);
    pthread_mutex_unlock(&workers.mutex);
}

struct _IO_WORKITEM {
    WORK_QUEUE_ITEM item;
    PVOID object; /* PDEVICE_OBJECT for a plain routine */
    PIO_WORKITEM_ROUTINE routine;
    PIO_WORKITEM_ROUTINE_EX routine_ex;
    PVOID context;
};

static VOID run_io_item(PVOID parameter)
{
    PIO_WORKITEM item = parameter;

    item->routine((PDEVICE_OBJECT)item->object, item->context); /* may free the item */
}

static VOID run_io_item_ex(PVOID parameter)
{
    PIO_WORKITEM item = parameter;

    item->routine_ex(item->object, item->context, item); /* may free the item */
}

PIO_WORKITEM IoAllocateWorkItem(PDEVICE_OBJECT device)
{
    PIO_WORKITEM item = calloc(1, sizeof(*item));

    if (item)
        item->object = device;
    return item;
}

VOID IoFreeWorkItem(PIO_WORKITEM item)
{
    free(item);
}

VOID IoQueueWorkItem(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE routine, WORK_QUEUE_TYPE type, PVOID context)
{
    item->routine = routine;
    item->context = context;
    ExInitializeWorkItem(&item->item, run_io_item, item);
    ExQueueWorkItem(&item->item, type);
}

VOID IoQueueWorkItemEx(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE_EX routine, WORK_QUEUE_TYPE type, PVOID context)
{
    item->routine_ex = routine;
    item->context = context;
    ExInitializeWorkItem(&item->item, run_io_item_ex, item);
    ExQueueWorkItem(&item->item, type);
}

ULONG IoSizeofWorkItem(void)
{
    return sizeof(struct _IO_WORKITEM);
}

VOID IoInitializeWorkItem(PVOID object, PIO_WORKITEM item)
{
    *item = (struct _IO_WORKITEM){ .object = object };
}

VOID IoUninitializeWorkItem(PIO_WORKITEM item)
{
    (void)item; /* it holds nothing */
}

/* ---- deferred procedures: one thread ---- */

static void run_dpc(struct team *team);

static struct team deferred = {
    .name = "ndk-dpc",
    .most = 1,
    .run = run_dpc,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .given = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
};

/* It may be queued again, or freed, when the routine begins. */
static void run_dpc(struct team *team)
{
    PKDPC dpc = CONTAINING_RECORD(RemoveHeadList(&team->entries), KDPC, DpcListEntry);
    KDPC copy = *dpc;
    KIRQL before;

    dpc->Queued = 0;
    pthread_mutex_unlock(&team->mutex);
    before = ndk_level_raise(DISPATCH_LEVEL);
    copy.DeferredRoutine(dpc, copy.DeferredContext, copy.SystemArgument1, copy.SystemArgument2);
    ndk_level_restore(before);
    pthread_mutex_lock(&team->mutex);
}

VOID KeInitializeDpc(PRKDPC dpc, PKDEFERRED_ROUTINE routine, PVOID context)
{
    *dpc = (KDPC){ .DeferredRoutine = routine, .DeferredContext = context };
}

BOOLEAN KeInsertQueueDpc(PRKDPC dpc, PVOID argument1, PVOID argument2)
{
    BOOLEAN queued;

    lock_team(&deferred);
    queued = dpc->Queued == 0;
    if (queued) {
        dpc->Queued = 1;
        dpc->SystemArgument1 = argument1;
        dpc->SystemArgument2 = argument2;
        give_locked(&deferred, &dpc->DpcListEntry);
    }
    pthread_mutex_unlock(&deferred.mutex);
    return queued;
}

BOOLEAN KeRemoveQueueDpc(PRKDPC dpc)
{
    BOOLEAN removed;

    lock_team(&deferred);
    removed = dpc->Queued != 0;
    if (removed) {
        dpc->Queued = 0;
        RemoveEntryList(&dpc->DpcListEntry);
        deferred.count--;
        deferred.entries_done++;
        pthread_cond_broadcast(&deferred.done);
    }
    pthread_mutex_unlock(&deferred.mutex);
    return removed;
}

void KeFlushQueuedDpcs(void)
{
    uint64_t until;

    ndk_passive_expected("KeFlushQueuedDpcs", "queue of DPCs", NULL);
    lock_team(&deferred);
    until = deferred.entries_given;
    while (deferred.entries_done < until)
        pthread_cond_wait(&deferred.done, &deferred.mutex);
    pthread_mutex_unlock(&deferred.mutex);
}
