// SPDX-License-Identifier: MIT
//
// launcher.h - the program that started the ranks of a job: tells a rank its place, and the addresses of the others.
#ifndef NDMPI_LAUNCHER_H
#define NDMPI_LAUNCHER_H

#include <string>
#include <vector>

#include "executive.h"
#include "failure.h"

namespace ndmpi
{

// Environment variables of a rank: by ndmpirun all of them; with other launchers a user may set those marked *.
#define NDMPI_RANK     "NDMPI_RANK"
#define NDMPI_SIZE     "NDMPI_SIZE"
#define NDMPI_ROOT     "NDMPI_ROOT"     // where ndmpirun listens, TCP
#define NDMPI_KEY      "NDMPI_KEY"      // 16 hexadecimal digits: a rank of this job, not of another
#define NDMPI_ADDRESS  "NDMPI_ADDRESS"  // * of the adapter to use
#define NDMPI_PORTS    "NDMPI_PORTS"    // * to listen on, FIRST-LAST; 0-0: any
#define NDMPI_VERSION  "NDMPI_VERSION"  // * of NetworkDirect: 1 or 2
#define NDMPI_CHANNEL  "NDMPI_CHANNEL"  // * of small messages between ranks of one host: nd or shm
#define NDMPI_HERE     "NDMPI_HERE"     // ranks on the same host
#define NDMPI_PATIENCE "NDMPI_PATIENCE" // seconds that a rank waits for ndmpirun to name the others

enum { MOST_RANKS = 256 };

// Reads a number from low to high. False: it is none.
bool parse_number(const std::string &text, unsigned long low, unsigned long high, unsigned &number);
// Reads "FIRST-LAST".
bool parse_ports(const std::string &text, unsigned &first, unsigned &last);
// Reads "nd" or "shm".
bool parse_channel(const std::string &text, bool &shared);
// Of the environment.
std::string variable(const char *name, const std::string &fallback = "");

// Of a rank in its job.
struct Place {
    unsigned rank, size;
    unsigned here;                  // ranks on the same host
    unsigned version;               // of NetworkDirect
    unsigned first_port, last_port; // to listen on; 0, 0: any
    bool shared;                    // small messages on one host go through shared memory
    UINT64 key;                     // a rank of this job, not of another
    SOCKADDR_INET address;          // of the adapter to use
};

class Launcher
{
  public:
    virtual ~Launcher()
    {
    }
    // Reports where this rank listens, and waits until all ranks have done so; returns their addresses. From now on a
    // failure that the launcher reports ends the program from executive.run.
    virtual std::vector<SOCKADDR_INET> enter(Executive &executive, const SOCKADDR_INET &own) = 0;
    // Reports success.
    virtual void leave() = 0;

  protected:
    Launcher()
    {
    }

  private:
    Launcher(const Launcher &);
    Launcher &operator=(const Launcher &);
};

// The launcher that the environment says started this process; fills place. NULL: none.
Launcher *find_launcher(Place &place);

// One function for each kind of launcher; NULL: it was another kind.
Launcher *launched_by_ndmpirun(Place &place);
Launcher *launched_by_pmi(Place &place);  // PMI-1 on a descriptor: mpiexec.hydra
Launcher *launched_by_pmix(Place &place); // PMIx: Open MPI's mpirun, Slurm's srun --mpi=pmix

} // namespace ndmpi
#endif
