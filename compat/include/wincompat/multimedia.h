/* SPDX-License-Identifier: MIT */
/* multimedia.h - the multimedia clock. */
#ifndef WINCOMPAT_MULTIMEDIA_H
#define WINCOMPAT_MULTIMEDIA_H

#include <wincompat/error.h>

WINCOMPAT_BEGIN

typedef UINT MMRESULT;
#define TIMERR_BASE    96
#define TIMERR_NOERROR 0
#define TIMERR_NOCANDO (TIMERR_BASE + 1)

WINOBJ_API DWORD WINAPI timeGetTime(void);
WINOBJ_API MMRESULT WINAPI timeBeginPeriod(UINT period_ms);
WINOBJ_API MMRESULT WINAPI timeEndPeriod(UINT period_ms);

WINCOMPAT_END

#endif
