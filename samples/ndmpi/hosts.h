// SPDX-License-Identifier: MIT
//
// hosts.h - where ranks run: this host, or those of a host file.
#ifndef NDMPI_HOSTS_H
#define NDMPI_HOSTS_H

#include <string>
#include <vector>

#include "failure.h"

namespace ndmpi
{

struct Host {
    SOCKADDR_INET address; // of the adapter its ranks use
    unsigned slots;
    std::string login; // the login for the remote command; empty: this host
};

// The address that a user typed: an IP address, or the name of a host, of which the first is taken, IPv4 if there is
// one.
// False: neither.
bool find_host(const std::string &text, SOCKADDR_INET &address);

// A line for each host: ADDRESS [SLOTS [LOGIN]]; "#" begins a comment. ADDRESS, or the name that has it, is that of the
// adapter; LOGIN, for the remote command, defaults to the address, or to nothing if the address is this host's. Ends
// the program if a line has another form.
std::vector<Host> read_hosts(const std::string &path);

// This host at this address; empty: the function chooses one.
std::vector<Host> this_host(const std::string &address);

// The host of each rank: each host gets as many ranks as it has slots; when all are full, again from the first.
std::vector<size_t> place(const std::vector<Host> &hosts, unsigned ranks);

// The local address, port 0, that all hosts reach this one by. Ends the program if it cannot find out.
SOCKADDR_INET reached_by(const std::vector<Host> &hosts);

} // namespace ndmpi
#endif
