/* SPDX-License-Identifier: MIT */
/* Forwarder: the Windows base. */
#include <wincompat/base.h>
