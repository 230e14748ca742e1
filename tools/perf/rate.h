/* SPDX-License-Identifier: MIT */
/* rate.h - a line on a terminal that shows the rate during a run. */
#ifndef TOOLS_PERF_RATE_H
#define TOOLS_PERF_RATE_H

#include <winsock2.h>

namespace ndperf
{

class RateLine
{
  public:
    // size in: bytes of a message; wanted in: false shows nothing
    RateLine(UINT32 size, bool wanted);
    // Removes the line.
    ~RateLine();
    // Whether standard error is a terminal, and the line is wanted.
    bool is_shown() const
    {
        return shown_;
    }
    // messages in: their number since the beginning of the run
    void show(UINT64 messages);

  private:
    const UINT32 size_;
    const bool shown_;
    bool written_;
    UINT64 messages_, moment_; // the values of the last line
};

} // namespace ndperf
#endif
