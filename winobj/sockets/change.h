/* SPDX-License-Identifier: MIT */
/* change.h - requests that are pending until something changes. */
#ifndef WINOBJ_CHANGE_H
#define WINOBJ_CHANGE_H

#include "winobj/requests/io.h"

/* Has a request end at the next change of the host's addresses. ERROR_IO_PENDING, or the error of the call. */
DWORD win_address_change_begin(struct win_file *file, OVERLAPPED *overlapped);

#endif
