/* SPDX-License-Identifier: MIT */
#include "verbs.h"

#include <string.h>

#include "failure.h"

namespace ndperf
{

HRESULT Adapter::open(int version, const SOCKADDR_INET &local, std::unique_ptr<Adapter> &adapter)
{
    return version == 1 ? open_v1(local, adapter) : open_v2(local, adapter);
}

HRESULT Adapter::next_request(Endpoint &endpoint, HANDLE lost)
{
    Pending pending;
    HRESULT hr = begin_request(endpoint, pending);
    if (hr != ND_PENDING)
        return hr;
    return end_request(pending, await(hr, pending, lost) == ND_PENDING);
}

Pending::Pending() : event_(CreateEventW(NULL, TRUE, FALSE, NULL))
{
    if (!event_)
        fail("CreateEvent failed: error %u", (unsigned)GetLastError());
    memset(static_cast<OVERLAPPED *>(this), 0, sizeof(OVERLAPPED));
    hEvent = (HANDLE)((ULONG_PTR)event_ | 1);
}

Pending::~Pending()
{
    CloseHandle(event_);
}

void Pending::use_port()
{
    hEvent = NULL;
}

HRESULT await(HRESULT hr, Pending &pending, HANDLE lost)
{
    HANDLE events[] = { pending.event(), lost };

    if (hr != ND_PENDING)
        return hr;
    switch (WaitForMultipleObjects(lost ? 2 : 1, events, FALSE, INFINITE)) {
    case WAIT_OBJECT_0: return ND_SUCCESS;
    case WAIT_OBJECT_0 + 1: return ND_PENDING;
    default: fail("WaitForMultipleObjects failed: error %u", (unsigned)GetLastError());
    }
}

UINT64 swap64(UINT64 value)
{
    return (UINT64)htonl((UINT32)value) << 32 | htonl((UINT32)(value >> 32));
}

} // namespace ndperf
