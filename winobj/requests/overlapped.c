/* SPDX-License-Identifier: MIT */
/*
 * overlapped.c - the life of one overlapped request: start, completion, result. The contract is in
 * docs/internals/completion.md; provider.h says what each function promises.
 */
#include "winobj/provider.h"

#include "winobj/waits/dispatch.h"
#include "winobj/requests/complete.h"
#include "winobj/requests/file.h"
#include "winobj/requests/routine.h"
#include "winobj/fork.h"
#include "winobj/status.h"
#include "winobj/waits/alert.h"
#include "winobj/waits/waiter.h"

#define STATUS_IS_PENDING 0x103

/* A thread in win_overlapped_result; on its stack. Under results_lock. */
struct result_wait {
    struct list_node link;
    struct reactor_waiter *waiter;
    OVERLAPPED *overlapped;
    struct win_alert *alert; /* NULL if it is not alertable */
    bool done;               /* the completion has taken its last step */
};

/*
 * One list for all files, because a program may ask for a result through any object. A completion checks the count
 * first.
 */
static struct lock results_lock = LOCK_INIT(LOCK_WIN_FILE, "waits for results");
static struct list_head results = { { &results.n, &results.n } };
static atomic_uint results_count; /* pairs with Internal (both seq_cst) */

static _Atomic(ULONG_PTR) *internal_of(OVERLAPPED *overlapped)
{
    return (_Atomic(ULONG_PTR) *)&overlapped->Internal;
}

