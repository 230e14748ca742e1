/* SPDX-License-Identifier: MIT */
/*
 * overlapped.c - the life of one overlapped request: start, completion, result. The contract is in docs/design.md, "An
 * OVERLAPPED"; provider.h says what each function promises.
 */
#include "winobj/provider.h"

#include "winobj/dispatch.h"
#include "winobj/file.h"
#include "winobj/status.h"
#include "winobj/waiter.h"

#define STATUS_IS_PENDING 0x103

/* A thread in win_overlapped_result without an event to wait for. */
struct result_wait {
    struct list_node link;
    struct win_waiter *waiter;
    const OVERLAPPED *overlapped;
};

static _Atomic(ULONG_PTR) *internal_of(OVERLAPPED *overlapped)
{
    return (_Atomic(ULONG_PTR) *)&overlapped->Internal;
}

/* The status alone: programs may look at it at any time. Acquire pairs with the release in win_overlapped_complete. */
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

BOOL win_overlapped_start(struct win_file *file, OVERLAPPED *overlapped)
{
    struct win_packet *packet = win_packet_new();
    struct win_waitable *event;

    if (!packet)
        return FALSE;
    lock_acquire(&file->lock);
    list_add_tail(&file->reserve, &packet->link);
    lock_release(&file->lock);

    if ((event = event_of(overlapped))) {
        win_waitable_reset(event);
        win_object_unref(&event->object);
    }
    overlapped->InternalHigh = 0;
    atomic_store_explicit(internal_of(overlapped), STATUS_IS_PENDING, memory_order_release);
    return TRUE;
}

/* Wakes the threads in win_overlapped_result for this request. */
static void wake_results(struct win_file *file, const OVERLAPPED *overlapped)
{
    lock_acquire(&file->lock);
    list_for_each(&file->results, node) {
        struct result_wait *wait = list_entry(node, struct result_wait, link);
        if (wait->overlapped == overlapped)
            win_waiter_signal(wait->waiter);
    }
    lock_release(&file->lock);
}

void win_overlapped_complete(struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes)
{
    struct win_port *port = tagged(overlapped->hEvent) ? NULL : atomic_load_explicit(&file->port, memory_order_acquire);
    struct win_waitable *event = event_of(overlapped);
    struct win_packet *packet;

    lock_acquire(&file->lock);
    packet = list_entry(list_pop(&file->reserve), struct win_packet, link);
    lock_release(&file->lock);

    overlapped->InternalHigh = bytes;
    /* seq_cst: pairs with win_overlapped_result, which counts itself before it looks at the status. */
    atomic_store(internal_of(overlapped), (ULONG_PTR)(ULONG)status);
    /* From here on the structure may be gone. */
    if (event) {
        win_waitable_set(event);
        win_object_unref(&event->object);
    }
    if (port) {
        *packet = (struct win_packet){
            .key = file->key, .overlapped = overlapped, .bytes = (DWORD)bytes, .status = status };
        win_port_post(port, packet);
    } else {
        win_packet_free(packet);
    }
    if (atomic_load(&file->waiting))
        wake_results(file, overlapped);
}

/* Sleeps until the request has ended, without an event. */
static LONG result_wait(struct win_file *file, OVERLAPPED *overlapped)
{
    struct result_wait wait = { .waiter = win_waiter_self(), .overlapped = overlapped };
    LONG status;

    if (!wait.waiter)
        return STATUS_IS_PENDING;
    lock_acquire(&file->lock);
    list_add_tail(&file->results, &wait.link);
    atomic_fetch_add(&file->waiting, 1);
    lock_release(&file->lock);
    while ((status = (LONG)(ULONG)atomic_load(internal_of(overlapped))) == STATUS_IS_PENDING)
        win_wait_sleep(wait.waiter, WIN_NO_DEADLINE);
    lock_acquire(&file->lock);
    list_del(&wait.link);
    atomic_fetch_sub(&file->waiting, 1);
    lock_release(&file->lock);
    return status;
}

LONG win_overlapped_result(struct win_file *file, OVERLAPPED *overlapped, BOOL wait)
{
    LONG status = status_of(overlapped);
    struct win_waitable *event;

    if (status != STATUS_IS_PENDING)
        return status;
    if (!wait) {
        win_progress_poll();
        return status_of(overlapped);
    }
    if ((event = event_of(overlapped))) {
        /* The event is waited for first, so that an auto-reset one is consumed; it may have been set by others. */
        win_waitables_wait(&event, 1, FALSE, WIN_NO_DEADLINE);
        win_object_unref(&event->object);
        if ((status = status_of(overlapped)) != STATUS_IS_PENDING)
            return status;
    }
    return result_wait(file, overlapped);
}

/*
 * GetOverlappedResult - the result of a request on a file of this library.
 * Returns TRUE with *bytes. FALSE with ERROR_IO_INCOMPLETE (it runs, and wait is FALSE), the request's own error, or
 * ERROR_INVALID_HANDLE.
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
