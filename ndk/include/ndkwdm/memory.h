/* SPDX-License-Identifier: MIT */
/* memory.h - memory and lists, a part of ndkwdm.h. */
#ifndef NDKWDM_MEMORY_H
#define NDKWDM_MEMORY_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifndef WINCOMPAT_TYPES_H /* wincompat's header has both types */
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

#ifdef __cplusplus
}
#endif

#endif
