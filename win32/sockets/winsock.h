/* SPDX-License-Identifier: MIT */
/* winsock.h - what the Winsock functions share. */
#ifndef WIN32_SOCKETS_WINSOCK_H
#define WIN32_SOCKETS_WINSOCK_H

#include <windows.h>

#include <stdbool.h>

/* Whether the program has called WSAStartup; if not, sets WSANOTINITIALISED. */
bool win_winsock_started(void);

/* The Winsock error for one of Linux' socket calls; 0 for an error that no socket call returns. */
int win_winsock_error_of(int error);
/* Set the error of a Winsock function, the second one from errno. Return SOCKET_ERROR. */
int win_winsock_fail(DWORD error);
int win_winsock_fail_errno(void);
/* Sets the error for the errno of a call that was to send or receive. Returns SOCKET_ERROR. */
int win_winsock_fail_transfer(int fd, int error);

#endif
