/* SPDX-License-Identifier: MIT */
/* ws2ipdef.h - socket addresses, and the Windows base. */
#ifndef _WS2IPDEF_ /* Windows' own name: headers ask for it */
#define _WS2IPDEF_

#include <wincompat/socket.h>

#endif
