// SPDX-License-Identifier: MIT
// connection.cpp - see connection.h.
#include "connection.h"

#include "failure.h"

namespace ndmpi
{

namespace
{

const HRESULT BAD_NETWORK_NAME = (HRESULT)0xC00000CC;
const unsigned RESOLVE_TRIES = 5;

} // namespace

// ---- attempts -------------------------------------------------------------------------------------------------------

Connection::Attempt::Attempt(Connection &the_connection, Endpoint *endpoint)
    : connection(the_connection),
      link(new Link(the_connection.adapter_, endpoint, the_connection.owner_)), next_(NULL)
{
}

Connection::Attempt::~Attempt()
{
    delete link;
}

// This as the request of a call that goes on with next.
Request &Connection::Attempt::then(Next next)
{
    next_ = next;
    link->work_begins();
    return *this;
}

void Connection::Attempt::ended(HRESULT status)
{
    link->work_ends();
    (connection.*next_)(*this, status);
}

// ---- connection -----------------------------------------------------------------------------------------------------

Connection::Connection(Executive &executive, Adapter &adapter, ConnectionOwner &owner,
    const Hello &own, UINT32 peer, const SOCKADDR_INET &address)
    : executive_(executive), adapter_(adapter), owner_(owner), own_(own), peer_(peer),
      address_(address), state_(IDLE), attempt_(NULL), unresolved_(0)
{
}

Connection::~Connection()
{
    if (attempt_)
        over_.push_back(attempt_);
    for (size_t i = 0; i < over_.size(); ++i)
        delete over_[i];
}

void Connection::open()
{
    if (state_ != IDLE)
        return;
    attempt_ = new Attempt(*this, adapter_.create_endpoint());
    connect();
}

void Connection::connect()
{
    unsigned char hello[Hello::SIZE];
    own_.pack(hello);
    state_ = CONNECTING;
    attempt_->link->endpoint().connect(
        address_, hello, sizeof(hello), attempt_->then(&Connection::connect_ended));
}

void Connection::connect_ended(Attempt &attempt, HRESULT status)
{
    if (&attempt != attempt_) { // the peer's own attempt has replaced it
        if (status == ND_SUCCESS)
            attempt.link->endpoint().reject();
        attempt.link->endpoint().flush();
        return;
    }
    if (status == ND_TIMEOUT || status == ND_IO_TIMEOUT ||
        (status == BAD_NETWORK_NAME && ++unresolved_ < RESOLVE_TRIES)) {
        connect();
        return;
    }
    if (status == ND_CONNECTION_REFUSED && peer_ > own_.rank) { // the peer's request follows soon
        state_ = LOST_RACE;
        drop(attempt);
        attempt.link->endpoint().flush();
        return;
    }
    unsigned char receives = 0;
    if (FAILED(status) || !attempt.link->endpoint().private_data(&receives, sizeof(receives))) {
        give_up(status, "Connect");
        return;
    }
    attempt.link->set_credits(receives);
    state_ = COMPLETING;
    attempt.link->endpoint().complete_connect(attempt.then(&Connection::complete_ended));
}

void Connection::complete_ended(Attempt &, HRESULT status)
{
    if (FAILED(status))
        give_up(status, "CompleteConnect");
    else
        set_up(true);
}

void Connection::requested(Endpoint *endpoint, const Hello &hello)
{
    bool race = state_ == CONNECTING && peer_ > own_.rank;

    if (state_ != IDLE && state_ != LOST_RACE && !race) {
        endpoint->reject();
        delete endpoint;
        return;
    }
    if (race)
        drop(*attempt_);
    unsigned char receives = RECEIVES;
    attempt_ = new Attempt(*this, endpoint);
    attempt_->link->set_credits(hello.receives);
    state_ = ACCEPTING;
    endpoint->accept(&receives, sizeof(receives), attempt_->then(&Connection::accept_ended));
}

void Connection::accept_ended(Attempt &attempt, HRESULT status)
{
    if (status == ND_CONNECTION_REFUSED || status == ND_CONNECTION_ABORTED) {
        drop(attempt);
        attempt.link->endpoint().flush();
        state_ = IDLE;
        owner_.backed_out();
    } else if (FAILED(status)) {
        give_up(status, "Accept");
    } else {
        set_up(false);
    }
}

void Connection::set_up(bool connected)
{
    state_ = UP;
    attempt_->link->set_up(connected);
    owner_.connected();
}

void Connection::close()
{
    state_ = CLOSING;
    attempt_->link->endpoint().disconnect(attempt_->then(&Connection::disconnect_ended));
}

// It is no error if the peer has disconnected first.
void Connection::disconnect_ended(Attempt &attempt, HRESULT)
{
    drop(attempt);
    state_ = CLOSED;
}

void Connection::drop(Attempt &attempt)
{
    attempt.link->abandon();
    over_.push_back(&attempt);
    attempt_ = NULL;
}

void Connection::give_up(HRESULT status, const char *what)
{
    drop(*attempt_);
    state_ = CLOSED;
    owner_.broken(status, what);
}

bool Connection::at_rest() const
{
    return (state_ == IDLE || state_ == CLOSED) && over_.empty();
}

void Connection::sweep()
{
    for (size_t i = 0; i < over_.size();) {
        if (!over_[i]->link->idle()) {
            ++i;
            continue;
        }
        delete over_[i];
        over_[i] = over_.back();
        over_.pop_back();
    }
}

} // namespace ndmpi
