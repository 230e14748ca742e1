/* SPDX-License-Identifier: MIT */
/*
 * lam.c - logical addresses: NdkBuildLAM, NdkReleaseLAM, and the privileged token.
 *
 * A logical address is the virtual one; a mapping (LAM) promises that its memory stays. A device keeps its mappings
 * sorted by start, each with the greatest end up to it, so that a search and a few steps find a mapping that
 * covers a range. The first post of a domain that names a mapping with the privileged token registers it for that
 * domain, until NdkReleaseLAM: for local access alone.
 */
#include "ndk/memory/lam.h"

#include "ndk/memory/mdl.h"
#include "ndk/memory/memory.h"

#include "ndspi/core/memory/mr.h"

struct ndk_lam {
    struct list_head registrations;    /* struct registration.in_lam */
    const struct ndk_adapter *adapter; /* its maker; any adapter of the device may release it */
    uint64_t start, end;
};

/* One mapping registered in one domain. The lock of the device's mappings guards all but core. */
struct registration {
    struct nd_mr core; /* first */
    struct list_node in_lam, in_pd;
    struct ndk_pd *pd;
};

/* ---- the device's mappings ---- */

void ndk_lams_init(struct ndk_lams *lams)
{
    lock_init(&lams->lock, LOCK_NDK_MEMORY, "mappings");
    lams->at = NULL;
    lams->count = lams->room = 0;
}

static bool make_room_locked(struct ndk_lams *lams)
{
    size_t room = lams->room ? 2 * lams->room : 16;
    struct ndk_lam_place *at;

    if (lams->count < lams->room)
        return true;
    if (!(at = realloc(lams->at, room * sizeof(*at))))
        return false;
    lams->at = at;
    lams->room = room;
    return true;
}

static void sum_ends_locked(struct ndk_lams *lams, size_t from)
{
    uint64_t most = from ? lams->at[from - 1].most : 0;

    for (size_t i = from; i < lams->count; i++) {
        if (most < lams->at[i].end)
            most = lams->at[i].end;
        lams->at[i].most = most;
    }
}

