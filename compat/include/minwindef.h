/* SPDX-License-Identifier: MIT */
/* Forwarder: the Windows base header. */
#include <wincompat/base.h>
