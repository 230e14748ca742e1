// SPDX-License-Identifier: MIT
// verbs_versions.h - what the two implementations of verbs.h share, and how each is reached.
#ifndef NDMPI_VERBS_VERSIONS_H
#define NDMPI_VERBS_VERSIONS_H

#include "verbs.h"

namespace ndmpi
{

Adapter *open_v2(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints);
Adapter *open_v1(Executive &executive, const SOCKADDR_INET &address, ULONG endpoints);

// An OVERLAPPED that sets an event when it ends, and queues no packet to the file's port.
OVERLAPPED tagged_overlapped(HANDLE event);
HANDLE open_event();
// Ends the program if the adapter has no completion queue for so many endpoints.
void check_depth(const SOCKADDR_INET &address, size_t deepest, ULONG endpoints);
// Host order to network order and back.
UINT64 swap64(UINT64 value);

} // namespace ndmpi
#endif
