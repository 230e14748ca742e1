// SPDX-License-Identifier: MIT
//
// message.h - the header of every message, and the private data with which ranks connect.
#ifndef NDMPI_MESSAGE_H
#define NDMPI_MESSAGE_H

#include <winsock2.h>

#include <stddef.h>

namespace ndmpi
{

enum Kind : unsigned char { // any value may come
    EAGER = 1,              // the data follows
    OFFER,                  // a descriptor follows: length bytes are there to be read
    DONE,                   // the offer of this id was read
    CREDIT,                 // receives are posted again, nothing else
    BYE,                    // the last message
    TAKEN                   // id more small messages have found their receives
};

struct Header {
    enum { SIZE = 16 };
    Kind kind;
    UINT32 credits; // receives the sender has posted again
    INT32 tag;
    UINT32 length; // of the user's message
    UINT32 id;     // of an offer; TAKEN: how many

    void pack(unsigned char *to) const;
    // False: these bytes are no message.
    bool unpack(const unsigned char *from, size_t size);
};

// The private data of a connection request.
struct Hello {
    enum { SIZE = 28 };
    UINT32 rank;
    UINT64 job;
    UINT32 receives; // credits of the other side
    UINT32 slot;     // bytes of each

    void pack(unsigned char *to) const;
    // False: another kind of program sent it.
    bool unpack(const unsigned char *from);
};

void put32(unsigned char *to, UINT32 value);
UINT32 get32(const unsigned char *from);

} // namespace ndmpi
#endif
