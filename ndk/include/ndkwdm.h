/* SPDX-License-Identifier: MIT */
/*
 * ndkwdm.h - the kernel primitives that consumers of NDKPI need besides it: lists, MDLs, levels, locks, events,
 * deferred work, pool memory, and as much of Winsock Kernel as opens adapters. For Windows it is MinGW's <ddk/wdm.h>.
 *
 * Levels: an ordinary thread is at PASSIVE_LEVEL. Callbacks of NDKPI and deferred procedures run at DISPATCH_LEVEL; so
 * does a thread that holds a spin lock. The system preempts such a thread like any other, but it must not block: debug
 * builds of the library end the program when it does.
 *
 * Every function may be called at any level, from any thread, unless "passive" is said: then at PASSIVE_LEVEL alone.
 * Objects are the consumer's memory; it must not free one that is in use. Parameters that are not named are in, and
 * what their types say.
 *
 * Source: the pages of the same names in the Windows driver documentation.
 */
#ifndef NDKWDM_H
#define NDKWDM_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(__MINGW32__)

/* ----- Memory ----- */

/* Returns how many bytes from the start are the same. */
static inline SIZE_T RtlCompareMemory(const VOID *a, const VOID *b, SIZE_T length)
{
    SIZE_T same = 0;

    while (same < length && ((const UCHAR *)a)[same] == ((const UCHAR *)b)[same])
        same++;
    return same;
}

/* The bytes in the other order. */
#define RtlUshortByteSwap(value)    __builtin_bswap16((USHORT)(value))
#define RtlUlongByteSwap(value)     __builtin_bswap32((ULONG)(value))
#define RtlUlonglongByteSwap(value) __builtin_bswap64((ULONGLONG)(value))

/* Whether an optional pointer was given. */
#define ARGUMENT_PRESENT(pointer) ((pointer) != NULL)

/* ----- Lists ----- */

#ifndef WINCOMPAT_TYPES_H /* which has both types */
typedef struct _LIST_ENTRY {
    struct _LIST_ENTRY *Flink, *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
    struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;
#endif

/* head out: an empty list. */
static inline void InitializeListHead(PLIST_ENTRY head)
{
    head->Flink = head->Blink = head;
}

/* Whether the list is empty. */
static inline BOOLEAN IsListEmpty(const LIST_ENTRY *head)
{
    return head->Flink == head;
}

/* Takes an entry out of its list. Returns whether that is empty now. */
static inline BOOLEAN RemoveEntryList(PLIST_ENTRY entry)
{
    entry->Blink->Flink = entry->Flink;
    entry->Flink->Blink = entry->Blink;
    return entry->Flink == entry->Blink;
}

/* Takes the first entry out. Returns it; of an empty list: the head. */
static inline PLIST_ENTRY RemoveHeadList(PLIST_ENTRY head)
{
    PLIST_ENTRY entry = head->Flink;

    RemoveEntryList(entry);
    return entry;
}

/* Takes the last entry out. Returns it; of an empty list: the head. */
static inline PLIST_ENTRY RemoveTailList(PLIST_ENTRY head)
{
    PLIST_ENTRY entry = head->Blink;

    RemoveEntryList(entry);
    return entry;
}

/* Puts an entry first. */
static inline void InsertHeadList(PLIST_ENTRY head, PLIST_ENTRY entry)
{
    entry->Flink = head->Flink;
    entry->Blink = head;
    head->Flink->Blink = entry;
    head->Flink = entry;
}

/* Puts an entry last. */
static inline void InsertTailList(PLIST_ENTRY head, PLIST_ENTRY entry)
{
    entry->Flink = head;
    entry->Blink = head->Blink;
    head->Blink->Flink = entry;
    head->Blink = entry;
}

/* Puts an entry first. */
static inline void PushEntryList(PSINGLE_LIST_ENTRY head, PSINGLE_LIST_ENTRY entry)
{
    entry->Next = head->Next;
    head->Next = entry;
}

/* Takes the first entry out. Returns it, or NULL: the list is empty. */
static inline PSINGLE_LIST_ENTRY PopEntryList(PSINGLE_LIST_ENTRY head)
{
    PSINGLE_LIST_ENTRY entry = head->Next;

    if (entry)
        head->Next = entry->Next;
    return entry;
}

/* ----- MDLs ----- */

struct _IRP;

/* Of an address: the offset in its page; the page's address. */
#define BYTE_OFFSET(va) ((ULONG)((ULONG_PTR)(va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(va)  ((PVOID)((ULONG_PTR)(va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
/* How many pages so many bytes from va on lie in. */
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, bytes)                                                  \
    ((ULONG)((BYTE_OFFSET(va) + (SIZE_T)(bytes) + PAGE_SIZE - 1) >> PAGE_SHIFT))

