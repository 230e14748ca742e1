/* SPDX-License-Identifier: MIT */
/* file.h - the overlapped file object, as ports and overlapped.c see it; providers see provider.h. */
#ifndef WINOBJ_FILE_H
#define WINOBJ_FILE_H

#include "winobj/exported.h"
#include "winobj/handles/handle.h"
#include "winobj/requests/port.h"
#include "winobj/waits/dispatch.h"
#include "winobj/provider.h"

#include "util/lock.h"

#include <stddef.h>

/*
 * A thread can wait for the file itself if ops has io. A request that begins resets the file's signal; the end of a
 * request without an event sets it. Until the first wait the signal is a member (idle), since a request takes the lock
 * that guards it anyway.
 */
struct win_file {
    struct win_waitable waitable; /* its state counts once the file is watched */
    const void *owner;
    struct lock lock; /* LOCK_WIN_FILE; guards key, packets and counts, pending, the bools */
    /* set at most once, referenced; key is stored before it (release) */
    _Atomic(struct win_port *) port;
    ULONG_PTR key;
    atomic_uchar modes;       /* FILE_SKIP_* */
    struct list_head packets; /* one for each pending request, and spare ones for reuse */
    unsigned packet_count;
    unsigned requests;              /* pending */
    struct list_head pending;       /* requests of io.h, in the order of their beginnings */
    bool closed;                    /* the last handle; with io alone. No request begins any more */
    bool idle;                      /* signalled, until it is watched */
    bool watched;                   /* a thread has waited for the file */
    const struct win_file_ops *ops; /* the provider's, of room; may be NULL */
    max_align_t room[];
};

extern const struct win_object_type win_file_type;

/*
 * win_file_new   a file without a handle, to be prepared; NULL: no memory. ops as in win_file_create
 * win_file_open  gives it its first handle, to which it belongs then; NULL with the last error
 * win_file_free  frees one that has had no handle
 */
struct win_file *win_file_new(const void *owner, const struct win_file_ops *ops);
HANDLE win_file_open(struct win_file *file);
void win_file_free(struct win_file *file);

/* Sets or resets the file's signal, unless the program has set FILE_SKIP_SET_EVENT_ON_HANDLE. The lock is held. */
static inline void win_file_signal_locked(struct win_file *file, bool signalled)
{
    if (atomic_load_explicit(&file->modes, memory_order_relaxed) & FILE_SKIP_SET_EVENT_ON_HANDLE)
        return;
    file->idle = signalled;
    if (file->watched && signalled)
        win_waitable_set(&file->waitable);
    else if (file->watched)
        win_waitable_reset(&file->waitable);
}

/* The file behind a program's handle, referenced; also that of a socket, made at its first use. NULL: none. */
struct win_file *win_file_pin(HANDLE handle);

/* Attaches a file to a port. Returns ERROR_SUCCESS, ERROR_INVALID_HANDLE (no file), ERROR_INVALID_PARAMETER (attached
 * already). */
DWORD win_file_attach(HANDLE file, struct win_port *port, ULONG_PTR key);

#endif
