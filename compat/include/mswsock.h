/* SPDX-License-Identifier: MIT */
/* Forwarder: the extension functions of Winsock. */
#include <wincompat/mswsock.h>
