// SPDX-License-Identifier: MIT
//
// channel.h - messages to and from one peer: small ones by Send or through shared memory, large ones by rendezvous, in
// their order.
//
// A channel keeps small messages that arrive before their receive, at most UNTAKEN of them: a sender with so many
// unreceived messages offers the next ones like large ones, and they wait in the sender's memory. So a sender costs a
// peer at most UNTAKEN slots; only a rank's messages to itself have no bound.
#ifndef NDMPI_CHANNEL_H
#define NDMPI_CHANNEL_H

#include <deque>

#include "connection.h"
#include "rendezvous.h"
#include "shared.h"

namespace ndmpi
{

// What the channels of a rank have in common.
class ChannelOwner
{
  public:
    virtual ~ChannelOwner()
    {
    }
    // The connection has failed: no more messages arrive from the peer.
    virtual void lost(int peer, HRESULT status, const char *what) = 0;
};

class Channel : private ConnectionOwner, private RendezvousOwner
{
  public:
    enum { UNTAKEN = 128 };

    struct Setup {
        Executive *executive;
        Adapter *adapter;
        RegistrationCache *cache;
        ChannelOwner *owner;
        Hello hello; // of this rank
    };

    // shared: carries all but large messages; NULL: NetworkDirect carries all
    Channel(const Setup &setup, int peer, const SOCKADDR_INET &address, SharedLink *shared);

    // Both complete operation later, or at once.
    void send(Operation &operation);
    void receive(Operation &operation);

    // This peer has sent a connection request.
    void requested(Endpoint *endpoint, const Hello &hello)
    {
        connection_.requested(endpoint, hello);
    }

    // Bytes of messages that have arrived before their receive.
    size_t kept() const
    {
        return matching_.bytes();
    }
    // All that was to be sent was sent.
    bool quiet() const;
    // Says good-bye; disconnects when the peer has said it, too. After that there are no more messages.
    void close();
    bool closed() const
    {
        return connection_.at_rest() && (!shared_ || (bye_sent_ && bye_received_));
    }
    // Polls shared memory for messages, and for room to send.
    bool look();
    void sweep()
    {
        connection_.sweep();
    }

  private:
    struct Item {
        Kind kind;
        UINT32 id;
        Operation *operation;
    };

    // from the link
    void message(const Header &header, const unsigned char *data);
    void room();
    void broken(HRESULT status, const char *what);
    // from the connection
    void connected();
    void backed_out();
    // from the rendezvous
    void read_done(UINT32 id);
    void offer_granted(const Header &header, const Descriptor &descriptor);
    void offer_ended();

    void deliver(Operation &operation, const Header &header, const unsigned char *data);
    void taken();
    Carrier *carrier() const;
    void pump();
    bool begin_offer(Operation &operation);
    void end_if_due();

    ChannelOwner &owner_;
    const int rank_, peer_;
    const size_t eager_, largest_;
    Connection connection_;
    Rendezvous rendezvous_;
    Matching matching_;
    std::deque<Item> urgent_,
        queue_; // urgent ones wait for no offer, so that no two ranks wait for each other
    UINT32 untaken_,
        taken_; // small messages: sent, TAKEN not received yet; taken, TAKEN not sent yet
    bool bye_sent_, bye_received_;
    SharedLink *const shared_;
    bool granting_; // the offer at the front of the queue
    Header granted_;
    Descriptor granted_descriptor_;
    bool has_granted_; // granted_ and its descriptor are to be sent next
};

} // namespace ndmpi
#endif