/* Of one MDL: the address of its first byte, its length in bytes, the offset of its first byte in that page. */
#define MmGetMdlVirtualAddress(mdl)                 ((PVOID)((char *)(mdl)->StartVa + (mdl)->ByteOffset))
#define MmGetMdlByteCount(mdl)                      ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)                     ((mdl)->ByteOffset)
/* The memory is mapped already: this is its address, never NULL. priority: not used. */
#define MmGetSystemAddressForMdlSafe(mdl, priority) MmGetMdlVirtualAddress(mdl)

/* mdl out: for length bytes at va, the end of its chain. */
static inline void MmInitializeMdl(PMDL mdl, PVOID va, SIZE_T length)
{
    memset(mdl, 0, sizeof(*mdl));
    mdl->Size = sizeof(*mdl);
    mdl->StartVa = PAGE_ALIGN(va);
    mdl->ByteOffset = BYTE_OFFSET(va);
    mdl->ByteCount = (ULONG)length;
    mdl->MappedSystemVa = va;
}

/* An MDL for length bytes at va, to be given to IoFreeMdl; NULL: no memory. secondary, charge, irp: not used. */
PMDL IoAllocateMdl(PVOID va, ULONG length, BOOLEAN secondary, BOOLEAN charge, struct _IRP *irp);
/* mdl: of IoAllocateMdl, or NULL; not those that it is chained to. */
VOID IoFreeMdl(PMDL mdl);

/* A process's memory is always there: these do nothing. */
#define MmBuildMdlForNonPagedPool(mdl)            ((void)(mdl))
#define MmProbeAndLockPages(mdl, mode, operation) ((void)(mdl))
#define MmUnlockPages(mdl)                        ((void)(mdl))

/* ----- Levels ----- */

typedef UCHAR KIRQL, *PKIRQL;

#define PASSIVE_LEVEL  0
#define APC_LEVEL      1
#define DISPATCH_LEVEL 2

/* The level of the calling thread. */
KIRQL KeGetCurrentIrql(void);
/* level: not below the present one. before out: for KeLowerIrql, by the same thread. */
VOID KeRaiseIrql(KIRQL level, PKIRQL before);
/* before: of the last KeRaiseIrql that was not undone yet. */
VOID KeLowerIrql(KIRQL before);

