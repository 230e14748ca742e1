/* SPDX-License-Identifier: MIT */
/* Forwarder: socket addresses, names of hosts, Winsock functions, and the Windows base. */
#include <wincompat/addrinfo.h>
