// SPDX-License-Identifier: MIT
// hosts.cpp - see hosts.h.
#include "hosts.h"

#ifndef _WIN32
#include <netdb.h> // getaddrinfo
#endif
#include <string.h>

#include <fstream>
#include <sstream>

#include "job.h"

namespace ndmpi
{

namespace
{

bool here(const SOCKADDR_INET &address)
{
    return NdCheckAddress((const struct sockaddr *)&address, sample_address_size(&address)) ==
           ND_SUCCESS;
}

bool look_up(const std::string &name, int family, SOCKADDR_INET &address)
{
    struct addrinfo wanted, *found;

    memset(&wanted, 0, sizeof(wanted));
    wanted.ai_family = family;
    wanted.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(name.c_str(), NULL, &wanted, &found) != 0)
        return false;
    memset(&address, 0, sizeof(address));
    memcpy(&address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

} // namespace

bool find_host(const std::string &text, SOCKADDR_INET &address)
{
    if (parse_address(text, address))
        return true;
    if (text.find_first_not_of("0123456789.") == std::string::npos ||
        text.find(':') != std::string::npos)
        return false; // no name, so ask no server
    return look_up(text, AF_INET, address) || look_up(text, AF_INET6, address);
}

std::vector<Host> read_hosts(const std::string &path)
{
    std::vector<Host> hosts;
    std::ifstream file(path.c_str());
    std::string line;

    if (!file)
        fail("the host file %s cannot be read", path.c_str());
    for (unsigned number = 1; std::getline(file, line); ++number) {
        std::string address, slots = "1", more;
        std::istringstream words(line.substr(0, line.find('#')));
        Host host;
        if (!(words >> address))
            continue;
        words >> slots >> host.login;
        if (!find_host(address, host.address) || !parse_number(slots, 1, MOST_RANKS, host.slots) ||
            words >> more)
            fail("line %u of %s is not \"ADDRESS [SLOTS [LOGIN]]\": %s", number, path.c_str(),
                line.c_str());
        if (host.login.empty() && !here(host.address))
            host.login = ip_text(host.address);
        hosts.push_back(host);
    }
    if (hosts.empty())
        fail("the host file %s names no host", path.c_str());
    return hosts;
}

std::vector<Host> this_host(const std::string &address)
{
    Host host;
    host.slots = MOST_RANKS;
    if (!address.empty()) {
        if (!find_host(address, host.address))
            fail("neither an IP address nor the name of a host: %s", address.c_str());
        check(NdCheckAddress(
                  (const struct sockaddr *)&host.address, sample_address_size(&host.address)),
            "looking for the adapter (NdCheckAddress)", &host.address);
    } else if (!parse_address("127.0.0.1", host.address) || !here(host.address)) {
        SIZE_T size = 0;
        HRESULT hr = NdQueryAddressList(0, NULL, &size);
        std::vector<char> room(size + sizeof(SOCKET_ADDRESS_LIST));
        SOCKET_ADDRESS_LIST *list = (SOCKET_ADDRESS_LIST *)&room[0];
        if (hr == ND_BUFFER_OVERFLOW)
            hr = NdQueryAddressList(0, list, &size);
        check(hr, "NdQueryAddressList");
        if (list->iAddressCount == 0)
            fail("there is no NetworkDirect adapter: ndadapterinfo says more");
        memset(&host.address, 0, sizeof(host.address));
        memcpy(
            &host.address, list->Address[0].lpSockaddr, (size_t)list->Address[0].iSockaddrLength);
    }
    return std::vector<Host>(1, host);
}

std::vector<size_t> place(const std::vector<Host> &hosts, unsigned ranks)
{
    std::vector<size_t> places;
    while (places.size() < ranks)
        for (size_t i = 0; i < hosts.size(); ++i)
            places.insert(places.end(), hosts[i].slots, i);
    places.resize(ranks);
    return places;
}

SOCKADDR_INET reached_by(const std::vector<Host> &hosts)
{
    SOCKADDR_INET local;
    SIZE_T size = sizeof(local);

    for (size_t i = 0; i < hosts.size(); ++i) {
        if (hosts[i].login.empty())
            continue;
        memset(&local, 0, sizeof(local));
        HRESULT hr = NdResolveAddress((const struct sockaddr *)&hosts[i].address,
            sample_address_size(&hosts[i].address), (struct sockaddr *)&local, &size);
        if (FAILED(hr))
            fail("no local address is found that host %s could reach: %s\n  -i names one",
                address_text(hosts[i].address).c_str(), code_text(hr).c_str());
        local.Ipv4.sin_port = 0;
        return local;
    }
    parse_address("127.0.0.1", local);
    return local;
}

} // namespace ndmpi
