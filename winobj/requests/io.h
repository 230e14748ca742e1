/* SPDX-License-Identifier: MIT */
/*
 * io.h - I/O handles and the requests on them: what files, pipes and sockets have in common.
 *
 * An I/O handle is a win_file whose win_file_ops have io. Each kind does its transfers itself. It embeds a win_request
 * in its own record of a request: that is how CancelIo, CancelIoEx and the close of the last handle find the request.
 *
 * A request ends once: the completed transfer or the cancel that claims it first ends it. The record is counted: the
 * operation holds one reference (win_request_end drops it), and a cancel another one meanwhile.
 *
 * Threads: any. LOCK_WIN_FILE of the file guards its list; a kind may hold locks below it.
 */
#ifndef WINOBJ_IO_H
#define WINOBJ_IO_H

#include "winobj/exported.h"
#include "winobj/requests/file.h"

#include <stdatomic.h>

/* What PeekNamedPipe asks for. */
struct win_peek {
    void *buffer; /* the program's */
    DWORD bytes;  /* room */
    DWORD got, total,
        left; /* out: copied; there to be read; of this message besides what was copied */
};

/* What a kind of I/O handles does; win_file_room is the kind's own part of a file. */
struct win_io_ops {
    /*
     * A transfer. overlapped may be NULL. Returns a Win32 error: ERROR_SUCCESS with *done in octets; ERROR_IO_PENDING:
     * a request has begun, and completes. NULL: ERROR_INVALID_FUNCTION.
     */
    DWORD(*read)
    (struct win_file *file, void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped);
    DWORD(*write)
    (struct win_file *file, const void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped);
    /* FlushFileBuffers, PeekNamedPipe: a Win32 error. GetFileType: FILE_TYPE_*. NULL: ERROR_INVALID_HANDLE. */
    DWORD (*flush)(struct win_file *file);
    DWORD (*peek)(struct win_file *file, struct win_peek *peek);
    DWORD (*type)(struct win_file *file);
    /* A new descriptor above the standard ones, for another process to read and write; -1 with errno; ENOTSUP: none. */
    int (*descriptor)(struct win_file *file);
    /* CloseHandle closed the last handle; pending requests have been cancelled. May be NULL. */
    void (*closed)(struct win_file *file);
    /* The last reference was dropped. */
    void (*destroy)(struct win_file *file);
    /* Called in the child of a fork: forgets the parent's requests and threads. May be NULL. */
    void (*forked)(struct win_file *file);
    /* Writes what a new process needs to have the file (handle.h). A Win32 error. NULL: it cannot be inherited. */
    DWORD (*carry)(struct win_file *file, struct win_parcel *parcel);
};

struct win_request;

struct win_request_ops {
    /*
     * Ends the request with STATUS_CANCELLED if it can still be: claims it, then win_request_end. Does nothing to one
     * that is claimed, or can no longer be stopped. No lock held.
     */
    void (*cancel)(struct win_request *request);
    /* The last reference was dropped. */
    void (*free)(struct win_request *request);
};

struct win_request {
    const struct win_request_ops *ops;
    struct win_file *file;  /* referenced */
    struct list_node link;  /* file->pending, while it is pending */
    OVERLAPPED *overlapped; /* the program's, until the end */
    DWORD thread;           /* the thread that began it */
    atomic_uint refs;
    atomic_bool claimed;
    atomic_bool cancelling; /* a cancel has visited it: a kind that then would queue it ends it */
};

/*
 * win_request_begin - a request starts: Internal is STATUS_PENDING, the event is reset, a packet is reserved.
 * request  with the memory of its kind's record; belongs to its references on success
 * Returns  ERROR_SUCCESS; ERROR_NOT_ENOUGH_MEMORY, ERROR_INVALID_HANDLE (the last handle is closed): nothing has begun.
 */
DWORD win_request_begin(struct win_file *file, struct win_request *request,
    const struct win_request_ops *ops, OVERLAPPED *overlapped);
/*
 * win_request_begin_held - win_request_begin with a second reference, which the caller drops: another thread may cancel
 * and end the request before this returns.
 */
DWORD win_request_begin_held(struct win_file *file, struct win_request *request,
    const struct win_request_ops *ops, OVERLAPPED *overlapped);

/* Whether the caller is the one that ends the request: true once. */
bool win_request_claim(struct win_request *request);

/*
 * Each of these ends a claimed request and drops the operation's reference. Locks: none of LOCK_WIN_FILE and above.
 *
 * win_request_end          after the call returned ERROR_IO_PENDING, or is going to
 * win_request_end_at_once  inside the call, which returns what this does: the Win32 error of status. An error makes
 *                          neither packet nor event; a success no packet if the program has set
 *                          FILE_SKIP_COMPLETION_PORT_ON_SUCCESS
 */
void win_request_end(struct win_request *request, LONG status, ULONG_PTR bytes);
DWORD win_request_end_at_once(struct win_request *request, LONG status, ULONG_PTR bytes);

/* A call that needed no request has succeeded: ends it as win_request_end_at_once does. ERROR_NOT_ENOUGH_MEMORY. */
DWORD win_io_succeed(struct win_file *file, OVERLAPPED *overlapped, ULONG_PTR bytes);

void win_request_ref(struct win_request *request);
void win_request_unref(struct win_request *request);

/*
 * win_requests_cancel - cancels pending requests of an I/O handle.
 * overlapped  of one request, or NULL: all
 * thread      that began them, or 0: any
 * Returns     whether any was pending. Requests that could not be cancelled any more count, too.
 */
bool win_requests_cancel(struct win_file *file, const OVERLAPPED *overlapped, DWORD thread);

#endif
