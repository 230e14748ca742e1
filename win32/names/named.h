/* SPDX-License-Identifier: MIT */
/* named.h - events, mutexes and semaphores with names, out of the parcels that other processes send. */
#ifndef WIN32_NAMES_NAMED_H
#define WIN32_NAMES_NAMED_H

#include "winobj/handles/parcel.h"
#include "win32/names/names.h"

/* What the parcel of such an object says of it; the kind is not checked. */
struct names_new win_named_carried(const struct win_parcel *parcel);

/* The object of a parcel that is sound; NULL with the last error. */
HANDLE win_named_receive(const struct win_parcel *parcel);

#endif
