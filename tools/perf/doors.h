/* SPDX-License-Identifier: MIT */
/*
 * doors.h - where a server waits for its client: a listener for each local address, and at each a channel for whoever
 * comes. When the client has come, its door's adapter is that of the measurement, and the others close.
 */
#ifndef TOOLS_PERF_DOORS_H
#define TOOLS_PERF_DOORS_H

#include <memory>
#include <vector>

#include "channel.h"

namespace ndperf
{

struct Door {
    Door() : asks(false)
    {
    }
    ~Door();

    std::unique_ptr<Adapter> adapter;
    std::unique_ptr<Channel> channel; // takes the request
    Pending pending;                  // of the request
    bool asks;
};

class Doors
{
  public:
    // Listens at each address, on one port. Ends the program if that fails. port in: network order; 0: any that is free
    // at all; any in: as of Adapter::listen
    Doors(int version, const std::vector<SOCKADDR_INET> &locals, USHORT port, bool any);

    // Waits for the next request for a connection. Returns the door with it; the others go on asking.
    Door &wait();
    const std::vector<std::unique_ptr<Door>> &all() const
    {
        return doors_;
    }

  private:
    HRESULT open(int version, const SOCKADDR_INET &local, USHORT port, bool any);

    std::vector<std::unique_ptr<Door>> doors_;
};

// While a measurement runs: refuses whoever comes. The greeting has the measurement's cookie, by which a client knows
// that the server is busy.
class Refuser
{
  public:
    Refuser(Adapter &adapter, const Greeting &greeting);
    ~Refuser();
    // Refuses who has come since the last call. Does not wait.
    void look();

  private:
    bool has_come();

    Adapter &adapter_;
    const Greeting greeting_;
    std::unique_ptr<Endpoint> endpoint_; // takes the request
    Pending pending_;                    // of the request
    bool asks_;
};

// The first address of each family that an adapter has.
std::vector<SOCKADDR_INET> first_addresses(int version);

} // namespace ndperf
#endif
