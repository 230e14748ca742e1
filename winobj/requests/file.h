/* SPDX-License-Identifier: MIT */
/* file.h - the overlapped file object, as ports and overlapped.c see it; providers see provider.h. */
#ifndef WINOBJ_FILE_H
#define WINOBJ_FILE_H

#include "winobj/handles/handle.h"
#include "winobj/requests/port.h"
#include "winobj/provider.h"

#include "util/lock.h"

#include <stddef.h>

struct win_file {
    struct win_object object;
    const void *owner;
    struct lock lock; /* LOCK_WIN_FILE; guards key, packets, their counts */
    /* set at most once, referenced; key is stored before it (release) */
    _Atomic(struct win_port *) port;
    ULONG_PTR key;
    atomic_uchar modes; /* FILE_SKIP_* */
    struct list_head
        packets;           /* one for each pending request, and those of earlier ones, for reuse */
    unsigned packet_count; /* of packets */
    unsigned requests;     /* pending */
    const struct win_file_ops *ops; /* the provider's, of room; may be NULL */
    max_align_t room[];
};

extern const struct win_object_type win_file_type;

/* Attaches a file to a port. Returns ERROR_SUCCESS, ERROR_INVALID_HANDLE (no file), ERROR_INVALID_PARAMETER (attached
 * already). */
DWORD win_file_attach(HANDLE file, struct win_port *port, ULONG_PTR key);

#endif
