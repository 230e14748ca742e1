/* SPDX-License-Identifier: MIT */
/* pool.c - pool memory of ndkwdm.h. */
#include "ndk/verifier/passive.h"

#include <stdlib.h>

enum { CACHE_LINE = 64 };

static PVOID allocate(SIZE_T size, ULONG tag, SIZE_T alignment)
{
    if (!size || !tag)
        return NULL;
    if (size >= PAGE_SIZE)
        alignment = PAGE_SIZE;
    else if (alignment <= _Alignof(max_align_t))
        return malloc(size);
    if (size > SIZE_MAX - alignment)
        return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

PVOID ExAllocatePool2(POOL_FLAGS flags, SIZE_T size, ULONG tag)
{
    PVOID memory;

    if (flags & POOL_FLAG_PAGED)
        ndk_paged_expected("ExAllocatePool2");
    memory = allocate(size, tag, flags & POOL_FLAG_CACHE_ALIGNED ? CACHE_LINE : 1);

    if (memory && !(flags & POOL_FLAG_UNINITIALIZED))
        memset(memory, 0, size);
    return memory;
}

PVOID ExAllocatePoolWithTag(POOL_TYPE type, SIZE_T size, ULONG tag)
{
    if (type == PagedPool)
        ndk_paged_expected("ExAllocatePoolWithTag");
    return allocate(size, tag, 1);
}

PVOID ExAllocatePoolWithTagPriority(
    POOL_TYPE type, SIZE_T size, ULONG tag, EX_POOL_PRIORITY priority)
{
    (void)priority;
    return ExAllocatePoolWithTag(type, size, tag);
}

PVOID ExAllocatePool3(
    POOL_FLAGS flags, SIZE_T size, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters, ULONG count)
{
    for (ULONG i = 0; i < count; i++)
        if (!parameters[i].Optional && parameters[i].Type != PoolExtendedParameterPriority &&
            parameters[i].Type != PoolExtendedParameterNumaNode)
            return NULL;
    return ExAllocatePool2(flags, size, tag);
}

VOID ExFreePool(PVOID memory)
{
    free(memory);
}

VOID ExFreePoolWithTag(PVOID memory, ULONG tag)
{
    (void)tag;
    free(memory);
}

VOID ExFreePool2(PVOID memory, ULONG tag, PCPOOL_EXTENDED_PARAMETER parameters, ULONG count)
{
    (void)tag;
    (void)parameters;
    (void)count;
    free(memory);
}
