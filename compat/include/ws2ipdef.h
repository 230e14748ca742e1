/* SPDX-License-Identifier: MIT */
/* Forwarder: socket addresses, and the Windows base. */
#include <wincompat/socket.h>
