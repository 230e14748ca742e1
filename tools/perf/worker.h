/* SPDX-License-Identifier: MIT */
/*
 * worker.h - one thread's part of a measurement: a completion queue, the endpoints that use it, and their memory.
 */
#ifndef TOOLS_PERF_WORKER_H
#define TOOLS_PERF_WORKER_H

#include <atomic>
#include <memory>
#include <vector>

#include "parameters.h"
#include "samples.h"
#include "verbs.h"
#include "waiter.h"

namespace ndperf
{

// One connection of a worker.
struct Stream {
    std::unique_ptr<Endpoint> endpoint;
    char *out,
        *in; // buffers of messages to send and to receive: tx() and rx() + CREDITS of them, or one
    UINT32 outstanding;   // number of requests not known to have completed, without credits
    UINT32 credits;       // number of messages that the peer has Receives for
    UINT32 uncredited;    // number of messages received and not yet answered by a credit
    UINT32 credit_sends;  // number of outstanding Sends of credits
    UINT64 sent, arrived; // numbers of messages since the beginning
    UINT64 damaged;       // number of damaged messages, arrived or read
    UINT64 begun;         // value of sent before this phase
    bool ended;           // the last message of this phase has come
};

// The callbacks of a phase of the measurement.
class Handler
{
  public:
    virtual ~Handler()
    {
    }
    // A message came. data in: valid until this returns
    virtual void received(Stream &stream, const char *data, ULONG bytes) = 0;
    // A signaled request has completed.
    virtual void completed(Stream &stream) = 0;
};

// A part of a measurement: messages of one size.
struct Phase {
    UINT32 size;       // bytes
    UINT64 iterations; // each queue pair's; in latency tests all queue pairs' together
    UINT32 duration;   // seconds; 0: iterations count
};

// How the threads of a measurement connect to those of the peer.
struct Meeting {
    SOCKADDR_INET server; // client: the server's address
    UINT32 cookie;
    HANDLE lost; // signalled when the peer is gone
};

class Worker
{
  public:
    // server in: this side is the server's
    Worker(Adapter &adapter, const Parameters &parameters, bool server, const Meeting &meeting);
    ~Worker();

    // Makes an endpoint with its queues, posts its Receives, and adds it to the streams.
    Stream &add_stream();
    // Makes an endpoint that only connects. The caller deletes it.
    Endpoint *lone_endpoint();
    // Adapter::next_request, which also ends when the peer is gone.
    HRESULT next_request(Endpoint &endpoint)
    {
        return adapter_.next_request(endpoint, meeting_.lost);
    }
    const Meeting &meeting() const
    {
        return meeting_;
    }
    // Runs the phase until its end, on the calling thread. The streams' counters and the samples have the result.
    void run(const Phase &phase);

    const Parameters &parameters() const
    {
        return parameters_;
    }
    bool server() const
    {
        return server_;
    }
    std::vector<std::unique_ptr<Stream>> &streams()
    {
        return streams_;
    }
    // Lets the peer write or read the stream's buffers.
    ND_MW_DESCRIPTOR grant(Stream &stream);

    // For phases: posts the stream's next message from or into the buffer of slot. flags in: SILENT
    void post(Stream &stream, Operation operation, ULONG size, UINT32 slot, ULONG flags);
    // Return the number of the next message's buffer, and its memory.
    UINT32 next_slot(const Stream &stream) const
    {
        return parameters_.verify ? (UINT32)(stream.sent % parameters_.tx()) : 0;
    }
    char *out(Stream &stream, UINT32 slot) const
    {
        return stream.out + (size_t)slot * parameters_.stride();
    }
    char *in(Stream &stream, UINT32 slot) const
    {
        return stream.in + (size_t)slot * parameters_.stride();
    }
    // Handles results. False: there were none.
    bool progress(Handler &handler);
    // Waits as the parameters say, after progress has found no results.
    void rest()
    {
        waiter_->wait();
    }

    Samples samples;
    UINT64 start, end; // times of the phase's start and end, in ticks
    // The number of messages of this phase so far. Any thread may read it.
    void count(UINT64 more)
    {
        messages_.store(
            messages_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
    }
    UINT64 messages() const
    {
        return messages_.load(std::memory_order_relaxed);
    }

  private:
    void received(Handler &handler, Stream &stream, const Result &result);
    void post_receive(Stream &stream, ULONG_PTR slot);
    void send_credits(Stream &stream);
    UINT32 buffers_out() const;
    UINT32 buffers_in() const;

    std::atomic<UINT64> messages_;
    Adapter &adapter_;
    const Parameters parameters_;
    const bool server_;
    const Meeting meeting_;
    ULONG inline_size_;
    size_t qps_; // most queue pairs of this worker
    char *memory_;
    std::unique_ptr<Region> region_;
    std::unique_ptr<Queue> queue_;
    std::unique_ptr<SharedReceives> shared_;
    std::unique_ptr<Waiter> waiter_;
    std::vector<std::unique_ptr<Stream>> streams_;
};

} // namespace ndperf
#endif
