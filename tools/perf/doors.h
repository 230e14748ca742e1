/* SPDX-License-Identifier: MIT */
/*
 * doors.h - where a server waits for its client. A door is a listener at a local address, with a channel for the next
 * client. When the client has come, the measurement uses its door's adapter, and the other doors close.
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
    Pending pending;                  // the wait for a request
    bool asks;
};

class Doors
{
  public:
    // Listens at each address, on one port. Ends the program if that fails. port in: network order; 0: a port that is
    // free at all addresses; any in: as for Adapter::listen
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

// Refuses other clients while a measurement runs. The greeting has the measurement's cookie, which tells a client that
// the server is busy.
class Refuser
{
  public:
    Refuser(Adapter &adapter, const Greeting &greeting);
    ~Refuser();
    // Refuses the clients that have come since the last call. Does not wait.
    void look();

  private:
    bool has_come();

    Adapter &adapter_;
    const Greeting greeting_;
    std::unique_ptr<Endpoint> endpoint_; // takes the request
    Pending pending_;                    // the wait for a request
    bool asks_;
};

// Returns the first address of each family that an adapter has.
std::vector<SOCKADDR_INET> first_addresses(int version);

} // namespace ndperf
#endif
