/* SPDX-License-Identifier: MIT */
/* Forwarder: socket addresses, Winsock functions, and the Windows base. */
#include <wincompat/winsock.h>
