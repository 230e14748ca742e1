// SPDX-License-Identifier: MIT
// matching.cpp - see matching.h.
#include "matching.h"

namespace ndmpi
{

Operation *Matching::arrived(INT32 tag)
{
    for (std::list<Operation *>::iterator i = wanted_.begin(); i != wanted_.end(); ++i) {
        if ((*i)->tag != tag)
            continue;
        Operation *operation = *i;
        wanted_.erase(i);
        return operation;
    }
    return NULL;
}

void Matching::keep(const Header &header, const unsigned char *data, size_t size)
{
    arrivals_.push_back(Arrival());
    arrivals_.back().header = header;
    arrivals_.back().data.assign(data, data + size);
    bytes_ += size;
}

bool Matching::wanted(Operation &operation, Arrival &arrival)
{
    for (std::list<Arrival>::iterator i = arrivals_.begin(); i != arrivals_.end(); ++i) {
        if (i->header.tag != operation.tag)
            continue;
        arrival.header = i->header;
        arrival.data.swap(i->data);
        bytes_ -= arrival.data.size();
        arrivals_.erase(i);
        return true;
    }
    wanted_.push_back(&operation);
    return false;
}

} // namespace ndmpi
