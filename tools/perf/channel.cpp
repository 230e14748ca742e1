/* SPDX-License-Identifier: MIT */
#include "channel.h"

#include <string.h>

#include "failure.h"
#include "interrupt.h"
#include "samples.h"

namespace ndperf
{

namespace
{

enum { OUTGOING = 0 };
enum { FAREWELL_MS = 3000, LOOK_MS = 10 };

// Converts a message to network order and back.
void swap_order(Message &message)
{
    message.kind = htonl(message.kind);
    for (size_t i = 0; i < Message::VALUES; ++i)
        message.values[i] = swap64(message.values[i]);
}

// Returns the milliseconds until a deadline. deadline in: in ticks; 0: none
DWORD left_until(UINT64 deadline)
{
    UINT64 now = ticks();
    if (!deadline)
        return INFINITE;
    return now < deadline ? (DWORD)((double)(deadline - now) / ticks_per_second() * 1e3) + 1 : 0;
}

} // namespace

Message::Message(Kind the_kind) : kind(the_kind), reserved(0)
{
    memset(values, 0, sizeof(values));
    memset(text, 0, sizeof(text));
}

void Message::say(const std::string &words)
{
    memset(text, 0, sizeof(text));
    memcpy(text, words.data(), words.size() < sizeof(text) ? words.size() : sizeof(text) - 1);
}

Channel::Channel(Adapter &adapter)
    : adapter_(adapter), memory_(1 + RECEIVES), sending_(false), notified_(false)
{
    Depths depths = { 2, RECEIVES, 0, 0, NULL };
    region_.reset(adapter.register_memory(memory_.data(), memory_.size() * sizeof(Message), false));
    queue_.reset(adapter.create_queue(2 + RECEIVES));
    endpoint_.reset(adapter.create_endpoint());
    depths.reads = 0;
    endpoint_->open(*queue_, depths);
    for (size_t slot = OUTGOING + 1; slot <= RECEIVES; ++slot)
        post_receive(slot);
}

Channel::~Channel()
{
    endpoint_.reset(); // posted requests use the region
    queue_.reset();
    region_.reset();
}

void Channel::established()
{
    HRESULT hr = endpoint_->notify_disconnect(disconnect_);
    if (hr != ND_PENDING && hr != ND_SUCCESS)
        fail_lost();
}

void Channel::post_receive(size_t slot)
{
    check(endpoint_->receive(&memory_[slot], sizeof(Message), *region_, slot), "Receive");
}

// Takes one result, if there is one.
bool Channel::progress()
{
    Result result;
    if (queue_->poll(&result, 1) == 0)
        return false;
    if (FAILED(result.status))
        fail_lost();
    if (!result.receive)
        sending_ = false;
    else if (result.bytes != sizeof(Message))
        fail("a message of %u bytes came where %u were expected: is the peer ndperf?",
            (unsigned)result.bytes, (unsigned)sizeof(Message));
    else
        arrived_.push_back(result.context);
    return true;
}

// Sleeps until there may be a result. A notify reports results that arrived after the last poll, so this polls once
// more.
// deadline in: in ticks; 0: none
void Channel::wait(UINT64 deadline)
{
    HANDLE events[] = { notify_.event(), disconnect_.event(), interruption() };

    if (!notified_) {
        HRESULT hr = queue_->notify(notify_);
        check(hr, "Notify");
        notified_ = hr == ND_PENDING;
        return;
    }
    DWORD which = WaitForMultipleObjects(stop_ ? 3 : 2, events, FALSE, left_until(deadline));
    if (which == WAIT_OBJECT_0) {
        check(queue_->notified(notify_), "Notify");
        notified_ = false;
    } else if (which == WAIT_TIMEOUT) {
        fail("%s is connected, but sends nothing: look at the program there",
            address_text(endpoint_->peer()).c_str());
    } else if (which == WAIT_OBJECT_0 + 2) {
        stop_(false);
    } else if (which != WAIT_OBJECT_0 + 1) {
        fail("WaitForMultipleObjects failed: error %u", (unsigned)GetLastError());
    } else if (!progress()) {
        fail_lost();
    }
}

void Channel::send(const Message &message)
{
    while (sending_)
        if (!progress())
            wait();
    memory_[OUTGOING] = message;
    swap_order(memory_[OUTGOING]);
    sending_ = true;
    HRESULT hr =
        endpoint_->post(SEND, &memory_[OUTGOING], sizeof(Message), *region_, 0, 0, OUTGOING);
    if (FAILED(hr))
        fail_lost();
}

Message Channel::receive(Kind kind, DWORD patience)
{
    UINT64 deadline =
        patience == INFINITE ? 0 : ticks() + (UINT64)(patience * 1e-3 * ticks_per_second());
    while (arrived_.empty())
        if (!progress())
            wait(deadline);
    size_t slot = arrived_.front();
    arrived_.erase(arrived_.begin());
    Message message = memory_[slot];
    post_receive(slot);
    swap_order(message);
    message.text[sizeof(message.text) - 1] = 0;
    if (message.kind == STOPPED && stop_)
        stop_(true);
    if (message.kind == WITHDRAWN)
        fail("%s gives up: %s", address_text(endpoint_->peer()).c_str(), message.text);
    if (message.kind != (UINT32)kind)
        fail("the peer is at another step (%u) than this program (%u)", (unsigned)message.kind,
            (unsigned)kind);
    return message;
}

Message Channel::swap(const Message &message)
{
    send(message);
    Message answer = receive((Kind)message.kind);
    while (sending_)
        if (!progress())
            wait();
    return answer;
}

bool Channel::is_stopped()
{
    while (progress())
        continue;
    for (size_t i = 0; i < arrived_.size(); ++i)
        if (memory_[arrived_[i]].kind == htonl(STOPPED))
            return true;
    return false;
}

// It calls no function that ends the program: the connection may be lost already.
void Channel::tell_stop()
{
    UINT64 deadline = ticks() + (UINT64)(FAREWELL_MS * 1e-3 * ticks_per_second());
    Result result;

    while (sending_ && WaitForSingleObject(disconnect_.event(), LOOK_MS) == WAIT_TIMEOUT) {
        while (queue_->poll(&result, 1))
            sending_ = sending_ && result.receive;
        if (ticks() >= deadline)
            return;
    }
    memory_[OUTGOING] = Message(STOPPED);
    swap_order(memory_[OUTGOING]);
    if (SUCCEEDED(
            endpoint_->post(SEND, &memory_[OUTGOING], sizeof(Message), *region_, 0, 0, OUTGOING)))
        WaitForSingleObject(disconnect_.event(), left_until(deadline));
}

void Channel::await_end(DWORD patience)
{
    if (WaitForSingleObject(disconnect_.event(), patience) == WAIT_FAILED)
        fail("WaitForSingleObject failed: error %u", (unsigned)GetLastError());
}

} // namespace ndperf
