/* SPDX-License-Identifier: MIT */
/*
 * winternl.h - structures of the native interface (native.h), and what translates its status codes. Its other functions
 * are the kernel's own, and do not exist.
 */
#ifndef WINCOMPAT_WINTERNL_H
#define WINCOMPAT_WINTERNL_H

#include <wincompat/base.h>
#include <wincompat/native.h>

WINCOMPAT_BEGIN
/* The Win32 error of a status; ERROR_MR_MID_NOT_FOUND for one that has none. */
WINOBJ_API ULONG WINAPI RtlNtStatusToDosError(NTSTATUS status);
WINCOMPAT_END

#endif
