/* SPDX-License-Identifier: MIT */
#include "rate.h"

#include <io.h>
#include <stdio.h>

#include "samples.h"

namespace ndperf
{

RateLine::RateLine(UINT32 size, bool wanted)
    : size_(size), shown_(wanted && _isatty(_fileno(stderr))), written_(false), messages_(0),
      moment_(ticks())
{
}

RateLine::~RateLine()
{
    if (written_)
        fprintf(stderr, "\r%60s\r", "");
}

void RateLine::show(UINT64 messages)
{
    UINT64 now = ticks();
    double rate = (double)(messages - messages_) * ticks_per_second() / (double)(now - moment_);

    fprintf(stderr, "\r%9u %12llu  %10.0f msg/s  %10.2f MiB/s ", (unsigned)size_,
        (unsigned long long)messages, rate, rate * size_ / 1048576);
    fflush(stderr);
    written_ = true;
    messages_ = messages;
    moment_ = now;
}

} // namespace ndperf
