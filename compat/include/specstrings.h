/* SPDX-License-Identifier: MIT */
/* Forwarder: source annotations of both kinds. */
#include <wincompat/sal.h>
#include <wincompat/sal1.h>
