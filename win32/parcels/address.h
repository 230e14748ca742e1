/* SPDX-License-Identifier: MIT */
/*
 * address.h - where a process takes requests of DuplicateHandle: a socket in the user's directory (names.h), which no
 * other user can look into, "handles.NAMESPACE.PROCESS", since process numbers mean nothing in another namespace. With
 * another C library than glibc NAMESPACE has that library behind it, as objects with names have: these are not shared.
 *
 * Process numbers are reused, so the asking process holds a pidfd, and checks the listener (SO_PEERCRED).
 */
#ifndef WIN32_PARCELS_ADDRESS_H
#define WIN32_PARCELS_ADDRESS_H

#include <stdbool.h>
#include <sys/un.h>

/* Makes the socket of the calling process, and removes those that killed processes left. -1 with errno. */
int parcel_listen(void);

/* Removes it. */
void parcel_listen_end(void);

/* The address of a process. False with errno: there is no directory. */
bool parcel_address(unsigned process, struct sockaddr_un *address);

#endif
