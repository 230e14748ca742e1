/* SPDX-License-Identifier: MIT */
/* list.c - lists of ndkwdm.h that several threads use: under a lock of the consumer's, or one of their own. */
#include "ndk/dispatch/level.h"

#include "util/futex.h"

#include <stdatomic.h>

static KIRQL take(PKSPIN_LOCK lock)
{
    KIRQL before;

    KeAcquireSpinLock(lock, &before);
    return before;
}

PLIST_ENTRY ExInterlockedInsertHeadList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock)
{
    KIRQL before = take(lock);
    PLIST_ENTRY first = IsListEmpty(head) ? NULL : head->Flink;

    InsertHeadList(head, entry);
    KeReleaseSpinLock(lock, before);
    return first;
}

PLIST_ENTRY ExInterlockedInsertTailList(PLIST_ENTRY head, PLIST_ENTRY entry, PKSPIN_LOCK lock)
{
    KIRQL before = take(lock);
    PLIST_ENTRY last = IsListEmpty(head) ? NULL : head->Blink;

    InsertTailList(head, entry);
    KeReleaseSpinLock(lock, before);
    return last;
}

PLIST_ENTRY ExInterlockedRemoveHeadList(PLIST_ENTRY head, PKSPIN_LOCK lock)
{
    KIRQL before = take(lock);
    PLIST_ENTRY first = IsListEmpty(head) ? NULL : RemoveHeadList(head);

    KeReleaseSpinLock(lock, before);
    return first;
}

PSINGLE_LIST_ENTRY ExInterlockedPushEntryList(
    PSINGLE_LIST_ENTRY head, PSINGLE_LIST_ENTRY entry, PKSPIN_LOCK lock)
{
    KIRQL before = take(lock);
    PSINGLE_LIST_ENTRY first = head->Next;

    PushEntryList(head, entry);
    KeReleaseSpinLock(lock, before);
    return first;
}

PSINGLE_LIST_ENTRY ExInterlockedPopEntryList(PSINGLE_LIST_ENTRY head, PKSPIN_LOCK lock)
{
    KIRQL before = take(lock);
    PSINGLE_LIST_ENTRY first = PopEntryList(head);

    KeReleaseSpinLock(lock, before);
    return first;
}

/* ---- stacks with a lock: a word that is 0 while it is free ---- */

static void lock_stack(PSLIST_HEADER head)
{
    _Atomic uint32_t *word = (_Atomic uint32_t *)&head->Lock;

    if (atomic_exchange_explicit(word, 1, memory_order_acquire) == 0)
        return;
    while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0)
        futex_wait(word, 2, NULL);
}

static void unlock_stack(PSLIST_HEADER head)
{
    _Atomic uint32_t *word = (_Atomic uint32_t *)&head->Lock;

    if (atomic_exchange_explicit(word, 0, memory_order_release) == 2)
        futex_wake(word, 1);
}

VOID InitializeSListHead(PSLIST_HEADER head)
{
    memset(head, 0, sizeof(*head));
}

PSLIST_ENTRY InterlockedPushEntrySList(PSLIST_HEADER head, PSLIST_ENTRY entry)
{
    PSLIST_ENTRY first;

    lock_stack(head);
    first = head->First.Next;
    PushEntryList(&head->First, entry);
    head->Depth++;
    unlock_stack(head);
    return first;
}

PSLIST_ENTRY InterlockedPopEntrySList(PSLIST_HEADER head)
{
    PSLIST_ENTRY first;

    lock_stack(head);
    first = PopEntryList(&head->First);
    if (first)
        head->Depth--;
    unlock_stack(head);
    return first;
}

PSLIST_ENTRY InterlockedFlushSList(PSLIST_HEADER head)
{
    PSLIST_ENTRY first;

    lock_stack(head);
    first = head->First.Next;
    head->First.Next = NULL;
    head->Depth = 0;
    unlock_stack(head);
    return first;
}

USHORT QueryDepthSList(PSLIST_HEADER head)
{
    USHORT depth;

    lock_stack(head);
    depth = head->Depth;
    unlock_stack(head);
    return depth;
}
