/* SPDX-License-Identifier: MIT */
/* mstcpip.h - under the name that drivers include: what ndkwdm.h has of it, and the Windows-named one. */
#include <ndkwdm.h>

#ifdef NDK_WINDOWS_H
#include_next <mstcpip.h>
#endif
