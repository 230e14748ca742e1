/* SPDX-License-Identifier: MIT */
/*
 * helper.h - between the helper functions (helper.c, one for all systems) and the search for providers: native.c, where
 * the only provider is the library itself, and catalogue.c, which searches the Winsock catalogue of Windows.
 */
#ifndef NDSPI_HELPER_HELPER_H
#define NDSPI_HELPER_HELPER_H

#include <ndsupport.h>

#include <stdbool.h>

enum helper_version { HELPER_V1, HELPER_V2 };

/* Calls are counted. helper_stop returns ND_DEVICE_NOT_READY if there is no start to undo. */
HRESULT helper_start(void);
HRESULT helper_stop(void);
bool helper_started(void);

/* Unloads providers that are idle. */
void helper_flush(void);

/*
 * A provider: INDProvider or IND2Provider as version says, whose reference stays the caller's.
 * Returns true to end the search.
 */
typedef bool helper_visit(void *context, enum helper_version version, IUnknown *provider);

/*
 * Shows visit the providers of one version, one after the other. Holds no lock meanwhile.
 * Returns ND_SUCCESS, also when there is none; ND_NO_MEMORY; the first failure to get a provider, when visit did not
 * end the search.
 */
HRESULT helper_for_each_provider(enum helper_version version, helper_visit *visit, void *context);

struct sockaddr_storage;
/*
 * The local address, with port 0, from which the stack sends to remote.
 * Returns ND_SUCCESS; ND_NETWORK_UNREACHABLE, ND_HOST_UNREACHABLE, ND_NO_MEMORY, ND_UNSUCCESSFUL.
 */
HRESULT helper_route(const struct sockaddr_storage *remote, struct sockaddr_storage *local);

#endif
