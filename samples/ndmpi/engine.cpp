// SPDX-License-Identifier: MIT
// engine.cpp - see engine.h.
#include "engine.h"

#include "failure.h"

namespace ndmpi
{

namespace
{

// Unused registrations that the cache keeps.
const size_t CACHE_ENTRIES = 64;
const size_t CACHE_BYTES = 256u << 20;

// Polls without a result before a rank sleeps, with a processor of its own and without.
const unsigned SPIN = 2000;
const unsigned SPIN_CROWDED = 4;

// How long a rank waits, after it has lost a connection, for ndmpirun to report the cause.
const ULONGLONG MOURNING_MS = 3000;

unsigned processors()
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return (unsigned)info.dwNumberOfProcessors;
}

} // namespace

Engine::Engine(Job &job)
    : job_(job), adapter_(NULL), cache_(NULL), shared_(NULL),
      spin_(job.ranks_here() <= processors() ? SPIN : SPIN_CROWDED), empty_(0), looks_(0),
      mourning_(false)
{
    check(NdStartup(), "NdStartup");
    // Two for each peer: attempts that lost a race end while the next one is up.
    adapter_ = Adapter::open(job.version(), executive_, job.address(), 2 * (ULONG)job.size());
    cache_ = new RegistrationCache(*adapter_, CACHE_ENTRIES, CACHE_BYTES);
    listen();
    if (job.shared())
        shared_ = new Shared(executive_, job.key(), (UINT32)job.rank(), (UINT32)job.size());
    addresses_ = job.enter(executive_, adapter_->address());

    Channel::Setup setup;
    setup.executive = &executive_;
    setup.adapter = adapter_;
    setup.cache = cache_;
    setup.owner = this;
    setup.hello.rank = (UINT32)job.rank();
    setup.hello.job = job.key();
    setup.hello.receives = RECEIVES;
    setup.hello.slot = Link::SLOT;
    for (int peer = 0; peer < job.size(); ++peer)
        channels_.push_back(new Channel(setup, peer, addresses_[(size_t)peer],
            shared_ && peer != job.rank() ? shared_->open((UINT32)peer) : NULL));
    await_request(); // earlier requests wait at the listener
}

Engine::~Engine()
{
    delete shared_;
    for (size_t i = 0; i < channels_.size(); ++i)
        delete channels_[i];
    delete incoming_.endpoint;
    delete cache_;
    delete adapter_;
    NdCleanup();
}

// ---- listening ------------------------------------------------------------------------------------------------------

// The ranks of a host begin at different places of the range, so that they seldom try the same port.
void Engine::listen()
{
    unsigned first = job_.first_port(), count = job_.last_port() - first + 1;
    HRESULT hr = ND_SHARING_VIOLATION;

    for (unsigned i = 0; i < count && hr == ND_SHARING_VIOLATION; ++i)
        hr = adapter_->listen(htons((USHORT)(first + (i + (unsigned)job_.rank()) % count)));
    if (hr == ND_SHARING_VIOLATION && first)
        fail("none of the ports %u to %u of adapter %s is free\n  ndmpirun -p names other ports; "
             "without it any free one is taken",
            first, job_.last_port(), ip_text(job_.address()).c_str());
    check(hr, "Listen", &job_.address());
}

void Engine::await_request()
{
    incoming_.engine = this;
    incoming_.endpoint = adapter_->create_endpoint();
    adapter_->next_request(*incoming_.endpoint, incoming_);
}

void Engine::Incoming::ended(HRESULT status)
{
    Endpoint *filled = endpoint;

    if (status != ND_CONNECTION_ABORTED && status != ND_CONNECTION_INVALID) // the peer gave up
        check(status, "GetConnectionRequest", &engine->adapter_->address());
    engine->await_request();
    if (FAILED(status))
        delete filled;
    else
        engine->requested(filled);
}

// A stranger's request is rejected.
void Engine::requested(Endpoint *endpoint)
{
    unsigned char data[Hello::SIZE];
    Hello hello;

    if (!endpoint->private_data(data, sizeof(data)) || !hello.unpack(data) ||
        hello.job != job_.key() || hello.rank >= channels_.size() ||
        hello.rank == (UINT32)job_.rank() || hello.slot != Link::SLOT || hello.receives < 2 ||
        hello.receives > RECEIVES) {
        endpoint->reject();
        delete endpoint;
        return;
    }
    channels_[hello.rank]->requested(endpoint, hello);
}

// ---- the loop -------------------------------------------------------------------------------------------------------

void Engine::Notify::ended(HRESULT status)
{
    armed = false;
    if (status != ND_CANCELED)
        check(status, "Notify of the completion queue");
}

bool Engine::look()
{
    bool some = adapter_->poll();
    if (shared_ && shared_->rung()) {
        some = true; // a bell may announce room, which may have completed a send
        for (size_t i = 0; i < channels_.size(); ++i)
            channels_[i]->look();
    }
    if (!some || ++looks_ % 32 == 0)
        some |= executive_.run(0);
    return some;
}

// A Notify may miss results that arrived before it, so poll once more between it and the sleep.
void Engine::turn()
{
    if (look()) {
        empty_ = 0;
        return;
    }
    if (++empty_ < spin_)
        return;
    empty_ = 0;
    sweep();
    if (!notify_.armed) {
        notify_.armed = true;
        adapter_->notify(notify_);
    }
    if (shared_)
        shared_->sleeps();
    if (!look())
        executive_.run(INFINITE);
    if (shared_)
        shared_->wakes();
}

void Engine::sweep()
{
    for (size_t i = 0; i < channels_.size(); ++i)
        channels_[i]->sweep();
}

void Engine::lost(int peer, HRESULT status, const char *what)
{
    if (mourning_)
        return;
    mourning_ = true;
    for (ULONGLONG now, deadline = GetTickCount64() + MOURNING_MS;
         (now = GetTickCount64()) < deadline;)
        executive_.run((DWORD)(deadline - now)); // a reported failure ends the program
    fail("the connection to rank %d at %s was lost: %s ended with %s", peer,
        address_text(addresses_[(size_t)peer]).c_str(), what, code_text(status).c_str());
}

// ---- the end --------------------------------------------------------------------------------------------------------

namespace
{

template <bool (Channel::*test)() const> struct All {
    explicit All(const std::vector<Channel *> &the_channels) : channels(the_channels)
    {
    }
    bool met() const
    {
        for (size_t i = 0; i < channels.size(); ++i)
            if (!(channels[i]->*test)())
                return false;
        return true;
    }
    const std::vector<Channel *> &channels;
};

} // namespace

void Engine::drain()
{
    until(All<&Channel::quiet>(channels_));
}

void Engine::close()
{
    for (size_t i = 0; i < channels_.size(); ++i)
        channels_[i]->close();
    for (All<&Channel::closed> all(channels_); sweep(), !all.met();)
        turn();
}

} // namespace ndmpi
