// SPDX-License-Identifier: MIT
//
// registration_cache.h - keeps registrations after the message they were made for, because the next message often uses
// the same memory.
//
// The system may reuse the address of freed memory. It reports some of what is freed (memory_watch.h); before the
// program frees other memory, from the C and C++ libraries, it calls forget.
#ifndef NDMPI_REGISTRATION_CACHE_H
#define NDMPI_REGISTRATION_CACHE_H

#include <list>

#include "memory_watch.h"
#include "verbs.h"

namespace ndmpi
{

class RegistrationCache : private MemoryWatch::Owner
{
  public:
    struct Entry {
        const unsigned char *begin, *end;
        Access access;
        Memory *memory;
        unsigned users;
        bool gone; // memory freed: not found again, deregistered once it is not in use
    };

    // entries, bytes: how many unused registrations it may keep
    RegistrationCache(Registrar &registrar, size_t entries, size_t bytes);
    ~RegistrationCache();

    // Memory for all of [data, data + size), until release. NULL: it cannot be registered, hr says why.
    Entry *acquire(const void *data, size_t size, Access access, HRESULT &hr);
    void release(Entry *entry);
    // Deregisters all memory of that range. False: a registration is in use; its last release deregisters it.
    bool forget(const void *data, size_t size);

    // Counts of registrations made and found, for measurements.
    unsigned long long made() const
    {
        return made_;
    }
    unsigned long long found() const
    {
        return found_;
    }

  private:
    typedef std::list<Entry> Entries;

    RegistrationCache(const RegistrationCache &);
    RegistrationCache &operator=(const RegistrationCache &);

    void gone(const void *data, size_t size);
    // Deregisters the least recently used one that is not in use. False: there is none.
    bool evict();
    void drop(Entries::iterator entry);

    Registrar &registrar_;
    const size_t max_entries_, max_bytes_;
    Entries entries_; // most recently used first
    size_t idle_entries_, idle_bytes_;
    unsigned long long made_, found_;
    MemoryWatch watch_;
};

} // namespace ndmpi
#endif
