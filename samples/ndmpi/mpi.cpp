// SPDX-License-Identifier: MIT
// mpi.cpp - see mpi.h.
#include "mpi.h"

#include "failure.h"
#include "message.h"

namespace ndmpi
{

namespace
{

// Tags of the library's own messages.
const INT32 BARRIER = -1; // and down, one for each round
const INT32 SUM_UP = -100;
const INT32 SUM_DOWN = -101;

struct Complete {
    explicit Complete(const Operation &the_operation) : operation(the_operation)
    {
    }
    bool met() const
    {
        return operation.complete;
    }
    const Operation &operation;
};

} // namespace

World::World(const std::string &program) : job_(program), engine_(job_)
{
}

World::~World()
{
    engine_.drain();
    barrier();
    engine_.drain();
    engine_.close();
    job_.leave();
}

// ---- messages -------------------------------------------------------------------------------------------------------

void World::begin_send(Operation &operation, int to, INT32 tag, const void *data, size_t size)
{
    operation.peer = to;
    operation.tag = tag;
    operation.data = (unsigned char *)data;
    operation.size = size;
    engine_.channel(to).send(operation);
}

void World::begin_receive(Operation &operation, int from, INT32 tag, void *data, size_t size)
{
    operation.peer = from;
    operation.tag = tag;
    operation.data = (unsigned char *)data;
    operation.size = size;
    engine_.channel(from).receive(operation);
}

void World::wait(const Operation &operation)
{
    engine_.until(Complete(operation));
}

void World::wait_all(const std::vector<Operation> &operations)
{
    for (size_t i = 0; i < operations.size(); ++i)
        wait(operations[i]);
}

void World::send(int to, INT32 tag, const void *data, size_t size)
{
    Operation operation;
    begin_send(operation, to, tag, data, size);
    wait(operation);
}

size_t World::receive(int from, INT32 tag, void *data, size_t size)
{
    Operation operation;
    begin_receive(operation, from, tag, data, size);
    wait(operation);
    return operation.size;
}

void World::forget(const void *data, size_t size)
{
    if (!engine_.cache().forget(data, size))
        fail("memory is given back while a message is under way in it");
}

// ---- all ranks ------------------------------------------------------------------------------------------------------

// In round i each rank sends to the one 2^i further on; after log2(size) rounds each has heard from all, if indirectly.
void World::barrier()
{
    INT32 tag = BARRIER;
    for (int step = 1; step < size(); step *= 2, --tag) {
        Operation out, in;
        begin_send(out, (rank() + step) % size(), tag, NULL, 0);
        begin_receive(in, (rank() + size() - step) % size(), tag, NULL, 0);
        wait(out);
        wait(in);
    }
}

// Up a binary tree with rank 0 as root, and down again.
UINT64 World::sum(UINT64 value)
{
    unsigned char data[8];
    int parent = (rank() - 1) / 2, child = 2 * rank() + 1;

    for (int i = child; i <= child + 1 && i < size(); ++i) {
        receive(i, SUM_UP, data, sizeof(data));
        value += (UINT64)get32(data) << 32 | get32(data + 4);
    }
    if (rank() > 0) {
        put32(data, (UINT32)(value >> 32));
        put32(data + 4, (UINT32)value);
        send(parent, SUM_UP, data, sizeof(data));
        receive(parent, SUM_DOWN, data, sizeof(data));
        value = (UINT64)get32(data) << 32 | get32(data + 4);
    }
    put32(data, (UINT32)(value >> 32));
    put32(data + 4, (UINT32)value);
    for (int i = child; i <= child + 1 && i < size(); ++i)
        send(i, SUM_DOWN, data, sizeof(data));
    return value;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

Buffer::Buffer(World &world, size_t size)
    : world_(world), data_(new unsigned char[size ? size : 1]()), size_(size)
{
}

Buffer::~Buffer()
{
    world_.forget(data_, size_);
    delete[] data_;
}

} // namespace ndmpi
