/* SPDX-License-Identifier: MIT */
/* initguid.h - DEFINE_GUID defines after this header. */
#ifndef INITGUID
#define INITGUID
#endif
#include <wincompat/guid.h>
