// SPDX-License-Identifier: MIT
//
// memory_watch.h - the system's notice that memory is about to be freed (AddSecureMemoryCacheCallback): by VirtualFree,
// by unmapping a view, or as a large block of a heap.
#ifndef NDMPI_MEMORY_WATCH_H
#define NDMPI_MEMORY_WATCH_H

#include <winsock2.h>

#include <stddef.h>
#include <vector>

namespace ndmpi
{

// Calls the owner at once when the thread that made it frees memory; for memory that other threads free, in catch_up.
class MemoryWatch
{
  public:
    class Owner
    {
      public:
        virtual ~Owner()
        {
        }
        // The memory is still there. It must be used no more when this returns.
        virtual void gone(const void *data, size_t size) = 0;
    };

    explicit MemoryWatch(Owner &owner);
    ~MemoryWatch();

    // Whether the system has this notice. If not, the program has to say what it frees.
    static bool works();

    // Calls the owner for freed memory that it was not yet called for.
    void catch_up();

    // While one exists, only catch_up calls the owner.
    class Pause
    {
      public:
        explicit Pause(MemoryWatch &watch) : watch_(watch), before_(watch.paused_)
        {
            watch_.paused_ = true;
        }
        ~Pause()
        {
            watch_.paused_ = before_;
        }

      private:
        Pause(const Pause &);
        Pause &operator=(const Pause &);

        MemoryWatch &watch_;
        const bool before_;
    };

  private:
    struct Range {
        const void *data;
        size_t size;
    };

    MemoryWatch(const MemoryWatch &);
    MemoryWatch &operator=(const MemoryWatch &);

    static BOOLEAN CALLBACK memory_goes(PVOID data, SIZE_T size);

    Owner &owner_;
    const DWORD thread_;
    bool paused_; // of thread_
    std::vector<Range> untold_;
};

} // namespace ndmpi
#endif
