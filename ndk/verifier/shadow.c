/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/shadow.h"

#include "ndk/dispatch/level.h"
#include "ndk/verifier/tables.h"

enum { BUCKETS = 4096 };

struct lock ndk_verifier_lock = LOCK_INIT(LOCK_NDK_VERIFIER, "checker of NDKPI");
_Thread_local uint64_t ndk_completing;

/* Calls up to this number began before this thread was told something last. */
static _Thread_local uint64_t told;

static struct {
    struct ndk_shadow *buckets[BUCKETS];
    struct list_head living, dead;
    size_t dead_count;
    uint64_t calls;
} all = {
    .living = { { &all.living.n, &all.living.n } },
    .dead = { { &all.dead.n, &all.dead.n } },
};

/* ---- finding ---- */

static struct ndk_shadow **bucket_of(const void *object)
{
    return &all.buckets[((uintptr_t)object >> 6) % BUCKETS];
}

static struct ndk_shadow *find_locked(const void *object)
{
    struct ndk_shadow *shadow = *bucket_of(object);

    while (shadow && shadow->object != object)
        shadow = shadow->next;
    return shadow;
}

static void forget_locked(struct ndk_shadow *shadow)
{
    struct ndk_shadow **at = bucket_of(shadow->object);

    while (*at != shadow)
        at = &(*at)->next;
    *at = shadow->next;
    list_del(&shadow->link);
}

static const struct kind {
    const char *name, *close;
} kinds[] = {
    [NdkObjectTypeUndefined] = { "object", "NdkClose" },
    [NdkObjectTypeAdapter] = { "NDK_ADAPTER", "NdklCloseAdapter" },
    [NdkObjectTypeQp] = { "NDK_QP", "NdkCloseQp" },
    [NdkObjectTypeCq] = { "NDK_CQ", "NdkCloseCq" },
    [NdkObjectTypeMr] = { "NDK_MR", "NdkCloseMr" },
    [NdkObjectTypeMw] = { "NDK_MW", "NdkCloseMw" },
    [NdkObjectTypePd] = { "NDK_PD", "NdkClosePd" },
    [NdkObjectTypeSharedEndpoint] = { "NDK_SHARED_ENDPOINT", "NdkCloseSharedEndpoint" },
    [NdkObjectTypeConnector] = { "NDK_CONNECTOR", "NdkCloseConnector" },
    [NdkObjectTypeListener] = { "NDK_LISTENER", "NdkCloseListener" },
    [NdkObjectTypeSrq] = { "NDK_SRQ", "NdkCloseSrq" },
};

static NDK_OBJECT_TYPE type_of(const struct ndk_shadow *shadow)
{
    return shadow->object->header.ObjectType;
}

/* ---- life ---- */

/* The oldest of too many dead ones, or NULL. */
static struct ndk_shadow *oldest_locked(void)
{
    struct ndk_shadow *shadow;

    if (all.dead_count <= NDK_DEAD_MOST)
        return NULL;
    shadow = list_entry(all.dead.n.next, struct ndk_shadow, link);
    if (shadow->uses)
        return NULL;
    forget_locked(shadow);
    all.dead_count--;
    return shadow;
}

/* Replaces the object's free function: the memory stays. */
static void bury(struct ndk_object *object)
{
    struct ndk_shadow *shadow, *oldest;

    lock_acquire(&ndk_verifier_lock);
    shadow = find_locked(object);
    shadow->dead = true;
    list_del(&shadow->link);
    list_add_tail(&all.dead, &shadow->link);
    all.dead_count++;
    oldest = oldest_locked();
    lock_release(&ndk_verifier_lock);
    if (oldest) {
        oldest->free(oldest->object);
        free(oldest->of_callback);
        free(oldest);
    }
}

void ndk_shadow_watch(struct ndk_object *object)
{
    struct ndk_shadow *shadow = malloc(sizeof(*shadow)), **bucket = bucket_of(object);

    if (!shadow)
        return;
    *shadow = (struct ndk_shadow){
        .object = object,
        .kind = kinds[object->header.ObjectType].name,
        .plain = object->dispatch,
        .free = object->free,
        .root = object->root,
        .state = NDK_SHADOW_MADE,
    };
    object->dispatch = ndk_checked_table(object->header.ObjectType);
    object->free = bury;
    lock_acquire(&ndk_verifier_lock);
    shadow->next = *bucket;
    *bucket = shadow;
    list_add_tail(&all.living, &shadow->link);
    lock_release(&ndk_verifier_lock);
}

void ndk_shadow_give(const void *object, void *of_callback)
{
    struct ndk_shadow *shadow;

    lock_acquire(&ndk_verifier_lock);
    if ((shadow = find_locked(object)) && shadow->state == NDK_SHADOW_MADE) {
        shadow->state = NDK_SHADOW_OPEN;
        shadow->of_callback = of_callback;
    }
    lock_release(&ndk_verifier_lock);
}

bool ndk_shadow_known(const void *object)
{
    bool known;

    lock_acquire(&ndk_verifier_lock);
    known = find_locked(object);
    lock_release(&ndk_verifier_lock);
    return known;
}

