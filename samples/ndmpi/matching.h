// SPDX-License-Identifier: MIT
//
// matching.h - matches messages of one peer with receives: the oldest of the same tag.
#ifndef NDMPI_MATCHING_H
#define NDMPI_MATCHING_H

#include <list>
#include <vector>

#include "message.h"

namespace ndmpi
{

// A send or a receive of the program's.
struct Operation {
    Operation() : complete(true), peer(-1), tag(0), data(NULL), size(0)
    {
    }
    bool complete;
    int peer;
    INT32 tag;
    unsigned char *data;
    size_t size; // of a receive: the room, and when complete the length of the message
};

// A message that no receive has asked for yet.
struct Arrival {
    Header header;
    std::vector<unsigned char> data; // the message, or the descriptor of an offer
};

class Matching
{
  public:
    Matching() : bytes_(0)
    {
    }
    // A message has arrived: returns the receive that waits for it; NULL: none does, the caller must keep the message.
    Operation *arrived(INT32 tag);
    void keep(const Header &header, const unsigned char *data, size_t size);

    // Begins a receive: true and the message if one is kept for it, otherwise arrived will return the receive.
    bool wanted(Operation &operation, Arrival &arrival);
    bool empty() const
    {
        return wanted_.empty() && arrivals_.empty();
    }
    // Of messages that are kept.
    size_t bytes() const
    {
        return bytes_;
    }

  private:
    std::list<Operation *> wanted_;
    std::list<Arrival> arrivals_;
    size_t bytes_;
};

} // namespace ndmpi
#endif
