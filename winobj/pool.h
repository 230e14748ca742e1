/* SPDX-License-Identifier: MIT */
/* pool.h - the pool's bindings, for callbacks that no file's request ends. */
#ifndef WINOBJ_POOL_H
#define WINOBJ_POOL_H

#include <windows.h>

#include <stdbool.h>

/*
 * A binding without a file, with one of the two callbacks; NULL with ERROR_NOT_ENOUGH_MEMORY. CloseThreadpoolIo frees
 * it.
 */
PTP_IO win_pool_open(PTP_WIN32_IO_CALLBACK callback, PTP_WORK_CALLBACK work, PVOID context);

/* One call of it, with that for an OVERLAPPED. False with ERROR_NOT_ENOUGH_MEMORY. */
bool win_pool_post(PTP_IO io, PVOID overlapped);

#endif
