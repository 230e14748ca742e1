/* SPDX-License-Identifier: MIT */
/* pool.h - bindings without a file, for calls that are no end of a request (work.c). */
#ifndef WIN32_THREADS_POOL_H
#define WIN32_THREADS_POOL_H

#include "winobj/requests/port.h"

#include <windows.h>

#include <stdbool.h>

/*
 * win_pool_open - makes a binding without a file, with one of the two callbacks. NULL with ERROR_NOT_ENOUGH_MEMORY.
 * CloseThreadpoolIo frees it.
 */
PTP_IO win_pool_open(PTP_WIN32_IO_CALLBACK callback, PTP_WORK_CALLBACK work, PVOID context);

/* Has a thread of the pool call it once; overlapped is passed through. False with ERROR_NOT_ENOUGH_MEMORY. */
bool win_pool_post(PTP_IO io, PVOID overlapped);

/* win_pool_post with a packet of the caller's, which may post it again when the call has begun. Cannot fail. */
void win_pool_post_kept(PTP_IO io, struct win_packet *packet, PVOID overlapped);

#endif
