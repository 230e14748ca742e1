/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/memory.h"

#include "ndk/memory/lam.h"
#include "ndk/memory/mr.h"

enum { LOST_TOKENS = 4096 };

struct mapping {
    struct list_node link;
    const struct ndk_root *root;
    const NDK_LOGICAL_ADDRESS_MAPPING *at; /* the consumer's memory */
    PVOID context;                         /* its AdapterContext */
};

static struct list_head mappings = { { &mappings.n, &mappings.n } };

/* The last lost tokens; a token may be reused, so only one that names nothing is looked up here. */
static struct lost {
    const NDK_MR *region;
    const struct ndk_pd *pd;
    UINT32 token;
    const char *call;
} lost[LOST_TOKENS];
static size_t lost_count;

/* ---- mappings ---- */

void ndk_mapping_made(const struct ndk_root *root, const NDK_LOGICAL_ADDRESS_MAPPING *at)
{
    struct mapping *mapping = malloc(sizeof(*mapping));

    if (!mapping)
        return;
    *mapping = (struct mapping){ .root = root, .at = at, .context = at->AdapterContext };
    lock_acquire(&ndk_verifier_lock);
    list_add_tail(&mappings, &mapping->link);
    lock_release(&ndk_verifier_lock);
}

static struct mapping *mapping_locked(const struct ndk_root *root, const PVOID context)
{
    list_for_each (&mappings, node) {
        struct mapping *mapping = list_entry(node, struct mapping, link);

        if (mapping->root->core == root->core && mapping->context == context)
            return mapping;
    }
    return NULL;
}

bool ndk_mapping_released(const struct ndk_use *use, const NDK_LOGICAL_ADDRESS_MAPPING *at)
{
    struct mapping *mapping;

    lock_acquire(&ndk_verifier_lock);
    mapping = at ? mapping_locked(use->shadow->root, at->AdapterContext) : NULL;
    if (mapping)
        list_del(&mapping->link);
    lock_release(&ndk_verifier_lock);
    if (!mapping) {
        ndk_report(NDK_RULE_LAM_GONE, use->call, "NDK_LOGICAL_ADDRESS_MAPPING", at,
            "NDK_ADAPTER %p has no such mapping", (const void *)use->shadow->object);
        ndk_report_end();
    }
    free(mapping);
    return mapping;
}

bool ndk_mappings_report(const struct ndk_root *root, const char *call)
{
    bool any = false;

    lock_acquire(&ndk_verifier_lock);
    list_for_each_safe (&mappings, node) {
        struct mapping *mapping = list_entry(node, struct mapping, link);

        if (root && mapping->root != root)
            continue;
        ndk_report(NDK_RULE_LAM_KEPT, call, "NDK_LOGICAL_ADDRESS_MAPPING", mapping->at,
            "NdkReleaseLAM was not called for it");
        list_del(&mapping->link);
        free(mapping);
        any = true;
    }
    lock_release(&ndk_verifier_lock);
    return any;
}

/* ---- tokens ---- */

void ndk_token_lost(const NDK_MR *region, UINT32 token, const char *call)
{
    if (token == NDK_NO_TOKEN)
        return;
    lock_acquire(&ndk_verifier_lock);
    lost[lost_count++ % LOST_TOKENS] = (struct lost){
        .region = region,
        .pd = ((const struct ndk_region *)region)->pd,
        .token = token,
        .call = call,
    };
    lock_release(&ndk_verifier_lock);
}

/* The youngest entry of a token, or NULL. */
static const struct lost *lost_locked(const struct ndk_pd *pd, UINT32 token)
{
    size_t first = lost_count > LOST_TOKENS ? lost_count - LOST_TOKENS : 0;

    for (size_t i = lost_count; i-- > first;)
        if (lost[i % LOST_TOKENS].pd == pd && lost[i % LOST_TOKENS].token == token)
            return &lost[i % LOST_TOKENS];
    return NULL;
}

static bool report_lost(
    const struct ndk_use *use, const struct ndk_pd *pd, UINT32 token, ULONG index)
{
    const struct lost *found;

    lock_acquire(&ndk_verifier_lock);
    if ((found = lost_locked(pd, token)))
        ndk_report(NDK_RULE_TOKEN, use->call, use->shadow->kind, use->shadow->object,
            "entry %u has token 0x%08x, which %s took from NDK_MR %p", index, token, found->call,
            (const void *)found->region);
    lock_release(&ndk_verifier_lock);
    return found;
}

/* Reports this entry if it was the cause of the refusal. Returns whether it was. */
static bool refused(const struct ndk_use *use, struct ndk_pd *pd, const NDK_SGE *entry, ULONG index)
{
    const struct nd_frmr *frmr;
    uint32_t lkey;

    if (!entry->Length || ndk_tokens_find(&pd->tokens, entry->MemoryRegionToken, &lkey))
        return false;
    if (entry->MemoryRegionToken == NDK_PRIVILEGED_TOKEN) {
        if (ndk_lam_key(pd, (uint64_t)entry->LogicalAddress.QuadPart, entry->Length, &lkey) !=
            STATUS_ACCESS_VIOLATION)
            return false;
        ndk_report(NDK_RULE_LAM_UNMET, use->call, use->shadow->kind, use->shadow->object,
            "entry %u, %u bytes at 0x%llx, lies in no mapping", index, entry->Length,
            (unsigned long long)entry->LogicalAddress.QuadPart);
        return true;
    }
    frmr = ndk_tokens_region(&pd->tokens, entry->MemoryRegionToken);
    if (!frmr)
        return report_lost(use, pd, entry->MemoryRegionToken, index);
    if (nd_frmr_lkey(frmr))
        return false;
    ndk_report(NDK_RULE_TOKEN, use->call, use->shadow->kind, use->shadow->object,
        "entry %u has token 0x%08x of NDK_MR %p, which is not registered now", index,
        entry->MemoryRegionToken, (const void *)container_of(frmr, const struct ndk_frmr, core));
    return true;
}

void ndk_bind_refused(const struct ndk_use *use, NDK_MR *region)
{
    if (!ndk_shadow_known(region) || region->Header.ObjectType != NdkObjectTypeMr ||
        ndk_region_from(region)->fast || ndk_get_local_token(region) != NDK_NO_TOKEN)
        return;
    ndk_report(NDK_RULE_TOKEN, use->call, use->shadow->kind, use->shadow->object,
        "NDK_MR %p is not registered", (const void *)region);
    ndk_report_end();
}

void ndk_list_refused(const struct ndk_use *use, struct ndk_pd *pd, const NDK_SGE *list, ULONG n)
{
    for (ULONG i = 0; i < n; i++)
        if (refused(use, pd, &list[i], i)) {
            ndk_report_end();
            return;
        }
}

void ndk_pages_refused(
    const struct ndk_use *use, struct ndk_pd *pd, const NDK_LOGICAL_ADDRESS *pages, ULONG count)
{
    struct ndk_lams *lams = &pd->adapter->shared->lams;

    for (ULONG i = 0; i < count; i++)
        if (!ndk_lams_have(lams, &pages[i], 1)) {
            ndk_report(NDK_RULE_LAM_UNMET, use->call, use->shadow->kind, use->shadow->object,
                "page %u, 0x%llx, lies in no mapping", i, (unsigned long long)pages[i].QuadPart);
            ndk_report_end();
            return;
        }
}
