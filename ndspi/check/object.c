/* SPDX-License-Identifier: MIT */
#include "ndspi/check/object.h"

#include "ndspi/check/debt.h"
#include "ndspi/check/late.h"
#include "ndspi/check/memory.h"
#include "ndspi/check/pending.h"
#include "ndspi/check/request.h"

#include "util/fork.h"

#include <stdlib.h>
#include <unistd.h>

enum { BUCKETS = 4096 };

struct lock nd_check_lock = LOCK_INIT(LOCK_CHECK, "checker of programs");

static struct {
    struct nd_checked *buckets[BUCKETS];
    struct list_head living, dead;
    size_t dead_count;
    pid_t process; /* the owner of the objects; a forked child inherits them and owns none */
} all = {
    .living = { { &all.living.n, &all.living.n } },
    .dead = { { &all.dead.n, &all.dead.n } },
};

static _Thread_local const struct nd_check_call *current;

/* ---- finding ---- */

static struct nd_checked **bucket_of(const void *object)
{
    return &all.buckets[((uintptr_t)object >> 4) % BUCKETS];
}

struct nd_checked *nd_check_find_locked(const void *object)
{
    struct nd_checked *checked = *bucket_of(object);

    while (checked && checked != object)
        checked = checked->next;
    return checked;
}

static void forget_locked(struct nd_checked *checked)
{
    struct nd_checked **at = bucket_of(checked);

    while (*at != checked)
        at = &(*at)->next;
    *at = checked->next;
    list_del(&checked->link);
}

struct nd_checked *nd_check_first_locked(
    bool (*test)(struct nd_checked *checked, const void *context), const void *context)
{
    list_for_each (&all.living, node) {
        struct nd_checked *checked = list_entry(node, struct nd_checked, link);

        if (test(checked, context))
            return checked;
    }
    return NULL;
}

/* ---- life ---- */

HRESULT nd_check_made(const char *name, HRESULT hr, const struct nd_check_kind *kind, void **out)
{
    struct nd_checked *checked, **bucket;

    if (FAILED(hr) || !out || !*out || !(checked = malloc(sizeof(*checked))))
        return hr;
    *checked = (struct nd_checked){
        .vtable = kind->vtable,
        .inner = *out,
        .kind = kind,
        .refs = 1,
        .process = getpid(),
        .made_by = name,
    };
    list_init(&checked->requests);
    if (kind->core)
        checked->queues = nd_check_queues_make();
    nd_check_place_here(&checked->made_at);
    if (current) {
        checked->adapter = kind->keeps_maker ? checked : current->object->adapter;
        checked->info = current->object->info;
        checked->info1 = current->object->info1;
    }
    bucket = bucket_of(checked);
    lock_acquire(&nd_check_lock);
    all.process = getpid();
    if (kind->keeps_maker) {
        checked->maker = current->object;
        checked->maker->refs++;
        checked->maker->kept++;
    }
    checked->next = *bucket;
    *bucket = checked;
    list_add_tail(&all.living, &checked->link);
    lock_release(&nd_check_lock);
    *out = checked;
    return hr;
}

void nd_check_limit(const void *made, const struct nd_check_limits *limits)
{
    struct nd_checked *checked;

    lock_acquire(&nd_check_lock);
    if ((checked = nd_check_find_locked(made)))
        checked->limits = *limits;
    lock_release(&nd_check_lock);
}

void nd_check_resized(const struct nd_check_call *call, HRESULT hr, size_t depth)
{
    if (FAILED(hr) || !depth)
        return;
    lock_acquire(&nd_check_lock);
    call->object->limits.receives = depth;
    lock_release(&nd_check_lock);
}

/* The oldest of too many dead ones, or NULL. */
static struct nd_checked *oldest_locked(void)
{
    struct nd_checked *checked;

    if (all.dead_count <= ND_CHECK_DEAD_MOST)
        return NULL;
    checked = list_entry(all.dead.n.next, struct nd_checked, link);
    if (checked->calls || checked->held)
        return NULL;
    forget_locked(checked);
    nd_check_forget_requests_locked(checked);
    all.dead_count--;
    return checked;
}

static void bury_locked(struct nd_checked *checked)
{
    checked->dead = true;
    if (checked->maker)
        checked->maker->kept--;
    nd_check_queues_end_locked(checked);
    nd_check_connector_ends_locked(checked);
    list_del(&checked->link);
    list_add_tail(&all.dead, &checked->link);
    all.dead_count++;
}

/* The last Release: no other thread may be in a call. */
static void check_calls_locked(const struct nd_checked *checked, const char *name)
{
    for (const struct nd_check_call *call = checked->calls; call; call = call->next)
        if (!pthread_equal(call->thread, pthread_self()))
            nd_check_report_locked(ND_CHECK_RUNNING, name, checked->kind->name, checked,
                "it is the last Release, and %s of another thread runs on it", call->name);
}

/* Runs when the process ends, after the program's own destructors. */
__attribute__((destructor)) static void report_living(void)
{
    char text[ND_CHECK_PLACE_OCTETS];
    bool any = false;

    if (all.process != getpid() || nd_check_mode() == ND_CHECK_OFF)
        return;
    nd_check_look_for_late();
    lock_acquire(&nd_check_lock);
    list_for_each (&all.living, node) {
        const struct nd_checked *checked = list_entry(node, struct nd_checked, link);
        unsigned refs = (unsigned)(checked->refs - checked->kept);

        if (!refs || checked->process != all.process)
            continue;
        nd_check_tell_locked(ND_CHECK_ALIVE, "exit", checked->kind->name, checked,
            "it has %u reference%s; %s made it at %s", refs, refs == 1 ? "" : "s", checked->made_by,
            nd_check_place_text(&checked->made_at, text));
        any = true;
    }
    lock_release(&nd_check_lock);
    if (any)
        nd_check_told();
}

