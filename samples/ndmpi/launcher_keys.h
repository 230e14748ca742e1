// SPDX-License-Identifier: MIT
//
// launcher_keys.h - launchers that give ranks no more than keys with values, which PMI-1 and PMIx do: each rank says
// where it listens, and asks for the others. A rank that fails ends with status 1, and the launcher ends the others.
#ifndef NDMPI_LAUNCHER_KEYS_H
#define NDMPI_LAUNCHER_KEYS_H

#include "launcher.h"

namespace ndmpi
{

// What the launcher keeps. Each call ends the program if the launcher is gone or refuses.
class Keys
{
  public:
    virtual ~Keys()
    {
    }
    virtual unsigned rank() const = 0;
    virtual unsigned size() const = 0;
    // For the others, from the next fence on. Values are printable, without blanks.
    virtual void put(const std::string &key, const std::string &value) = 0;
    // Waits until all ranks have called it.
    virtual void fence() = 0;
    // What that rank has put.
    virtual std::string get(unsigned rank, const std::string &key) = 0;
    // This rank needs the launcher no more.
    virtual void finish() = 0;
};

// Takes keys over, and fills place.
Launcher *launched_with_keys(Keys *keys, Place &place);

} // namespace ndmpi
#endif
