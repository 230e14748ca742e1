/* SPDX-License-Identifier: MIT */
/* pool.h - pool memory, a part of ndkwdm.h. */
#ifndef NDKWDM_POOL_H
#define NDKWDM_POOL_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum _POOL_TYPE { NonPagedPool = 0, PagedPool = 1, NonPagedPoolNx = 512 } POOL_TYPE;

/* Allocates memory as ExAllocatePool2 (pool2.h) does, not zeroed. type: kinds of memory are one here. */
PVOID ExAllocatePoolWithTag(POOL_TYPE type, SIZE_T size, ULONG tag);

typedef enum _EX_POOL_PRIORITY {
    LowPoolPriority = 0,
    NormalPoolPriority = 16,
    HighPoolPriority = 32
} EX_POOL_PRIORITY;

/* ExAllocatePoolWithTag. priority: not used. */
PVOID ExAllocatePoolWithTagPriority(
    POOL_TYPE type, SIZE_T size, ULONG tag, EX_POOL_PRIORITY priority);

/* memory: of those two, or of ExAllocatePool2 or 3, or NULL. tag: not used. */
VOID ExFreePool(PVOID memory);
VOID ExFreePoolWithTag(PVOID memory, ULONG tag);

#ifdef __cplusplus
}
#endif

#endif
