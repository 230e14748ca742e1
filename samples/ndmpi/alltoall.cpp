// SPDX-License-Identifier: MIT
//
// ndalltoall - in each round every rank sends every rank (itself, too) a message of a different size; all bytes are
// checked.
//
// Shows: many messages under way at once; all ranks connect to all others at the same time.
#include "program.h"

#include <stdio.h>

using namespace ndmpi;

static const char usage[] =
    "usage: ndmpirun -n RANKS ndalltoall [-n ROUNDS] [-m BYTES] [-x]\n"
    "  -n ROUNDS  (default 20)\n"
    "  -m BYTES   largest message (default 65536); half of them are at most a hundredth of that\n"
    "  -x         damages a byte of the last round on purpose: the run must fail\n"
    "  -V, -h     print the version, print this\n";

namespace
{

ULONG seed(int from, int to, ULONG round)
{
    return ((ULONG)from * 1000003u + (ULONG)to) * 8191u + round;
}

// Both ends know how long a message is.
ULONG length(int from, int to, ULONG round, ULONG largest)
{
    ULONG mixed = seed(from, to, round) * 2654435761u;
    ULONG limit = mixed & 0x100 ? largest : largest / 100;
    return (mixed >> 9) % (limit + 1);
}

} // namespace

int main(int argc, char **argv)
{
    Options options("ndalltoall", argc, argv, usage, "n:m:x");
    ULONG rounds = options.number('n', 1, 1000000, 20);
    ULONG largest = options.number('m', 1, 1u << 28, 65536);
    World world("ndalltoall");
    const int ranks = world.size(), self = world.rank();
    Buffer out(world, (size_t)ranks * largest), in(world, (size_t)ranks * largest);
    Progress progress("ndalltoall", rounds, self == 0);
    UINT64 bytes = 0;

    double start = sample_seconds();
    for (ULONG round = 0; round < rounds; ++round) {
        std::vector<Operation> sends((size_t)ranks), receives((size_t)ranks);
        for (int peer = 0; peer < ranks; ++peer)
            world.begin_receive(receives[(size_t)peer], peer, (INT32)round,
                in.data() + (size_t)peer * largest, largest);
        for (int step = 0; step < ranks; ++step) { // so that not all ranks begin with the same one
            int peer = (self + step) % ranks;
            ULONG size = length(self, peer, round, largest);
            unsigned char *data = out.data() + (size_t)peer * largest;
            sample_fill(data, size, seed(self, peer, round));
            if (options.given('x') && round + 1 == rounds && peer == 0 && self == ranks - 1 && size)
                data[size - 1] ^= 1;
            world.begin_send(sends[(size_t)peer], peer, (INT32)round, data, size);
            bytes += size;
        }
        world.wait_all(receives);
        for (int peer = 0; peer < ranks; ++peer) {
            size_t size = length(peer, self, round, largest);
            if (receives[(size_t)peer].size != size)
                fail("a message of %llu bytes came from rank %d instead of one of %llu",
                    (unsigned long long)receives[(size_t)peer].size, peer,
                    (unsigned long long)size);
            verify(in.data() + (size_t)peer * largest, size, seed(peer, self, round), peer);
        }
        world.wait_all(sends);
        progress.at(round + 1);
    }
    double seconds = sample_seconds() - start;
    bytes = world.sum(bytes);
    if (self == 0)
        printf("ndalltoall: %u ranks exchanged %llu bytes in %u rounds: all are right, %.1f MB/s "
               "in all\n",
            (unsigned)ranks, (unsigned long long)bytes, (unsigned)rounds,
            (double)bytes / seconds / 1e6);
    write_out();
    return 0;
}
