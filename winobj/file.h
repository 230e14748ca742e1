/* SPDX-License-Identifier: MIT */
/* file.h - the overlapped file object, as ports and overlapped.c see it; providers see provider.h. */
#ifndef WINOBJ_FILE_H
#define WINOBJ_FILE_H

#include "winobj/handle.h"
#include "winobj/port.h"

#include "util/lock.h"

struct win_file {
    struct win_object object;
    const void *owner;
    struct lock lock;                /* LOCK_WIN_FILE; guards key, reserve, results */
    _Atomic(struct win_port *) port; /* set at most once, referenced; key is stored before it (release) */
    ULONG_PTR key;
    atomic_uchar modes;        /* FILE_SKIP_* */
    struct list_head reserve;  /* packets for requests under way */
    struct list_head results;  /* threads in win_overlapped_result; pairs with waiting (seq_cst) */
    atomic_uint waiting;       /* how many */
};

extern const struct win_object_type win_file_type;

/* Attaches a file to a port. Returns ERROR_SUCCESS or ERROR_INVALID_PARAMETER (no file, attached already). */
DWORD win_file_attach(HANDLE file, struct win_port *port, ULONG_PTR key);

#endif
