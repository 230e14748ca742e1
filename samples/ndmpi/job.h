// SPDX-License-Identifier: MIT
//
// job.h - the place of a rank in its job, which the launcher knows.
#ifndef NDMPI_JOB_H
#define NDMPI_JOB_H

#include <string>
#include <vector>

#include "executive.h"
#include "failure.h"
#include "launcher.h"

namespace ndmpi
{

class Job
{
  public:
    // Ends the program if no launcher has started it.
    explicit Job(const std::string &program);
    ~Job();

    int rank() const
    {
        return (int)place_.rank;
    }
    int size() const
    {
        return (int)place_.size;
    }
    int version() const
    {
        return (int)place_.version;
    }
    unsigned ranks_here() const
    {
        return place_.here;
    }
    bool shared() const
    {
        return place_.shared;
    }
    UINT64 key() const
    {
        return place_.key;
    }
    const SOCKADDR_INET &address() const
    {
        return place_.address;
    }
    unsigned first_port() const
    {
        return place_.first_port;
    }
    unsigned last_port() const
    {
        return place_.last_port;
    }

    // Launcher's.
    std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own)
    {
        return launcher_->enter(executive, own);
    }
    void leave()
    {
        launcher_->leave();
    }

  private:
    Job(const Job &);
    Job &operator=(const Job &);

    Place place_;
    Launcher *launcher_;
};

} // namespace ndmpi
#endif
