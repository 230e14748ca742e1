/* SPDX-License-Identifier: MIT */
/*
 * provider.h - what a provider of overlapped operations uses of winobj. Internal: programs never see it; libndspi does.
 *
 * File objects (the handles overlapped requests run on), the completion of a request, the start of Winsock. A device
 * that waiting threads have to drive is a source of the reactor (reactor/reactor.h).
 *
 * docs/internals/completion.md has the contract of an OVERLAPPED; this file implements it.
 */
#ifndef WINOBJ_PROVIDER_H
#define WINOBJ_PROVIDER_H

#include <windows.h>

#include <stdbool.h>

#include "winobj/exported.h"

#ifdef __cplusplus
extern "C" {
#endif

struct win_file;
struct win_io_ops;

/* The memory of a provider in a file, and what it does when the program has closed the file's last handle. */
struct win_file_ops {
    size_t room;              /* octets, aligned as malloc's */
    void (*init)(void *room); /* called before the handle is opened; the room is zeroed */
    /* called once, without a lock, by the thread that closes the last handle; not in the child of a fork */
    void (*closed)(void *room);
    const struct win_io_ops
        *io; /* winobj's own I/O handles (requests/io.h); then the two calls may be NULL */
};

/*
 * win_file_create - a new overlapped file handle.
 * owner  cookie of the adapter it belongs to
 * ops    NULL: no memory, and no call when the handle is closed
 * Returns ERROR_SUCCESS, ERROR_NOT_ENOUGH_MEMORY or ERROR_NO_SYSTEM_RESOURCES. The handle is closed with CloseHandle;
 * the object lives on while pinned.
 */
WINOBJ_API DWORD win_file_create(const void *owner, const struct win_file_ops *ops, HANDLE *handle);
/* The provider's room. */
WINOBJ_API void *win_file_room(struct win_file *file);
/* Pins the file behind a handle; NULL when the handle is not open, no file's, or another owner's. */
WINOBJ_API struct win_file *win_file_get(HANDLE handle, const void *owner);
WINOBJ_API struct win_file *win_file_ref(struct win_file *file);
WINOBJ_API void win_file_unref(struct win_file *file);

/*
 * Begins a request: reserves a packet, so that the completion cannot fail (FALSE: no memory, and nothing has begun),
 * then sets Internal = STATUS_PENDING and InternalHigh = 0 and resets its event (hEvent less bit 0). A caller that must
 * do something irreversible in between takes two steps: reserve, then begin or unreserve.
 */
WINOBJ_API BOOL win_overlapped_start(struct win_file *file, OVERLAPPED *overlapped);
WINOBJ_API BOOL win_overlapped_reserve(struct win_file *file);
WINOBJ_API void win_overlapped_unreserve(struct win_file *file);
WINOBJ_API void win_overlapped_begin(OVERLAPPED *overlapped);

/*
 * Ends a request, exactly once: reads hEvent and the file's port, stores InternalHigh, then Internal with release order
 * (from here on the caller may reuse the structure), then sets the event, then posts the packet unless bit 0 of hEvent
 * is set or no port is attached, then wakes waiters of win_overlapped_result.
 * Never blocks; takes only winobj's leaf locks.
 */
WINOBJ_API void win_overlapped_complete(
    struct win_file *file, OVERLAPPED *overlapped, LONG status, ULONG_PTR bytes);

/*
 * The status of a request: (LONG)Internal; STATUS_PENDING while it is pending and wait is FALSE (it runs sources once
 * before it returns that). With wait TRUE: waits until it has ended, driving the reactor like any other wait; needs no
 * event, and does not consume an auto-reset event's signal once Internal is final; when it did have to wait on an
 * auto-reset event, the signal is consumed.
 */
WINOBJ_API LONG win_overlapped_result(struct win_file *file, OVERLAPPED *overlapped, BOOL wait);

/*
 * One WSAStartup, one WSACleanup, in a program that has Winsock; in another one nothing. win_winsock_start returns
 * ERROR_SUCCESS or an error of WSAStartup. Any thread.
 */
WINOBJ_API DWORD win_winsock_start(void);
WINOBJ_API void win_winsock_stop(void);

#ifdef __cplusplus
}
#endif
#endif
