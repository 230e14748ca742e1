/* SPDX-License-Identifier: MIT */
/* After this header DEFINE_GUID defines. */
#ifndef INITGUID
#define INITGUID
#endif
#include <wincompat/guid.h>
