/* SPDX-License-Identifier: MIT */
/* work.h - what this process does for another one's DuplicateHandle. */
#ifndef WIN32_PARCELS_WORK_H
#define WIN32_PARCELS_WORK_H

#include "win32/parcels/message.h"

#include "winobj/handles/handle.h"

struct parcel_work {
    struct parcel_answer answer;
    int fd;                  /* the caller sends it with the answer, then closes it; -1: none */
    struct win_object *kept; /* referenced, until the other process has opened it; NULL: none */
};

/*
 * parcel_work_do - does what a request asks.
 * work     out: with the answer
 * request  in: not trusted; its parcel.fd is the descriptor that came with it, which this takes over, or -1
 * error    in: a Win32 error that prevents it, or ERROR_SUCCESS; closes what the request asks to close even so
 */
void parcel_work_do(struct parcel_work *work, const struct parcel_request *request, DWORD error);

/* The answer did not arrive: what was made is closed. */
void parcel_work_undo(struct parcel_work *work);

/*
 * parcel_copy - another handle of what a handle of this process names; GetCurrentProcess() becomes a handle of it.
 * NULL with the last error: ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY, or of OpenProcess.
 */
HANDLE parcel_copy(HANDLE handle);

/* Gives a new handle of this process its flag, or closes it if it cannot have it. A Win32 error. */
DWORD parcel_inherit(HANDLE handle, bool inherit);

#endif
