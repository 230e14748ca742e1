/* SPDX-License-Identifier: MIT */
/* mdl.h - MDLs, a part of ndkwdm.h. */
#ifndef NDKWDM_MDL_H
#define NDKWDM_MDL_H

#include <ndktypes.h>

#ifdef __cplusplus
extern "C" {
#endif

struct _IRP;

/* An address's offset in its page; the address of its page. */
#define BYTE_OFFSET(va) ((ULONG)((ULONG_PTR)(va) & (PAGE_SIZE - 1)))
#define PAGE_ALIGN(va)  ((PVOID)((ULONG_PTR)(va) & ~(ULONG_PTR)(PAGE_SIZE - 1)))
/* How many pages so many bytes from va on lie in. */
#define ADDRESS_AND_SIZE_TO_SPAN_PAGES(va, bytes)                                                  \
    ((ULONG)((BYTE_OFFSET(va) + (SIZE_T)(bytes) + PAGE_SIZE - 1) >> PAGE_SHIFT))

/* The address of an MDL's first byte, its length in bytes, the offset of its first byte in that page. */
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

/*
 * An MDL for length bytes at va, to be given to IoFreeMdl; NULL: no memory.
 * secondary  in: irp gets it behind those that it has; else as the first, which forgets them
 * charge     in: not used
 * irp        in, may be NULL: MdlAddress
 */
PMDL IoAllocateMdl(PVOID va, ULONG length, BOOLEAN secondary, BOOLEAN charge, struct _IRP *irp);
/* mdl: of IoAllocateMdl, or NULL; not those that it is chained to. */
VOID IoFreeMdl(PMDL mdl);

/* A process's memory is always there: these do nothing. */
#define MmBuildMdlForNonPagedPool(mdl)            ((void)(mdl))
#define MmProbeAndLockPages(mdl, mode, operation) ((void)(mdl))
#define MmUnlockPages(mdl)                        ((void)(mdl))

#ifdef __cplusplus
}
#endif

#endif
