/* SPDX-License-Identifier: MIT */
/*
 * thread.c - threads of ndkwdm.h, and their handles. A thread's object begins with an event, which its end sets: so it
 * can be waited for. The thread, its handle and the driver have references to it.
 */
#include "ndk/verifier/passive.h"
#include "ndk/wdm/handle.h"
#include "ndk/wdm/wait.h"

#include "util/log.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct _OBJECT_TYPE {
    int unused; /* its address says which */
};

static struct _OBJECT_TYPE thread_type;
static POBJECT_TYPE thread_type_at = &thread_type;
POBJECT_TYPE *PsThreadType = &thread_type_at;

struct _ETHREAD {
    KEVENT ended; /* first */
    KEVENT started;
    atomic_int references;
    _Atomic NTSTATUS status;
    PKSTART_ROUTINE routine;
    PVOID context;
    pid_t number; /* valid when started is set */
    jmp_buf end;
    struct ndk_handle handle;
    /* priorities guards these: */
    bool running; /* else the number may be another thread's */
    int first_nice;
    KPRIORITY priority;
};

enum { FIRST_PRIORITY = 8, NICE_STEP = 4, LEAST_NICE = -20, MOST_NICE = 19 };

static pthread_mutex_t priorities = PTHREAD_MUTEX_INITIALIZER; /* a leaf */

static _Thread_local PETHREAD self;
/* the object of a thread that the library did not make for a driver */
static _Thread_local struct _ETHREAD other;

LONG_PTR ObReferenceObject(PVOID object)
{
    PETHREAD thread = object;

    return atomic_fetch_add(&thread->references, 1) + 1;
}

LONG_PTR ObDereferenceObject(PVOID object)
{
    PETHREAD thread = object;
    LONG_PTR left = atomic_fetch_sub(&thread->references, 1) - 1;

    if (!left)
        free(thread);
    return left;
}

static void release_handle(struct ndk_handle *handle)
{
    ObDereferenceObject(CONTAINING_RECORD(handle, struct _ETHREAD, handle));
}

NTSTATUS ObReferenceObjectByHandle(HANDLE handle, ULONG access, POBJECT_TYPE type,
    KPROCESSOR_MODE mode, PVOID *object, POBJECT_HANDLE_INFORMATION information)
{
    struct ndk_handle *taken;

    (void)access;
    (void)mode;
    (void)information;
    ndk_passive_expected("ObReferenceObjectByHandle", "HANDLE", handle);
    if (type && type != &thread_type)
        return STATUS_OBJECT_TYPE_MISMATCH;
    if (!(taken = ndk_handle_take(handle, NDK_HANDLE_THREAD)))
        return STATUS_INVALID_HANDLE;
    *object = CONTAINING_RECORD(taken, struct _ETHREAD, handle);
    ObReferenceObject(*object);
    ndk_handle_put(taken);
    return STATUS_SUCCESS;
}

/* ---- priorities ---- */

/* Returns 0 or a positive errno. */
static int give_priority_locked(PETHREAD thread, KPRIORITY priority)
{
    int nice = thread->first_nice + (FIRST_PRIORITY - priority) * NICE_STEP;

    nice = nice < LEAST_NICE ? LEAST_NICE : nice > MOST_NICE ? MOST_NICE : nice;
    return setpriority(PRIO_PROCESS, (id_t)thread->number, nice) ? errno : 0;
}

/* A priority that was set before the thread had begun counts from here on. */
static void begin_thread(PETHREAD thread)
{
    pthread_mutex_lock(&priorities);
    thread->number = gettid();
    thread->running = true;
    thread->first_nice = getpriority(PRIO_PROCESS, 0);
    if (thread->priority != FIRST_PRIORITY && give_priority_locked(thread, thread->priority))
        thread->priority = FIRST_PRIORITY;
    pthread_mutex_unlock(&priorities);
}

PETHREAD PsGetCurrentThread(void)
{
    if (self)
        return self;
    if (!other.running) {
        KeInitializeEvent(&other.ended, NotificationEvent, FALSE);
        other.ended.Reserved[0] = NDK_THREAD;
        atomic_init(&other.references, 1);
        atomic_init(&other.status, STATUS_PENDING);
        other.priority = FIRST_PRIORITY;
        begin_thread(&other);
    }
    return &other;
}

