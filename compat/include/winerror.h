/* SPDX-License-Identifier: MIT */
/* Forwarder: error codes. */
#include <wincompat/error.h>
