// SPDX-License-Identifier: MIT
//
// engine.h - a rank at work: its adapter, its channels, and the loop that serves them.
#ifndef NDMPI_ENGINE_H
#define NDMPI_ENGINE_H

#include <vector>

#include "channel.h"
#include "job.h"

namespace ndmpi
{

class Engine : private ChannelOwner
{
  public:
    // Opens the adapter, listens, and exchanges addresses with the other ranks.
    explicit Engine(Job &job);
    ~Engine();

    Channel &channel(int peer)
    {
        return *channels_[(size_t)peer];
    }
    RegistrationCache &cache()
    {
        return *cache_;
    }

    // Ranks with which this one shares memory.
    unsigned shared_with() const
    {
        return shared_ ? shared_->peers() : 0;
    }

    // Runs the loop until the condition (bool condition.met()) is met.
    template <class Condition> void until(const Condition &condition)
    {
        while (!condition.met())
            turn();
    }
    // Everything has been sent.
    void drain();
    // Says good-bye to all peers; each rank must call it.
    void close();

  private:
    struct Notify : public Request {
        Notify() : armed(false)
        {
        }
        void ended(HRESULT status);
        bool armed;
    };
    // The next connection request.
    struct Incoming : public Request {
        Incoming() : engine(NULL), endpoint(NULL)
        {
        }
        void ended(HRESULT status);
        Engine *engine;
        Endpoint *endpoint;
    };

    Engine(const Engine &);
    Engine &operator=(const Engine &);

    void listen();
    void await_request();
    void requested(Endpoint *endpoint);
    // Polls once for work, and sleeps when there has been none for a while.
    void turn();
    bool look();
    void sweep();
    void lost(int peer, HRESULT status, const char *what);

    Job &job_;
    Executive executive_;
    Adapter *adapter_;
    RegistrationCache *cache_;
    Shared *shared_; // NULL: not requested
    std::vector<Channel *> channels_;
    std::vector<SOCKADDR_INET> addresses_;
    Notify notify_;
    Incoming incoming_;
    unsigned spin_, empty_, looks_;
    bool mourning_;
};

} // namespace ndmpi
#endif
