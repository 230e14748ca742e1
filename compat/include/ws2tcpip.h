/* SPDX-License-Identifier: MIT */
/* Forwarder: socket addresses, names of hosts, Winsock functions, and the Windows base. */
#include <ws2ipdef.h>

#include <wincompat/addrinfo.h>
