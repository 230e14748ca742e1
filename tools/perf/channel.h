/* SPDX-License-Identifier: MIT */
/*
 * channel.h - the connection on which the two ends of a measurement agree, start together and exchange their results.
 *
 * Messages have one size. One end can be one message ahead of the other, and each end posts Receives for that, so no
 * message arrives without a Receive. One thread uses a channel, and sleeps while it waits.
 */
#ifndef TOOLS_PERF_CHANNEL_H
#define TOOLS_PERF_CHANNEL_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "verbs.h"

namespace ndperf
{

// The beginning of a connection's private data. All in network order.
struct Greeting {
    UINT32 magic;    // GREETING_MAGIC
    UINT32 protocol; // PROTOCOL, which is raised when the ends exchange something else
    UINT32 cookie;   // identifies a measurement; 0: a new one
    UINT32 index;    // number of the queue pair
};
enum { GREETING_MAGIC = 0x4e445046, PROTOCOL = 3 };

// STOPPED: the sender's user has stopped it. WITHDRAWN: the client's own adapter cannot do what its user asks for.
enum Kind { HELLO = 1, VERDICT, MEMORY, START, DONE, COUNT, BYE, STOPPED, WITHDRAWN };

struct Message {
    enum { VALUES = 26, TEXT = 296 };
    UINT32 kind;
    UINT32 reserved;
    UINT64 values[VALUES];
    char text[TEXT]; // ends with a 0

    explicit Message(Kind kind = HELLO);
    void say(const std::string &words);
};

class Channel
{
  public:
    explicit Channel(Adapter &adapter);
    ~Channel();

    Endpoint &endpoint()
    {
        return *endpoint_;
    }
    // The connection is established: watches for its end.
    void established();
    // Signalled when the peer has disconnected or died.
    HANDLE lost() const
    {
        return disconnect_.event();
    }

    void send(const Message &message);
    // Returns the next message. Ends the program when the connection is lost, another kind comes, or none within
    // patience (in milliseconds, or INFINITE).
    Message receive(Kind kind, DWORD patience = INFINITE);
    // Sends one message, receives one of the same kind. Neither end returns before both have sent.
    Message swap(const Message &message);
    // Waits until the peer has ended the connection, at most for patience.
    void await_end(DWORD patience = INFINITE);

    // From now on send, receive and swap call stop, which does not return, when the user of either end stops the
    // measurement.
    void set_stop(const std::function<void(bool by_peer)> &stop)
    {
        stop_ = stop;
    }
    // Whether the peer has said that its user stopped it; does not wait.
    bool is_stopped();
    // Tells the peer that this end's user stopped it, and waits until the peer is gone, some seconds at most. No other
    // function may be called after it.
    void tell_stop();

  private:
    enum { RECEIVES = 2 };

    void post_receive(size_t slot);
    void wait(UINT64 deadline = 0);
    bool progress();

    Adapter &adapter_;
    std::vector<Message> memory_; // the message to send, and RECEIVES for those that arrive
    std::unique_ptr<Region> region_;
    std::unique_ptr<Queue> queue_;
    std::unique_ptr<Endpoint> endpoint_;
    Pending disconnect_, notify_;
    std::vector<size_t> arrived_; // slots of memory_, oldest first
    std::function<void(bool)> stop_;
    bool sending_, notified_;
};

} // namespace ndperf
#endif
