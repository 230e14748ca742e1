// SPDX-License-Identifier: MIT
//
// shared.h - small messages between ranks of one host, through named sections (NDMPI_CHANNEL=shm).
//
// Each rank has a section that the others find by the job's key and its number: for each of them a ring of slots into
// which that one alone writes. A rank that cannot open a peer's section has it elsewhere, or with other names than
// its own (a Windows program under Wine beside native ones), and uses NetworkDirect for that peer.
//
// Whoever writes a message counts the bell of the section up, so that its rank looks at one number instead of all
// rings. A rank that is about to sleep says so first and looks once more; who finds it asleep sets its event, and that
// has a packet queued to its port.
#ifndef NDMPI_SHARED_H
#define NDMPI_SHARED_H

#include "executive.h"
#include "link.h"

namespace ndmpi
{

// What stands in a section; also a rank's own, as it sees itself.
struct SharedRoom;
struct SharedRing;

// A section and its event, of this rank or of another.
class SharedSection
{
  public:
    // Makes that of a rank of a job of so many. Ends the program if it cannot.
    SharedSection(UINT64 job, UINT32 rank, UINT32 ranks);
    ~SharedSection();
    // Opens that of another rank. NULL: it has none that this one could see.
    static SharedSection *open(UINT64 job, UINT32 rank, UINT32 ranks);

    // The ring into which a rank writes.
    SharedRing &ring(UINT32 from) const;
    SharedRoom &room() const
    {
        return *room_;
    }
    HANDLE event() const
    {
        return event_;
    }
    // There is something new in it: wakes its rank if it sleeps.
    void ring_bell();

  private:
    SharedSection() : mapping_(NULL), event_(NULL), room_(NULL)
    {
    }
    SharedSection(const SharedSection &);
    SharedSection &operator=(const SharedSection &);

    HANDLE mapping_, event_;
    SharedRoom *room_;
};

// The way to one peer, and from it.
class SharedLink : public Carrier
{
  public:
    enum { SLOTS = 8 }; // of a ring, of Link::SLOT bytes

    // own and peer stay the caller's.
    SharedLink(const SharedSection &own, UINT32 rank, SharedSection &peer, UINT32 peer_rank);

    bool can_send() const;
    void send(Header header, const void *data, size_t size);
    bool all_sent() const
    {
        return true; // copied
    }
    // Hands what has come to the owner. Whether there was anything. Inside an event of the owner it does nothing.
    bool poll(LinkOwner &owner);

  private:
    SharedSection &peer_;
    SharedRing &in_, &out_;
    const UINT32 peer_rank_;
    bool polling_;
};

// What a rank has of all that.
class Shared
{
  public:
    // Makes this rank's section; the others are opened when all ranks have theirs.
    Shared(Executive &executive, UINT64 job, UINT32 rank, UINT32 ranks);
    // When no rank writes to this one any more.
    ~Shared();
    // The link to a peer, which stays this object's; NULL: there is none. Once for each.
    SharedLink *open(UINT32 peer);
    UINT32 peers() const
    {
        return (UINT32)links_.size();
    }

    // Whether the bell has rung since the last call: the links are then to be polled.
    bool rung();
    // Between these two a packet comes to the executive when the bell rings. Look once more after the first.
    void sleeps();
    void wakes();

  private:
    struct Wake : public Request {
        void ended(HRESULT)
        {
            delete this;
        }
    };

    Shared(const Shared &);
    Shared &operator=(const Shared &);

    static void CALLBACK woken(void *shared, BOOLEAN timed_out);

    Executive &executive_;
    const UINT64 job_;
    const UINT32 rank_, ranks_;
    SharedSection own_;
    std::vector<SharedSection *> sections_;
    std::vector<SharedLink *> links_;
    UINT32 seen_;
    HANDLE wait_;
};

} // namespace ndmpi
#endif
