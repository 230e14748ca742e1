// SPDX-License-Identifier: MIT
// launcher_keys.cpp - see launcher_keys.h. The user's settings are those that ndmpirun makes of its options.
#include "launcher_keys.h"

#include <stdlib.h>
#include <string.h>

#include <random>

namespace ndmpi
{

namespace
{

bool usable(const SOCKADDR_INET &address)
{
    return SUCCEEDED(
        NdCheckAddress((const struct sockaddr *)&address, sample_address_size(&address)));
}

bool loopback(const SOCKADDR_INET &address)
{
    if (address.si_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&address.Ipv6.sin6_addr) != 0;
    return (ntohl(address.Ipv4.sin_addr.s_addr) >> 24) == 127;
}

std::vector<SOCKADDR_INET> usable_addresses()
{
    SIZE_T size = 0;
    HRESULT hr = NdQueryAddressList(0, NULL, &size);
    std::vector<char> room(size + sizeof(SOCKET_ADDRESS_LIST));
    SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
    if (hr == ND_BUFFER_OVERFLOW)
        hr = NdQueryAddressList(0, list, &size);
    check(hr, "NdQueryAddressList");
    std::vector<SOCKADDR_INET> addresses;
    for (int i = 0; i < list->iAddressCount; ++i) {
        SOCKADDR_INET address;
        memset(&address, 0, sizeof(address));
        memcpy(&address, list->Address[i].lpSockaddr, (size_t)list->Address[i].iSockaddrLength);
        addresses.push_back(address);
    }
    return addresses;
}

// The adapter that this rank uses if the user names none: on one host the loopback address, else the first that the
// other hosts can reach.
SOCKADDR_INET choose_address(bool one_host)
{
    SOCKADDR_INET address;
    if (one_host && parse_address("127.0.0.1", address) && usable(address))
        return address;
    std::vector<SOCKADDR_INET> addresses = usable_addresses();
    for (size_t i = 0; i < addresses.size(); ++i)
        if (one_host || !loopback(addresses[i]))
            return addresses[i];
    fail("there is no NetworkDirect adapter that other hosts can reach: ndadapterinfo says more");
}

std::string host_name()
{
    char name[256];
    DWORD size = sizeof(name);
    if (!GetComputerNameExA(ComputerNameDnsHostname, name, &size))
        fail("GetComputerNameEx failed: error %u", (unsigned)GetLastError());
    return name;
}

class WithKeys : public Launcher
{
  public:
    WithKeys(Keys *keys, Place &place);
    ~WithKeys()
    {
        delete keys_;
    }
    std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own);
    void leave();

  private:
    void take_address(Place &place);

    Keys *const keys_;
};

WithKeys::WithKeys(Keys *keys, Place &place) : keys_(keys)
{
    place.rank = keys->rank();
    place.size = keys->size();
    if (!place.size || place.size > MOST_RANKS || place.rank >= place.size)
        fail("the launcher says that this is rank %u of %u; at most %u are possible", place.rank,
            place.size, (unsigned)MOST_RANKS);
    const std::string host = host_name();
    keys->put("ndmpi-host", host);
    if (place.rank == 0) {
        std::random_device random;
        keys->put("ndmpi-key",
            format("%016llx", (unsigned long long)random() << 32 | (unsigned long long)random()));
    }
    keys->fence();
    place.key = strtoull(keys->get(0, "ndmpi-key").c_str(), NULL, 16);
    place.here = 0;
    for (unsigned rank = 0; rank < place.size; ++rank)
        place.here += keys->get(rank, "ndmpi-host") == host;
    take_address(place);
}

void WithKeys::take_address(Place &place)
{
    const std::string address = variable(NDMPI_ADDRESS);
    check(NdStartup(), "NdStartup");
    if (address.empty())
        place.address = choose_address(place.here == place.size);
    else if (!parse_address(address, place.address) || !usable(place.address))
        fail(NDMPI_ADDRESS " takes the address of an adapter of this host, not \"%s\"",
            address.c_str());
    NdCleanup();
}

std::vector<SOCKADDR_INET> WithKeys::enter(Executive &, const SOCKADDR_INET &own)
{
    std::vector<SOCKADDR_INET> addresses(keys_->size());

    keys_->put("ndmpi-at", address_text(own));
    keys_->fence();
    for (unsigned rank = 0; rank < keys_->size(); ++rank)
        if (!parse_address(keys_->get(rank, "ndmpi-at"), addresses[rank]))
            fail("rank %u listens at \"%s\": is it of another version?", rank,
                keys_->get(rank, "ndmpi-at").c_str());
    return addresses;
}

void WithKeys::leave()
{
    keys_->fence();
    keys_->finish();
}

} // namespace

void take_settings(Place &place)
{
    const std::string ports = variable(NDMPI_PORTS, "0-0"), version = variable(NDMPI_VERSION, "2"),
                      channel = variable(NDMPI_CHANNEL, "nd");
    if (!parse_channel(channel, place.shared))
        fail(NDMPI_CHANNEL " takes nd or shm, not \"%s\"", channel.c_str());
    if (!parse_number(version, 1, 2, place.version))
        fail(NDMPI_VERSION " takes 1 or 2, not \"%s\"", version.c_str());
    if (!parse_ports(ports, place.first_port, place.last_port))
        fail(NDMPI_PORTS " takes two ports, e.g. 50000-50099, not \"%s\"", ports.c_str());
}

Launcher *launched_with_keys(Keys *keys, Place &place)
{
    return new WithKeys(keys, place);
}

} // namespace ndmpi
