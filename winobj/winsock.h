/* SPDX-License-Identifier: MIT */
/* winsock.h - what the Winsock functions share. */
#ifndef WINOBJ_WINSOCK_H
#define WINOBJ_WINSOCK_H

#include <stdbool.h>

/* Whether WSAStartup was called; sets WSANOTINITIALISED when not. */
bool win_winsock_started(void);

#endif
