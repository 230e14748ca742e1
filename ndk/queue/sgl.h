/* SPDX-License-Identifier: MIT */
/* sgl.h - translates lists of local memory, from tokens to the device's keys, and the status of a post. */
#ifndef NDK_QUEUE_SGL_H
#define NDK_QUEUE_SGL_H

#include "ndk/memory/lam.h"

#include "ndspi/core/memory/frmr.h"

/* Entries of any request but inline ones: no adapter takes more. */
enum { NDK_SGE_MOST = 64 };

_Static_assert(sizeof(NDK_SGE) == sizeof(ND2_SGE) &&
                   offsetof(NDK_SGE, VirtualAddress) == offsetof(ND2_SGE, Buffer) &&
                   offsetof(NDK_SGE, Length) == offsetof(ND2_SGE, BufferLength) &&
                   offsetof(NDK_SGE, MemoryRegionToken) == offsetof(ND2_SGE, MemoryRegionToken),
    "an inline list, whose tokens do not count, is the core's as it is");

/* An entry whose token names no registered region: it may be the privileged one, or of a fast region. */
static inline NTSTATUS ndk_sgl_other(struct ndk_pd *pd, const NDK_SGE *entry, uint32_t *lkey)
{
    const struct nd_frmr *frmr;

    if (entry->MemoryRegionToken != NDK_PRIVILEGED_TOKEN) {
        frmr = ndk_tokens_region(&pd->tokens, entry->MemoryRegionToken);
        *lkey = frmr ? nd_frmr_lkey(frmr) : 0;
        return *lkey ? STATUS_SUCCESS : STATUS_ACCESS_VIOLATION;
    }
    return ndk_lam_key(pd, (uint64_t)entry->LogicalAddress.QuadPart, entry->Length, lkey);
}

/*
 * ndk_sgl - the list of a request in a domain as the core takes it.
 * list  in: may be NULL where n is 0
 * sges  out: room for NDK_SGE_MOST
 * Returns STATUS_SUCCESS; STATUS_INVALID_PARAMETER: no list; STATUS_DATA_OVERRUN: too many entries;
 * STATUS_ACCESS_VIOLATION: a token names nothing, or is the privileged one and no mapping has the entry; what
 * ndk_lam_key returns.
 */
static inline NTSTATUS ndk_sgl(struct ndk_pd *pd, const NDK_SGE *list, ULONG n, ND2_SGE *sges)
{
    if (!list && n)
        return STATUS_INVALID_PARAMETER;
    if (n > NDK_SGE_MOST)
        return STATUS_DATA_OVERRUN;
    for (ULONG i = 0; i < n; i++) {
        uint32_t lkey = 0;

        if (!ndk_tokens_find(&pd->tokens, list[i].MemoryRegionToken, &lkey) && list[i].Length) {
            NTSTATUS status = ndk_sgl_other(pd, &list[i], &lkey);

            if (status != STATUS_SUCCESS)
                return status;
        }
        sges[i].Buffer = list[i].VirtualAddress;
        sges[i].BufferLength = list[i].Length;
        sges[i].MemoryRegionToken = lkey;
    }
    return STATUS_SUCCESS;
}

/* The codes of posts that the pages do not have. */
static inline NTSTATUS ndk_posted(HRESULT status)
{
    if (status == ND_SUCCESS)
        return STATUS_SUCCESS;
    if (status == ND_NO_MORE_ENTRIES)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (status == ND_BUFFER_OVERFLOW)
        return STATUS_INVALID_BUFFER_SIZE;
    return ndk_status(status);
}

#endif
