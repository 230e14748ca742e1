/* SPDX-License-Identifier: MIT */
/* Forwarder: the Windows base header, with the annotations ported code uses. */
#include <wincompat/base.h>
#include <wincompat/sal1.h>
