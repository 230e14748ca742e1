/* SPDX-License-Identifier: MIT */
/* lookaside.c - lookaside lists of ndkwdm.h: the functions of each list, called each time. */
#include <ndkwdm.h>

static PVOID from_pool(POOL_TYPE type, SIZE_T size, ULONG tag, PLOOKASIDE_LIST_EX list)
{
    (void)list;
    return ExAllocatePoolWithTag(type, size, tag);
}

static VOID to_pool(PVOID block, PLOOKASIDE_LIST_EX list)
{
    (void)list;
    ExFreePool(block);
}

static void initialize(PLOOKASIDE_LIST_EX list, PALLOCATE_FUNCTION allocate, PFREE_FUNCTION free,
    POOL_TYPE type, SIZE_T size, ULONG tag)
{
    *list = (LOOKASIDE_LIST_EX){ .Type = type, .Tag = tag, .Size = size };
    list->Allocate = allocate ? allocate : ExAllocatePoolWithTag;
    list->Free = free ? free : ExFreePool;
}

VOID ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
    PFREE_FUNCTION free, ULONG flags, SIZE_T size, ULONG tag, USHORT depth)
{
    (void)flags;
    (void)depth;
    initialize(list, allocate, free, NonPagedPoolNx, size, tag);
}

VOID ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
    PFREE_FUNCTION free, ULONG flags, SIZE_T size, ULONG tag, USHORT depth)
{
    (void)flags;
    (void)depth;
    initialize(list, allocate, free, PagedPool, size, tag);
}

NTSTATUS ExInitializeLookasideListEx(PLOOKASIDE_LIST_EX list, PALLOCATE_FUNCTION_EX allocate,
    PFREE_FUNCTION_EX free, POOL_TYPE type, ULONG flags, SIZE_T size, ULONG tag, USHORT depth)
{
    (void)depth;
    if (type != NonPagedPool && type != PagedPool && type != NonPagedPoolNx)
        return STATUS_INVALID_PARAMETER_4;
    if (flags & ~(ULONG)EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE)
        return STATUS_INVALID_PARAMETER_5;
    *list = (LOOKASIDE_LIST_EX){ .Type = type, .Tag = tag, .Size = size };
    list->AllocateEx = allocate ? allocate : from_pool;
    list->FreeEx = free ? free : to_pool;
    return STATUS_SUCCESS;
}

VOID ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list)
{
    list->Allocate = NULL;
}

VOID ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST list)
{
    list->Allocate = NULL;
}

VOID ExDeleteLookasideListEx(PLOOKASIDE_LIST_EX list)
{
    list->AllocateEx = NULL;
}

VOID ExFlushLookasideListEx(PLOOKASIDE_LIST_EX list)
{
    (void)list;
}

PVOID ExAllocateFromNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list)
{
    return list->Allocate(list->Type, list->Size, list->Tag);
}

PVOID ExAllocateFromPagedLookasideList(PPAGED_LOOKASIDE_LIST list)
{
    return list->Allocate(list->Type, list->Size, list->Tag);
}

PVOID ExAllocateFromLookasideListEx(PLOOKASIDE_LIST_EX list)
{
    return list->AllocateEx(list->Type, list->Size, list->Tag, list);
}

VOID ExFreeToNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PVOID block)
{
    list->Free(block);
}

VOID ExFreeToPagedLookasideList(PPAGED_LOOKASIDE_LIST list, PVOID block)
{
    list->Free(block);
}

VOID ExFreeToLookasideListEx(PLOOKASIDE_LIST_EX list, PVOID block)
{
    list->FreeEx(block, list);
}
