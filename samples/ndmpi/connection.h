// SPDX-License-Identifier: MIT
//
// connection.h - the connection to one peer: made when it is first needed, by either side or by both at once.
//
// When both connect at once, the attempt of the higher rank wins: the higher rank rejects the request that arrives
// while its own attempt is under way, the lower rank drops its own attempt when a request arrives. The lower rank may
// see the refusal of its request before or after the other's request; both orders end the same.
#ifndef NDMPI_CONNECTION_H
#define NDMPI_CONNECTION_H

#include <vector>

#include "link.h"

namespace ndmpi
{

class ConnectionOwner : public LinkOwner
{
  public:
    // Messages may be sent now.
    virtual void connected() = 0;
    // The peer gave up its attempt: there is no connection, as in the beginning.
    virtual void backed_out() = 0;
};

class Connection
{
  public:
    // own in: this rank's private data; address: where the peer listens
    Connection(Executive &executive, Adapter &adapter, ConnectionOwner &owner, const Hello &own,
        UINT32 peer, const SOCKADDR_INET &address);
    ~Connection();

    // Connects, unless an attempt has begun.
    void open();
    // The peer connects. Takes over the endpoint.
    void requested(Endpoint *endpoint, const Hello &hello);
    // Disconnects.
    void close();

    // NULL while there is no link, or none to send on.
    Link *up() const
    {
        return state_ == UP ? attempt_->link : NULL;
    }
    // No attempt was begun, or all of them have ended and are deleted.
    bool at_rest() const;
    bool ever_used() const
    {
        return state_ != IDLE;
    }
    // Deletes attempts that have ended.
    void sweep();

  private:
    enum State { IDLE, CONNECTING, LOST_RACE, COMPLETING, ACCEPTING, UP, CLOSING, CLOSED };

    // A link that is set up or torn down, and the request that does so.
    struct Attempt : public Request {
        typedef void (Connection::*Next)(Attempt &, HRESULT);

        Attempt(Connection &connection, Endpoint *endpoint);
        ~Attempt();
        Request &then(Next next);
        void ended(HRESULT status);

        Connection &connection;
        Link *link;
        Next next_;
    };

    Connection(const Connection &);
    Connection &operator=(const Connection &);

    void connect();
    void connect_ended(Attempt &attempt, HRESULT status);
    void complete_ended(Attempt &attempt, HRESULT status);
    void accept_ended(Attempt &attempt, HRESULT status);
    void disconnect_ended(Attempt &attempt, HRESULT status);
    void set_up(bool connected);
    void drop(Attempt &attempt);
    void give_up(HRESULT status, const char *what);

    Executive &executive_;
    Adapter &adapter_;
    ConnectionOwner &owner_;
    const Hello own_;
    const UINT32 peer_;
    const SOCKADDR_INET address_;
    State state_;
    Attempt *attempt_;
    unsigned unresolved_;
    std::vector<Attempt *> over_; // dropped, but with requests that may still be under way
};

} // namespace ndmpi
#endif
