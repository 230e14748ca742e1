// SPDX-License-Identifier: MIT
//
// launcher_keys.h - launchers that offer ranks only keys with values, such as PMI-1 and PMIx: each rank puts its
// address, and gets those of the others. A rank that fails ends with status 1, and the launcher ends the others.
#ifndef NDMPI_LAUNCHER_KEYS_H
#define NDMPI_LAUNCHER_KEYS_H

#include "launcher.h"

namespace ndmpi
{

// The launcher's keys and values. Each call ends the program if the launcher is gone or refuses.
class Keys
{
  public:
    virtual ~Keys()
    {
    }
    virtual unsigned rank() const = 0;
    virtual unsigned size() const = 0;
    // The other ranks see the value from the next fence on. Values are printable, without blanks.
    virtual void put(const std::string &key, const std::string &value) = 0;
    // Waits until all ranks have called it.
    virtual void fence() = 0;
    // The value that the rank has put.
    virtual std::string get(unsigned rank, const std::string &key) = 0;
    // This rank no longer needs the launcher.
    virtual void finish() = 0;
};

// Takes keys over, and fills place.
Launcher *launched_with_keys(Keys *keys, Place &place);

// The user's settings. Called before the first word to the launcher, so that no rank ends between a request and its
// answer: mpiexec.hydra then stops by an assertion.
void take_settings(Place &place);

} // namespace ndmpi
#endif
