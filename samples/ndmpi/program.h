// SPDX-License-Identifier: MIT
//
// program.h - what the programs of this sample share: arguments, progress, the check of received bytes.
#ifndef NDMPI_PROGRAM_H
#define NDMPI_PROGRAM_H

#include <string>

#include "mpi.h"

namespace ndmpi
{

// Arguments: letters, each with a value if a colon follows it in options; -h prints usage and ends, -V the version. A
// mistake ends the program with status 2. arguments() are the words after them.
class Options
{
  public:
    Options(
        const std::string &program, int argc, char **argv, const char *usage, const char *options);

    bool given(char letter) const;
    std::string text(char letter, const std::string &fallback) const;
    unsigned number(char letter, unsigned low, unsigned high, unsigned fallback) const;
    const std::vector<std::string> &arguments() const
    {
        return arguments_;
    }

  private:
    std::vector<std::pair<char, std::string>> values_;
    std::vector<std::string> arguments_;
};

// Shows on standard error how far a long run is: in place on a terminal, now and then a line elsewhere. A run that
// takes less than a second shows nothing.
class Progress
{
  public:
    // shown in: whether at all; one rank of a run should
    Progress(const std::string &what, unsigned long long total, bool shown);
    ~Progress();
    void at(unsigned long long done);
    // Makes room for a line of output.
    void hide();

  private:
    const std::string what_;
    const unsigned long long total_;
    const bool shown_, terminal_;
    const double start_;
    double next_;
    bool visible_;
};

// Ends the program if the size bytes are not those sample_fill makes of seed. from in: the rank they came from
void verify(const unsigned char *data, size_t size, ULONG seed, int from);

} // namespace ndmpi
#endif
