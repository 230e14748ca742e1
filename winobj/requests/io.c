/* SPDX-License-Identifier: MIT */
/* io.c - requests of I/O handles (io.h), CancelIo and CancelIoEx. */
#include "winobj/requests/io.h"

#include "winobj/requests/complete.h"
#include "winobj/status.h"

#include <ntstatus.h>

static DWORD begin(struct win_file *file, struct win_request *request,
    const struct win_request_ops *ops, OVERLAPPED *overlapped, unsigned refs)
{
    bool closed;

    if (!win_overlapped_reserve(file))
        return ERROR_NOT_ENOUGH_MEMORY;
    request->ops = ops;
    request->file = file;
    request->overlapped = overlapped;
    request->thread = GetCurrentThreadId();
    request->cancelling = false;
    atomic_init(&request->refs, refs);
    atomic_init(&request->claimed, false);
    list_node_init(&request->link);
    win_overlapped_begin(overlapped);
    lock_acquire(&file->lock);
    if (!(closed = file->closed))
        list_add_tail(&file->pending, &request->link);
    lock_release(&file->lock);
    if (closed) {
        win_overlapped_unreserve(file);
        return ERROR_INVALID_HANDLE;
    }
    win_file_ref(file);
    return ERROR_SUCCESS;
}

DWORD win_request_begin(struct win_file *file, struct win_request *request,
    const struct win_request_ops *ops, OVERLAPPED *overlapped)
{
    return begin(file, request, ops, overlapped, 1);
}

DWORD win_request_begin_held(struct win_file *file, struct win_request *request,
    const struct win_request_ops *ops, OVERLAPPED *overlapped)
{
    return begin(file, request, ops, overlapped, 2);
}

bool win_request_claim(struct win_request *request)
{
    return !atomic_exchange(&request->claimed, true);
}

void win_request_ref(struct win_request *request)
{
    atomic_fetch_add_explicit(&request->refs, 1, memory_order_relaxed);
}

void win_request_unref(struct win_request *request)
{
    struct win_file *file = request->file;

    if (atomic_fetch_sub_explicit(&request->refs, 1, memory_order_acq_rel) != 1)
        return;
    request->ops->free(request);
    win_file_unref(file);
}

static void request_unlink(struct win_request *request)
{
    lock_acquire(&request->file->lock);
    list_del(&request->link);
    lock_release(&request->file->lock);
}

void win_request_end(struct win_request *request, LONG status, ULONG_PTR bytes)
{
    request_unlink(request);
    win_overlapped_complete(request->file, request->overlapped, status, bytes);
    win_request_unref(request);
}

static bool skips_packets(struct win_file *file)
{
    return atomic_load(&file->modes) & FILE_SKIP_COMPLETION_PORT_ON_SUCCESS;
}

DWORD win_io_succeed(struct win_file *file, OVERLAPPED *overlapped, ULONG_PTR bytes)
{
    if (!win_overlapped_start(file, overlapped))
        return ERROR_NOT_ENOUGH_MEMORY;
    win_overlapped_deliver(file, overlapped, STATUS_SUCCESS, bytes, !skips_packets(file));
    return ERROR_SUCCESS;
}

DWORD win_request_end_at_once(struct win_request *request, LONG status, ULONG_PTR bytes)
{
    request_unlink(request);
    if (status < 0)
        win_overlapped_fail(request->file, request->overlapped, status);
    else
        win_overlapped_deliver(
            request->file, request->overlapped, status, bytes, !skips_packets(request->file));
    win_request_unref(request);
    return win_error_from_status(status);
}

/* The first pending request that the cancel concerns and has not visited yet, referenced; NULL: none. */
static struct win_request *request_next(
    struct win_file *file, const OVERLAPPED *overlapped, DWORD thread, bool *found)
{
    struct win_request *next = NULL;

    lock_acquire(&file->lock);
    list_for_each (&file->pending, node) {
        struct win_request *request = list_entry(node, struct win_request, link);

        if ((overlapped && request->overlapped != overlapped) ||
            (thread && request->thread != thread))
            continue;
        *found = true;
        if (atomic_exchange(&request->cancelling, true))
            continue;
        win_request_ref(request);
        next = request;
        break;
    }
    lock_release(&file->lock);
    return next;
}

bool win_requests_cancel(struct win_file *file, const OVERLAPPED *overlapped, DWORD thread)
{
    struct win_request *request;
    bool found = false;

    while ((request = request_next(file, overlapped, thread, &found))) {
        request->ops->cancel(request);
        win_request_unref(request);
    }
    return found;
}

/* The file of a handle whose requests can be cancelled, referenced; NULL with the last error. */
static struct win_file *cancellable(HANDLE handle)
{
    struct win_file *file = win_file_pin(handle);

    if (!file) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    if (file->ops && file->ops->io)
        return file;
    win_file_unref(file);
    SetLastError(ERROR_NOT_SUPPORTED);
    return NULL;
}

/*
 * CancelIoEx - cancels requests of a file, pipe or socket, whichever thread began them. They complete with
 * ERROR_OPERATION_ABORTED; one that ends at the same time keeps its own result.
 * overlapped  of the request, or NULL: all requests of the handle's object
 * Returns     FALSE with ERROR_NOT_FOUND (none is pending), ERROR_INVALID_HANDLE, ERROR_NOT_SUPPORTED (a file of
 *             NetworkDirect: its objects have CancelOverlappedRequests).
 */
BOOL WINAPI CancelIoEx(HANDLE handle, LPOVERLAPPED overlapped)
{
    struct win_file *file = cancellable(handle);
    bool found;

    if (!file)
        return FALSE;
    found = win_requests_cancel(file, overlapped, 0);
    win_file_unref(file);
    if (!found)
        SetLastError(ERROR_NOT_FOUND);
    return found;
}

/*
 * CancelIo - cancels the requests of the handle that the calling thread began; TRUE also if there are none.
 * Returns FALSE with ERROR_INVALID_HANDLE, ERROR_NOT_SUPPORTED.
 */
BOOL WINAPI CancelIo(HANDLE handle)
{
    struct win_file *file = cancellable(handle);

    if (!file)
        return FALSE;
    win_requests_cancel(file, NULL, GetCurrentThreadId());
    win_file_unref(file);
    return TRUE;
}
