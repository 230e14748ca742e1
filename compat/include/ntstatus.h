/* SPDX-License-Identifier: MIT */
/* Forwarder: status codes. */
#include <wincompat/ntstatus.h>
