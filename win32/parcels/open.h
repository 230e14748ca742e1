/* SPDX-License-Identifier: MIT */
/* open.h - from a handle to a parcel (parcel.h), and from a parcel to a handle. */
#ifndef WIN32_PARCELS_OPEN_H
#define WIN32_PARCELS_OPEN_H

#include "winobj/handles/handle.h"

/*
 * win_parcel_pack - the parcel of a handle's object.
 * handle   in: also GetCurrentProcess()
 * parcel   out: with a descriptor of its own, or -1, for the caller to close
 * object   out: referenced, NULL on failure; keep it until the other process has opened it, since it may live by its
 *          name alone
 * Returns  ERROR_INVALID_HANDLE, ERROR_NOT_SUPPORTED (another process cannot have it; logged),
 *          ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY. Any thread.
 */
DWORD win_parcel_pack(HANDLE handle, struct win_parcel *parcel, struct win_object **object);

/*
 * Whether a received parcel is valid: its name ends, its numbers are those of its kind, it has a descriptor exactly if
 * the kind does, memory is as large as it says.
 */
bool win_parcel_is_sound(const struct win_parcel *parcel);

/*
 * win_parcel_open - makes the object of a sound parcel. Takes the descriptor over, also on failure. Of a socket the
 * handle is the descriptor.
 * Returns  a handle that is not inherited; NULL with the last error.
 */
HANDLE win_parcel_open(const struct win_parcel *parcel);

#endif
