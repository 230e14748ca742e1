// SPDX-License-Identifier: MIT
//
// job.h - the connection of a rank with the ndmpirun that started it: ranks, addresses, failures.
//
// The environment names the rank and ndmpirun's address; then both send lines of text over one TCP connection:
//     rank to ndmpirun    card KEY RANK ADDRESS     done                      failed MESSAGE
//     ndmpirun to rank    at RANK ADDRESS, for each of them    bye, after done           abort MESSAGE
#ifndef NDMPI_JOB_H
#define NDMPI_JOB_H

#include <string>
#include <vector>

#include "executive.h"
#include "failure.h"

namespace ndmpi
{

// Environment variables of a rank.
#define NDMPI_RANK    "NDMPI_RANK"
#define NDMPI_SIZE    "NDMPI_SIZE"
#define NDMPI_ROOT    "NDMPI_ROOT"    // where ndmpirun listens, TCP
#define NDMPI_KEY     "NDMPI_KEY"     // 16 hexadecimal digits: a rank of this job, not of another
#define NDMPI_ADDRESS "NDMPI_ADDRESS" // of the adapter to use
#define NDMPI_PORTS   "NDMPI_PORTS"   // to listen on, FIRST-LAST; 0-0: any
#define NDMPI_VERSION "NDMPI_VERSION" // of NetworkDirect: 1 or 2
#define NDMPI_HERE    "NDMPI_HERE"    // ranks on the same host

enum { MOST_RANKS = 256 };

// Reads a number from low to high. False: it is none.
bool parse_number(const std::string &text, unsigned long low, unsigned long high, unsigned &number);
// Reads "FIRST-LAST".
bool parse_ports(const std::string &text, unsigned &first, unsigned &last);

class Stream;

class Job
{
  public:
    // Reads the environment; ends the program if ndmpirun has not prepared it.
    explicit Job(const std::string &program);
    ~Job();

    int rank() const
    {
        return (int)rank_;
    }
    int size() const
    {
        return (int)size_;
    }
    int version() const
    {
        return (int)version_;
    }
    unsigned ranks_here() const
    {
        return here_;
    }
    UINT64 key() const
    {
        return key_;
    }
    const SOCKADDR_INET &address() const
    {
        return address_;
    }
    unsigned first_port() const
    {
        return first_port_;
    }
    unsigned last_port() const
    {
        return last_port_;
    }

    // Reports where this rank listens, and waits until all ranks have. From now on a failure ends the program from
    // executive.run.
    std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own);
    // Reports success, and waits for "bye".
    void leave();

  private:
    Job(const Job &);
    Job &operator=(const Job &);

    static DWORD WINAPI listen_for_news(void *job);
    static void tell_failure(const std::string &message);

    unsigned rank_, size_, version_, here_, first_port_, last_port_;
    UINT64 key_;
    SOCKADDR_INET address_, root_;
    Stream *stream_;
    Executive *executive_;
    HANDLE thread_;
};

} // namespace ndmpi
#endif
