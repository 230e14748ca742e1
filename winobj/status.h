/* SPDX-License-Identifier: MIT */
/* status.h - NTSTATUS to Win32 error. */
#ifndef WINOBJ_STATUS_H
#define WINOBJ_STATUS_H

#include <windows.h>

#include "winobj/exported.h"

/*
 * win_error_from_status - the Win32 error that Windows has for a status (RtlNtStatusToDosError). A status without a
 * row: ERROR_MR_MID_NOT_FOUND.
 */
DWORD win_error_from_status(LONG status);

#endif
