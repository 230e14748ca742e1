// SPDX-License-Identifier: MIT
//
// rendezvous.h - large messages: the sender offers its memory, the receiver reads it into its own and says so.
#ifndef NDMPI_RENDEZVOUS_H
#define NDMPI_RENDEZVOUS_H

#include <deque>

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
    // DONE of this id is to be sent.
    virtual void read_done(UINT32 id) = 0;
    // There may be room for another offer.
    virtual void offer_ended() = 0;
    virtual void broken(HRESULT status, const char *what) = 0;
};

// Both directions with one peer.
class Rendezvous
{
  public:
    Rendezvous(RegistrationCache &cache, RendezvousOwner &owner);

    bool can_offer() const
    {
        return !free_offers_.empty();
    }
    // Sends an OFFER on the link, which has to have room.
    void offer(Operation &operation, Link &link);
    // The peer has read the offer of this id.
    void offer_read(UINT32 id, Link &link);

    // Reads what was offered; operation completes then. The link is the one the offer came by.
    void read(Operation &operation, const Header &header, const unsigned char *descriptor);
    // Starts reads that have waited for the link, or for others.
    void pump(Link &link);

    bool idle() const
    {
        return free_offers_.size() == OFFERS && free_reads_.size() == READS && waiting_.empty();
    }

  private:
    struct Offer : public Work {
        void done(HRESULT status, size_t)
        {
            link->work_ends();
            rendezvous->revoked(*this, status);
        }
        Rendezvous *rendezvous;
        Link *link;
        Operation *operation;
        RegistrationCache::Entry *entry;
        Window *window;
        UINT32 id;
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
        size_t length;
        UINT32 id;
        Descriptor from;
    };

    Rendezvous(const Rendezvous &);
    Rendezvous &operator=(const Rendezvous &);

    RegistrationCache::Entry *acquire(const void *data, size_t size, Access access);
    void revoked(Offer &offer, HRESULT status);
    void start(Read &read, Link &link);
    void read_ended(Read &read, HRESULT status);

    RegistrationCache &cache_;
    RendezvousOwner &owner_;
    Offer offers_[OFFERS];
    Read reads_[READS];
    std::vector<Offer *> free_offers_;
    std::vector<Read *> free_reads_;
    struct Waiting {
        Operation *operation;
        Header header;
        Descriptor from;
    };
    std::deque<Waiting> waiting_;
};

} // namespace ndmpi
#endif
