// SPDX-License-Identifier: MIT
//
// link.h - an endpoint with its buffers: messages of up to a slot, with credits.
//
// Each side starts with as many credits as the other has receives posted, and spends one for each message. Credits for
// receives that were posted again ride on the next message the other way; a side that owes half of them sends a message
// for that alone. Each side keeps its last credit for such a message, so it can always send one.
#ifndef NDMPI_LINK_H
#define NDMPI_LINK_H

#include <vector>

#include "message.h"
#include "verbs.h"

namespace ndmpi
{

class Link;

// Gets the events of a link.
class LinkOwner
{
  public:
    virtual ~LinkOwner()
    {
    }
    // data: header.length bytes (EAGER) or a descriptor (OFFER); valid during the call
    virtual void message(const Header &header, const unsigned char *data) = 0;
    // can_send may be true again.
    virtual void room() = 0;
    // A request has failed. Also called for requests that the end of a connection cancels: the owner tells them apart.
    virtual void broken(HRESULT status, const char *what) = 0;
};

// Carries messages to the peer, in their order.
class Carrier
{
  public:
    virtual ~Carrier()
    {
    }
    virtual bool can_send() const = 0;
    // Only if can_send; the data is copied.
    virtual void send(Header header, const void *data, size_t size) = 0;
    virtual bool all_sent() const = 0;
};

class Link : public Carrier
{
  public:
    enum { SLOT = 4096, LARGEST = SLOT - Header::SIZE };

    // Takes the endpoint over: opens its queues, and posts its receives.
    Link(Adapter &adapter, Endpoint *endpoint, LinkOwner &owner);
    // Only when idle.
    ~Link();

    Endpoint &endpoint()
    {
        return *endpoint_;
    }

    // How many Receives the peer has posted.
    void set_credits(UINT32 credits)
    {
        credits_ = credits;
    }
    // The connection is up; Receives work before that. The side that connected sends at once, if only a message without
    // content; the other side sends only after it has received one: on iWARP the connecting side has to send first.
    void set_up(bool connected);
    bool can_send() const
    {
        return up() && credits_ > 1 && !free_.empty();
    }
    void send(Header header, const void *data, size_t size);
    bool all_sent() const
    {
        return free_.size() == SENDS;
    }
    // This side may send, or read the peer's memory.
    bool up() const
    {
        return set_up_ && heard_;
    }

    // The owner gets no more events.
    void abandon()
    {
        owner_ = NULL;
    }
    // No request is under way, so the link may be deleted.
    bool idle() const
    {
        return works_ == 0;
    }
    // For requests of others on this endpoint: they keep it from being idle.
    void work_begins()
    {
        ++works_;
    }
    void work_ends()
    {
        --works_;
    }

  private:
    class Receive : public Work
    {
      public:
        void done(HRESULT status, size_t bytes)
        {
            link->received(*this, status, bytes);
        }
        Link *link;
        unsigned char *data;
    };
    class Send : public Work
    {
      public:
        void done(HRESULT status, size_t)
        {
            link->sent(*this, status);
        }
        Link *link;
        unsigned char *data;
    };

    Link(const Link &);
    Link &operator=(const Link &);

    void post(Receive &receive);
    void received(Receive &receive, HRESULT status, size_t bytes);
    void sent(Send &send, HRESULT status);
    void post(Header &header, const void *data, size_t size);
    void pay_credits();
    Endpoint *endpoint_;
    LinkOwner *owner_;
    unsigned char *slots_;
    Memory *memory_;
    Receive receives_[RECEIVES];
    Send sends_[SENDS];
    std::vector<Send *> free_;
    bool set_up_, heard_; // heard_: received a message, or this side connected
    UINT32 credits_, owed_;
    unsigned works_;
};

} // namespace ndmpi
#endif
