/* SPDX-License-Identifier: MIT */
/*
 * lookaside.h - lookaside lists, a part of ndkwdm.h: pool memory in blocks of one size. The lists keep no free blocks:
 * malloc does that, and a sanitizer sees each use of a freed block.
 */
#ifndef NDKWDM_LOOKASIDE_H
#define NDKWDM_LOOKASIDE_H

#include <ndkwdm/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _LOOKASIDE_LIST_EX *PLOOKASIDE_LIST_EX;

typedef PVOID ALLOCATE_FUNCTION(POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag);
typedef ALLOCATE_FUNCTION *PALLOCATE_FUNCTION;
typedef VOID FREE_FUNCTION(PVOID Buffer);
typedef FREE_FUNCTION *PFREE_FUNCTION;
typedef PVOID ALLOCATE_FUNCTION_EX(
    POOL_TYPE PoolType, SIZE_T NumberOfBytes, ULONG Tag, PLOOKASIDE_LIST_EX Lookaside);
typedef ALLOCATE_FUNCTION_EX *PALLOCATE_FUNCTION_EX;
typedef VOID FREE_FUNCTION_EX(PVOID Buffer, PLOOKASIDE_LIST_EX Lookaside);
typedef FREE_FUNCTION_EX *PFREE_FUNCTION_EX;

/* A list, in the consumer's memory; the members are the library's. */
typedef struct _LOOKASIDE_LIST_EX {
    POOL_TYPE Type;
    ULONG Tag;
    SIZE_T Size;
    __extension__ union {
        PALLOCATE_FUNCTION Allocate;
        PALLOCATE_FUNCTION_EX AllocateEx;
    };
    __extension__ union {
        PFREE_FUNCTION Free;
        PFREE_FUNCTION_EX FreeEx;
    };
} LOOKASIDE_LIST_EX;
typedef LOOKASIDE_LIST_EX NPAGED_LOOKASIDE_LIST, *PNPAGED_LOOKASIDE_LIST;
typedef LOOKASIDE_LIST_EX PAGED_LOOKASIDE_LIST, *PPAGED_LOOKASIDE_LIST;

/*
 * list            out: for ExDelete...
 * allocate, free  in, may be NULL: in place of ExAllocatePoolWithTag and ExFreePool
 * flags           in: 0, or POOL_NX_ALLOCATION, which is always so
 * size, tag       in: of each block
 * depth           in: not used
 */
VOID ExInitializeNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
    PFREE_FUNCTION free, ULONG flags, SIZE_T size, ULONG tag, USHORT depth);
VOID ExInitializePagedLookasideList(PPAGED_LOOKASIDE_LIST list, PALLOCATE_FUNCTION allocate,
    PFREE_FUNCTION free, ULONG flags, SIZE_T size, ULONG tag, USHORT depth);
/*
 * Makes a list for any kind of pool, as the two above do. flags: 0, or EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE, which
 * is always so.
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER_4: no such kind; STATUS_INVALID_PARAMETER_5: another flag, also
 * EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL, since nothing is raised here.
 */
NTSTATUS ExInitializeLookasideListEx(PLOOKASIDE_LIST_EX list, PALLOCATE_FUNCTION_EX allocate,
    PFREE_FUNCTION_EX free, POOL_TYPE type, ULONG flags, SIZE_T size, ULONG tag, USHORT depth);
#define EX_LOOKASIDE_LIST_EX_FLAGS_RAISE_ON_FAIL 0x00000001
#define EX_LOOKASIDE_LIST_EX_FLAGS_FAIL_NO_RAISE 0x00000002
#define POOL_NX_ALLOCATION                       512

/* Its blocks have all been given back. Paged: below DISPATCH_LEVEL. */
VOID ExDeleteNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list);
VOID ExDeletePagedLookasideList(PPAGED_LOOKASIDE_LIST list);
VOID ExDeleteLookasideListEx(PLOOKASIDE_LIST_EX list);
/* Nothing: there are no free blocks. */
VOID ExFlushLookasideListEx(PLOOKASIDE_LIST_EX list);

/* A block; NULL: no memory. Of a list of paged pool: below DISPATCH_LEVEL. */
PVOID ExAllocateFromNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list);
PVOID ExAllocateFromPagedLookasideList(PPAGED_LOOKASIDE_LIST list);
PVOID ExAllocateFromLookasideListEx(PLOOKASIDE_LIST_EX list);
/* block: of that list. */
VOID ExFreeToNPagedLookasideList(PNPAGED_LOOKASIDE_LIST list, PVOID block);
VOID ExFreeToPagedLookasideList(PPAGED_LOOKASIDE_LIST list, PVOID block);
VOID ExFreeToLookasideListEx(PLOOKASIDE_LIST_EX list, PVOID block);

#ifdef __cplusplus
}
#endif

#endif
