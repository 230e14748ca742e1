/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include "failure.h"
#include "phases.h"

namespace ndperf
{

namespace
{

enum { DATA, CREDIT }; // contexts of requests; those of Receives are slots

enum { OF_DURATION = 1 << 20 }; // number of samples to allocate for, if the test has a duration

enum { INLINE_LATENCY = 256 }; // bytes: above this, latency tests ignore the adapter's advice

} // namespace

Worker::Worker(Adapter &adapter, const Parameters &parameters, bool server, const Meeting &meeting)
    : start(0), end(0), messages_(0), adapter_(adapter), parameters_(parameters), server_(server),
      meeting_(meeting), inline_size_(parameters.inline_size),
      qps_((parameters.qps + parameters.threads - 1) / parameters.threads)
{
    const Parameters &p = parameters_;
    SIZE_T each = ((SIZE_T)buffers_out() + buffers_in()) * p.stride();
    UINT32 requests = p.tx_depth + p.rx_depth + 2 * CREDITS;

    if (inline_size_ == INLINE_ADVISED)
        inline_size_ = adapter.limits().advised_inline < INLINE_LATENCY
                           ? (ULONG)adapter.limits().advised_inline
                           : (ULONG)INLINE_LATENCY;
    memory_ = (char *)VirtualAlloc(NULL, each * qps_, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!memory_)
        fail("no memory for messages: %llu bytes; ask for smaller ones (-s) or fewer queue pairs "
             "(-q)",
            (unsigned long long)(each * qps_));
    region_.reset(adapter.register_memory(memory_, each * qps_, !p.sends()));
    queue_.reset(adapter.create_queue((ULONG)(requests * qps_)));
    waiter_.reset(new Waiter(*queue_, (Wait)p.wait));
    if (p.srq)
        shared_.reset(adapter.create_shared_receives((ULONG)((p.rx_depth + CREDITS) * qps_)));
}

Worker::~Worker()
{
    streams_.clear(); // their requests use the memory
    queue_.reset();   // its notify uses the waiter
    waiter_.reset();
    shared_.reset();
    region_.reset();
    VirtualFree(memory_, 0, MEM_RELEASE);
}

UINT32 Worker::buffers_out() const
{
    return parameters_.verify ? parameters_.tx() : 1;
}

UINT32 Worker::buffers_in() const
{
    if (!parameters_.verify)
        return 1;
    return parameters_.sends() ? parameters_.rx() + CREDITS : parameters_.tx();
}

Stream &Worker::add_stream()
{
    const Parameters &p = parameters_;
    std::unique_ptr<Stream> stream(new Stream());
    SIZE_T outs = (SIZE_T)buffers_out() * p.stride(), ins = (SIZE_T)buffers_in() * p.stride();
    ULONG reads = (ULONG)(p.outs ? p.outs : adapter_.limits().max_reads);
    Depths depths = { p.tx_depth + CREDITS, p.sends() ? p.rx_depth + CREDITS : 1, inline_size_,
        reads, shared_.get() };

    stream->out = memory_ + streams_.size() * (outs + ins);
    stream->in = stream->out + outs;
    stream->credits = p.rx();
    stream->endpoint.reset(adapter_.create_endpoint());
    stream->endpoint->owner = streams_.size();
    stream->endpoint->open(*queue_, depths);
    streams_.push_back(std::move(stream));
    ULONG_PTR first = shared_ ? (streams_.size() - 1) * (p.rx() + CREDITS) : 0;
    for (UINT32 i = 0; p.sends() && i < p.rx() + CREDITS; ++i)
        post_receive(*streams_.back(), first + i);
    return *streams_.back();
}

Endpoint *Worker::lone_endpoint()
{
    Depths depths = { 1, 1, 0, 0, NULL };
    std::unique_ptr<Endpoint> endpoint(adapter_.create_endpoint());
    endpoint->open(*queue_, depths);
    return endpoint.release();
}

// Posts a Receive. slot: number of the stream's buffer; with a shared queue, of the buffers of all streams in their
// order.
void Worker::post_receive(Stream &stream, ULONG_PTR slot)
{
    UINT32 buffers = parameters_.rx() + CREDITS;
    Stream &owner = shared_ ? *streams_[slot / buffers] : stream;
    UINT32 buffer = parameters_.verify ? (UINT32)(slot % buffers) : 0;
    char *data = in(owner, buffer);
    HRESULT hr = shared_ ? shared_->receive(data, parameters_.stride(), *region_, slot)
                         : stream.endpoint->receive(data, parameters_.stride(), *region_, slot);
    check(hr, "Receive");
}

ND_MW_DESCRIPTOR Worker::grant(Stream &stream)
{
    bool reads = parameters_.reads();
    SIZE_T buffers = reads ? buffers_out() : buffers_in();
    return stream.endpoint->grant(*region_, reads ? stream.out : stream.in,
        buffers * parameters_.stride(), parameters_.windows);
}

void Worker::post(Stream &stream, Operation operation, ULONG size, UINT32 slot, ULONG flags)
{
    char *data = operation == READ ? in(stream, slot) : out(stream, slot);
    if (size <= inline_size_ && operation != READ)
        flags |= INLINE;
    HRESULT hr = stream.endpoint->post(
        operation, data, size, *region_, (UINT64)slot * parameters_.stride(), flags, DATA);
    if (hr == ND_CONNECTION_INVALID || hr == ND_CANCELED)
        fail_lost();
    check(hr, operation == SEND ? "Send" : operation == WRITE ? "Write" : "Read");
    ++stream.sent;
    ++stream.outstanding;
}

void Worker::send_credits(Stream &stream)
{
    while (stream.uncredited >= parameters_.credit() && stream.credit_sends < CREDITS) {
        HRESULT hr = stream.endpoint->post(SEND, stream.out, 0, *region_, 0, 0, CREDIT);
        if (FAILED(hr))
            fail_lost();
        stream.uncredited -= parameters_.credit();
        ++stream.credit_sends;
    }
}

// Handles a message. An empty one is a credit: data has at least one byte.
void Worker::received(Handler &handler, Stream &stream, const Result &result)
{
    UINT32 buffers = parameters_.rx() + CREDITS;
    Stream &owner = shared_ ? *streams_[result.context / buffers] : stream;

    if (result.bytes)
        handler.received(stream,
            in(owner, parameters_.verify ? (UINT32)(result.context % buffers) : 0), result.bytes);
    post_receive(stream, result.context);
    if (!result.bytes) {
        stream.credits += parameters_.credit();
    } else if (parameters_.bandwidth()) {
        ++stream.uncredited;
        send_credits(stream);
    }
}

bool Worker::progress(Handler &handler)
{
    enum { MOST = 16 };
    Result results[MOST];
    ULONG count = queue_->poll(results, MOST);

    for (ULONG i = 0; i < count; ++i) {
        Stream &stream = *streams_[results[i].endpoint->owner];
        if (results[i].status == ND_CANCELED)
            fail_lost();
        check(results[i].status, results[i].receive ? "a Receive" : "a request");
        if (results[i].receive) {
            received(handler, stream, results[i]);
        } else if (results[i].context == CREDIT) {
            --stream.credit_sends;
            send_credits(stream);
        } else {
            handler.completed(stream);
        }
    }
    return count > 0;
}

void Worker::run(const Phase &phase)
{
    UINT64 expected = phase.duration ? (UINT64)OF_DURATION : phase.iterations;
    samples = Samples(parameters_.times_each() && !server_ ? expected : 0);
    messages_ = 0;
    for (size_t i = 0; i < streams_.size(); ++i) {
        streams_[i]->begun = streams_[i]->sent;
        streams_[i]->ended = false;
    }
    start = ticks();
    run_phase(*this, phase);
    end = ticks();
}

} // namespace ndperf
