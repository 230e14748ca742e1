/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/watch.h"

/* An MDL of a call, with a copy of it. */
struct mdl_copy {
    struct mdl_copy *next;
    const MDL *mdl; /* NULL: freed meanwhile, and reported */
    MDL was;
    bool last; /* later MDLs are not the call's */
};

struct ndk_watched {
    struct list_node link; /* with_mdls, if it has MDLs */
    const char *call;
    uint64_t number;
    struct mdl_copy *mdls;
    void *of_callback;
    union {
        NDK_FN_REQUEST_COMPLETION request;
        NDK_FN_CREATE_COMPLETION create;
    } completion;
    PVOID context;
};

static struct list_head with_mdls = { { &with_mdls.n, &with_mdls.n } };

static struct ndk_watched *make(const struct ndk_use *use, PVOID context)
{
    struct ndk_watched *watched = malloc(sizeof(*watched));

    if (watched) {
        *watched = (struct ndk_watched){
            .call = use->call,
            .number = use->number,
            .context = context,
        };
        list_node_init(&watched->link);
    }
    return watched;
}

/* ---- MDLs ---- */

/* The name of the first member that has changed, or NULL. */
static const char *difference(const struct mdl_copy *copy)
{
    const MDL *now = copy->mdl, *was = &copy->was;

    if (now->ByteCount != was->ByteCount)
        return "ByteCount";
    if (now->StartVa != was->StartVa)
        return "StartVa";
    if (now->ByteOffset != was->ByteOffset)
        return "ByteOffset";
    return !copy->last && now->Next != was->Next ? "Next" : NULL;
}

/* The call has ended. Compares by the copies, and stops at the first change: the chain may be broken from there on. */
static void check_mdls(struct ndk_watched *watched)
{
    const char *changed = NULL;
    struct mdl_copy *copy, *next;

    lock_acquire(&ndk_verifier_lock);
    list_del(&watched->link);
    for (copy = watched->mdls; copy && !changed; copy = copy->next)
        if (copy->mdl && (changed = difference(copy)))
            ndk_report(NDK_RULE_MDL, watched->call, "MDL", copy->mdl,
                "its %s was changed before the call had ended", changed);
    lock_release(&ndk_verifier_lock);
    if (changed)
        ndk_report_end();
    for (copy = watched->mdls; copy; copy = next) {
        next = copy->next;
        free(copy);
    }
}

void ndk_watch_mdls(struct ndk_watch *watch, const MDL *mdl, SIZE_T length)
{
    struct mdl_copy *copy, **at;

    if (!watch->watched)
        return;
    for (at = &watch->watched->mdls; mdl && (copy = malloc(sizeof(*copy))); at = &copy->next) {
        *copy = (struct mdl_copy){ .mdl = mdl, .was = *mdl, .last = length <= mdl->ByteCount };
        *at = copy;
        if (copy->last)
            break;
        length -= mdl->ByteCount;
        mdl = mdl->Next;
    }
    lock_acquire(&ndk_verifier_lock);
    list_add_tail(&with_mdls, &watch->watched->link);
    lock_release(&ndk_verifier_lock);
}

void ndk_watch_free_mdl(const MDL *mdl)
{
    bool any = false;

    lock_acquire(&ndk_verifier_lock);
    list_for_each (&with_mdls, node) {
        struct ndk_watched *watched = list_entry(node, struct ndk_watched, link);

        for (struct mdl_copy *copy = watched->mdls; mdl && copy; copy = copy->next) {
            if (copy->mdl != mdl)
                continue;
            ndk_report(NDK_RULE_MDL, "IoFreeMdl", "MDL", mdl, "%s with it has not ended yet",
                watched->call);
            any = true;
            copy->mdl = NULL;
        }
    }
    lock_release(&ndk_verifier_lock);
    if (any)
        ndk_report_end();
}

/* ---- requests ---- */

static VOID completed(PVOID context, NTSTATUS status)
{
    struct ndk_watched watched = *(struct ndk_watched *)context;
    uint64_t before = ndk_completing;

    check_mdls(context);
    free(context);
    ndk_completing = watched.number;
    watched.completion.request(watched.context, status);
    ndk_completing = before;
}

void ndk_watch_begin(struct ndk_watch *watch, struct ndk_use *use,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    *watch = (struct ndk_watch){ .use = use, .completion = completion, .context = context };
    if (!completion || !(watch->watched = make(use, context)))
        return;
    watch->watched->completion.request = completion;
    watch->completion = completed;
    watch->context = watch->watched;
}

NTSTATUS ndk_watch_end(struct ndk_watch *watch, NTSTATUS status)
{
    if (watch->watched && status != STATUS_PENDING) {
        check_mdls(watch->watched);
        free(watch->watched);
    }
    ndk_use_end(watch->use);
    return status;
}

/* ---- creations ---- */

static void give(NTSTATUS status, const void *object, void *of_callback)
{
    if (status == STATUS_SUCCESS)
        ndk_shadow_give(object, of_callback);
    else
        free(of_callback);
}

static VOID created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
    struct ndk_watched watched = *(struct ndk_watched *)context;
    uint64_t before = ndk_completing;

    free(context);
    give(status, object, watched.of_callback);
    ndk_completing = watched.number;
    watched.completion.create(watched.context, status, object);
    ndk_completing = before;
}

void ndk_making_begin(struct ndk_making *making, struct ndk_use *use,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, void *of_callback)
{
    *making = (struct ndk_making){
        .use = use, .completion = completion, .context = context, .of_callback = of_callback
    };
    if (!completion || !(making->watched = make(use, context)))
        return;
    making->watched->completion.create = completion;
    making->watched->of_callback = of_callback;
    making->completion = created;
    making->context = making->watched;
}

NTSTATUS ndk_making_end(struct ndk_making *making, NTSTATUS status, void *const *out)
{
    if (status != STATUS_PENDING) {
        free(making->watched);
        give(status, out ? *out : NULL, making->of_callback);
    }
    ndk_use_end(making->use);
    return status;
}
