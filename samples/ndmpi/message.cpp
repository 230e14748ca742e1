// SPDX-License-Identifier: MIT
// message.cpp - see message.h. All numbers travel most significant byte first.
#include "message.h"

#include "verbs.h"

namespace ndmpi
{

namespace
{

const UINT32 MAGIC = 0x6e646d70; // "ndmp"
const UINT32 VERSION = 1;

} // namespace

void put32(unsigned char *to, UINT32 value)
{
    for (int i = 3; i >= 0; --i, value >>= 8)
        to[i] = (unsigned char)value;
}

UINT32 get32(const unsigned char *from)
{
    return (UINT32)from[0] << 24 | (UINT32)from[1] << 16 | (UINT32)from[2] << 8 | from[3];
}

void Header::pack(unsigned char *to) const
{
    put32(to, (UINT32)kind << 24 | credits);
    put32(to + 4, (UINT32)tag);
    put32(to + 8, length);
    put32(to + 12, id);
}

bool Header::unpack(const unsigned char *from, size_t size)
{
    if (size < SIZE)
        return false;
    kind = (Kind)from[0];
    credits = get32(from) & 0xffffff;
    tag = (INT32)get32(from + 4);
    length = get32(from + 8);
    id = get32(from + 12);
    size_t follows = kind == EAGER ? length : kind == OFFER ? (size_t)Descriptor::SIZE : 0;
    return kind >= EAGER && kind <= TAKEN && credits <= RECEIVES && size == SIZE + follows;
}

void Hello::pack(unsigned char *to) const
{
    put32(to, MAGIC + VERSION);
    put32(to + 4, rank);
    put32(to + 8, (UINT32)(job >> 32));
    put32(to + 12, (UINT32)job);
    put32(to + 16, receives);
    put32(to + 20, slot);
    put32(to + 24, 0);
}

bool Hello::unpack(const unsigned char *from)
{
    rank = get32(from + 4);
    job = (UINT64)get32(from + 8) << 32 | get32(from + 12);
    receives = get32(from + 16);
    slot = get32(from + 20);
    return get32(from) == MAGIC + VERSION;
}

} // namespace ndmpi
