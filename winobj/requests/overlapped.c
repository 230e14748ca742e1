/* SPDX-License-Identifier: MIT */
/*
 * overlapped.c - the life of one overlapped request: start, completion, result. The contract is in
 * docs/internals/completion.md; provider.h says what each function promises.
 */
#include "winobj/provider.h"

#include "winobj/waits/dispatch.h"
#include "winobj/requests/file.h"
#include "winobj/fork.h"
#include "winobj/status.h"
#include "winobj/waits/waiter.h"

#define STATUS_IS_PENDING 0x103

/* A thread in win_overlapped_result; on its stack. Under results_lock. */
struct result_wait {
    struct list_node link;
    struct reactor_waiter *waiter;
    const OVERLAPPED *overlapped;
    bool done; /* the completion has taken its last step */
};

/* For all files, because a program may ask for a request through any object. A completion reads the count first. */
static struct lock results_lock = LOCK_INIT(LOCK_WIN_FILE, "waits for results");
static struct list_head results = { { &results.n, &results.n } };
static atomic_uint results_count; /* pairs with Internal (both seq_cst) */

static _Atomic(ULONG_PTR) *internal_of(OVERLAPPED *overlapped)
{
    return (_Atomic(ULONG_PTR) *)&overlapped->Internal;
}

/* Reads the status alone, as programs may at any time. Acquire pairs with the release in win_overlapped_complete. */
static LONG status_of(OVERLAPPED *overlapped)
{
    return (LONG)(ULONG)atomic_load_explicit(internal_of(overlapped), memory_order_acquire);
}

static HANDLE untagged(HANDLE event)
{
    return (HANDLE)((ULONG_PTR)event & ~(ULONG_PTR)1);
}

static bool tagged(HANDLE event)
{
    return (ULONG_PTR)event & 1;
}

static struct win_waitable *event_of(const OVERLAPPED *overlapped)
{
    HANDLE event = untagged(overlapped->hEvent);

    return event ? (struct win_waitable *)win_handle_pin(event, &win_event_type) : NULL;
}

/* Counts one more request, if the file has a packet for it, or packet is one. Returns whether it did. */
static bool add_request(struct win_file *file, struct win_packet *packet)
{
    bool enough;

    lock_acquire(&file->lock);
    if (packet) {
        list_add_tail(&file->packets, &packet->link);
        file->packet_count++;
    }
    enough = file->packet_count > file->requests;
    file->requests += enough;
    lock_release(&file->lock);
    return enough;
}

BOOL win_overlapped_reserve(struct win_file *file)
{
    struct win_packet *packet;

    if (add_request(file, NULL))
        return TRUE;
    packet = win_packet_new();
    return packet && add_request(file, packet);
}

/*
 * Counts one request less. Returns its packet if wanted; then NULL only in the child, if the fork interrupted this
 * function.
 */
static struct win_packet *end_request(struct win_file *file, bool wanted)
{
    struct list_node *node = NULL;

    lock_acquire(&file->lock);
    if (file->requests)
        file->requests--;
    if (wanted && (node = list_pop(&file->packets)))
        file->packet_count--;
    lock_release(&file->lock);
    return node ? list_entry(node, struct win_packet, link) : NULL;
}

void win_overlapped_unreserve(struct win_file *file)
{
    end_request(file, false);
}

void win_overlapped_begin(OVERLAPPED *overlapped)
{
    struct win_waitable *event;

    if ((event = event_of(overlapped))) {
        win_waitable_reset(event);
        win_object_unref(&event->object);
    }
    overlapped->InternalHigh = 0;
    atomic_store_explicit(internal_of(overlapped), STATUS_IS_PENDING, memory_order_release);
}

BOOL win_overlapped_start(struct win_file *file, OVERLAPPED *overlapped)
{
    if (!win_overlapped_reserve(file))
        return FALSE;
    win_overlapped_begin(overlapped);
    return TRUE;
}

/* Wakes the threads in win_overlapped_result for this request. */
static void wake_results(const OVERLAPPED *overlapped)
{
    lock_acquire(&results_lock);
    list_for_each (&results, node) {
        struct result_wait *wait = list_entry(node, struct result_wait, link);
        if (wait->overlapped != overlapped)
            continue;
        wait->done = true;
        reactor_signal(wait->waiter);
    }
    lock_release(&results_lock);
}

