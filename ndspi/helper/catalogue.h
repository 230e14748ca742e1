/* SPDX-License-Identifier: MIT */
/* catalogue.h - which entries of the Winsock catalogue are NetworkDirect providers. */
#ifndef NDSPI_HELPER_CATALOGUE_H
#define NDSPI_HELPER_CATALOGUE_H

#include "ndspi/helper/helper.h"

#include <ws2spi.h>

/*
 * Returns whether an entry is a provider of NetworkDirect, and of which version: a hidden base provider of a reliable
 * message service with connect data, without a socket type; version 2 also says so with a flag of its own. Version 2 is
 * registered as 0x20000; 2, which one document names, is taken for it.
 */
bool catalogue_is_provider(const WSAPROTOCOL_INFOW *entry, enum helper_version *version);

#endif
