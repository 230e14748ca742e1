/* SPDX-License-Identifier: MIT */
/* thread.h - a driver's own threads, a part of ndkwdm.h. */
#ifndef NDKWDM_THREAD_H
#define NDKWDM_THREAD_H

#include <ndkwdm/event.h>
#include <ndkwdm/string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _KTHREAD *PKTHREAD, *PRKTHREAD;
typedef struct _ETHREAD *PETHREAD;
typedef struct _OBJECT_TYPE *POBJECT_TYPE;
typedef struct _OBJECT_HANDLE_INFORMATION *POBJECT_HANDLE_INFORMATION;

#ifndef SYNCHRONIZE
#define SYNCHRONIZE 0x00100000
#endif
#ifndef THREAD_ALL_ACCESS
#define THREAD_ALL_ACCESS 0x001FFFFF
#endif

typedef VOID KSTART_ROUTINE(PVOID StartContext);
typedef KSTART_ROUTINE *PKSTART_ROUTINE;

/*
 * Passive. Starts a thread, at PASSIVE_LEVEL. It ends when routine returns, or by PsTerminateSystemThread.
 * handle                       out: for ZwClose, which may come before the thread ends
 * access, attributes, process  in: not used
 * client                       out, may be NULL: numbers of the process and the thread
 * routine, context             in: called with it
 * Returns STATUS_SUCCESS; STATUS_INSUFFICIENT_RESOURCES: no memory, or a limit on threads.
 */
NTSTATUS PsCreateSystemThread(PHANDLE handle, ULONG access, POBJECT_ATTRIBUTES attributes,
    HANDLE process, PCLIENT_ID client, PKSTART_ROUTINE routine, PVOID context);
/*
 * Passive. Ends the calling thread; nothing on its stack is destroyed. status: what PsGetThreadExitStatus returns.
 * Returns STATUS_INVALID_PARAMETER: it is no thread of PsCreateSystemThread.
 */
NTSTATUS PsTerminateSystemThread(NTSTATUS status);
/* STATUS_PENDING: it has not ended. thread: of ObReferenceObjectByHandle. */
NTSTATUS PsGetThreadExitStatus(PETHREAD thread);
/* The number of the calling thread, as the system has it. */
HANDLE PsGetCurrentThreadId(void);

/*
 * The calling thread's object: of a system thread that which ObReferenceObjectByHandle gives; of another thread one
 * that lives as long as the thread.
 */
PETHREAD PsGetCurrentThread(void);
/* The object that PsGetCurrentThread returns. */
PKTHREAD KeGetCurrentThread(void);

#define LOW_PRIORITY          0
#define LOW_REALTIME_PRIORITY 16
#define HIGH_PRIORITY         31

/*
 * A thread begins with priority 8. Each step up from there makes its nice value less by 4, until it is -20; each step
 * down makes it more, until it is 19. Where the system does not let it rise (RLIMIT_NICE, CAP_SYS_NICE), or priority is
 * not one from 1 to HIGH_PRIORITY, nothing changes, and the log says why.
 * Returns the priority before.
 */
KPRIORITY KeSetPriorityThread(PKTHREAD thread, KPRIORITY priority);
/* What the last KeSetPriorityThread that succeeded set. */
KPRIORITY KeQueryPriorityThread(PKTHREAD thread);

/* What ObReferenceObjectByHandle takes: handles of threads alone are references to objects. */
extern POBJECT_TYPE *PsThreadType;

/*
 * Passive. The object of a handle, to be waited for.
 * handle        in: of PsCreateSystemThread
 * access, mode  in: not used
 * type          in, may be NULL: *PsThreadType
 * object        out: until ObDereferenceObject, also when the handle is closed
 * information   in: NULL; not used
 * Returns STATUS_SUCCESS; STATUS_INVALID_HANDLE: it is no thread's, or closed; STATUS_OBJECT_TYPE_MISMATCH: another
 * type.
 */
NTSTATUS ObReferenceObjectByHandle(HANDLE handle, ULONG access, POBJECT_TYPE type,
    KPROCESSOR_MODE mode, PVOID *object, POBJECT_HANDLE_INFORMATION information);
/* One reference more, or less. Returns how many there are now. */
LONG_PTR ObReferenceObject(PVOID object);
LONG_PTR ObDereferenceObject(PVOID object);
/* Passive. Returns STATUS_SUCCESS; STATUS_INVALID_HANDLE: it is none, or closed. */
NTSTATUS ZwClose(HANDLE handle);

#ifdef __cplusplus
}
#endif

#endif
