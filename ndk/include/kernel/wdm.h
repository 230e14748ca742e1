/* SPDX-License-Identifier: MIT */
/*
 * wdm.h - under the name that drivers include: the kernel primitives, as far as ndkwdm.h has them, and as in Windows'
 * wdm.h all annotations, those of the first kind (__in, __out) and of drivers (__drv_...) among them.
 */
#include <ndkwdm.h>
#include <wincompat/sal_drivers.h>

/* Behind __in and __out the C++ library compiles only by way of the headers that are beside windows.h. */
#if !defined(__cplusplus) || defined(NDK_WINDOWS_H)
#include <wincompat/sal1.h>
#endif
