// SPDX-License-Identifier: MIT
//
// ndhalo - cells on a torus; each step computes a cell from its eight neighbours. Each rank has a block of cells, and
// sends the border to its neighbours in each step. The sum over all cells must be that of one rank that computes alone.
//
// Shows: the exchange that simulations consist of: the same few neighbours, the same memory, step after step.
#include "program.h"

#include <stdio.h>

using namespace ndmpi;

static const char usage[] =
    "usage: ndmpirun -n RANKS ndhalo [-n STEPS] [-m CELLS] [-x]\n"
    "  -n STEPS   (default 50)\n"
    "  -m CELLS   along each side of a rank's block, 2 to 4096 (default 64)\n"
    "  -x         damages a border on purpose in the last step: the run must fail\n"
    "  -V, -h     print the version, print this\n";

namespace
{

// A block of cells with a border of one on each side. Cell (x, y), from -1 to width or height.
class Block
{
  public:
    Block(int width, int height)
        : width_(width), height_(height), cells_((size_t)(width + 2) * (size_t)(height + 2))
    {
    }
    UINT32 &at(int x, int y)
    {
        return cells_[(size_t)(y + 1) * (size_t)(width_ + 2) + (size_t)(x + 1)];
    }
    int width() const
    {
        return width_;
    }
    int height() const
    {
        return height_;
    }
    // The cells begin as a function of where they are on the torus; left, top: of this block.
    void begin(int left, int top)
    {
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x)
                at(x, y) = ((UINT32)(left + x) * 2654435761u) ^ ((UINT32)(top + y) * 40503u);
    }
    // next becomes this one step later; the border must be set.
    void step(Block &next)
    {
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x) {
                UINT32 force = 0;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx)
                        force += (at(x + dx, y + dy) >> 3) * (UINT32)(5 + 3 * dy + dx);
                next.at(x, y) = at(x, y) * 1664525u + (force ^ (force >> 15));
            }
    }
    UINT64 sum(int left, int top)
    {
        UINT64 sum = 0;
        for (int y = 0; y < height_; ++y)
            for (int x = 0; x < width_; ++x)
                sum += (UINT64)at(x, y) * (UINT64)((left + x) * 31 + (top + y) * 17 + 1);
        return sum;
    }
    void swap(Block &other)
    {
        cells_.swap(other.cells_);
    }

  private:
    int width_, height_;
    std::vector<UINT32> cells_;
};

// One of the eight neighbours, with what it gets and what it sends.
struct Neighbour {
    int rank, dx, dy;
    INT32 tag_out, tag_in;
    Buffer *out, *in;
};

// Where a strip of the block begins and ends towards a side (-1, 0, 1); outside: the border beyond it.
void range(int side, int size, bool outside, int &begin, int &end)
{
    begin = side < 0 ? (outside ? -1 : 0) : side > 0 ? (outside ? size : size - 1) : 0;
    end = side ? begin + 1 : size;
}

// Copies a strip of the block to bytes, or back. Returns how many.
size_t copy(Block &block, const Neighbour &to, bool outside, unsigned char *bytes, bool pack)
{
    int left, right, top, bottom;
    size_t size = 0;
    range(to.dx, block.width(), outside, left, right);
    range(to.dy, block.height(), outside, top, bottom);
    for (int y = top; y < bottom; ++y)
        for (int x = left; x < right; ++x, size += 4) {
            if (pack)
                put32(bytes + size, block.at(x, y));
            else
                block.at(x, y) = get32(bytes + size);
        }
    return size;
}

// The ranks as columns times rows, as close to a square as possible.
int columns(int ranks)
{
    int best = 1;
    for (int i = 1; i * i <= ranks; ++i)
        if (ranks % i == 0)
            best = i;
    return best;
}

void exchange(World &world, Block &block, std::vector<Neighbour> &neighbours, bool damage)
{
    std::vector<Operation> sends(neighbours.size()), receives(neighbours.size());
    for (size_t i = 0; i < neighbours.size(); ++i)
        world.begin_receive(receives[i], neighbours[i].rank, neighbours[i].tag_in,
            neighbours[i].in->data(), neighbours[i].in->size());
    for (size_t i = 0; i < neighbours.size(); ++i) {
        size_t size = copy(block, neighbours[i], false, neighbours[i].out->data(), true);
        if (damage && i == 0)
            neighbours[i].out->data()[0] ^=
                0x80; // of a cell: such a bit survives the shift in step
        world.begin_send(
            sends[i], neighbours[i].rank, neighbours[i].tag_out, neighbours[i].out->data(), size);
    }
    world.wait_all(receives);
    for (size_t i = 0; i < neighbours.size(); ++i)
        copy(block, neighbours[i], true, neighbours[i].in->data(), false);
    world.wait_all(sends);
}

// The same with one rank: the border is the other side of the block.
UINT64 alone(int width, int height, ULONG steps, Progress &progress)
{
    Block block(width, height), next(width, height);
    block.begin(0, 0);
    for (ULONG step = 0; step < steps; ++step) {
        for (int y = -1; y <= height; ++y)
            for (int x = -1; x <= width; ++x)
                block.at(x, y) = block.at((x + width) % width, (y + height) % height);
        block.step(next);
        block.swap(next);
        progress.at(steps + step);
    }
    return block.sum(0, 0);
}

} // namespace

int main(int argc, char **argv)
{
    Options options("ndhalo", argc, argv, usage, "n:m:x");
    ULONG steps = options.number('n', 1, 1000000, 50);
    int side = (int)options.number('m', 2, 4096, 64);
    World world("ndhalo");
    const int nx = columns(world.size()), ny = world.size() / nx;
    const int column = world.rank() % nx, row = world.rank() / nx;

    std::vector<Neighbour> neighbours;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) {
            if (!dx && !dy)
                continue;
            Neighbour neighbour;
            neighbour.rank = (row + dy + ny) % ny * nx + (column + dx + nx) % nx;
            neighbour.dx = dx;
            neighbour.dy = dy;
            neighbour.tag_out = 5 + 3 * dy + dx; // the direction it goes
            neighbour.tag_in = 5 - 3 * dy - dx;
            size_t size = (size_t)(dx ? 1 : side) * (size_t)(dy ? 1 : side) * 4;
            neighbour.out = new Buffer(world, size);
            neighbour.in = new Buffer(world, size);
            neighbours.push_back(neighbour);
        }

    Progress progress("ndhalo", 2 * (UINT64)steps, world.rank() == 0);
    Block block(side, side), next(side, side);
    block.begin(column * side, row * side);
    double start = sample_seconds();
    for (ULONG step = 0; step < steps; ++step) {
        exchange(world, block, neighbours,
            options.given('x') && step + 1 == steps && world.rank() == world.size() - 1);
        block.step(next);
        block.swap(next);
        progress.at(step + 1);
    }
    double seconds = sample_seconds() - start;
    UINT64 sum = world.sum(block.sum(column * side, row * side));
    if (world.rank() == 0) {
        UINT64 expected = alone(nx * side, ny * side, steps, progress);
        if (sum != expected)
            fail("the sum over all cells is %016llx, but one rank alone gets %016llx",
                (unsigned long long)sum, (unsigned long long)expected);
        printf("ndhalo: %d x %d blocks of %d x %d cells, %u steps of %.1f us: %016llx, as it has "
               "to be\n",
            nx, ny, side, side, (unsigned)steps, seconds / steps * 1e6, (unsigned long long)sum);
        write_out();
    }
    for (size_t i = 0; i < neighbours.size(); ++i) {
        delete neighbours[i].out;
        delete neighbours[i].in;
    }
    return 0;
}
