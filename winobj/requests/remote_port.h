/* SPDX-License-Identifier: MIT */
/*
 * remote_port.h - a completion port of another process: packets can be posted there, and its handle duplicated. It is
 * the writing end of that port's inlet (inlet.h).
 */
#ifndef WINOBJ_REMOTE_PORT_H
#define WINOBJ_REMOTE_PORT_H

#include "winobj/exported.h"
#include "winobj/handles/handle.h"

struct win_remote_port;

/*
 * win_port_carry  writes the parcel of a port
 * writer  in: the writing end, taken over; owner, port: of the process that has it, and the port's name there
 */
void win_port_carry(struct win_parcel *parcel, int writer, DWORD owner, HANDLE port);

/* Whether the descriptor of a parcel is a writing end that does not block. */
bool win_remote_port_is_sound(const struct win_parcel *parcel);

/*
 * win_port_receive - the handle of a parcel's port: of the port itself where this process has it, else of a remote one.
 * Takes the descriptor over, also on failure. NULL with the last error ERROR_NOT_ENOUGH_MEMORY, or
 * ERROR_INVALID_HANDLE (the port's last handle here has been closed).
 */
HANDLE win_port_receive(const struct win_parcel *parcel);

/*
 * A call that takes this process's ports alone was given handle, which is none: sets ERROR_INVALID_HANDLE, or, of a
 * port of another process, ERROR_NOT_SUPPORTED, and logs it.
 */
void win_remote_port_refuse(HANDLE handle, const char *call);

/*
 * win_remote_port_post - posts to a handle's port.
 * Returns a Win32 error: ERROR_INVALID_HANDLE (no such handle; or the port is closed, or its process has ended),
 * ERROR_NO_SYSTEM_RESOURCES: the process is stopped, and the pipe is full; logged. Waits for room; no lock held.
 */
DWORD win_remote_port_post(HANDLE handle, DWORD bytes, ULONG_PTR key, const OVERLAPPED *overlapped);

#endif