bool ndk_shadow_report_open(const struct ndk_root *root, enum ndk_rule rule, const char *call)
{
    bool any = false;

    lock_acquire(&ndk_verifier_lock);
    list_for_each (&all.living, node) {
        const struct ndk_shadow *shadow = list_entry(node, struct ndk_shadow, link);

        if ((root && (shadow->root != root || type_of(shadow) == NdkObjectTypeAdapter)) ||
            shadow->state != NDK_SHADOW_OPEN)
            continue;
        ndk_report(rule, call, shadow->kind, shadow->object, "it is still open");
        any = true;
    }
    lock_release(&ndk_verifier_lock);
    return any;
}

/* ---- calls ---- */

static const struct ndk_use *in_lane_locked(const struct ndk_shadow *shadow, enum ndk_lane lane)
{
    const struct ndk_use *use = shadow->uses;

    while (use && (lane == NDK_LANE_NONE || use->lane != lane || use->number <= told))
        use = use->next;
    return use;
}

void ndk_use_told(void)
{
    lock_acquire(&ndk_verifier_lock);
    told = all.calls;
    lock_release(&ndk_verifier_lock);
}

/* Returns false: the call must do nothing more. */
static bool check_object_locked(
    struct ndk_shadow *shadow, const void *object, NDK_OBJECT_TYPE type, const char *call)
{
    if (!shadow || (type != NdkObjectTypeUndefined && type_of(shadow) != type)) {
        ndk_report(NDK_RULE_TYPE, call, kinds[type].name, object, "there is none at this address");
        ndk_report_end();
        return false;
    }
    if (shadow->state == NDK_SHADOW_CLOSED) {
        ndk_report(NDK_RULE_CLOSED, call, shadow->kind, object, "it was closed by %s before",
            shadow->closed_by);
        ndk_report_end();
        return false;
    }
    return true;
}

static void check_call_locked(const struct ndk_shadow *shadow, enum ndk_lane lane, const char *call)
{
    const struct ndk_use *other = in_lane_locked(shadow, lane);

    if (other) {
        ndk_report(NDK_RULE_OVERLAP, call, shadow->kind, shadow->object,
            "%s of another thread runs on it", other->call);
        ndk_report_end();
    }
    if (ndk_level() > DISPATCH_LEVEL) {
        ndk_report(NDK_RULE_LEVEL, call, shadow->kind, shadow->object, "it was called at IRQL %u",
            ndk_level());
        ndk_report_end();
    }
}

bool ndk_use_begin(struct ndk_use *use, const void *object, NDK_OBJECT_TYPE type,
    enum ndk_lane lane, const char *call)
{
    struct ndk_shadow *shadow;
    bool may;

    lock_acquire(&ndk_verifier_lock);
    shadow = find_locked(object);
    if (!call)
        call = kinds[shadow ? type_of(shadow) : NdkObjectTypeUndefined].close;
    if ((may = check_object_locked(shadow, object, type, call))) {
        check_call_locked(shadow, lane, call);
        *use = (struct ndk_use){
            .shadow = shadow,
            .call = call,
            .lane = lane,
            .thread = pthread_self(),
            .number = ++all.calls,
            .next = shadow->uses,
        };
        shadow->uses = use;
    }
    lock_release(&ndk_verifier_lock);
    return may;
}

void ndk_use_end(struct ndk_use *use)
{
    struct ndk_use **at;

    lock_acquire(&ndk_verifier_lock);
    for (at = &use->shadow->uses; *at != use;)
        at = &(*at)->next;
    *at = use->next;
    lock_release(&ndk_verifier_lock);
}

bool ndk_use_argument(const struct ndk_use *use, const void *object)
{
    const struct ndk_shadow *shadow;
    bool may;

    lock_acquire(&ndk_verifier_lock);
    shadow = find_locked(object);
    may = !shadow || shadow->state != NDK_SHADOW_CLOSED;
    if (!may) {
        ndk_report(NDK_RULE_CLOSED, use->call, shadow->kind, object, "it was closed by %s before",
            shadow->closed_by);
        ndk_report_end();
    }
    lock_release(&ndk_verifier_lock);
    return may;
}

/* Whether the object may be closed while this call runs: in the call itself, or in its completion callback. */
static bool may_run_on(const struct ndk_use *use)
{
    return pthread_equal(use->thread, pthread_self()) || use->number == ndk_completing;
}

void ndk_use_closes(struct ndk_use *use)
{
    struct ndk_shadow *shadow = use->shadow;

    lock_acquire(&ndk_verifier_lock);
    for (const struct ndk_use *other = shadow->uses; other; other = other->next) {
        if (may_run_on(other))
            continue;
        ndk_report(NDK_RULE_RUNNING, use->call, shadow->kind, shadow->object,
            "%s of another thread runs on it", other->call);
        ndk_report_end();
    }
    shadow->state = NDK_SHADOW_CLOSED;
    shadow->closed_by = use->call;
    lock_release(&ndk_verifier_lock);
}
