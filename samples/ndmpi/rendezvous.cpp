// SPDX-License-Identifier: MIT
// rendezvous.cpp - see rendezvous.h.
#include "rendezvous.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

Rendezvous::Rendezvous(RegistrationCache &cache, RendezvousOwner &owner)
    : cache_(cache), owner_(owner), next_id_(0), requests_(0)
{
    for (UINT32 i = 0; i < READS; ++i) {
        reads_[i].rendezvous = this;
        free_reads_.push_back(&reads_[i]);
    }
}

Rendezvous::~Rendezvous()
{
    for (std::map<UINT32, Offer *>::iterator i = offers_.begin(); i != offers_.end(); ++i)
        delete i->second;
    for (UINT32 i = 0; i < READS; ++i)
        if (!reads_[i].small.empty())
            cache_.forget(&reads_[i].small[0], reads_[i].small.size());
}

RegistrationCache::Entry *Rendezvous::acquire(const void *data, size_t size, Access access)
{
    HRESULT hr = ND_SUCCESS;
    RegistrationCache::Entry *entry = cache_.acquire(data, size, access, hr);
    check(hr, "registering the memory of a large message");
    return entry;
}

// ---- sender ---------------------------------------------------------------------------------------------------------

void Rendezvous::offer(Operation &operation, Link *link, bool in_order)
{
    Offer *offer = new Offer();
    bool later = false;

    offer->id = ++next_id_;
    offer->rendezvous = this;
    offer->link = link;
    offer->operation = &operation;
    offer->entry = NULL;
    offer->granted.offer = offer->revoked.offer = offer;
    offers_[offer->id] = offer;
    const Header header = { OFFER, 0, operation.tag, (UINT32)operation.size, offer->id };
    offer->header = header;
    if (!operation.size) {
        memset(offer->descriptor.bytes, 0, sizeof(offer->descriptor.bytes));
        tell(*offer);
        return;
    }
    const unsigned char *data = operation.data;
    if (operation.size <= Link::LARGEST) {
        offer->copy.assign(data, data + operation.size);
        data = &offer->copy[0];
    }
    offer->entry = acquire(data, operation.size, SOURCE);
    request_begins(*offer);
    HRESULT hr = link->endpoint().grant(data, operation.size, *offer->entry->memory,
        offer->descriptor, offer->window, offer->granted, later);
    if (SUCCEEDED(hr) && in_order)
        tell(*offer);
    if (FAILED(hr) || !later)
        offer->granted.done(hr, 0);
}

void Rendezvous::tell(Offer &offer)
{
    offer.told = true;
    owner_.offer_granted(offer.header, offer.descriptor);
}

void Rendezvous::granted(Offer &offer, HRESULT status)
{
    if (SUCCEEDED(status) && !offer.told)
        tell(offer);
    request_ends(offer, status, "Bind");
}

void Rendezvous::offer_read(UINT32 id)
{
    std::map<UINT32, Offer *>::iterator found = offers_.find(id);
    if (found == offers_.end() || found->second->read)
        fail("a peer says that it has read offer %u, which there is not", (unsigned)id);
    found->second->read = true;
    if (!found->second->entry) { // an empty one
        found->second->operation->complete = true;
        delete found->second;
        offers_.erase(found);
    } else if (requests_ < GRANTS)
        revoke(*found->second);
    else
        revoking_.push_back(found->second);
}

void Rendezvous::revoke(Offer &offer)
{
    bool later = false;
    request_begins(offer);
    HRESULT hr = offer.link->endpoint().revoke(offer.window, offer.revoked, later);
    if (FAILED(hr) || !later)
        offer.revoked.done(hr, 0);
}

// The grant has ended already: it was posted before this request to the same queue.
void Rendezvous::revoked(Offer &offer, HRESULT status)
{
    if (SUCCEEDED(status)) {
        cache_.release(offer.entry);
        if (!offer.copy.empty())
            cache_.forget(&offer.copy[0], offer.copy.size());
        offer.link->endpoint().reclaim(offer.window);
        offer.operation->complete = true;
    }
    offers_.erase(offer.id);
    request_ends(offer, status, "Invalidate");
    delete &offer;
}

void Rendezvous::request_begins(Offer &offer)
{
    ++requests_;
    offer.link->work_begins();
}

void Rendezvous::request_ends(Offer &offer, HRESULT status, const char *what)
{
    --requests_;
    offer.link->work_ends();
    if (FAILED(status)) {
        owner_.broken(status, what);
        return;
    }
    if (!revoking_.empty()) {
        Offer *next = revoking_.front();
        revoking_.pop_front();
        revoke(*next);
    }
    owner_.offer_ended();
}

// ---- receiver -------------------------------------------------------------------------------------------------------

void Rendezvous::read(Operation &operation, const Header &header, const unsigned char *descriptor)
{
    Waiting waiting;
    if (!header.length) {
        operation.size = 0;
        operation.complete = true;
        owner_.read_done(header.id);
        return;
    }
    waiting.operation = &operation;
    waiting.header = header;
    memcpy(waiting.from.bytes, descriptor, sizeof(waiting.from.bytes));
    // Base, length and token follow each other; the length must be what the header says.
    if (get32(descriptor + 8) != 0 || get32(descriptor + 12) != header.length)
        fail("a message of %u bytes came with a descriptor of another length",
            (unsigned)header.length);
    waiting_.push_back(waiting);
}

void Rendezvous::pump(Link &link)
{
    while (!waiting_.empty() && !free_reads_.empty()) {
        Waiting waiting = waiting_.front();
        Read &read = *free_reads_.back();
        waiting_.pop_front();
        free_reads_.pop_back();
        read.operation = waiting.operation;
        read.length = waiting.header.length;
        read.id = waiting.header.id;
        read.from = waiting.from;
        start(read, link);
    }
}

void Rendezvous::start(Read &read, Link &link)
{
    read.link = &link;
    read.data = read.operation->data;
    if (read.length <= Link::LARGEST) {
        read.small.resize(Link::LARGEST);
        read.data = &read.small[0];
    }
    read.entry = acquire(read.data, read.length, SINK);
    link.work_begins();
    HRESULT hr = link.endpoint().read(read, read.data, read.length, *read.entry->memory, read.from);
    if (FAILED(hr))
        read.done(hr, 0);
}

void Rendezvous::read_ended(Read &read, HRESULT status)
{
    cache_.release(read.entry);
    free_reads_.push_back(&read);
    if (FAILED(status)) {
        owner_.broken(status, "Read");
        return;
    }
    if (read.data != read.operation->data)
        memcpy(read.operation->data, read.data, read.length);
    read.operation->size = read.length;
    read.operation->complete = true;
    owner_.read_done(read.id);
}

} // namespace ndmpi