/* Debug builds of the consumer: the function may block; the condition holds. */
#define PAGED_CODE() NT_ASSERT(KeGetCurrentIrql() <= APC_LEVEL)
#ifdef NDEBUG
#define NT_ASSERT(condition) ((void)0)
/* NT_VERIFY: as NT_ASSERT, but the condition is evaluated in all builds. Its value: whether it holds. */
#define NT_VERIFY(condition) ((condition) ? TRUE : FALSE)
#else
#define NT_VERIFY(condition)                                                                       \
    ((condition) ? TRUE : (NdkwdmAssertFailed(#condition, __FILE__, __LINE__), FALSE))
#define NT_ASSERT(condition)                                                                       \
    ((condition) ? (void)0 : NdkwdmAssertFailed(#condition, __FILE__, __LINE__))
#endif
/* Names the condition on standard error and ends the program. */
VOID NdkwdmAssertFailed(const char *condition, const char *file, int line);

/* ----- Locks ----- */

typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;

/* lock out: free. */
VOID KeInitializeSpinLock(PKSPIN_LOCK lock);
/*
 * Raises the thread to DISPATCH_LEVEL and takes the lock; a thread that finds it taken sleeps. A thread that holds it
 * must not take it. before out: for KeReleaseSpinLock, which undoes both.
 */
VOID KeAcquireSpinLock(PKSPIN_LOCK lock, PKIRQL before);
VOID KeReleaseSpinLock(PKSPIN_LOCK lock, KIRQL before);
/* The same for a thread that is at DISPATCH_LEVEL already. */
VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock);
VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK lock);

/* For the functions below: on the stack of the thread that holds the lock, in place of the level. */
typedef struct _KLOCK_QUEUE_HANDLE {
    struct {
        PVOID Next;
        PKSPIN_LOCK Lock;
    } LockQueue;
    KIRQL OldIrql;
} KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;

/* As the four above. handle out: for the release. */
VOID KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle);
VOID KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE handle);
VOID KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle);
VOID KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE handle);

/*
 * Counts the users of something until it is run down: from then on no new use begins, and a thread can wait for the
 * last user. The members are the library's.
 */
typedef struct _EX_RUNDOWN_REF {
    __extension__ union {
        ULONG_PTR Count;
        PVOID Ptr;
    };
} EX_RUNDOWN_REF, *PEX_RUNDOWN_REF;

/* ref out: no users, not run down. */
VOID ExInitializeRundownProtection(PEX_RUNDOWN_REF ref);
/* One user more. FALSE: it is run down, so there is no new user. */
BOOLEAN ExAcquireRundownProtection(PEX_RUNDOWN_REF ref);
/* One user less, for each ExAcquireRundownProtection that returned TRUE. */
VOID ExReleaseRundownProtection(PEX_RUNDOWN_REF ref);
/* Passive. Runs it down; returns when it has no users. */
VOID ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF ref);
/* After that: it may have users again. */
VOID ExReInitializeRundownProtection(PEX_RUNDOWN_REF ref);

/* ----- Events ----- */

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

typedef enum _KWAIT_REASON { Executive = 0, UserRequest = 6 } KWAIT_REASON;
typedef CHAR KPROCESSOR_MODE;
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
/* The same, without a result. */
VOID KeClearEvent(PRKEVENT event);
/* Returns the state. */
LONG KeReadStateEvent(PRKEVENT event);

/*
 * Waits for an event. Passive, but for a timeout of 0.
 * object                   in: a KEVENT; other objects are not waited for
 * reason, mode, alertable  in: not used
 * timeout                  in, optional: in 100 ns; negative: from now; else since 1601-01-01 UTC; NULL: for ever
 * Returns STATUS_SUCCESS; STATUS_TIMEOUT: not signalled in that time; STATUS_NOT_SUPPORTED: no KEVENT.
 */
NTSTATUS KeWaitForSingleObject(PVOID object, KWAIT_REASON reason, KPROCESSOR_MODE mode,
    BOOLEAN alertable, PLARGE_INTEGER timeout);

/* ----- Deferred work ----- */

/* The consumer's own: the library only passes the pointers on. */
typedef struct _DEVICE_OBJECT DEVICE_OBJECT, *PDEVICE_OBJECT;
typedef struct _IRP IRP, *PIRP;

typedef enum _WORK_QUEUE_TYPE {
    CriticalWorkQueue,
    DelayedWorkQueue,
    HyperCriticalWorkQueue,
    MaximumWorkQueue
} WORK_QUEUE_TYPE;

