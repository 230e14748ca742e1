// SPDX-License-Identifier: MIT
// job.cpp - see job.h.
#include "job.h"

namespace ndmpi
{

Job::Job(const std::string &program)
{
    launcher_ = find_launcher(place_);
    if (!launcher_)
        fail("it runs as one of several, e.g.\n  ndmpirun -n 4 %s\n"
             "or by a launcher that speaks PMI-1 or PMIx (-h lists its options)",
            program.c_str());
    set_name(format("%s: rank %u of %u: ", program.c_str(), place_.rank, place_.size));
}

Job::~Job()
{
    delete launcher_;
}

} // namespace ndmpi
