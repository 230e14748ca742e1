/* SPDX-License-Identifier: MIT */
/*
 * ndkwdm.h - of the kernel primitives that callers of NDKPI need besides it, those that a header can be: lists and
 * MDLs. For Windows it is MinGW's <ddk/wdm.h>.
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

/* ----- Lists ----- */

typedef struct _LIST_ENTRY {
    struct _LIST_ENTRY *Flink, *Blink;
} LIST_ENTRY, *PLIST_ENTRY;

typedef struct _SINGLE_LIST_ENTRY {
    struct _SINGLE_LIST_ENTRY *Next;
} SINGLE_LIST_ENTRY, *PSINGLE_LIST_ENTRY;

/* An empty list. */
static inline void InitializeListHead(PLIST_ENTRY head)
{
    head->Flink = head->Blink = head;
}

/* Whether it is empty. */
static inline BOOLEAN IsListEmpty(const LIST_ENTRY *head)
{
    return head->Flink == head;
}

/* Takes an entry out; whether its list is empty now. */
static inline BOOLEAN RemoveEntryList(PLIST_ENTRY entry)
{
    entry->Blink->Flink = entry->Flink;
    entry->Flink->Blink = entry->Blink;
    return entry->Flink == entry->Blink;
}

/* Takes the first entry out; of an empty list: the head. */
static inline PLIST_ENTRY RemoveHeadList(PLIST_ENTRY head)
{
    PLIST_ENTRY entry = head->Flink;

    RemoveEntryList(entry);
    return entry;
}

/* Takes the last entry out; of an empty list: the head. */
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

/* Takes the first entry out; NULL: empty. */
static inline PSINGLE_LIST_ENTRY PopEntryList(PSINGLE_LIST_ENTRY head)
{
    PSINGLE_LIST_ENTRY entry = head->Next;

    if (entry)
        head->Next = entry->Next;
    return entry;
}

/* ----- MDLs ----- */

#define BYTE_OFFSET(va) ((ULONG)((ULONG_PTR)(va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(va)  ((PVOID)((ULONG_PTR)(va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
/* Pages that bytes from va on lie in. */
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, bytes)                                                  \
    ((ULONG)((BYTE_OFFSET(va) + (SIZE_T)(bytes) + PAGE_SIZE - 1) >> PAGE_SHIFT))

#define MmGetMdlVirtualAddress(mdl)                 ((PVOID)((char *)(mdl)->StartVa + (mdl)->ByteOffset))
#define MmGetMdlByteCount(mdl)                      ((mdl)->ByteCount)
#define MmGetMdlByteOffset(mdl)                     ((mdl)->ByteOffset)
/* Memory is mapped already: this is its address. */
#define MmGetSystemAddressForMdlSafe(mdl, priority) MmGetMdlVirtualAddress(mdl)

/* An MDL (out) for length bytes at va. */
static inline void MmInitializeMdl(PMDL mdl, PVOID va, SIZE_T length)
{
    memset(mdl, 0, sizeof(*mdl));
    mdl->Size = sizeof(*mdl);
    mdl->StartVa = PAGE_ALIGN(va);
    mdl->ByteOffset = BYTE_OFFSET(va);
    mdl->ByteCount = (ULONG)length;
    mdl->MappedSystemVa = va;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
