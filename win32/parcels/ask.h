/* SPDX-License-Identifier: MIT */
/*
 * ask.h - DuplicateHandle's requests to another process (serve.h). Each waits for that process: until it is 10 s old,
 * if it may still be loading the library, and 5 s for its answer.
 *
 * All return a Win32 error: the other process's, or ERROR_ACCESS_DENIED (it has ended; another user's),
 * ERROR_NOT_SUPPORTED (it does not take requests), ERROR_TIMEOUT (it does not answer: it is stopped),
 * ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY. Logs unexpected causes. Any thread, no lock.
 */
#ifndef WIN32_PARCELS_ASK_H
#define WIN32_PARCELS_ASK_H

#include "win32/parcels/message.h"
#include "win32/process/process.h"

/* Has a handle made of a parcel, whose descriptor stays the caller's. */
DWORD parcel_ask_give(
    struct win_process *process, const struct win_parcel *parcel, bool inherit, HANDLE *made);

/*
 * Has a handle's object put into a parcel, with a descriptor for the caller to close, or -1. then_close: the handle is
 * closed, even so. keeper: out: a descriptor to be closed when the parcel has been opened.
 */
DWORD parcel_ask_take(struct win_process *process, HANDLE handle, bool then_close,
    struct win_parcel *parcel, int *keeper);

/* Has another handle made there, and the first one closed. */
DWORD parcel_ask_copy(
    struct win_process *process, HANDLE handle, bool then_close, bool inherit, HANDLE *made);

DWORD parcel_ask_close(struct win_process *process, HANDLE handle);

#endif