/* How many mappings start at or before an address. */
static size_t before_locked(const struct ndk_lams *lams, uint64_t address)
{
    size_t low = 0, high = lams->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (lams->at[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool add(struct ndk_lams *lams, struct ndk_lam *lam)
{
    bool added;

    lock_acquire(&lams->lock);
    if ((added = make_room_locked(lams))) {
        size_t place = before_locked(lams, lam->start);

        memmove(
            &lams->at[place + 1], &lams->at[place], (lams->count - place) * sizeof(lams->at[0]));
        lams->at[place] =
            (struct ndk_lam_place){ .lam = lam, .start = lam->start, .end = lam->end };
        lams->count++;
        sum_ends_locked(lams, place);
    }
    lock_release(&lams->lock);
    return added;
}

/*
 * first in: the address of its first page: lam may be no mapping, so it is not read. False: it is none of the
 * device's.
 */
static bool remove_locked(struct ndk_lams *lams, const struct ndk_lam *lam, uint64_t first)
{
    for (size_t place = before_locked(lams, first + (PAGE_SIZE - 1)); place-- > 0;) {
        if (lams->at[place].start < first)
            break;
        if (lams->at[place].lam != lam)
            continue;
        lams->count--;
        memmove(
            &lams->at[place], &lams->at[place + 1], (lams->count - place) * sizeof(lams->at[0]));
        sum_ends_locked(lams, place);
        return true;
    }
    return false;
}

/* A mapping that has the whole range, or NULL. */
static struct ndk_lam *find_locked(const struct ndk_lams *lams, uint64_t start, uint64_t end)
{
    for (size_t place = before_locked(lams, start); place-- > 0;) {
        if (lams->at[place].end >= end)
            return lams->at[place].lam;
        if (lams->at[place].most < end)
            break;
    }
    return NULL;
}

/* A mapping that has some of the page, or NULL. */
static const struct ndk_lam_place *place_of_locked(const struct ndk_lams *lams, uint64_t page)
{
    for (size_t place = before_locked(lams, page + (PAGE_SIZE - 1)); place-- > 0;) {
        if (lams->at[place].end > page)
            return &lams->at[place];
        if (lams->at[place].most <= page)
            break;
    }
    return NULL;
}

bool ndk_lams_have(struct ndk_lams *lams, const NDK_LOGICAL_ADDRESS *pages, ULONG count)
{
    uint64_t first = 0, end = 0; /* the previous page's mapping, which mostly has this page, too */
    bool have = true;

    lock_acquire(&lams->lock);
    for (ULONG i = 0; i < count && have; i++) {
        uint64_t page = (uint64_t)pages[i].QuadPart;

        if (page < first || page >= end) {
            const struct ndk_lam_place *place = place_of_locked(lams, page);

            if ((have = place != NULL)) {
                first = place->start & ~(uint64_t)(PAGE_SIZE - 1);
                end = place->end;
            }
        }
    }
    lock_release(&lams->lock);
    return have;
}

/* ---- registrations ---- */

static void destroy(struct nd_object *object)
{
    nd_mr_fini((struct nd_mr *)object);
    free(object);
}

static void forget_locked(struct registration *registration, struct nd_dead *dead)
{
    list_del(&registration->in_lam);
    list_del(&registration->in_pd);
    nd_object_unpin_later(&registration->core.object, dead);
}

static void free_lam_locked(struct ndk_lam *lam, struct nd_dead *dead)
{
    while (!list_empty(&lam->registrations))
        forget_locked(list_entry(lam->registrations.n.next, struct registration, in_lam), dead);
    free(lam);
}

void ndk_lams_fini(struct ndk_lams *lams)
{
    free(lams->at);
}

void ndk_lams_forget(struct ndk_adapter *adapter)
{
    struct ndk_lams *lams = &adapter->shared->lams;
    struct nd_dead dead = { NULL };
    size_t kept = 0, left;

    lock_acquire(&lams->lock);
    for (size_t i = 0; i < lams->count; i++)
        if (lams->at[i].lam->adapter == adapter)
            free_lam_locked(lams->at[i].lam, &dead);
        else
            lams->at[kept++] = lams->at[i];
    left = lams->count - kept;
    lams->count = kept;
    sum_ends_locked(lams, 0);
    lock_release(&lams->lock);
    nd_object_destroy_dead(dead.first);
    if (left)
        log_write(LOG_WARN, LOG_NDK,
            "an adapter is closed with %zu mappings that NdkReleaseLAM did not release", left);
}

void ndk_lams_leave(struct ndk_pd *pd)
{
    struct ndk_lams *lams = &pd->adapter->shared->lams;
    struct nd_dead dead = { NULL };

    lock_acquire(&lams->lock);
    while (!list_empty(&pd->registrations))
        forget_locked(list_entry(pd->registrations.n.next, struct registration, in_pd), &dead);
    lock_release(&lams->lock);
    nd_object_destroy_dead(dead.first);
}

static struct registration *registration_locked(const struct ndk_lam *lam, const struct ndk_pd *pd)
{
    list_for_each (&lam->registrations, node) {
        struct registration *registration = list_entry(node, struct registration, in_lam);

        if (registration->pd == pd)
            return registration;
    }
    return NULL;
}

static uint32_t key_of(const struct registration *registration)
{
    return atomic_load_explicit(&registration->core.local_token, memory_order_relaxed);
}

static NTSTATUS register_range(
    struct ndk_pd *pd, uint64_t start, uint64_t end, struct registration **out)
{
    struct registration *registration = nd_object_alloc(sizeof(*registration));
    const void *memory = (const void *)(uintptr_t)start;
    HRESULT status;

    if (!registration)
        return STATUS_INSUFFICIENT_RESOURCES;
    nd_mr_init(&registration->core, pd->adapter->core, NULL, destroy);
    registration->core.pd = pd->core.ibv;
    registration->pd = pd;
    status = nd_mr_enter_local(&registration->core, memory, end - start);
    if (FAILED(status)) {
        nd_object_unpin(&registration->core.object);
        return ndk_status(status);
    }
    *out = registration;
    return STATUS_SUCCESS;
}

/* The registration was made without the lock: another post may have made one first, or the mapping may be released. */
static NTSTATUS keep(struct ndk_lam *lam, uint64_t start, uint64_t end,
    struct registration *registration, uint32_t *lkey)
{
    struct ndk_lams *lams = &registration->pd->adapter->shared->lams;
    struct registration *other = NULL;
    bool lives;

    lock_acquire(&lams->lock);
    lives = find_locked(lams, start, end) == lam;
    if (lives && !(other = registration_locked(lam, registration->pd))) {
        list_add_head(&lam->registrations, &registration->in_lam);
        list_add_head(&registration->pd->registrations, &registration->in_pd);
    }
    *lkey = key_of(other ? other : registration);
    lock_release(&lams->lock);
    if (other || !lives)
        nd_object_unpin(&registration->core.object);
    return lives ? STATUS_SUCCESS : STATUS_ACCESS_VIOLATION;
}

NTSTATUS ndk_lam_key(struct ndk_pd *pd, uint64_t address, uint32_t length, uint32_t *lkey)
{
    struct ndk_lams *lams = &pd->adapter->shared->lams;
    struct registration *registration = NULL;
    uint64_t start = 0, end = 0;
    struct ndk_lam *lam;
    NTSTATUS status;

    if (address + length < address)
        return STATUS_ACCESS_VIOLATION;
    lock_acquire(&lams->lock);
    if ((lam = find_locked(lams, address, address + length))) {
        start = lam->start;
        end = lam->end;
        if ((registration = registration_locked(lam, pd)))
            *lkey = key_of(registration);
    }
    lock_release(&lams->lock);
    if (!lam || registration)
        return lam ? STATUS_SUCCESS : STATUS_ACCESS_VIOLATION;
    if ((status = register_range(pd, start, end, &registration)) != STATUS_SUCCESS)
        return status;
    return keep(lam, address, address + length, registration, lkey);
}

/* ---- calls ---- */

/* The token is the same in every domain, but reaches only registrations of its domain. */
VOID ndk_get_privileged_token(NDK_PD *pd, UINT32 *token)
{
    (void)pd;
    if (token)
        *token = NDK_PRIVILEGED_TOKEN;
}

enum { HEAD = offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray), ENTRY = 8 };

/* Ends in the call even if the switches ask for a callback: consumers call it without one. */
NTSTATUS ndk_build_lam(NDK_ADAPTER *given, MDL *mdl, SIZE_T length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *out,
    ULONG *size, ULONG *offset)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_lam *lam;
    SIZE_T pages;
    ULONG needed;
    char *start;

    (void)completion;
    (void)context;
    if (!size || !offset || !ndk_mdl_range(mdl, length, &start))
        return STATUS_INVALID_PARAMETER;
    pages = (BYTE_OFFSET(start) + length + PAGE_SIZE - 1) / PAGE_SIZE;
    if (pages > (MAXULONG - HEAD) / ENTRY)
        return STATUS_INVALID_PARAMETER;
    needed = HEAD + ENTRY * (ULONG)pages;
    if (!out || *size < needed) {
        *size = needed;
        return STATUS_BUFFER_TOO_SMALL;
    }
    if (!(lam = malloc(sizeof(*lam))))
        return STATUS_INSUFFICIENT_RESOURCES;
    list_init(&lam->registrations);
    lam->adapter = adapter;
    lam->start = (uintptr_t)start;
    lam->end = lam->start + length;
    if (!add(&adapter->shared->lams, lam)) {
        free(lam);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    *size = needed;
    *offset = BYTE_OFFSET(start);
    out->AdapterContext = lam;
    out->AdapterPageCount = (ULONG)pages;
    for (SIZE_T i = 0; i < pages; i++)
        out->AdapterPageArray[i].QuadPart =
            (LONGLONG)(uintptr_t)((char *)PAGE_ALIGN(start) + i * PAGE_SIZE);
    return STATUS_SUCCESS;
}

VOID ndk_release_lam(NDK_ADAPTER *given, NDK_LOGICAL_ADDRESS_MAPPING *mapping)
{
    struct ndk_lams *lams = &ndk_adapter_from(given)->shared->lams;
    struct nd_dead dead = { NULL };

    if (!mapping)
        return;
    lock_acquire(&lams->lock);
    if (remove_locked(
            lams, mapping->AdapterContext, (uint64_t)mapping->AdapterPageArray[0].QuadPart))
        free_lam_locked(mapping->AdapterContext, &dead);
    lock_release(&lams->lock);
    nd_object_destroy_dead(dead.first); /* the consumer may unmap the memory after this */
}