PKTHREAD KeGetCurrentThread(void)
{
    return (PKTHREAD)PsGetCurrentThread();
}

KPRIORITY KeSetPriorityThread(PKTHREAD thread, KPRIORITY priority)
{
    PETHREAD changed = (PETHREAD)thread;
    KPRIORITY before;
    int error = EINVAL;

    pthread_mutex_lock(&priorities);
    before = changed->priority;
    if (priority > LOW_PRIORITY && priority <= HIGH_PRIORITY)
        error = changed->running ? give_priority_locked(changed, priority) : 0;
    if (!error)
        changed->priority = priority;
    pthread_mutex_unlock(&priorities);
    if (error)
        log_limited(LOG_WARN, LOG_NDK, "cannot give a thread priority %d: %s; it keeps %d",
            (int)priority, strerror(error), (int)before);
    return before;
}

KPRIORITY KeQueryPriorityThread(PKTHREAD thread)
{
    KPRIORITY priority;

    pthread_mutex_lock(&priorities);
    priority = ((PETHREAD)thread)->priority;
    pthread_mutex_unlock(&priorities);
    return priority;
}

/* ---- threads ---- */

static void end_thread(PETHREAD thread)
{
    pthread_mutex_lock(&priorities);
    thread->running = false;
    pthread_mutex_unlock(&priorities);
}

static void run(void *argument)
{
    self = argument;
    begin_thread(self);
    KeSetEvent(&self->started, IO_NO_INCREMENT, FALSE);
    if (!setjmp(self->end)) { /* PsTerminateSystemThread comes back here */
        self->routine(self->context);
        atomic_store(&self->status, STATUS_SUCCESS);
    }
    end_thread(self);
    KeSetEvent(&self->ended, IO_NO_INCREMENT, FALSE);
    ObDereferenceObject(self);
}

NTSTATUS PsCreateSystemThread(PHANDLE handle, ULONG access, POBJECT_ATTRIBUTES attributes,
    HANDLE process, PCLIENT_ID client, PKSTART_ROUTINE routine, PVOID context)
{
    PETHREAD thread = calloc(1, sizeof(*thread));

    (void)access;
    (void)attributes;
    (void)process;
    ndk_passive_expected("PsCreateSystemThread", "routine", (const void *)(ULONG_PTR)routine);
    if (!thread)
        return STATUS_INSUFFICIENT_RESOURCES;
    KeInitializeEvent(&thread->ended, NotificationEvent, FALSE);
    thread->ended.Reserved[0] = NDK_THREAD;
    KeInitializeEvent(&thread->started, NotificationEvent, FALSE);
    atomic_init(&thread->references, 3); /* the thread's own, the handle's, this call's */
    atomic_init(&thread->status, STATUS_PENDING);
    thread->priority = FIRST_PRIORITY;
    thread->routine = routine;
    thread->context = context;
    if (thread_start_detached("ndk-thread", run, thread)) {
        free(thread);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (client) {
        KeWaitForSingleObject(&thread->started, Executive, KernelMode, FALSE, NULL);
        client->UniqueProcess = (HANDLE)(ULONG_PTR)getpid();
        client->UniqueThread = (HANDLE)(ULONG_PTR)thread->number;
    }
    *handle = ndk_handle_open(&thread->handle, NDK_HANDLE_THREAD, release_handle);
    ObDereferenceObject(thread);
    return STATUS_SUCCESS;
}

NTSTATUS PsTerminateSystemThread(NTSTATUS status)
{
    ndk_passive_expected("PsTerminateSystemThread", "thread", self);
    if (!self)
        return STATUS_INVALID_PARAMETER;
    atomic_store(&self->status, status);
    longjmp(self->end, 1);
}

NTSTATUS PsGetThreadExitStatus(PETHREAD thread)
{
    return atomic_load(&thread->status);
}

HANDLE PsGetCurrentThreadId(void)
{
    return (HANDLE)(ULONG_PTR)gettid();
}
