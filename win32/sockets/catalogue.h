/* SPDX-License-Identifier: MIT */
/*
 * catalogue.h - what the Winsock catalogue has: the NetworkDirect provider, once for each version of the interface.
 *
 * The provider is libndspi, where it is installed beside this library.
 */
#ifndef WIN32_SOCKETS_CATALOGUE_H
#define WIN32_SOCKETS_CATALOGUE_H

#include <windows.h>

#include <stdbool.h>
#include <stddef.h>

enum { WIN_CATALOGUE_ENTRIES = 2 };

struct win_catalogue_entry {
    GUID id;
    int version;
};

extern const struct win_catalogue_entry win_catalogue[WIN_CATALOGUE_ENTRIES];

/* The path of the provider's library. False: it is not installed, and the catalogue is empty. */
bool win_catalogue_path(char *path, size_t room);

#endif
