/* SPDX-License-Identifier: MIT */
/*
 * pool2.h - pool memory that is zeroed, a part of ndkwdm.h. Debian's MinGW has none of it: it is here for Windows, too.
 */
#ifndef NDKWDM_POOL2_H
#define NDKWDM_POOL2_H

#include <ndktypes.h>
#ifndef __MINGW32__
#include <ndkwdm/pool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef POOL_FLAG_NON_PAGED /* a MinGW that has it */

typedef ULONG64 POOL_FLAGS;
/* clang-format off */
#define POOL_FLAG_UNINITIALIZED 0x0000000000000002ULL /* else it is zeroed */
#define POOL_FLAG_CACHE_ALIGNED 0x0000000000000008ULL
#define POOL_FLAG_NON_PAGED     0x0000000000000040ULL
#define POOL_FLAG_NON_PAGED_EXECUTE 0x0000000000000080ULL /* is not executable here */
#define POOL_FLAG_PAGED         0x0000000000000100ULL
/* clang-format on */

/*
 * Memory, aligned to 16 bytes, from PAGE_SIZE on to a page; the consumer's until ExFreePool.
 * flags, type  in: POOL_FLAG_UNINITIALIZED and POOL_FLAG_CACHE_ALIGNED count; the kinds of memory are one here
 * size         in: bytes
 * tag          in: not 0; not used besides
 * Returns NULL: no memory, or a size or tag of 0.
 */
PVOID ExAllocatePool2(POOL_FLAGS flags, SIZE_T size, ULONG tag);

/* What ExAllocatePool3 and ExFreePool2 may be told besides. */
typedef enum POOL_EXTENDED_PARAMETER_TYPE {
    PoolExtendedParameterInvalidType,
    PoolExtendedParameterPriority,
    PoolExtendedParameterSecurePool,
    PoolExtendedParameterNumaNode,
    PoolExtendedParameterMax
} POOL_EXTENDED_PARAMETER_TYPE;

typedef ULONG POOL_NODE_REQUIREMENT;

typedef struct _POOL_EXTENDED_PARAMETER {
    __extension__ struct {
        ULONG64 Type : 8; /* POOL_EXTENDED_PARAMETER_TYPE */
        ULONG64 Optional : 1;
        ULONG64 Reserved : 55;
    };
    __extension__ union {
        ULONG64 Reserved2;
        PVOID Reserved3;
        EX_POOL_PRIORITY Priority;
        PVOID SecurePoolParams;
        POOL_NODE_REQUIREMENT PreferredNode;
    };
} POOL_EXTENDED_PARAMETER, *PPOOL_EXTENDED_PARAMETER;
typedef const POOL_EXTENDED_PARAMETER *PCPOOL_EXTENDED_PARAMETER;

/*
 * Allocates memory as ExAllocatePool2 does.
 * parameters, count  in: priorities and nodes are hints, which are not used; there is no secure pool
 * Returns NULL also for secure pool, or a type that there is not, unless it is optional.
 */
PVOID ExAllocatePool3(
    POOL_FLAGS flags, SIZE_T size, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters, ULONG count);
/* memory: of those two, or NULL. tag, parameters, count: not used. */
VOID ExFreePool2(PVOID memory, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters, ULONG count);

#endif

#ifdef __cplusplus
}
#endif

#endif
