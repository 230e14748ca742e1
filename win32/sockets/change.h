/* SPDX-License-Identifier: MIT */
/* change.h - requests that are pending until something changes. */
#ifndef WIN32_SOCKETS_CHANGE_H
#define WIN32_SOCKETS_CHANGE_H

#include "winobj/requests/io.h"

#include <winsock2.h>

/* Has a request end at the next change of the host's addresses. A Winsock error: WSA_IO_PENDING, or the call's. */
DWORD win_address_change_begin(
    struct win_file *file, OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

#endif
