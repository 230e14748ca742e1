// SPDX-License-Identifier: MIT
// channel.cpp - see channel.h.
#include "channel.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

Channel::Channel(const Setup &setup, int peer, const SOCKADDR_INET &address, SharedLink *shared)
    : owner_(*setup.owner), rank_((int)setup.hello.rank), peer_(peer),
      eager_(setup.adapter->advised_send() < Link::LARGEST ? setup.adapter->advised_send()
                                                           : (size_t)Link::LARGEST),
      largest_(setup.adapter->largest_read()),
      connection_(*setup.executive, *setup.adapter, *this, setup.hello, (UINT32)peer, address),
      rendezvous_(*setup.cache, *this), untaken_(0), taken_(0), bye_sent_(false),
      bye_received_(false), shared_(shared), granting_(false), has_granted_(false)
{
}

// ---- the program's side ---------------------------------------------------------------------------------------------

void Channel::send(Operation &operation)
{
    operation.complete = false;
    if (peer_ == rank_) {
        Header header = { EAGER, 0, operation.tag, (UINT32)operation.size, 0 };
        Operation *receive = matching_.arrived(operation.tag);
        if (receive)
            deliver(*receive, header, operation.data);
        else
            matching_.keep(header, operation.data, operation.size);
        operation.complete = true;
        return;
    }
    if (operation.size > eager_ && operation.size > largest_)
        fail("a message of %llu bytes to rank %d is too long: the adapter takes %llu",
            (unsigned long long)operation.size, peer_,
            (unsigned long long)(largest_ > eager_ ? largest_ : eager_));
    Item item = { operation.size > eager_ ? OFFER : EAGER, 0, &operation };
    queue_.push_back(item);
    if (!shared_)
        connection_.open();
    pump();
}

void Channel::receive(Operation &operation)
{
    Arrival arrival;
    operation.complete = false;
    if (!matching_.wanted(operation, arrival))
        return;
    deliver(operation, arrival.header, arrival.data.empty() ? NULL : &arrival.data[0]);
    if (arrival.header.kind == EAGER)
        taken();
    pump();
}

void Channel::deliver(Operation &operation, const Header &header, const unsigned char *data)
{
    if (header.length > operation.size)
        fail("a message of %u bytes came from rank %d where there is room for %llu",
            (unsigned)header.length, peer_, (unsigned long long)operation.size);
    if (header.kind == OFFER) {
        rendezvous_.read(operation, header, data);
        return;
    }
    if (header.length)
        memcpy(operation.data, data, header.length);
    operation.size = header.length;
    operation.complete = true;
}

bool Channel::quiet() const
{
    const Link *link = connection_.up();
    return urgent_.empty() && queue_.empty() && rendezvous_.idle() && !granting_ &&
           (!link || link->all_sent());
}

void Channel::close()
{
    if (peer_ == rank_ || (!shared_ && !connection_.ever_used()))
        return;
    Item item = { BYE, 0, NULL };
    queue_.push_back(item);
    pump();
}

// ---- the peer's side ------------------------------------------------------------------------------------------------

void Channel::message(const Header &header, const unsigned char *data)
{
    Operation *operation;

    switch (header.kind) {
    case EAGER:
    case OFFER:
        operation = matching_.arrived(header.tag);
        if (operation)
            deliver(*operation, header, data);
        if (operation && header.kind == EAGER)
            taken();
        else if (!operation)
            matching_.keep(
                header, data, header.kind == EAGER ? header.length : (size_t)Descriptor::SIZE);
        break;
    case DONE: rendezvous_.offer_read(header.id); break;
    case CREDIT: break;
    case BYE: bye_received_ = true; break;
    case TAKEN:
        if (header.id > untaken_)
            fail("rank %d says that it has taken more messages than it was sent", peer_);
        untaken_ -= header.id;
        break;
    }
    pump();
}

// A receive has taken a small message. Tells the peer after every few of them; the peer needs no count of the last few.
void Channel::taken()
{
    if (peer_ == rank_ || ++taken_ < UNTAKEN / 2)
        return;
    Item item = { TAKEN, taken_, NULL };
    taken_ = 0;
    urgent_.push_back(item);
}

void Channel::read_done(UINT32 id)
{
    Item item = { DONE, id, NULL };
    urgent_.push_back(item);
    pump();
}

void Channel::offer_granted(const Header &header, const Descriptor &descriptor)
{
    granted_ = header;
    granted_descriptor_ = descriptor;
    has_granted_ = true;
}

void Channel::offer_ended()
{
    pump();
}

void Channel::room()
{
    pump();
}

void Channel::connected()
{
    pump();
}

void Channel::backed_out()
{
    if (!queue_.empty() && !shared_)
        connection_.open();
    else
        pump(); // an offer may need the connection again
}

// Cancelled requests are no failure while the connection is being set up, whose result the connector reports, and after
// the peer's BYE, which may still be in shared memory.
void Channel::broken(HRESULT status, const char *what)
{
    if (shared_)
        shared_->poll(*this);
    if (status == ND_CANCELED && (bye_received_ || !connection_.up()))
        end_if_due();
    else
        owner_.lost(peer_, status, what);
}

// ---- the queue ------------------------------------------------------------------------------------------------------

bool Channel::look()
{
    if (!shared_)
        return false;
    bool some = shared_->poll(*this);
    pump();
    return some;
}

Carrier *Channel::carrier() const
{
    return shared_ ? (Carrier *)shared_ : (Carrier *)connection_.up();
}

// False: the offer has to wait, for the connection or for other offers.
bool Channel::begin_offer(Operation &operation)
{
    Link *link = connection_.up();

    if (!rendezvous_.can_offer())
        return false;
    if (operation.size && !link) {
        connection_.open();
        return false;
    }
    granting_ = true;
    rendezvous_.offer(operation, link, !shared_);
    return true;
}

// Messages behind an offer wait until it is sent, since messages arrive in order.
void Channel::pump()
{
    Link *link = connection_.up();
    Carrier *carrier = this->carrier();

    if (link && link->up())
        rendezvous_.pump(*link);
    while (carrier && carrier->can_send()) {
        if (has_granted_) {
            has_granted_ = granting_ = false;
            carrier->send(granted_, granted_descriptor_.bytes, sizeof(granted_descriptor_.bytes));
            continue;
        }
        std::deque<Item> &queue = urgent_.empty() ? queue_ : urgent_;
        if (queue.empty() || (granting_ && urgent_.empty()))
            break;
        Item &front = queue.front();
        if (front.kind == EAGER && untaken_ == UNTAKEN)
            front.kind = OFFER;
        Item item = front;
        if (item.kind == OFFER) {
            queue.pop_front();
            if (begin_offer(*item.operation))
                continue;
            queue.push_front(item);
            break;
        }
        queue.pop_front();
        if (item.kind == EAGER) {
            Operation &operation = *item.operation;
            Header header = { EAGER, 0, operation.tag, (UINT32)operation.size, 0 };
            carrier->send(header, operation.data, operation.size);
            ++untaken_;
            operation.complete = true;
        } else {
            Header header = { item.kind, 0, 0, 0, item.id };
            carrier->send(header, NULL, 0);
            bye_sent_ |= item.kind == BYE;
        }
    }
    end_if_due();
}

void Channel::end_if_due()
{
    if (connection_.up() && bye_sent_ && bye_received_ && quiet())
        connection_.close();
}

} // namespace ndmpi