typedef VOID (*PWORKER_THREAD_ROUTINE)(PVOID Parameter);
typedef VOID IO_WORKITEM_ROUTINE(PDEVICE_OBJECT DeviceObject, PVOID Context);
typedef IO_WORKITEM_ROUTINE *PIO_WORKITEM_ROUTINE;
typedef struct _IO_WORKITEM *PIO_WORKITEM;
typedef VOID IO_WORKITEM_ROUTINE_EX(PVOID IoObject, PVOID Context, PIO_WORKITEM IoWorkItem);
typedef IO_WORKITEM_ROUTINE_EX *PIO_WORKITEM_ROUTINE_EX;

/* In the consumer's memory; the library's from ExQueueWorkItem until its routine begins. */
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
/* As ExQueueWorkItem; the routine gets the item's device, and context. */
VOID IoQueueWorkItem(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE routine, WORK_QUEUE_TYPE type, PVOID context);
/* The same; the routine gets the item, too. */
VOID IoQueueWorkItemEx(
    PIO_WORKITEM item, PIO_WORKITEM_ROUTINE_EX routine, WORK_QUEUE_TYPE type, PVOID context);
/* Bytes that an item takes, for one in the consumer's memory. */
ULONG IoSizeofWorkItem(void);
/* item out: in place of IoAllocateWorkItem, for IoUninitializeWorkItem. object: for the routine, may be NULL. */
VOID IoInitializeWorkItem(PVOID object, PIO_WORKITEM item);
/* Not while it is queued; its routine may do it. The memory is the consumer's again. */
VOID IoUninitializeWorkItem(PIO_WORKITEM item);

struct _KDPC;
typedef VOID (*PKDEFERRED_ROUTINE)(
    struct _KDPC *Dpc, PVOID DeferredContext, PVOID SystemArgument1, PVOID SystemArgument2);

/* In the consumer's memory; the members are the library's. */
typedef struct _KDPC {
    LIST_ENTRY DpcListEntry;
    PKDEFERRED_ROUTINE DeferredRoutine;
    PVOID DeferredContext, SystemArgument1, SystemArgument2;
    ULONG Queued;
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

/* ----- Pool memory ----- */

typedef ULONG64 POOL_FLAGS;
/* clang-format off */
#define POOL_FLAG_UNINITIALIZED 0x0000000000000002ULL /* else it is zeroed */
#define POOL_FLAG_CACHE_ALIGNED 0x0000000000000008ULL
#define POOL_FLAG_NON_PAGED     0x0000000000000040ULL
#define POOL_FLAG_NON_PAGED_EXECUTE 0x0000000000000080ULL /* is not executable here */
#define POOL_FLAG_PAGED         0x0000000000000100ULL
/* clang-format on */

typedef enum _POOL_TYPE { NonPagedPool = 0, PagedPool = 1, NonPagedPoolNx = 512 } POOL_TYPE;

/*
 * Memory, aligned to 16 bytes, from PAGE_SIZE on to a page; the consumer's until ExFreePool.
 * flags, type  in: POOL_FLAG_UNINITIALIZED and POOL_FLAG_CACHE_ALIGNED count; the kinds of memory are one here
 * size         in: bytes
 * tag          in: not 0; not used besides
 * Returns NULL: no memory, or a size or tag of 0.
 */
PVOID ExAllocatePool2(POOL_FLAGS flags, SIZE_T size, ULONG tag);
/* The same, not zeroed. */
PVOID ExAllocatePoolWithTag(POOL_TYPE type, SIZE_T size, ULONG tag);

typedef enum _EX_POOL_PRIORITY {
    LowPoolPriority = 0,
    NormalPoolPriority = 16,
    HighPoolPriority = 32
} EX_POOL_PRIORITY;

/* The same. priority: not used. */
PVOID ExAllocatePoolWithTagPriority(
    POOL_TYPE type, SIZE_T size, ULONG tag, EX_POOL_PRIORITY priority);
/* memory: of those three, or NULL. tag: not used. */
VOID ExFreePool(PVOID memory);
VOID ExFreePoolWithTag(PVOID memory, ULONG tag);

/* ----- Winsock Kernel: what opens adapters (wskndk.h) ----- */

#define MAKE_WSK_VERSION(major, minor) ((USHORT)(((USHORT)(major) << 8) | ((minor)&0xff)))
#define WSK_NO_WAIT                    0
#define WSK_INFINITE_WAIT              0xffffffff

typedef struct _NPIID *PNPIID;

/* The client's own function; never called, since there are no sockets. */
typedef NTSTATUS (*PFN_WSK_CLIENT_EVENT)(
    PVOID ClientContext, ULONG EventType, PVOID Information, SIZE_T InformationLength);

/* The client's functions. */
typedef struct _WSK_CLIENT_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    PFN_WSK_CLIENT_EVENT WskClientEvent;
} WSK_CLIENT_DISPATCH, *PWSK_CLIENT_DISPATCH;

