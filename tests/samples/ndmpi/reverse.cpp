// SPDX-License-Identifier: MIT
//
// reverse.cpp - a program for ndmpirun: many messages under way at once, large and small, received in reverse order.
// The receiver begins with the last one once all Sends have begun, so that every other one is unexpected. -x: the
// receives are too short by a byte, which has to end the run.
#include "samples/ndmpi/program.h"

#include <stdio.h>

using namespace ndmpi;

namespace
{

const size_t MESSAGES = 100;
const size_t LARGEST = 50000;

size_t length(size_t number)
{
    return number % 3 ? 9 * number + 1 : LARGEST - number;
}

} // namespace

int main(int argc, char **argv)
{
    Options options("reverse", argc, argv, "usage: reverse [-x]\n", "x");
    World world("reverse");
    Buffer out(world, MESSAGES * LARGEST), in(world, LARGEST);
    std::vector<Operation> sends(MESSAGES * (size_t)world.size());

    if (world.rank() == 0)
        for (size_t number = 0; number < MESSAGES; ++number) {
            unsigned char *data = out.data() + number * LARGEST;
            sample_fill(data, (ULONG)length(number), (ULONG)number);
            for (int to = 0; to < world.size(); ++to)
                world.begin_send(sends[number * (size_t)world.size() + (size_t)to], to,
                    (INT32)number, data, length(number));
        }
    for (size_t number = MESSAGES; number-- > 0;) {
        size_t room = options.given('x') ? length(number) - 1 : LARGEST;
        size_t size = world.receive(0, (INT32)number, in.data(), room);
        if (size != length(number))
            fail("message %u has %u bytes", (unsigned)number, (unsigned)size);
        verify(in.data(), size, (ULONG)number, 0);
    }
    world.wait_all(sends);
    world.barrier();
    if (world.rank() == 0)
        printf("reverse: all bytes are right\n");
    return 0;
}
