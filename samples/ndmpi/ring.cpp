// SPDX-License-Identifier: MIT
//
// ndring - a token goes round all ranks, in growing sizes; each rank checks every byte and writes a new one.
//
// Shows: blocking messages; a rank connects only to the ranks it talks to.
#include "program.h"

#include <stdio.h>

using namespace ndmpi;

static const char usage[] =
    "usage: ndmpirun -n RANKS ndring [-n ROUNDS] [-m BYTES] [-x]\n"
    "  -n ROUNDS  of the token for each size (default 10)\n"
    "  -m BYTES   largest token (default 1048576); sizes are 1, 4, 16, ... up to it\n"
    "  -x         damages a byte of the last round on purpose: the run must fail\n"
    "  -V, -h     print the version, print this\n";

namespace
{

// The seed of the token's bytes on its way to rank to.
ULONG seed(ULONG size, ULONG round, int to)
{
    return size * 31 + round * 257 + (ULONG)to;
}

// Passes the token on to the next rank.
void pass(World &world, Buffer &token, ULONG size, ULONG round, bool damage)
{
    int next = (world.rank() + 1) % world.size();
    sample_fill(token.data(), size, seed(size, round, next));
    if (damage)
        token.data()[size / 2] ^= 0x10;
    world.send(next, 0, token.data(), size);
}

void take(World &world, Buffer &token, ULONG size, ULONG round)
{
    int previous = (world.rank() + world.size() - 1) % world.size();
    size_t came = world.receive(previous, 0, token.data(), token.size());
    if (came != size)
        fail("a token of %llu bytes came from rank %d instead of one of %u",
            (unsigned long long)came, previous, (unsigned)size);
    verify(token.data(), size, seed(size, round, world.rank()), previous);
}

} // namespace

int main(int argc, char **argv)
{
    Options options("ndring", argc, argv, usage, "n:m:x");
    ULONG rounds = options.number('n', 1, 1000000, 10);
    ULONG largest = options.number('m', 1, 1u << 30, 1u << 20);
    World world("ndring");
    Buffer token(world, largest);
    ULONG sizes = 1;
    for (ULONG size = 1; size <= largest / 4; size *= 4)
        ++sizes;
    Progress progress("ndring", (UINT64)sizes * rounds, world.rank() == 0);

    if (world.rank() == 0)
        printf("%10s %10s %16s\n", "bytes", "rounds", "us for each hop");
    write_out();
    ULONG size = 1;
    for (ULONG i = 0; i < sizes; ++i, size *= 4) {
        double start = sample_seconds();
        for (ULONG round = 0; round < rounds; ++round) {
            bool damage = options.given('x') && i + 1 == sizes && round + 1 == rounds;
            if (world.rank() == 0)
                pass(world, token, size, round, damage);
            take(world, token, size, round);
            if (world.rank() != 0)
                pass(world, token, size, round, false);
            progress.at((UINT64)i * rounds + round);
        }
        progress.hide();
        if (world.rank() == 0)
            printf("%10u %10u %16.2f\n", (unsigned)size, (unsigned)rounds,
                (sample_seconds() - start) / rounds / world.size() * 1e6);
        write_out();
    }
    if (world.rank() == 0)
        printf("ndring: all bytes are right\n");
    write_out();
    return 0;
}
