/* SPDX-License-Identifier: MIT */
/* ws2ipdef.h - under the name that drivers include: what ndkwdm.h has of it, and the Windows-named one. */
#include <ndkwdm.h>

#ifdef NDK_WINDOWS_H
#include_next <ws2ipdef.h>
#endif
