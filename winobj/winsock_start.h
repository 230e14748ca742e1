/* SPDX-License-Identifier: MIT */
/* winsock_start.h - the start of Winsock (provider.h); win32/sockets/winsock.c registers what does it. */
#ifndef WINOBJ_WINSOCK_START_H
#define WINOBJ_WINSOCK_START_H

#include <windows.h>

#include "winobj/exported.h"

/* Sets what win_winsock_start and win_winsock_stop call, once, when libndwin32 is loaded. They do nothing before. */
void win_winsock_register(DWORD (*start)(void), void (*stop)(void));

#endif
