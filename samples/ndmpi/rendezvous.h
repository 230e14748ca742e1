// SPDX-License-Identifier: MIT
//
// rendezvous.h - large messages: the sender offers its memory, the receiver reads it into its own and sends DONE.
//
// Small messages may go this way, too (channel.h). A program need not call forget (mpi.h) for their memory, so both
// ends copy them through buffers of this class. An empty message needs no read.
#ifndef NDMPI_RENDEZVOUS_H
#define NDMPI_RENDEZVOUS_H

#include <deque>
#include <map>

#include "link.h"
#include "matching.h"
#include "registration_cache.h"

namespace ndmpi
{

class RendezvousOwner
{
  public:
    virtual ~RendezvousOwner()
    {
    }
    // The owner is to send DONE of this id.
    virtual void read_done(UINT32 id) = 0;
    // The owner is to send the OFFER: the peer may read from now on.
    virtual void offer_granted(const Header &header, const Descriptor &descriptor) = 0;
    // can_offer may be true again.
    virtual void offer_ended() = 0;
    virtual void broken(HRESULT status, const char *what) = 0;
};

// Both directions with one peer. Any number of messages may be on offer; the requests of a connection's queue are
// few, so a grant or a revocation may have to wait for earlier ones, which end without help of the peer.
class Rendezvous
{
  public:
    Rendezvous(RegistrationCache &cache, RendezvousOwner &owner);
    ~Rendezvous();

    bool can_offer() const
    {
        return requests_ < GRANTS / 2;
    }
    // Grants the peer of a link to read. in_order: the OFFER goes through the same link, behind the grant, so
    // offer_granted is called at once; otherwise when the grant has ended. link NULL: the message is empty.
    void offer(Operation &operation, Link *link, bool in_order);
    // The peer has read the offer of this id.
    void offer_read(UINT32 id);

    // Reads the offered message; then completes operation.
    void read(Operation &operation, const Header &header, const unsigned char *descriptor);
    // Starts reads that have waited for the link, which must be up, or for others.
    void pump(Link &link);

    bool idle() const
    {
        return offers_.empty() && free_reads_.size() == READS && waiting_.empty();
    }

  private:
    struct Offer {
        struct Granted : public Work {
            void done(HRESULT status, size_t)
            {
                offer->rendezvous->granted(*offer, status);
            }
            Offer *offer;
        };
        struct Revoked : public Work {
            void done(HRESULT status, size_t)
            {
                offer->rendezvous->revoked(*offer, status);
            }
            Offer *offer;
        };

        UINT32 id;
        Rendezvous *rendezvous;
        Link *link;
        Operation *operation;
        RegistrationCache::Entry *entry; // NULL: an empty message
        bool told;                       // offer_granted was called
        Header header;
        Descriptor descriptor;
        std::vector<unsigned char> copy; // of a small one
        Window *window;
        bool read; // by the peer
        Granted granted;
        Revoked revoked;
    };
    struct Read : public Work {
        void done(HRESULT status, size_t)
        {
            link->work_ends();
            rendezvous->read_ended(*this, status);
        }
        Rendezvous *rendezvous;
        Link *link;
        Operation *operation;
        RegistrationCache::Entry *entry;
        std::vector<unsigned char> small; // where a small one is read to
        unsigned char *data;
        size_t length;
        UINT32 id;
        Descriptor from;
    };
    struct Waiting {
        Operation *operation;
        Header header;
        Descriptor from;
    };

    Rendezvous(const Rendezvous &);
    Rendezvous &operator=(const Rendezvous &);

    RegistrationCache::Entry *acquire(const void *data, size_t size, Access access);
    void tell(Offer &offer);
    void granted(Offer &offer, HRESULT status);
    void revoke(Offer &offer);
    void revoked(Offer &offer, HRESULT status);
    void request_begins(Offer &offer);
    void request_ends(Offer &offer, HRESULT status, const char *what);
    void start(Read &read, Link &link);
    void read_ended(Read &read, HRESULT status);

    RegistrationCache &cache_;
    RendezvousOwner &owner_;
    std::map<UINT32, Offer *> offers_; // by id
    UINT32 next_id_;
    unsigned requests_;            // grants and revocations under way
    std::deque<Offer *> revoking_; // offers that were read, and wait for their revocation
    Read reads_[READS];
    std::vector<Read *> free_reads_;
    std::deque<Waiting> waiting_;
};

} // namespace ndmpi
#endif
