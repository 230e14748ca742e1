// SPDX-License-Identifier: MIT
//
// memory_watch.h - the system's notice that memory is about to go (AddSecureMemoryCacheCallback): of VirtualFree, of
// views that are unmapped, and of large blocks of heaps.
#ifndef NDMPI_MEMORY_WATCH_H
#define NDMPI_MEMORY_WATCH_H

#include <winsock2.h>

#include <stddef.h>
#include <vector>

namespace ndmpi
{

// One thread makes it, and is told at once; of what other threads free it learns by catch_up.
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

    // Whether the system tells. If not, the program has to say what it frees.
    static bool works();

    // Tells the owner what has gone and was not told.
    void catch_up();

    // While there is one, nothing is told but by catch_up.
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
