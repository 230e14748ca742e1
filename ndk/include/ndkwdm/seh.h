/* SPDX-License-Identifier: MIT */
/*
 * seh.h - __try, __except, __finally and __leave, a part of ndkwdm.h. No function of ndkwdm.h raises an exception, so
 * an __except block never runs; a fault of the processor ends the program. A __finally block runs when the end of its
 * __try block is reached or __leave leaves it; the program ends where return, goto, break or continue would leave it.
 */
#ifndef NDKWDM_SEH_H
#define NDKWDM_SEH_H

#include <ndkwdm/level.h>

#ifdef NDK_WINDOWS_H
#include <wincompat/seh.h>
#else
#define WINCOMPAT_TRY_FAILS(file, line)                                                            \
    NdkwdmAssertFailed("__try is left by its end or by __leave", file, line)
#include <wincompat/seh_blocks.h>
#endif

#endif
