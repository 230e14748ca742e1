// SPDX-License-Identifier: MIT
//
// mpi.h - the library as programs see it: ranks that send each other messages.
//
// For one thread only. An error ends the program, and the other ranks with it.
#ifndef NDMPI_MPI_H
#define NDMPI_MPI_H

#include "engine.h"

namespace ndmpi
{

class World
{
  public:
    // program in: the program's name, for messages; the launcher has started it in all ranks
    explicit World(const std::string &program);
    // Waits until all ranks have called it.
    ~World();

    int rank() const
    {
        return job_.rank();
    }
    int size() const
    {
        return job_.size();
    }

    // Begin to send or receive size bytes; data and operation must stay until wait has returned. Messages of one tag
    // (0 or more) from one rank arrive in their order. A message may be shorter than the receive it goes into. A large
    // send ends only after its receive has begun; so does a small one behind Channel::UNTAKEN small messages that no
    // receive has taken.
    void begin_send(Operation &operation, int to, INT32 tag, const void *data, size_t size);
    void begin_receive(Operation &operation, int from, INT32 tag, void *data, size_t size);
    void wait(const Operation &operation);
    void wait_all(const std::vector<Operation> &operations);

    // Begin and wait. receive returns the size of the message.
    void send(int to, INT32 tag, const void *data, size_t size);
    size_t receive(int from, INT32 tag, void *data, size_t size);

    // Returns when every rank has called it.
    void barrier();
    // The sum of all ranks' values, in all ranks.
    UINT64 sum(UINT64 value);

    // Bytes of messages from a rank that arrived before their receive; bounded (channel.h).
    size_t kept(int from)
    {
        return engine_.channel(from).kept();
    }

    // Ranks to which small messages go through shared memory.
    unsigned shared_with() const
    {
        return engine_.shared_with();
    }

    // The program must call it, before it frees memory from which it sent or into which it received messages.
    void forget(const void *data, size_t size);
    const RegistrationCache &cache()
    {
        return engine_.cache();
    }

  private:
    World(const World &);
    World &operator=(const World &);

    Job job_;
    Engine engine_;
};

// Memory for messages.
class Buffer
{
  public:
    Buffer(World &world, size_t size);
    ~Buffer();
    unsigned char *data()
    {
        return data_;
    }
    size_t size() const
    {
        return size_;
    }

  private:
    Buffer(const Buffer &);
    Buffer &operator=(const Buffer &);

    World &world_;
    unsigned char *data_;
    size_t size_;
};

} // namespace ndmpi
#endif
