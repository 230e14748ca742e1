// SPDX-License-Identifier: MIT
// registration_cache.cpp - see registration_cache.h. A list is enough: programs use few buffers.
#include "registration_cache.h"

namespace ndmpi
{

RegistrationCache::RegistrationCache(Registrar &registrar, size_t entries, size_t bytes)
    : registrar_(registrar), max_entries_(entries), max_bytes_(bytes), idle_entries_(0),
      idle_bytes_(0), made_(0), found_(0), watch_(*this)
{
}

RegistrationCache::~RegistrationCache()
{
    const MemoryWatch::Pause pause(watch_);
    while (!entries_.empty())
        drop(entries_.begin());
}

RegistrationCache::Entry *RegistrationCache::acquire(
    const void *data, size_t size, Access access, HRESULT &hr)
{
    const unsigned char *begin = (const unsigned char *)data;

    watch_.catch_up();
    const MemoryWatch::Pause pause(watch_);
    for (Entries::iterator i = entries_.begin(); i != entries_.end(); ++i) {
        if (i->gone || i->begin > begin || i->end < begin + size || i->access < access)
            continue;
        if (i->users++ == 0) {
            --idle_entries_;
            idle_bytes_ -= (size_t)(i->end - i->begin);
        }
        ++found_;
        entries_.splice(entries_.begin(), entries_, i);
        return &entries_.front();
    }

    Memory *memory = registrar_.register_memory(data, size, access, hr);
    while (!memory && hr == ND_INSUFFICIENT_RESOURCES && evict())
        memory = registrar_.register_memory(data, size, access, hr);
    if (!memory)
        return NULL;
    Entry entry = { begin, begin + size, access, memory, 1, false };
    entries_.push_front(entry);
    ++made_;
    return &entries_.front();
}

void RegistrationCache::release(Entry *entry)
{
    const MemoryWatch::Pause pause(watch_);
    if (--entry->users > 0)
        return;
    ++idle_entries_;
    idle_bytes_ += (size_t)(entry->end - entry->begin);
    for (Entries::iterator i = entries_.begin(); entry->gone; ++i)
        if (&*i == entry) {
            drop(i);
            return;
        }
    while ((idle_entries_ > max_entries_ || idle_bytes_ > max_bytes_) && evict()) {
    }
}

bool RegistrationCache::forget(const void *data, size_t size)
{
    const MemoryWatch::Pause pause(watch_);
    const unsigned char *begin = (const unsigned char *)data;
    bool all = true;

    for (Entries::iterator i = entries_.begin(); i != entries_.end();) {
        Entries::iterator entry = i++;
        if (entry->end <= begin || entry->begin >= begin + size)
            continue;
        if (entry->users == 0) {
            drop(entry);
            continue;
        }
        entry->gone = true;
        all = false;
    }
    return all;
}

void RegistrationCache::gone(const void *data, size_t size)
{
    forget(data, size);
}

bool RegistrationCache::evict()
{
    for (Entries::iterator i = entries_.end(); i != entries_.begin();) {
        if ((--i)->users == 0) {
            drop(i);
            return true;
        }
    }
    return false;
}

void RegistrationCache::drop(Entries::iterator entry)
{
    if (entry->users == 0) {
        --idle_entries_;
        idle_bytes_ -= (size_t)(entry->end - entry->begin);
    }
    delete entry->memory;
    entries_.erase(entry);
}

} // namespace ndmpi
