// SPDX-License-Identifier: MIT
// rendezvous.cpp - see rendezvous.h.
#include "rendezvous.h"

#include <string.h>

#include "failure.h"

namespace ndmpi
{

namespace
{

const UINT32 INDEX_BITS = 8; // of an id; the rest counts, so that an old id is known as such

} // namespace

Rendezvous::Rendezvous(RegistrationCache &cache, RendezvousOwner &owner)
    : cache_(cache), owner_(owner)
{
    for (UINT32 i = 0; i < OFFERS; ++i) {
        offers_[i].rendezvous = this;
        offers_[i].id = i;
        offers_[i].operation = NULL;
        free_offers_.push_back(&offers_[i]);
    }
    for (UINT32 i = 0; i < READS; ++i) {
        reads_[i].rendezvous = this;
        free_reads_.push_back(&reads_[i]);
    }
}

RegistrationCache::Entry *Rendezvous::acquire(const void *data, size_t size, Access access)
{
    HRESULT hr = ND_SUCCESS;
    RegistrationCache::Entry *entry = cache_.acquire(data, size, access, hr);
    check(hr, "registering the memory of a large message");
    return entry;
}

// ---- sender ---------------------------------------------------------------------------------------------------------

void Rendezvous::offer(Operation &operation, Link &link)
{
    Offer &offer = *free_offers_.back();
    Header header = { OFFER, 0, operation.tag, (UINT32)operation.size, 0 };
    Descriptor descriptor;

    offer.entry = acquire(operation.data, operation.size, SOURCE);
    HRESULT hr = link.endpoint().grant(
        operation.data, operation.size, *offer.entry->memory, descriptor, offer.window);
    if (FAILED(hr)) {
        cache_.release(offer.entry);
        owner_.broken(hr, "Bind");
        return;
    }
    free_offers_.pop_back();
    offer.operation = &operation;
    offer.link = &link;
    offer.id += 1 << INDEX_BITS;
    header.id = offer.id;
    link.send(header, descriptor.bytes, sizeof(descriptor.bytes));
}

void Rendezvous::offer_read(UINT32 id, Link &link)
{
    Offer &offer = offers_[id % (1 << INDEX_BITS) % OFFERS];
    if (offer.id != id || !offer.operation)
        fail("a peer says that it has read offer %u, which there is not", (unsigned)id);
    link.work_begins();
    if (link.endpoint().revoke(offer.window, offer))
        offer.done(ND_SUCCESS, 0);
}

void Rendezvous::revoked(Offer &offer, HRESULT status)
{
    Operation *operation = offer.operation;
    cache_.release(offer.entry);
    offer.operation = NULL;
    free_offers_.push_back(&offer);
    if (FAILED(status)) {
        owner_.broken(status, "Invalidate");
        return;
    }
    operation->complete = true;
    owner_.offer_ended();
}

// ---- receiver -------------------------------------------------------------------------------------------------------

void Rendezvous::read(Operation &operation, const Header &header, const unsigned char *descriptor)
{
    Waiting waiting;
    waiting.operation = &operation;
    waiting.header = header;
    memcpy(waiting.from.bytes, descriptor, sizeof(waiting.from.bytes));
    // Base, length and token follow each other; the length has to be what the header says.
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
    read.entry = acquire(read.operation->data, read.length, SINK);
    link.work_begins();
    HRESULT hr = link.endpoint().read(
        read, read.operation->data, read.length, *read.entry->memory, read.from);
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
    read.operation->size = read.length;
    read.operation->complete = true;
    owner_.read_done(read.id);
}

} // namespace ndmpi
