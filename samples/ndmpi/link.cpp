// SPDX-License-Identifier: MIT
// link.cpp - see link.h.
#include "link.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

Link::Link(Adapter &adapter, Endpoint *endpoint, LinkOwner &owner)
    : endpoint_(endpoint), owner_(&owner), slots_(new unsigned char[(RECEIVES + SENDS) * SLOT]),
      set_up_(false), heard_(false), credits_(0), owed_(0), works_(0)
{
    HRESULT hr = ND_SUCCESS;
    memory_ = adapter.register_memory(slots_, (RECEIVES + SENDS) * SLOT, SINK, hr);
    check(hr, "registering the buffers of a connection", &adapter.address());
    endpoint_->open_queues();
    for (int i = 0; i < RECEIVES; ++i) {
        receives_[i].link = this;
        receives_[i].data = slots_ + i * SLOT;
        post(receives_[i]);
    }
    for (int i = 0; i < SENDS; ++i) {
        sends_[i].link = this;
        sends_[i].data = slots_ + (RECEIVES + i) * SLOT;
        free_.push_back(&sends_[i]);
    }
}

Link::~Link()
{
    delete endpoint_;
    delete memory_;
    delete[] slots_;
}

void Link::post(Receive &receive)
{
    HRESULT hr = endpoint_->receive(receive, receive.data, SLOT, *memory_);
    if (SUCCEEDED(hr))
        ++works_;
    else if (owner_)
        owner_->broken(hr, "Receive");
}

void Link::received(Receive &receive, HRESULT status, size_t bytes)
{
    Header header;

    --works_;
    if (!owner_)
        return;
    if (FAILED(status)) {
        owner_->broken(status, "Receive");
        return;
    }
    if (!header.unpack(receive.data, bytes))
        fail("a message of %u bytes came that is none: does the peer run another version?",
            (unsigned)bytes);
    credits_ += header.credits;
    heard_ = true;
    owner_->message(header, receive.data + Header::SIZE);
    post(receive);
    ++owed_;
    pay_credits();
    if (header.credits && owner_)
        owner_->room();
}

void Link::set_up(bool connected)
{
    Header header = { CREDIT, 0, 0, 0, 0 };

    set_up_ = true;
    heard_ |= connected;
    if (connected)
        post(header, NULL, 0);
    else // the messages so far may have used up the peer's credits
        pay_credits();
}

void Link::sent(Send &send, HRESULT status)
{
    --works_;
    free_.push_back(&send);
    if (!owner_)
        return;
    if (FAILED(status)) {
        owner_->broken(status, "Send");
        return;
    }
    pay_credits();
    if (owner_)
        owner_->room();
}

void Link::pay_credits()
{
    Header header = { CREDIT, 0, 0, 0, 0 };
    if (up() && owed_ >= RECEIVES / 2 && credits_ > 0 && !free_.empty())
        post(header, NULL, 0);
}

void Link::send(Header header, const void *data, size_t size)
{
    post(header, data, size);
}

void Link::post(Header &header, const void *data, size_t size)
{
    Send &send = *free_.back();

    header.credits = owed_;
    header.pack(send.data);
    if (size)
        memcpy(send.data + Header::SIZE, data, size);
    HRESULT hr = endpoint_->send(send, send.data, Header::SIZE + size, *memory_);
    if (FAILED(hr)) {
        if (owner_)
            owner_->broken(hr, "Send");
        return;
    }
    free_.pop_back();
    owed_ = 0;
    --credits_;
    ++works_;
}

} // namespace ndmpi