/* A client, for WskRegister. */
typedef struct _WSK_CLIENT_NPI {
    PVOID ClientContext;
    const WSK_CLIENT_DISPATCH *Dispatch;
} WSK_CLIENT_NPI, *PWSK_CLIENT_NPI;

/* The members are the library's. */
typedef struct _WSK_REGISTRATION {
    ULONGLONG ReservedRegistrationState;
    PVOID ReservedRegistrationContext;
    KSPIN_LOCK ReservedRegistrationLock;
} WSK_REGISTRATION, *PWSK_REGISTRATION;

/*
 * Answers control codes of the client; here one: WSKNDK_GET_WSK_PROVIDER_NDK_DISPATCH.
 * client          in: of WskCaptureProviderNPI
 * code            in
 * input, ...      in: not used by that code
 * output_size     in: bytes at output
 * output          out
 * returned        out, optional: bytes stored
 * irp             in: NULL
 * Returns STATUS_SUCCESS; STATUS_NOT_SUPPORTED: another code; STATUS_INVALID_PARAMETER: an irp, no output, or no room
 * for the table. Never STATUS_PENDING.
 */
typedef NTSTATUS (*PFN_WSK_CONTROL_CLIENT)(PVOID client, ULONG code, SIZE_T input_size, PVOID input,
    SIZE_T output_size, PVOID output, SIZE_T *returned, PIRP irp);

/* What the provider can do. */
typedef struct _WSK_PROVIDER_DISPATCH {
    USHORT Version;
    USHORT Reserved;
    PVOID WskSocket, WskSocketConnect; /* NULL: there are no sockets */
    PFN_WSK_CONTROL_CLIENT WskControlClient;
} WSK_PROVIDER_DISPATCH, *PWSK_PROVIDER_DISPATCH;

/* Stored by WskCaptureProviderNPI: the client, and the provider's functions. */
typedef struct _WSK_PROVIDER_NPI {
    PVOID Client;
    const WSK_PROVIDER_DISPATCH *Dispatch;
} WSK_PROVIDER_NPI, *PWSK_PROVIDER_NPI;

/*
 * Becomes a client.
 * client        in: stays as it is until WskDeregister
 * registration  out: the client's memory
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: one is missing, or the client's Dispatch.
 */
NTSTATUS WskRegister(PWSK_CLIENT_NPI client, PWSK_REGISTRATION registration);
/*
 * Takes the provider, which is always there.
 * registration  in
 * wait          in: not used: there is nothing to wait for
 * provider      out: valid until WskReleaseProviderNPI, which has to follow once
 * Returns STATUS_SUCCESS; STATUS_DEVICE_NOT_READY: not registered, or being deregistered.
 */
NTSTATUS WskCaptureProviderNPI(
    PWSK_REGISTRATION registration, ULONG wait, PWSK_PROVIDER_NPI provider);
/* Gives the provider of one WskCaptureProviderNPI back. */
VOID WskReleaseProviderNPI(PWSK_REGISTRATION registration);
/* Passive. Ends the registration; returns when every provider that was captured has been released. */
VOID WskDeregister(PWSK_REGISTRATION registration);

#endif

#ifdef __cplusplus
}
#endif

#endif
