// SPDX-License-Identifier: MIT
//
// shared.h - small messages between ranks of one host, through named sections (NDMPI_CHANNEL=shm).
//
// Each rank has a section that the others find by the job's key and its number. It has a ring of slots for each other
// rank, and only that rank writes there. A rank cannot open the section of a peer on another host, or of one whose
// names are separate (a Windows program under Wine beside native ones), and uses NetworkDirect for that peer.
//
// The writer of a message increments the section's bell, so that the section's rank polls one number instead of all
// rings. A rank that is about to sleep sets asleep first and polls once more; a writer that finds it asleep posts a
// packet to the rank's completion port, of which it has a duplicate. The section says which process and port that is.
#ifndef NDMPI_SHARED_H
#define NDMPI_SHARED_H

#include "executive.h"
#include "link.h"

namespace ndmpi
{

// The contents of a section, and one of its rings.
struct SharedRoom;
struct SharedRing;

// A section and its rank's completion port, of this rank or of a peer.
class SharedSection
{
  public:
    // Makes the section of a rank, whose port stays the caller's. Ends the program if it cannot.
    SharedSection(HANDLE port, UINT64 job, UINT32 rank, UINT32 ranks);
    ~SharedSection();
    // Opens the section of another rank. NULL: this rank cannot see it.
    static SharedSection *open(UINT64 job, UINT32 rank, UINT32 ranks);

    // The ring into which a rank writes.
    SharedRing &ring(UINT32 from) const;
    SharedRoom &room() const
    {
        return *room_;
    }
    // Call it after a change in the section: wakes its rank if that sleeps.
    void ring_bell();

  private:
    SharedSection() : mapping_(NULL), port_(NULL), room_(NULL)
    {
    }
    HANDLE fetch_port(UINT32 rank) const;

    SharedSection(const SharedSection &);
    SharedSection &operator=(const SharedSection &);

    HANDLE mapping_;
    HANDLE port_; // of a peer; NULL: it is this rank's section, or the peer has ended
    SharedRoom *room_;
};

// The rings to and from one peer.
class SharedLink : public Carrier
{
  public:
    enum { SLOTS = 8 }; // of a ring, of Link::SLOT bytes

    // The caller keeps own and peer.
    SharedLink(const SharedSection &own, UINT32 rank, SharedSection &peer, UINT32 peer_rank);

    bool can_send() const;
    void send(Header header, const void *data, size_t size);
    bool all_sent() const
    {
        return true; // copied
    }
    // Hands arrived messages to the owner. Returns whether there were any. Does nothing inside an event of the owner.
    bool poll(LinkOwner &owner);

  private:
    SharedSection &peer_;
    SharedRing &in_, &out_;
    const UINT32 peer_rank_;
    bool polling_;
};

// A rank's section, and its links.
class Shared
{
  public:
    // Makes this rank's section; the others are opened when all ranks have theirs.
    Shared(Executive &executive, UINT64 job, UINT32 rank, UINT32 ranks);
    // Call it when no rank writes to this one any more.
    ~Shared();
    // The link to a peer, which this object keeps; NULL: none is possible. Call it once for each peer.
    SharedLink *open(UINT32 peer);
    UINT32 peers() const
    {
        return (UINT32)links_.size();
    }

    // Whether the bell has rung since the last call: the links are then to be polled.
    bool rung();
    // Between these two calls the executive gets a packet when the bell rings. Poll once more after sleeps.
    void sleeps();
    void wakes();

  private:
    Shared(const Shared &);
    Shared &operator=(const Shared &);

    const UINT64 job_;
    const UINT32 rank_, ranks_;
    SharedSection own_;
    std::vector<SharedSection *> sections_;
    std::vector<SharedLink *> links_;
    UINT32 seen_;
};

} // namespace ndmpi
#endif
