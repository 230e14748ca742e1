// SPDX-License-Identifier: MIT
//
// flood.cpp - a program for ndmpirun: more small messages than either rank buffers, sent before the receiver asks for
// one. A rank buffers only so many; the others wait at their sender, and the message asked for first overtakes them
// all.
#include "samples/ndmpi/program.h"

#include <stdio.h>

using namespace ndmpi;

namespace
{

const size_t MESSAGES = 500, LARGEST = 4000;
const INT32 FLOOD = 1, LAST = 2, SEEN = 3;

// Some are empty.
size_t length(size_t number)
{
    return number % 5 ? LARGEST - number : 0;
}

void send_all(World &world)
{
    Buffer out(world, MESSAGES * LARGEST);
    std::vector<Operation> sends(MESSAGES);
    size_t ended = 0;

    for (size_t number = 0; number < MESSAGES; ++number) {
        unsigned char *data = out.data() + number * LARGEST;
        sample_fill(data, (ULONG)length(number), (ULONG)number);
        world.begin_send(sends[number], 1, FLOOD, data, length(number));
    }
    // Neither does this one end: it is not asked for before it has come.
    Operation last;
    world.begin_send(last, 1, LAST, NULL, 0);
    world.receive(1, SEEN, NULL, 0);
    for (size_t number = 0; number < MESSAGES; ++number)
        ended += sends[number].complete;
    if (ended != Channel::UNTAKEN)
        fail("%u messages that nobody has asked for are sent", (unsigned)ended);
    world.wait(last);
    world.send(1, SEEN, NULL, 0);
    world.wait_all(sends);
}

void receive_all(World &world)
{
    Buffer in(world, LARGEST);

    world.receive(0, LAST, NULL, 0);
    if (world.kept(0) > Channel::UNTAKEN * LARGEST + MESSAGES * Descriptor::SIZE)
        fail("%u bytes are kept", (unsigned)world.kept(0));
    world.send(0, SEEN, NULL, 0);
    world.receive(0, SEEN, NULL, 0);
    for (size_t number = 0; number < MESSAGES; ++number) {
        size_t size = world.receive(0, FLOOD, in.data(), LARGEST);
        if (size != length(number))
            fail("message %u has %u bytes", (unsigned)number, (unsigned)size);
        verify(in.data(), size, (ULONG)number, 0);
    }
    if (world.kept(0))
        fail("%u bytes are left", (unsigned)world.kept(0));
    printf("flood: all bytes are right\n");
}

} // namespace

int main(int argc, char **argv)
{
    Options options("flood", argc, argv, "usage: flood\n", "");
    World world("flood");

    if (world.rank() == 0)
        send_all(world);
    else if (world.rank() == 1)
        receive_all(world);
    return 0;
}
