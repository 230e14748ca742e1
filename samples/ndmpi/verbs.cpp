// SPDX-License-Identifier: MIT
// verbs.cpp - see verbs.h and verbs_versions.h.
#include "verbs_versions.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

Adapter *Adapter::open(
    int version, Executive &executive, const SOCKADDR_INET &address, ULONG endpoints)
{
    return version == 1 ? open_v1(executive, address, endpoints)
                        : open_v2(executive, address, endpoints);
}

OVERLAPPED tagged_overlapped(HANDLE event)
{
    OVERLAPPED overlapped;
    memset(&overlapped, 0, sizeof(overlapped));
    overlapped.hEvent = (HANDLE)((ULONG_PTR)event | 1);
    return overlapped;
}

HANDLE open_event()
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!event)
        fail("CreateEvent failed: error %u", (unsigned)GetLastError());
    return event;
}

void check_depth(const SOCKADDR_INET &address, size_t deepest, ULONG endpoints)
{
    if (deepest / RESULTS < endpoints)
        fail("the completion queues of adapter %s are too short: at most %u ranks",
            ip_text(address).c_str(), (unsigned)(deepest / RESULTS));
}

UINT64 swap64(UINT64 value)
{
    return (UINT64)htonl((UINT32)value) << 32 | htonl((UINT32)(value >> 32));
}

} // namespace ndmpi
