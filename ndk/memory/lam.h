/* SPDX-License-Identifier: MIT */
/* lam.h - the mappings of an adapter, and registrations for entries with the privileged token. */
#ifndef NDK_MEMORY_LAM_H
#define NDK_MEMORY_LAM_H

#include "ndk/object/adapter.h"

void ndk_lams_init(struct ndk_lams *lams);
void ndk_lams_fini(struct ndk_lams *lams);
/* An adapter is closed: releases the mappings that it made and nobody released, and logs how many. */
void ndk_lams_forget(struct ndk_adapter *adapter);
/* A domain is closed: deregisters what was registered in it. */
void ndk_lams_leave(struct ndk_pd *pd);

/*
 * ndk_lam_key - the key of the device for an entry with the privileged token.
 * address, length  in: of the entry; length in bytes
 * lkey             out: on success
 * Returns STATUS_SUCCESS; STATUS_ACCESS_VIOLATION: no mapping has all of it, or the memory is not there;
 * STATUS_INSUFFICIENT_RESOURCES. The first call for a mapping registers it.
 */
NTSTATUS ndk_lam_key(struct ndk_pd *pd, uint64_t address, uint32_t length, uint32_t *lkey);

/* Whether every page is one of a mapping. pages in: count addresses, multiples of PAGE_SIZE. */
bool ndk_lams_have(struct ndk_lams *lams, const NDK_LOGICAL_ADDRESS *pages, ULONG count);

#endif