/* ---- the process forks ---- */

/* The child has the thread that forked, and none of the others. */
static void forget_threads_locked(struct nd_checked *checked)
{
    struct nd_check_call **at = &checked->calls;

    while (*at)
        if (pthread_equal((*at)->thread, pthread_self()))
            at = &(*at)->next;
        else
            *at = (*at)->next;
    checked->held = 0;
}

/* Clears what the parent's objects wait for: the parent's own checker watches that. */
static void forget_waits_locked(const struct list_head *objects)
{
    list_for_each (objects, node) {
        struct nd_checked *checked = list_entry(node, struct nd_checked, link);

        forget_threads_locked(checked);
        checked->debt = (struct nd_check_debt){ 0 };
        checked->wait = (struct nd_check_wait){ 0 };
        nd_check_forget_requests_locked(checked);
        nd_check_queues_forked_locked(checked);
    }
}

static void forked_locked(void)
{
    nd_check_watch_forked_locked();
    forget_waits_locked(&all.living);
    forget_waits_locked(&all.dead);
}

FORK_ROW(.place = LOCK_CHECK, .lock = &nd_check_lock, .child = forked_locked);

/* ---- calls ---- */

static void released_locked(const struct nd_checked *checked, const char *name)
{
    nd_check_report_locked(ND_CHECK_RELEASED, name, checked->kind->name, checked,
        "its last reference was released before");
}

void *nd_check_begin_at(
    struct nd_check_call *call, void *iface, const char *name, const char *frame)
{
    struct nd_checked *checked = iface;
    void *inner = NULL;

    *call = (struct nd_check_call){
        .object = checked, .name = name, .thread = pthread_self(), .frame = frame
    };
    lock_acquire(&nd_check_lock);
    if (checked->dead) {
        released_locked(checked, name);
    } else {
        nd_check_frames_locked(call);
        call->next = checked->calls;
        checked->calls = call;
        inner = checked->inner;
    }
    lock_release(&nd_check_lock);
    if (inner) {
        call->outer = (struct nd_check_call *)current;
        current = call;
    }
    return inner;
}

void nd_check_end(struct nd_check_call *call)
{
    struct nd_check_call **at;

    current = call->outer;
    lock_acquire(&nd_check_lock);
    for (at = &call->object->calls; *at != call;)
        at = &(*at)->next;
    *at = call->next;
    lock_release(&nd_check_lock);
}

const struct nd_check_call *nd_check_current(void)
{
    return current;
}

void *nd_check_argument(const struct nd_check_call *call, void *given)
{
    const struct nd_checked *checked;

    lock_acquire(&nd_check_lock);
    checked = nd_check_find_locked(given);
    if (checked && checked->dead) {
        released_locked(checked, call->name);
        given = NULL;
    }
    lock_release(&nd_check_lock);
    return given;
}

/* ---- IUnknown ---- */

/* Returns whether programs may ask for this interface; by the other, private ones the library finds its own objects. */
static bool is_public(const struct nd_check_kind *kind, REFIID iid)
{
    return IsEqualIID(iid, &IID_IUnknown) || IsEqualIID(iid, kind->iid) ||
           (kind->base && IsEqualIID(iid, kind->base));
}

HRESULT nd_check_query(void *iface, const char *name, REFIID iid, void **out)
{
    struct nd_check_call call;
    IUnknown *inner = nd_check_begin(&call, iface, name);
    HRESULT hr = ND_INVALID_DEVICE_STATE;

    if (!inner) {
        if (out)
            *out = NULL;
        return hr;
    }
    hr = inner->lpVtbl->QueryInterface(inner, iid, out);
    if (SUCCEEDED(hr) && is_public(call.object->kind, iid)) {
        inner->lpVtbl->Release(inner);
        nd_check_addref(iface, name);
        *out = iface;
    }
    nd_check_end(&call);
    return hr;
}

ULONG nd_check_addref(void *iface, const char *name)
{
    struct nd_checked *checked = iface;
    ULONG refs = 0;

    lock_acquire(&nd_check_lock);
    if (checked->dead)
        released_locked(checked, name);
    else
        refs = ++checked->refs;
    lock_release(&nd_check_lock);
    return refs;
}

ULONG nd_check_release(void *iface, const char *name)
{
    struct nd_checked *checked = iface, *maker = NULL, *oldest = NULL;
    IUnknown *inner = NULL;
    ULONG refs = 0;

    lock_acquire(&nd_check_lock);
    if (checked->dead) {
        nd_check_report_locked(ND_CHECK_RELEASE, name, checked->kind->name, checked,
            "its last reference was released before");
    } else if ((refs = --checked->refs) == 0) {
        check_calls_locked(checked, name);
        inner = checked->inner;
        maker = checked->maker;
        nd_check_release_region_locked(checked, name);
        checked->held++;
        bury_locked(checked);
        oldest = oldest_locked();
    }
    lock_release(&nd_check_lock);
    if (oldest)
        nd_check_queues_free(oldest);
    free(oldest);
    if (inner) {
        nd_check_look_at_last(checked);
        inner->lpVtbl->Release(inner);
        lock_acquire(&nd_check_lock);
        checked->held--;
        lock_release(&nd_check_lock);
    }
    if (maker)
        nd_check_release(maker, name);
    return refs;
}
