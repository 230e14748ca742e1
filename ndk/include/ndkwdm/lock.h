/* SPDX-License-Identifier: MIT */
/* lock.h - spin locks and rundown protection, a part of ndkwdm.h. */
#ifndef NDKWDM_LOCK_H
#define NDKWDM_LOCK_H

#include <ndkwdm/level.h>
#include <ndkwdm/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef ULONG_PTR KSPIN_LOCK, *PKSPIN_LOCK;

/* lock out: free. */
VOID KeInitializeSpinLock(PKSPIN_LOCK lock);
/*
 * Raises the thread to DISPATCH_LEVEL and takes the lock; a thread that finds it taken sleeps. A thread that holds it
 * must not take it. before out: for KeReleaseSpinLock, which undoes both.
 */
VOID KeAcquireSpinLock(PKSPIN_LOCK lock, PKIRQL before);
VOID KeReleaseSpinLock(PKSPIN_LOCK lock, KIRQL before);
/* These two take and release the lock for a thread that is at DISPATCH_LEVEL already, where it stays. */
VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock);
VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK lock);
/* KeAcquireSpinLockAtDpcLevel without a wait. FALSE: another thread holds the lock. */
BOOLEAN KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock);

/* The thread that holds a lock by the functions below has this on its stack, in place of the level. */
typedef struct _KLOCK_QUEUE_HANDLE {
    struct {
        PVOID Next;
        PKSPIN_LOCK Lock;
    } LockQueue;
    KIRQL OldIrql;
} KLOCK_QUEUE_HANDLE, *PKLOCK_QUEUE_HANDLE;

/* These four do what the first four functions of spin locks do. handle out: for the release. */
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
/* These two begin and end as many uses at once as count says. */
BOOLEAN ExAcquireRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count);
VOID ExReleaseRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count);
/* It has no users: it is run down, without a wait. */
VOID ExRundownCompleted(PEX_RUNDOWN_REF ref);
/* Runs it down; returns when it has no users. Below DISPATCH_LEVEL. */
VOID ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF ref);
/* Called after a rundown: ref may have users again. */
VOID ExReInitializeRundownProtection(PEX_RUNDOWN_REF ref);

/* Lists under a lock, which they take. Each returns the entry that was first or last before, or NULL: it was empty. */
PLIST_ENTRY ExInterlockedInsertHeadList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock);
PLIST_ENTRY ExInterlockedInsertTailList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock);
/* Takes the first entry out. */
PLIST_ENTRY ExInterlockedRemoveHeadList(PLIST_ENTRY head, PKSPIN_LOCK lock);
PSINGLE_LIST_ENTRY ExInterlockedPushEntryList(
    PSINGLE_LIST_ENTRY head, PSINGLE_LIST_ENTRY entry, PKSPIN_LOCK lock);
/* Takes the first entry out. */
PSINGLE_LIST_ENTRY ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY head, PKSPIN_LOCK lock);

/* A stack that has its lock with it. The members are the library's. */
typedef SINGLE_LIST_ENTRY SLIST_ENTRY, *PSLIST_ENTRY;
typedef struct DECLSPEC_ALIGN(16) _SLIST_HEADER {
    SLIST_ENTRY First;
    ULONG Lock;
    USHORT Depth;
    USHORT Reserved;
} SLIST_HEADER, *PSLIST_HEADER;

/* head out: empty. */
VOID InitializeSListHead(PSLIST_HEADER head);
/* Puts an entry first, takes the first out, takes all out. Returns the one that was first before; NULL: none. */
PSLIST_ENTRY InterlockedPushEntrySList(PSLIST_HEADER head, PSLIST_ENTRY entry);
PSLIST_ENTRY InterlockedPopEntrySList(PSLIST_HEADER head);
PSLIST_ENTRY InterlockedFlushSList(PSLIST_HEADER head);
/* How many entries it has. */
USHORT QueryDepthSList(PSLIST_HEADER head);
#define ExInitializeSListHead(head)                    InitializeSListHead(head)
#define ExInterlockedPushEntrySList(head, entry, lock) InterlockedPushEntrySList(head, entry)
#define ExInterlockedPopEntrySList(head, lock)         InterlockedPopEntrySList(head)
#define ExInterlockedFlushSList(head)                  InterlockedFlushSList(head)
#define ExQueryDepthSList(head)                        QueryDepthSList(head)

#define KeMemoryBarrier() MemoryBarrier()

#ifdef __cplusplus
}
#endif

#endif