void win_overlapped_complete(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes)
{
    struct win_port *port =
        tagged(overlapped->hEvent) ? NULL : atomic_load_explicit(&file->port, memory_order_acquire);
    struct win_waitable *event = event_of(overlapped);
    struct win_packet *packet = end_request(file, port);

    overlapped->InternalHigh = bytes;
    /* seq_cst: pairs with win_overlapped_result, which counts itself before it looks at the status. */
    atomic_store(internal_of(overlapped), (ULONG_PTR)(ULONG)status);
    /* From here on the program may free the structure. */
    if (event) {
        win_waitable_set(event);
        win_object_unref(&event->object);
    }
    if (packet) {
        *packet = (struct win_packet){
            .key = file->key, .overlapped = overlapped, .bytes = (DWORD)bytes, .status = status
        };
        win_port_post(port, packet);
    }
    if (atomic_load(&results_count))
        wake_results(overlapped);
}

static bool result_done(const struct result_wait *wait)
{
    bool done;

    lock_acquire(&results_lock);
    done = wait->done;
    lock_release(&results_lock);
    return done;
}

/*
 * Sleeps until the request has completed and its event is set; needs no event. False: it had completed before.
 */
static bool result_wait(OVERLAPPED *overlapped)
{
    struct result_wait wait = { .waiter = win_waiter_self(), .overlapped = overlapped };
    bool pending;

    if (!wait.waiter)
        return false;
    lock_acquire(&results_lock);
    list_add_tail(&results, &wait.link);
    atomic_fetch_add(&results_count, 1);
    lock_release(&results_lock);
    /* Still pending after the count was raised: the completion will find this wait. */
    pending = (LONG)(ULONG)atomic_load(internal_of(overlapped)) == STATUS_IS_PENDING;
    while (pending && !result_done(&wait))
        win_wait_sleep(wait.waiter, REACTOR_NEVER);
    lock_acquire(&results_lock);
    list_del(&wait.link);
    atomic_fetch_sub(&results_count, 1);
    lock_release(&results_lock);
    return pending;
}

LONG win_overlapped_result(struct win_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    LONG status = status_of(overlapped);
    struct win_waitable *event;

    (void)file;
    if (status != STATUS_IS_PENDING)
        return status;
    if (!wait) {
        reactor_look();
        reactor_active();
        return status_of(overlapped);
    }
    /*
     * It does not wait for the event: another thread may share it and take its signal. It takes the signal afterwards,
     * as a wait would.
     */
    event = event_of(overlapped);
    if (result_wait(overlapped) && event)
        win_waitable_take(event);
    if (event)
        win_object_unref(&event->object);
    return status_of(overlapped);
}

/*
 * GetOverlappedResult - the result of a request on a file of this library.
 * Returns TRUE with *bytes. FALSE with ERROR_IO_INCOMPLETE (still pending, and wait is FALSE), the request's own error,
 * or ERROR_INVALID_HANDLE.
 */
BOOL WINAPI GetOverlappedResult(HANDLE handle, LPOVERLAPPED overlapped, LPDWORD bytes, BOOL wait)
{
    struct win_file *file = (struct win_file *)win_handle_pin(handle, &win_file_type);
    LONG status;

    if (!file || !overlapped) {
        if (file)
            win_file_unref(file);
        SetLastError(file ? ERROR_INVALID_PARAMETER : ERROR_INVALID_HANDLE);
        return FALSE;
    }
    status = win_overlapped_result(file, overlapped, wait);
    win_file_unref(file);
    if (status == STATUS_IS_PENDING) {
        SetLastError(ERROR_IO_INCOMPLETE);
        return FALSE;
    }
    if (bytes)
        *bytes = (DWORD)overlapped->InternalHigh;
    if (status >= 0)
        return TRUE;
    SetLastError(win_error_from_status(status));
    return FALSE;
}

void win_results_forked(void)
{
    lock_init(&results_lock, LOCK_WIN_FILE, "waits for results");
    list_init(&results);
    atomic_store_explicit(&results_count, 0, memory_order_relaxed);
}
