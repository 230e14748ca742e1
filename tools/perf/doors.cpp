/* SPDX-License-Identifier: MIT */
#include "doors.h"

#include <stdio.h>
#include <string.h>

#include "failure.h"

namespace ndperf
{

namespace
{

enum { PORTS = 16 }; // number of ports, free at the first address, to try at the others

bool is_taken(HRESULT hr)
{
    return hr == ND_SHARING_VIOLATION || hr == ND_ADDRESS_ALREADY_EXISTS;
}

} // namespace

std::vector<SOCKADDR_INET> first_addresses(int version)
{
    DWORD flags = version == 1 ? ND_QUERY_EXCLUDE_NDv2_ADDRESSES : ND_QUERY_EXCLUDE_NDv1_ADDRESSES;
    SIZE_T size = 0;
    std::vector<SOCKADDR_INET> firsts;

    HRESULT hr = NdQueryAddressList(flags, NULL, &size);
    if (hr != ND_BUFFER_OVERFLOW)
        check(hr, "NdQueryAddressList");
    std::vector<char> room(size + sizeof(SOCKET_ADDRESS_LIST));
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
    size = room.size();
    check(NdQueryAddressList(flags, list, &size), "NdQueryAddressList");
    for (INT i = 0; size && i < list->iAddressCount; ++i) {
        SOCKADDR_INET address;
        memset(&address, 0, sizeof(address));
        memcpy(&address, list->Address[i].lpSockaddr, (size_t)list->Address[i].iSockaddrLength);
        if (firsts.empty() || (firsts.size() == 1 && firsts[0].si_family != address.si_family))
            firsts.push_back(address);
    }
    if (firsts.empty())
        fail("no adapter for version %d here: ndinfo says why", version);
    return firsts;
}

Door::~Door()
{
    if (asks)
        adapter->end_request(pending, true);
}

Doors::Doors(int version, const std::vector<SOCKADDR_INET> &locals, USHORT port, bool any)
{
    for (int tries = 1; doors_.size() < locals.size(); ++tries) {
        USHORT same = port;
        HRESULT hr = ND_SUCCESS;

        doors_.clear();
        for (size_t i = 0; SUCCEEDED(hr) && i < locals.size(); ++i) {
            hr = open(version, locals[i], same, any);
            if (SUCCEEDED(hr))
                same = doors_.back()->adapter->listening().Ipv4.sin_port;
        }
        if (port || !is_taken(hr) || tries == PORTS)
            check(hr, "Listen");
    }
}

HRESULT Doors::open(int version, const SOCKADDR_INET &local, USHORT port, bool any)
{
    std::unique_ptr<Door> door(new Door);

    set_place(place_text(local), "");
    check(Adapter::open(version, local, door->adapter), "NdOpenAdapter");
    HRESULT hr = door->adapter->listen(port, any);
    if (SUCCEEDED(hr))
        doors_.push_back(std::move(door));
    return hr;
}

Door &Doors::wait()
{
    std::vector<HANDLE> events;

    for (size_t i = 0; i < doors_.size(); ++i) {
        Door &door = *doors_[i];
        if (!door.asks) {
            door.channel.reset(new Channel(*door.adapter));
            HRESULT hr = door.adapter->begin_request(door.channel->endpoint(), door.pending);
            if (hr != ND_PENDING) {
                check(hr, "GetConnectionRequest");
                return door;
            }
        }
        door.asks = true;
        events.push_back(door.pending.event());
    }
    DWORD which =
        WaitForMultipleObjects((DWORD)events.size(), &events[0], FALSE, INFINITE) - WAIT_OBJECT_0;
    if (which >= doors_.size())
        fail("WaitForMultipleObjects failed: error %u", (unsigned)GetLastError());
    Door &door = *doors_[which];
    door.asks = false;
    check(door.adapter->end_request(door.pending, false), "GetConnectionRequest");
    return door;
}

Refuser::Refuser(Adapter &adapter, const Greeting &greeting)
    : adapter_(adapter), greeting_(greeting), asks_(false)
{
}

Refuser::~Refuser()
{
    if (asks_)
        adapter_.end_request(pending_, true);
}

bool Refuser::has_come()
{
    if (!asks_) {
        endpoint_.reset(adapter_.create_endpoint());
        HRESULT hr = adapter_.begin_request(*endpoint_, pending_);
        asks_ = hr == ND_PENDING;
        if (!asks_)
            return hr == ND_SUCCESS;
    }
    if (WaitForSingleObject(pending_.event(), 0) != WAIT_OBJECT_0)
        return false;
    asks_ = false;
    return adapter_.end_request(pending_, false) == ND_SUCCESS;
}

void Refuser::look()
{
    while (has_come()) {
        fprintf(stderr, "%s: refused %s: a measurement runs\n", program(),
            address_text(endpoint_->peer()).c_str());
        endpoint_->reject(&greeting_, sizeof(greeting_));
    }
}

} // namespace ndperf
