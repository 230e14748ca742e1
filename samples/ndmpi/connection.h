// SPDX-License-Identifier: MIT
//
// connection.h - the way to one peer: made when it is first needed, by either side or by both at once.
//
// When both connect at once, the attempt of the higher rank wins: the higher rank rejects what comes in while its own
// attempt is under way, the lower one drops its own for what comes in. So the lower rank may hear of its refusal before
// or after it sees the other request; both orders end the same.
#ifndef NDMPI_CONNECTION_H
#define NDMPI_CONNECTION_H

#include <vector>

#include "link.h"

namespace ndmpi
{

class ConnectionOwner : public LinkOwner
{
  public:
    // It may be sent on now.
    virtual void connected() = 0;
    // The other side backed out of its attempt: nothing is there, as in the beginning.
    virtual void backed_out() = 0;
};

class Connection
{
  public:
    // own in: this rank's private data; address: where the peer listens
    Connection(Executive &executive, Adapter &adapter, ConnectionOwner &owner, const Hello &own,
        UINT32 peer, const SOCKADDR_INET &address);
    ~Connection();

    // Connects, unless that has begun.
    void open();
    // The peer connects. The endpoint is taken over.
    void requested(Endpoint *endpoint, const Hello &hello);
    // Disconnects.
    void close();

    // NULL while there is none, and while it may not be sent on.
    Link *up() const
    {
        return state_ == UP ? attempt_->link : NULL;
    }
    // Nothing was begun, or all of it is over and taken down.
    bool at_rest() const;
    bool ever_used() const
    {
        return state_ != IDLE;
    }
    // Takes down what is over.
    void sweep();

  private:
    enum State { IDLE, CONNECTING, LOST_RACE, COMPLETING, ACCEPTING, UP, CLOSING, CLOSED };

    // A link on its way up or down, and the request that moves it.
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
    std::vector<Attempt *> over_; // dropped, but something of them may still end
};

} // namespace ndmpi
#endif
