// SPDX-License-Identifier: MIT
// memory_watch.cpp - see memory_watch.h.
#include "memory_watch.h"

#include <windows.h>

#include <algorithm>

namespace ndmpi
{

namespace
{

typedef BOOLEAN(CALLBACK *Callback)(PVOID data, SIZE_T size);
typedef BOOL(WINAPI *Change)(Callback callback);

SRWLOCK lock = SRWLOCK_INIT; // guards the list, and untold_ of each
std::vector<MemoryWatch *> watches;

// Some versions of Windows lack the functions, and so does Wine.
Change function(const char *name)
{
    return reinterpret_cast<Change>(
        reinterpret_cast<void *>(GetProcAddress(GetModuleHandleA("kernel32.dll"), name)));
}

} // namespace

bool MemoryWatch::works()
{
    return function("AddSecureMemoryCacheCallback") != NULL;
}

MemoryWatch::MemoryWatch(Owner &owner)
    : owner_(owner), thread_(GetCurrentThreadId()), paused_(false)
{
    Change add = function("AddSecureMemoryCacheCallback");

    AcquireSRWLockExclusive(&lock);
    watches.push_back(this);
    const bool first = watches.size() == 1;
    ReleaseSRWLockExclusive(&lock);
    if (first && add)
        add(memory_goes);
}

MemoryWatch::~MemoryWatch()
{
    Change remove = function("RemoveSecureMemoryCacheCallback");

    AcquireSRWLockExclusive(&lock);
    watches.erase(std::find(watches.begin(), watches.end(), this));
    const bool last = watches.empty();
    ReleaseSRWLockExclusive(&lock);
    if (last && remove)
        remove(memory_goes);
}

BOOLEAN CALLBACK MemoryWatch::memory_goes(PVOID data, SIZE_T size)
{
    const Range range = { data, size };
    std::vector<MemoryWatch *> own;

    AcquireSRWLockExclusive(&lock);
    for (size_t i = 0; i < watches.size(); ++i) {
        watches[i]->untold_.push_back(range);
        if (watches[i]->thread_ == GetCurrentThreadId() && !watches[i]->paused_)
            own.push_back(watches[i]); // this is its thread, the only one that deletes it
    }
    ReleaseSRWLockExclusive(&lock);
    for (size_t i = 0; i < own.size(); ++i)
        own[i]->catch_up();
    return !own.empty();
}

void MemoryWatch::catch_up()
{
    std::vector<Range> gone;

    AcquireSRWLockExclusive(&lock);
    gone.swap(untold_);
    ReleaseSRWLockExclusive(&lock);
    const Pause pause(*this);
    for (size_t i = 0; i < gone.size(); ++i)
        owner_.gone(gone[i].data, gone[i].size);
}

} // namespace ndmpi
