/* SPDX-License-Identifier: MIT */
#include "ndspi/check/request.h"

#include "ndspi/check/debt.h"
#include "ndspi/core/base.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BUCKETS = 4096 };

/* An OVERLAPPED. */
struct request {
    struct request *next; /* next in its bucket */
    /* node of all.pending, all.stacked, or all.ended, which has the order of their ends */
    struct list_node link;
    struct list_node of_object; /* nd_checked.requests */
    const OVERLAPPED *overlapped;
    unsigned pending; /* requests that use it */
    bool told;        /* a misuse was reported, and is not again while it is pending */
    bool on_stack;    /* it is on the stack of thread */
    pthread_t thread; /* the thread that made the call */
    struct nd_checked *object;
    const char *call; /* the last one that took it */
    HANDLE event;     /* hEvent when the call was made */
};

static struct {
    struct request *buckets[BUCKETS];
    /* stacked: pending ones that are on a thread's stack */
    struct list_head pending, stacked, ended;
    size_t ended_count;
} all = {
    .pending = { { &all.pending.n, &all.pending.n } },
    .stacked = { { &all.stacked.n, &all.stacked.n } },
    .ended = { { &all.ended.n, &all.ended.n } },
};

/* ---- finding ---- */

static struct request **bucket_of(const OVERLAPPED *overlapped)
{
    return &all.buckets[((uintptr_t)overlapped >> 3) % BUCKETS];
}

static struct request *find_locked(const OVERLAPPED *overlapped)
{
    struct request *request = *bucket_of(overlapped);

    while (request && request->overlapped != overlapped)
        request = request->next;
    return request;
}

static void forget_locked(struct request *request)
{
    struct request **at = bucket_of(request->overlapped);

    while (*at != request)
        at = &(*at)->next;
    *at = request->next;
    list_del(&request->link);
    list_del(&request->of_object);
    free(request);
}

static struct request *find_or_make_locked(const OVERLAPPED *overlapped)
{
    struct request *request = find_locked(overlapped), **bucket = bucket_of(overlapped);

    if (request) {
        all.ended_count -= request->pending == 0;
        list_del(&request->link);
    } else if ((request = calloc(1, sizeof(*request)))) {
        request->overlapped = overlapped;
        list_node_init(&request->of_object);
        request->next = *bucket;
        *bucket = request;
    }
    return request;
}

/* ---- the program's memory ---- */

/* Has the kernel read a signal set from there; it reads before it rejects the other arguments. */
static bool readable(const void *address)
{
    return syscall(SYS_rt_sigprocmask, ~0, address, NULL, 8) == 0 || errno != EFAULT;
}

static bool is_there(const OVERLAPPED *overlapped)
{
    return readable(overlapped) && readable((const char *)(overlapped + 1) - 8);
}

static ULONG_PTR internal_of(const OVERLAPPED *overlapped)
{
    return atomic_load_explicit(
        (const _Atomic(ULONG_PTR) *)&overlapped->Internal, memory_order_acquire);
}

/* Returns whether an address is in this thread's stack, and not in a fiber's. Wine's threads have two stacks. */
static bool is_on_stack(const void *address)
{
    static _Thread_local char *low;
    static _Thread_local size_t size;
    pthread_attr_t attributes;

    if (!nd_check_place_known())
        return false;
    if (!low && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, (void **)&low, &size);
        pthread_attr_destroy(&attributes);
    }
    return (uintptr_t)address - (uintptr_t)low < size;
}

/* ---- requests ---- */

/* Requests on stacks are few; each call checks them. */
static void add_pending_locked(struct request *request)
{
    list_add_tail(request->on_stack ? &all.stacked : &all.pending, &request->link);
}

static void check_unused_locked(const struct request *request, const struct nd_check_call *call)
{
    if (request->pending)
        nd_check_report_locked(ND_CHECK_TWICE, call->name, call->object->kind->name, call->object,
            "its OVERLAPPED %p serves %s of %s %p, which has not ended",
            (const void *)request->overlapped, request->call, request->object->kind->name,
            (const void *)request->object);
}

void nd_check_request_begins(const OVERLAPPED *overlapped)
{
    const struct nd_check_call *call = nd_check_current();
    struct request *request;
    bool on_stack;

    if (!call)
        return;
    on_stack = is_on_stack(overlapped) && is_on_stack(call->frame);
    lock_acquire(&nd_check_lock);
    if ((request = find_or_make_locked(overlapped))) {
        check_unused_locked(request, call);
        request->told = request->pending;
        request->pending++;
        request->on_stack = on_stack;
        request->thread = pthread_self();
        request->object = call->object;
        list_del(&request->of_object);
        list_add_tail(&call->object->requests, &request->of_object);
        request->call = call->name;
        request->event = overlapped->hEvent;
        add_pending_locked(request);
    }
    lock_release(&nd_check_lock);
}

