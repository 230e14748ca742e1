/* SPDX-License-Identifier: MIT */
/* catalogue.c - the entries of the Winsock catalogue (catalogue.h); their wide form is in text/wide_catalogue.c. */
#include "win32/sockets/catalogue.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROVIDER "libndspi.so.0"

const struct win_catalogue_entry win_catalogue[WIN_CATALOGUE_ENTRIES] = {
    { { 0x78c684c4, 0x5fbb, 0x4819, { 0xa5, 0x94, 0xc8, 0xba, 0xe7, 0x60, 0x4c, 0x0d } }, 0x20000 },
    { { 0x119514f9, 0x3890, 0x404d, { 0xa1, 0x2a, 0x04, 0xc1, 0xbc, 0x87, 0x40, 0xb0 } }, 1 },
};

bool win_catalogue_path(char *path, size_t room)
{
    const char *end;
    Dl_info info;
    int length;

    if (!dladdr(&win_catalogue, &info) || !(end = strrchr(info.dli_fname, '/')))
        return false;
    length = snprintf(path, room, "%.*s/" PROVIDER, (int)(end - info.dli_fname), info.dli_fname);
    return length > 0 && (size_t)length < room && !access(path, R_OK);
}
