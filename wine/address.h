/* SPDX-License-Identifier: MIT */
/* address.h - translates socket addresses: the layouts are the same, but AF_INET6 is 23 for Windows and 10 here. */
#ifndef WINE_ADDRESS_H
#define WINE_ADDRESS_H

#include "ndspi/core/base.h"

#include <sys/socket.h>

/*
 * nd_wine_address_in - translates a program's address for the native library.
 * address  in: may be NULL or hostile; length in octets
 * copy     out: the address, translated, zero-filled
 * Returns copy, or NULL when address is. An address of another family becomes one of a family that is unknown here.
 */
const struct sockaddr *nd_wine_address_in(
    const struct sockaddr *address, size_t length, struct sockaddr_storage *copy);

/* Translates an address that a native call stored (result: ND_SUCCESS) for the program. */
void nd_wine_address_out(HRESULT result, struct sockaddr *address);
/* Translates a list of size octets in the same way; size 0: there is no list. */
void nd_wine_list_out(HRESULT result, SOCKET_ADDRESS_LIST *list, size_t size);

#endif
