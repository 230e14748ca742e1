/* SPDX-License-Identifier: MIT */
/* psapi.h - the processes of the computer. */
#ifndef WINCOMPAT_PSAPI_H
#define WINCOMPAT_PSAPI_H

#include <wincompat/base.h>

#ifndef PSAPI_VERSION
#define PSAPI_VERSION 2
#endif

/* 1: the name of psapi.dll; 2: that of kernel32.dll */
#if PSAPI_VERSION > 1
#define EnumProcesses K32EnumProcesses
#endif

WINCOMPAT_BEGIN

WINOBJ_API BOOL WINAPI EnumProcesses(DWORD *ids, DWORD size, LPDWORD filled);

WINCOMPAT_END

#endif
