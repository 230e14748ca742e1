// SPDX-License-Identifier: MIT
// shared.cpp - see shared.h.
#include "shared.h"

#include <windows.h>

#include <string.h>

#include <atomic>

#include "failure.h"
#include "launcher.h"

namespace ndmpi
{

namespace
{

#define NDMPI_CHANNEL_HINT NDMPI_CHANNEL "=nd (ndmpirun -c nd) does without shared memory"

const UINT32 MAGIC = 0x6e647368 + 2; // "ndsh", and the version of what follows
const size_t LINE = 64;              // of a cache

typedef std::atomic<UINT32> Shared32;

} // namespace

// The writer's part, the reader's, and the slots, each on cache lines of its own. The memory is zero at first.
struct SharedRing {
    struct Slot {
        UINT32 size;
        unsigned char octets[Link::SLOT];
        char rest[LINE - sizeof(UINT32)];
    };

    Shared32 head; // messages written
    char after_head[LINE - sizeof(Shared32)];
    Shared32 tail; // messages taken
    Shared32 full; // 1: the writer waits for room
    char after_tail[LINE - 2 * sizeof(Shared32)];
    Slot slots[SharedLink::SLOTS];
};

struct SharedRoom {
    UINT32 ranks;
    Shared32 magic; // set last
    UINT64 port;    // a handle of the process
    UINT32 process;
    char after_process[LINE - 5 * sizeof(UINT32)];
    Shared32 bell, asleep;
    char after_bell[LINE - 2 * sizeof(Shared32)];
    SharedRing rings[1]; // one for each rank
};

// ---- a section ------------------------------------------------------------------------------------------------------

namespace
{

// Session-wide names: ranks of other sessions do not see them and use NetworkDirect.
std::string name_of(UINT64 job, UINT32 rank)
{
    return format("Local\\ndmpi.%016llx.%u.section", (unsigned long long)job, rank);
}

size_t size_of(UINT32 ranks)
{
    return offsetof(SharedRoom, rings) + ranks * sizeof(SharedRing);
}

} // namespace

SharedSection::SharedSection(HANDLE port, UINT64 job, UINT32 rank, UINT32 ranks)
    : mapping_(NULL), port_(NULL), room_(NULL)
{
    const std::string name = name_of(job, rank);
    const size_t size = size_of(ranks);
    mapping_ = CreateFileMappingA(
        INVALID_HANDLE_VALUE, NULL, PAGE_READWRITE, 0, (DWORD)size, name.c_str());
    if (!mapping_ || GetLastError() == ERROR_ALREADY_EXISTS)
        fail("CreateFileMapping of %u KiB by the name %s failed: error %u\n  " NDMPI_CHANNEL_HINT,
            (unsigned)(size >> 10), name.c_str(), (unsigned)GetLastError());
    room_ = (SharedRoom *)MapViewOfFile(mapping_, FILE_MAP_ALL_ACCESS, 0, 0, 0);
    if (!room_)
        fail("MapViewOfFile of %u KiB failed: error %u\n  " NDMPI_CHANNEL_HINT,
            (unsigned)(size >> 10), (unsigned)GetLastError());
    room_->ranks = ranks;
    room_->process = GetCurrentProcessId();
    room_->port = (UINT64)(UINT_PTR)port;
    room_->magic.store(MAGIC, std::memory_order_release);
}

// The peer does nothing for this: whoever may open its process fetches its port. NULL: the process has ended.
HANDLE SharedSection::fetch_port(UINT32 rank) const
{
    HANDLE process = OpenProcess(PROCESS_DUP_HANDLE | SYNCHRONIZE, FALSE, room_->process);
    HANDLE port = NULL;
    if (!process && GetLastError() == ERROR_INVALID_PARAMETER)
        return NULL;
    if (!process)
        fail("OpenProcess of rank %u, process %u, failed: error %u\n  " NDMPI_CHANNEL_HINT, rank,
            (unsigned)room_->process, (unsigned)GetLastError());
    if (!DuplicateHandle(process, (HANDLE)(UINT_PTR)room_->port, GetCurrentProcess(), &port, 0,
            FALSE, DUPLICATE_SAME_ACCESS)) {
        DWORD error = GetLastError();
        port = NULL;
        /* A rank that is about to end gives no handles any more. */
        if (WaitForSingleObject(process, 2000) != WAIT_OBJECT_0)
            fail("DuplicateHandle of rank %u's port failed: error %u\n  " NDMPI_CHANNEL_HINT, rank,
                (unsigned)error);
    }
    CloseHandle(process);
    return port;
}

SharedSection *SharedSection::open(UINT64 job, UINT32 rank, UINT32 ranks)
{
    const std::string name = name_of(job, rank);
    HANDLE mapping = OpenFileMappingA(FILE_MAP_ALL_ACCESS, FALSE, name.c_str());
    if (!mapping && GetLastError() == ERROR_FILE_NOT_FOUND)
        return NULL;
    SharedSection *section = new SharedSection();
    section->mapping_ = mapping;
    if (mapping)
        section->room_ =
            (SharedRoom *)MapViewOfFile(mapping, FILE_MAP_ALL_ACCESS, 0, 0, size_of(ranks));
    if (!section->room_)
        fail("the section of rank %u cannot be opened: error %u\n  " NDMPI_CHANNEL_HINT, rank,
            (unsigned)GetLastError());
    if (section->room_->magic.load(std::memory_order_acquire) != MAGIC ||
        section->room_->ranks != ranks)
        fail("the section of rank %u is not what this program makes: is it of another version?",
            rank);
    section->port_ = section->fetch_port(rank);
    return section;
}

SharedSection::~SharedSection()
{
    UnmapViewOfFile(room_);
    CloseHandle(mapping_);
    if (port_)
        CloseHandle(port_);
}

SharedRing &SharedSection::ring(UINT32 from) const
{
    return room_->rings[from];
}

// The rank sets asleep before it reads the bell a last time, so at least one side sees what the other did. Where its
// process has ended meanwhile, its port has gone with it: that is noticed elsewhere.
void SharedSection::ring_bell()
{
    room_->bell.fetch_add(1);
    if (room_->asleep.exchange(0) && port_ && !PostQueuedCompletionStatus(port_, 0, 0, NULL) &&
        GetLastError() != ERROR_INVALID_HANDLE)
        fail("PostQueuedCompletionStatus to process %u failed: error %u", (unsigned)room_->process,
            (unsigned)GetLastError());
}

// ---- a link ---------------------------------------------------------------------------------------------------------

SharedLink::SharedLink(const SharedSection &own, UINT32 rank, SharedSection &peer, UINT32 peer_rank)
    : peer_(peer), in_(own.ring(peer_rank)), out_(peer.ring(rank)), peer_rank_(peer_rank),
      polling_(false)
{
}

// A writer that finds no room sets full before it looks again: the reader then rings its bell.
bool SharedLink::can_send() const
{
    const UINT32 head = out_.head.load(std::memory_order_relaxed);
    if (head - out_.tail.load(std::memory_order_acquire) < SLOTS)
        return true;
    out_.full.store(1);
    return head - out_.tail.load() < SLOTS;
}

void SharedLink::send(Header header, const void *data, size_t size)
{
    const UINT32 head = out_.head.load(std::memory_order_relaxed);
    SharedRing::Slot &slot = out_.slots[head % SLOTS];
    header.credits = 0;
    header.pack(slot.octets);
    if (size)
        memcpy(slot.octets + Header::SIZE, data, size);
    slot.size = (UINT32)(Header::SIZE + size);
    out_.head.store(head + 1, std::memory_order_release);
    peer_.ring_bell();
}

bool SharedLink::poll(LinkOwner &owner)
{
    UINT32 tail = in_.tail.load(std::memory_order_relaxed), waiting;
    bool some = false;
    if (polling_)
        return false;
    polling_ = true;
    while ((waiting = in_.head.load(std::memory_order_acquire) - tail) != 0) {
        const SharedRing::Slot &slot = in_.slots[tail % SLOTS];
        Header header;
        if (waiting > SLOTS || slot.size > sizeof(slot.octets) ||
            !header.unpack(slot.octets, slot.size))
            fail("what rank %u has written to shared memory is no message: does it run another "
                 "version?",
                peer_rank_);
        owner.message(header, slot.octets + Header::SIZE);
        in_.tail.store(++tail);
        if (in_.full.exchange(0))
            peer_.ring_bell();
        some = true;
    }
    polling_ = false;
    return some;
}

// ---- all of them ----------------------------------------------------------------------------------------------------

Shared::Shared(Executive &executive, UINT64 job, UINT32 rank, UINT32 ranks)
    : job_(job), rank_(rank), ranks_(ranks), own_(executive.port(), job, rank, ranks), seen_(0)
{
}

Shared::~Shared()
{
    for (size_t i = 0; i < links_.size(); ++i)
        delete links_[i];
    for (size_t i = 0; i < sections_.size(); ++i)
        delete sections_[i];
}

SharedLink *Shared::open(UINT32 peer)
{
    SharedSection *section = SharedSection::open(job_, peer, ranks_);
    if (!section)
        return NULL;
    sections_.push_back(section);
    links_.push_back(new SharedLink(own_, rank_, *section, peer));
    return links_.back();
}

bool Shared::rung()
{
    const UINT32 bell = own_.room().bell.load();
    bool rung = bell != seen_;
    seen_ = bell;
    return rung;
}

void Shared::sleeps()
{
    own_.room().asleep.store(1);
}

void Shared::wakes()
{
    own_.room().asleep.store(0);
}

} // namespace ndmpi
