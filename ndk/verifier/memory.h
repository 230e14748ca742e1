/* SPDX-License-Identifier: MIT */
/* memory.h - the checker's record of mappings, and of tokens that no longer name a region. */
#ifndef NDK_VERIFIER_MEMORY_H
#define NDK_VERIFIER_MEMORY_H

#include "ndk/object/adapter.h"
#include "ndk/verifier/shadow.h"

/* NdkBuildLAM made a mapping in the consumer's memory. */
void ndk_mapping_made(const struct ndk_root *root, const NDK_LOGICAL_ADDRESS_MAPPING *mapping);
/* NdkReleaseLAM is called. Returns false: it is none; that is reported. */
bool ndk_mapping_released(const struct ndk_use *use, const NDK_LOGICAL_ADDRESS_MAPPING *mapping);
/* Reports mappings that the consumer did not release, as ndk_shadow_report_open does objects. */
bool ndk_mappings_report(const struct ndk_root *root, const char *call);

/* A call ended the use of a region's token; NDK_NO_TOKEN: the region had none. */
void ndk_token_lost(const NDK_MR *region, UINT32 token, const char *call);
/* NdkBind was refused: reports a region that is not registered. */
void ndk_bind_refused(const struct ndk_use *use, NDK_MR *region);
/*
 * ndk_list_refused - a post answered STATUS_ACCESS_VIOLATION: reports the entry whose token, or logical address, names
 * nothing.
 * pd    in: of the queue
 * list  in: n entries
 */
void ndk_list_refused(const struct ndk_use *use, struct ndk_pd *pd, const NDK_SGE *list, ULONG n);
/* NdkFastRegister answered STATUS_ACCESS_VIOLATION: reports the page that no mapping has. */
void ndk_pages_refused(
    const struct ndk_use *use, struct ndk_pd *pd, const NDK_LOGICAL_ADDRESS *pages, ULONG count);

#endif
