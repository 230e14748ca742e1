/* SPDX-License-Identifier: MIT */
/* Forwarder: interface macros, IUnknown, IClassFactory, and the Windows base. */
#include <wincompat/base.h>
#include <wincompat/com.h>