/* call  in: the call that notices the change; NULL: the request's end notices it */
static void report_changed_locked(struct request *request, const char *call, const char *what)
{
    request->told = true;
    nd_check_report_locked(ND_CHECK_CHANGED, call ? call : request->call,
        request->object->kind->name, request->object,
        "%s of its OVERLAPPED %p was changed before %s had ended", what,
        (const void *)request->overlapped, call ? request->call : "it");
}

static void check_unchanged_locked(struct request *request, const char *call)
{
    if (request->told)
        return;
    if (internal_of(request->overlapped) != ND_PENDING)
        report_changed_locked(request, call, "Internal");
    else if (request->overlapped->hEvent != request->event)
        report_changed_locked(request, call, "hEvent");
}

static void report_gone_locked(struct request *request, const char *call, const char *how)
{
    request->told = true;
    nd_check_report_locked(ND_CHECK_GONE, call ? call : request->call, request->object->kind->name,
        request->object, "the memory of its OVERLAPPED %p %s before %s had ended",
        (const void *)request->overlapped, how, call ? request->call : "it");
}

/* Only a Notify ends with ND_BUFFER_OVERFLOW: results were lost. */
static void check_status_locked(const struct nd_checked *object, const char *call, HRESULT status)
{
    if (status == ND_BUFFER_OVERFLOW)
        nd_check_report_locked(ND_CHECK_OVERRUN, call, object->kind->name, object,
            "results were lost for want of room");
}

void nd_check_notified(const struct nd_check_call *call, HRESULT hr)
{
    lock_acquire(&nd_check_lock);
    check_status_locked(call->object, call->name, hr);
    lock_release(&nd_check_lock);
    if (hr != ND_BUFFER_OVERFLOW) /* else the greater loss is told */
        nd_check_room(call);
}

void nd_check_room(const struct nd_check_call *call)
{
    struct nd_checked *object = call->object;

    if (!object->kind->passed(object->inner))
        return;
    lock_acquire(&nd_check_lock);
    if (!object->passed) {
        object->passed = true;
        nd_check_report_locked(ND_CHECK_OVERRUN, call->name, object->kind->name, object,
            "more results waited than it was made for; it has room for them, others may not");
    }
    lock_release(&nd_check_lock);
}

static void note_end_locked(struct request *request)
{
    list_del(&request->link);
    if (--request->pending) {
        add_pending_locked(request);
        return;
    }
    list_add_tail(&all.ended, &request->link);
    if (++all.ended_count > ND_CHECK_ENDED_MOST) {
        forget_locked(list_entry(all.ended.n.next, struct request, link));
        all.ended_count--;
    }
}

bool nd_check_request_ends(const OVERLAPPED *overlapped, HRESULT status)
{
    struct request *request;
    bool there = true;

    lock_acquire(&nd_check_lock);
    if ((request = find_locked(overlapped)) && request->pending) {
        if (!(there = is_there(overlapped)))
            report_gone_locked(request, NULL, "was given back");
        else
            check_unchanged_locked(request, NULL);
        check_status_locked(request->object, request->call, status);
        nd_check_owes_locked(request->object, request->call, status);
        note_end_locked(request);
    }
    lock_release(&nd_check_lock);
    return there;
}

void nd_check_result_of(const struct nd_check_call *call, const OVERLAPPED *overlapped)
{
    struct request *request;

    if (!overlapped)
        return;
    lock_acquire(&nd_check_lock);
    if ((request = find_locked(overlapped)) && request->pending)
        check_unchanged_locked(request, call->name);
    lock_release(&nd_check_lock);
}

void nd_check_frames_locked(const struct nd_check_call *call)
{
    /* A fiber has a stack of its own: the functions on the thread's stack have not returned. */
    if (list_empty(&all.stacked) || !is_on_stack(call->frame))
        return;
    list_for_each (&all.stacked, node) {
        struct request *request = list_entry(node, struct request, link);

        if (request->on_stack && !request->told && pthread_equal(request->thread, call->thread) &&
            (const char *)request->overlapped < call->frame)
            report_gone_locked(request, call->name, "was on the stack of a function that returned");
    }
}

void nd_check_forget_requests_locked(struct nd_checked *checked)
{
    while (!list_empty(&checked->requests)) {
        struct request *request = list_entry(checked->requests.n.next, struct request, of_object);

        all.ended_count -= request->pending == 0;
        forget_locked(request);
    }
}
