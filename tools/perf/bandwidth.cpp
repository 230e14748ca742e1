/* SPDX-License-Identifier: MIT */
/*
 * bandwidth.cpp - keeps the queues full of messages, in each direction that the test asks for.
 *
 * Sends need Receives: the receiver reports by an empty message how many it has posted again (Worker). The last Send of
 * a phase is one byte longer, so that the receiver knows that it is the last.
 */
#include "interrupt.h"
#include "phases.h"

namespace ndperf
{

namespace
{

class Bandwidth : public Handler
{
  public:
    Bandwidth(Worker &worker, const Phase &phase);
    void run();
    void received(Stream &stream, const char *data, ULONG bytes);
    void completed(Stream &stream);

  private:
    bool push(Stream &stream);
    UINT32 next_burst(const Stream &stream, bool &is_last) const;
    void post_next(Stream &stream, bool is_last);
    bool done() const;

    Worker &worker_;
    const Phase &phase_;
    const Parameters &p_;
    const Operation operation_;
    const bool active_, passive_; // this side sends; this side receives
    UINT64 deadline_;
    std::vector<bool> all_posted_; // for each stream: all requests of the phase are posted
};

Bandwidth::Bandwidth(Worker &worker, const Phase &phase)
    : worker_(worker), phase_(phase), p_(worker.parameters()),
      operation_(p_.test == SEND_BW    ? SEND
                 : p_.test == WRITE_BW ? WRITE
                                       : READ),
      active_(!worker.server() || p_.bidirectional),
      passive_(p_.test == SEND_BW && (worker.server() || p_.bidirectional)),
      deadline_(deadline_of(worker, phase)), all_posted_(worker.streams().size(), !active_)
{
}

// Returns how many requests to post at once now; 0: none.
UINT32 Bandwidth::next_burst(const Stream &stream, bool &is_last) const
{
    UINT64 posted = stream.sent - stream.begun;
    UINT32 burst = p_.post_list;

    is_last = deadline_ && ticks() >= deadline_;
    if (is_last) {
        burst = 1;
    } else if (!deadline_ && phase_.iterations - posted <= burst) {
        burst = (UINT32)(phase_.iterations - posted);
        is_last = true;
    }
    if (stream.outstanding + burst > p_.tx() || (operation_ == SEND && stream.credits < burst))
        return 0;
    return burst;
}

void Bandwidth::post_next(Stream &stream, bool is_last)
{
    UINT32 slot = worker_.next_slot(stream);
    ULONG size = phase_.size + (operation_ == SEND && is_last ? 1 : 0);
    bool is_signaled = is_last || (stream.sent - stream.begun + 1) % p_.cq_mod == 0;

    if (p_.verify && operation_ == READ)
        fill(worker_.in(stream, slot), size, ~(UINT64)slot);
    else if (p_.verify)
        fill(worker_.out(stream, slot), size, stream.sent);
    worker_.post(stream, operation_, size, slot, is_signaled ? 0 : SILENT);
    if (operation_ == SEND)
        --stream.credits;
}

// Posts as many requests as allowed. False: it posted none.
bool Bandwidth::push(Stream &stream)
{
    size_t index = stream.endpoint->owner;
    bool is_last, any = false;

    while (!all_posted_[index]) {
        UINT32 burst = next_burst(stream, is_last);
        if (burst == 0)
            break;
        if (p_.post_list > 1)
            stream.endpoint->start_batch();
        for (UINT32 i = 0; i < burst; ++i)
            post_next(stream, is_last && i + 1 == burst);
        if (p_.post_list > 1)
            stream.endpoint->submit_batch();
        all_posted_[index] = is_last;
        any = true;
    }
    return any;
}

void Bandwidth::received(Stream &stream, const char *data, ULONG bytes)
{
    if (p_.verify && !is_right(data, bytes, stream.arrived))
        ++stream.damaged;
    ++stream.arrived;
    if (bytes == phase_.size + 1)
        stream.ended = true;
    if (!active_)
        worker_.count(1);
}

// This completion covers all messages since the last signaled one.
void Bandwidth::completed(Stream &stream)
{
    UINT32 count = stream.outstanding < p_.cq_mod ? stream.outstanding : p_.cq_mod;

    for (UINT32 i = 0; p_.verify && operation_ == READ && i < count; ++i) {
        UINT32 slot = (UINT32)((stream.sent - stream.outstanding + i) % p_.tx());
        if (!is_right(worker_.in(stream, slot), phase_.size, slot))
            ++stream.damaged;
    }
    stream.outstanding -= count;
    worker_.count(count);
}

bool Bandwidth::done() const
{
    std::vector<std::unique_ptr<Stream>> &streams = worker_.streams();
    for (size_t i = 0; i < streams.size(); ++i)
        if (!all_posted_[i] || streams[i]->outstanding || (passive_ && !streams[i]->ended))
            return false;
    return true;
}

void Bandwidth::run()
{
    std::vector<std::unique_ptr<Stream>> &streams = worker_.streams();
    while (!done() && !stopping()) {
        bool busy = false;
        for (size_t i = 0; i < streams.size(); ++i)
            busy |= push(*streams[i]);
        busy |= worker_.progress(*this);
        if (!busy)
            worker_.rest();
    }
}

} // namespace

void run_bandwidth(Worker &worker, const Phase &phase)
{
    Bandwidth(worker, phase).run();
}

} // namespace ndperf