/* Atomic, since a program may give one structure to two requests, by mistake. Its count is then that of either. */
static void set_internal_high(OVERLAPPED *overlapped, ULONG_PTR bytes)
{
    atomic_store_explicit(
        (_Atomic(ULONG_PTR) *)&overlapped->InternalHigh, bytes, memory_order_relaxed);
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

    if (win_routine_is_of(overlapped))
        return NULL; /* the member is the program's own */
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
    if (enough)
        win_file_signal_locked(file, false);
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
 * Counts one request less; signals the file if it is to tell of the end. Returns its packet if wanted; then NULL only
 * in the child, if the fork interrupted the caller.
 */
static struct win_packet *end_request_locked(struct win_file *file, bool wanted, bool signals)
{
    struct list_node *node = NULL;

    if (file->requests)
        file->requests--;
    if (wanted && (node = list_pop(&file->packets)))
        file->packet_count--;
    if (signals)
        win_file_signal_locked(file, true);
    return node ? list_entry(node, struct win_packet, link) : NULL;
}

void win_overlapped_unreserve(struct win_file *file)
{
    lock_acquire(&file->lock);
    end_request_locked(file, false, true);
    lock_release(&file->lock);
}

void win_overlapped_begin(OVERLAPPED *overlapped)
{
    struct win_waitable *event;

    if ((event = event_of(overlapped))) {
        win_waitable_reset(event);
        win_object_unref(&event->object);
    }
    set_internal_high(overlapped, 0);
    atomic_store_explicit(internal_of(overlapped), STATUS_IS_PENDING, memory_order_release);
}

BOOL win_overlapped_start(struct win_file *file, OVERLAPPED *overlapped)
{
    if (!win_overlapped_reserve(file))
        return FALSE;
    win_overlapped_begin(overlapped);
    return TRUE;
}

/*
 * Wakes the threads in win_overlapped_result for this request. One that is still pending is a later request of the same
 * structure, begun as soon as Internal showed the end of this one.
 */
static void wake_results(const OVERLAPPED *overlapped)
{
    lock_acquire(&results_lock);
    list_for_each (&results, node) {
        struct result_wait *wait = list_entry(node, struct result_wait, link);
        if (wait->overlapped != overlapped || status_of(wait->overlapped) == STATUS_IS_PENDING ||
            !win_alert_claim(wait->alert))
            continue;
        wait->done = true;
        reactor_signal(wait->waiter);
    }
    lock_release(&results_lock);
}

/* Internal has been stored. The structure may be freed already: only its address is used. */
static void result_ended(const OVERLAPPED *overlapped)
{
    if (atomic_load(&results_count))
        wake_results(overlapped);
}

void win_overlapped_deliver(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes, bool wanted)
{
    struct win_port *port =
        tagged(overlapped->hEvent) ? NULL : atomic_load_explicit(&file->port, memory_order_acquire);
    struct win_waitable *event = event_of(overlapped);
    struct win_packet *packet;
    struct win_routine *routine = win_routine_take(overlapped);

    /* The lock keeps the order: a request that begins once the status is seen resets the signal after this sets it. */
    lock_acquire(&file->lock);
    set_internal_high(overlapped, bytes);
    /* seq_cst: pairs with win_overlapped_result, which counts itself before it looks at the status. */
    atomic_store(internal_of(overlapped), (ULONG_PTR)(ULONG)status);
    /* The program may free the structure now. */
    packet = end_request_locked(file, port && wanted, !event);
    lock_release(&file->lock);
    if (routine)
        win_routine_post(routine, status, bytes);
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
    result_ended(overlapped);
}

void win_overlapped_complete(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes)
{
    win_overlapped_deliver(file, overlapped, status, bytes, true);
}

void win_overlapped_fail(struct win_file *file, OVERLAPPED *overlapped, LONG status)
{
    const bool signals = !untagged(overlapped->hEvent);

    lock_acquire(&file->lock);
    atomic_store(internal_of(overlapped), (ULONG_PTR)(ULONG)status);
    end_request_locked(file, false, signals);
    lock_release(&file->lock);
    result_ended(overlapped);
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
 * Sleeps until the request has completed and its event is set; needs no event. Returns whether it was pending before
 * and has completed, or false: it had completed, the deadline has passed, or an APC came.
 */
static bool result_wait(OVERLAPPED *overlapped, struct reactor_waiter *waiter, uint64_t deadline_ns,
    struct win_alert *alert)
{
    struct result_wait wait = { .waiter = waiter, .overlapped = overlapped, .alert = alert };
    bool pending;

    lock_acquire(&results_lock);
    list_add_tail(&results, &wait.link);
    atomic_fetch_add(&results_count, 1);
    lock_release(&results_lock);
    /* Still pending after the count was raised: the completion will find this wait. */
    pending = (LONG)(ULONG)atomic_load(internal_of(overlapped)) == STATUS_IS_PENDING;
    while (pending && !result_done(&wait) && !win_alert_came(alert) &&
           win_wait_sleep(waiter, deadline_ns))
        ;
    lock_acquire(&results_lock);
    list_del(&wait.link);
    atomic_fetch_sub(&results_count, 1);
    lock_release(&results_lock);
    return pending && wait.done;
}

/*
 * Waits for the result, but not for the event: another thread may share it and take its signal. It takes the signal
 * afterwards, as a wait would.
 */
static void result_await(OVERLAPPED *overlapped, struct reactor_waiter *waiter,
    uint64_t deadline_ns, struct win_alert *alert)
{
    struct win_waitable *event = event_of(overlapped);

    if (result_wait(overlapped, waiter, deadline_ns, alert) && event)
        win_waitable_take(event);
    if (event)
        win_object_unref(&event->object);
}

LONG win_overlapped_result(struct win_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    LONG status = status_of(overlapped);
    struct reactor_waiter *waiter;

    (void)file;
    if (status != STATUS_IS_PENDING)
        return status;
    if (!wait) {
        reactor_look();
        reactor_active();
        return status_of(overlapped);
    }
    if ((waiter = win_waiter_self()))
        result_await(overlapped, waiter, REACTOR_NEVER, NULL);
    return status_of(overlapped);
}

/* Reports a request that has completed, as GetOverlappedResult does. */
static BOOL result_report(const OVERLAPPED *overlapped, LONG status, LPDWORD bytes)
{
    if (bytes)
        *bytes = (DWORD)overlapped->InternalHigh;
    if (status >= 0)
        return TRUE;
    SetLastError(win_error_from_status(status));
    return FALSE;
}

/* Whether a request that is pending can be waited for: by its event, or a file. Else ERROR_INVALID_HANDLE. */
static bool can_wait(HANDLE handle, const OVERLAPPED *overlapped)
{
    struct win_object *object;

    if (untagged(overlapped->hEvent))
        return true;
    if (!(object = win_handle_pin(handle, NULL))) {
        SetLastError(ERROR_INVALID_HANDLE);
        return false;
    }
    win_object_unref(object);
    return true;
}

/*
 * GetOverlappedResult - the result of a request of a file, pipe, socket, or file of NetworkDirect.
 * handle   looked at alone to wait for a request without an event: it may be NULL, or closed meanwhile
 * Returns  TRUE with *bytes. FALSE with ERROR_IO_INCOMPLETE (still pending, and wait is FALSE), the request's own
 *          error, ERROR_INVALID_HANDLE (it is to be waited for, and there is neither an event nor a handle), or
 *          ERROR_INVALID_PARAMETER (no overlapped).
 */
BOOL WINAPI GetOverlappedResult(HANDLE handle, LPOVERLAPPED overlapped, LPDWORD bytes, BOOL wait)
{
    LONG status;

    if (!overlapped) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (wait && status_of(overlapped) == STATUS_IS_PENDING && !can_wait(handle, overlapped))
        return FALSE;
    status = win_overlapped_result(NULL, overlapped, wait);
    if (status == STATUS_IS_PENDING) {
        SetLastError(ERROR_IO_INCOMPLETE);
        return FALSE;
    }
    return result_report(overlapped, status, bytes);
}

/* Waits for a time. Returns ERROR_SUCCESS, WAIT_TIMEOUT, WAIT_IO_COMPLETION or ERROR_NOT_ENOUGH_MEMORY. */
static DWORD result_within(OVERLAPPED *overlapped, DWORD timeout_ms, bool alertable)
{
    struct reactor_waiter *waiter = win_waiter_self();
    struct win_alert alert;
    bool came = false;

    if (!waiter)
        return ERROR_NOT_ENOUGH_MEMORY;
    if (alertable && !win_alert_begin(&alert, waiter, NULL))
        return WAIT_IO_COMPLETION;
    result_await(overlapped, waiter, win_deadline_ns(timeout_ms), alertable ? &alert : NULL);
    if (alertable)
        came = win_alert_end(&alert);
    if (came)
        return WAIT_IO_COMPLETION;
    return status_of(overlapped) == STATUS_IS_PENDING ? WAIT_TIMEOUT : ERROR_SUCCESS;
}

/*
 * GetOverlappedResultEx - GetOverlappedResult that waits up to timeout_ms (0: does not wait; INFINITE).
 * alertable  APCs of the calling thread (QueueUserAPC) end the wait and run
 * Returns    TRUE with *bytes. FALSE with an error of GetOverlappedResult (ERROR_IO_INCOMPLETE for 0 ms only), or with
 *            WAIT_TIMEOUT, WAIT_IO_COMPLETION (APCs have run), ERROR_NOT_ENOUGH_MEMORY; the request may still be
 *            pending then.
 */
BOOL WINAPI GetOverlappedResultEx(
    HANDLE handle, LPOVERLAPPED overlapped, LPDWORD bytes, DWORD timeout_ms, BOOL alertable)
{
    DWORD error = ERROR_SUCCESS;

    if (!timeout_ms || !overlapped)
        return GetOverlappedResult(handle, overlapped, bytes, FALSE);
    if (status_of(overlapped) == STATUS_IS_PENDING && !can_wait(handle, overlapped))
        return FALSE;
    if (status_of(overlapped) == STATUS_IS_PENDING)
        error = result_within(overlapped, timeout_ms, alertable);
    if (!error)
        return result_report(overlapped, status_of(overlapped), bytes);
    if (error == WAIT_IO_COMPLETION)
        win_apcs_run();
    SetLastError(error);
    return FALSE;
}

void win_results_forked(void)
{
    lock_init(&results_lock, LOCK_WIN_FILE, "waits for results");
    list_init(&results);
    atomic_store_explicit(&results_count, 0, memory_order_relaxed);
}
