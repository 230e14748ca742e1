// SPDX-License-Identifier: MIT
//
// ndlatency - latency and one-way bandwidth of messages between the first and the last rank.
//
// Shows: the size from which messages are read rather than sent eagerly, and the gain of a registration cache.
#include "program.h"

#include <stdio.h>

using namespace ndmpi;

static const char usage[] =
    "usage: ndmpirun -n RANKS ndlatency [-n ROUNDS] [-m BYTES] [-x]\n"
    "  -n ROUNDS  of each size (default: as many as 16 MB are, 10 to 1000)\n"
    "  -m BYTES   largest message (default 4194304); sizes are 0, 1, 2, 4, ... up to it\n"
    "  -x         damages a byte on purpose: the run must fail\n"
    "  -V, -h     print the version, print this\n"
    "Each size is checked byte for byte in a first exchange that is not measured.\n";

namespace
{

const size_t WINDOW = 16; // messages under way at once when bandwidth is measured

class Test
{
  public:
    Test(World &world, ULONG largest)
        : world_(world), first_(world.rank() == 0), other_(first_ ? world.size() - 1 : 0),
          out_(world, largest), in_(world, largest)
    {
    }

    void checked(ULONG size, bool damage)
    {
        sample_fill(out_.data(), size, size + (ULONG)world_.rank());
        if (damage && size)
            out_.data()[size / 3] ^= 4;
        ping(size);
        verify(in_.data(), size, size + (ULONG)other_, other_);
    }

    // Seconds of one way.
    double latency(ULONG size, ULONG rounds)
    {
        double start = sample_seconds();
        for (ULONG round = 0; round < rounds; ++round)
            ping(size);
        return (sample_seconds() - start) / rounds / 2;
    }

    // Seconds of one message in a stream of them.
    double stream(ULONG size, ULONG rounds)
    {
        double start = sample_seconds();
        for (ULONG round = 0; round < rounds; round += WINDOW) {
            std::vector<Operation> operations(WINDOW);
            for (size_t i = 0; i < WINDOW; ++i)
                if (first_)
                    world_.begin_send(operations[i], other_, 1, out_.data(), size);
                else
                    world_.begin_receive(operations[i], other_, 1, in_.data(), size);
            world_.wait_all(operations);
        }
        if (first_)
            world_.receive(other_, 2, in_.data(), 0);
        else
            world_.send(other_, 2, out_.data(), 0);
        ULONG sent = (rounds + (ULONG)WINDOW - 1) / (ULONG)WINDOW * (ULONG)WINDOW;
        return (sample_seconds() - start) / sent;
    }

  private:
    void ping(ULONG size)
    {
        if (first_)
            world_.send(other_, 0, out_.data(), size);
        world_.receive(other_, 0, in_.data(), size);
        if (!first_)
            world_.send(other_, 0, out_.data(), size);
    }

    World &world_;
    const bool first_;
    const int other_;
    Buffer out_, in_;
};

ULONG rounds_of(ULONG size)
{
    ULONG rounds = (16u << 20) / (size + 1);
    return rounds > 1000 ? 1000 : rounds < 10 ? 10 : rounds;
}

} // namespace

int main(int argc, char **argv)
{
    Options options("ndlatency", argc, argv, usage, "n:m:x");
    ULONG fixed = options.number('n', 1, 1000000, 0);
    ULONG largest = options.number('m', 0, 1u << 30, 4u << 20);
    World world("ndlatency");

    if (world.size() < 2)
        fail("at least two ranks are needed");
    if (world.rank() > 0 && world.rank() < world.size() - 1)
        return 0; // the others wait at the end
    Test test(world, largest);
    bool first = world.rank() == 0;
    Progress progress("ndlatency", 32, first);
    if (first)
        printf("%10s %10s %14s %16s\n", "bytes", "rounds", "latency us", "bandwidth MB/s");
    unsigned done = 0;
    for (ULONG size = 0; size <= largest; size = size ? 2 * size : 1) {
        ULONG rounds = fixed ? fixed : rounds_of(size);
        test.checked(size, options.given('x') && size == 1);
        double latency = test.latency(size, rounds), stream = test.stream(size, rounds);
        progress.hide();
        if (first)
            printf("%10u %10u %14.2f %16.2f\n", (unsigned)size, (unsigned)rounds, latency * 1e6,
                size / stream / 1e6);
        write_out();
        progress.at(++done);
    }
    if (first)
        printf("ndlatency: %llu registrations, used %llu times more; memory shared with %u of %d "
               "ranks\n",
            world.cache().made(), world.cache().found(), world.shared_with(), world.size() - 1);
    write_out();
    return 0;
}
