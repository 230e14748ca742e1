/* SPDX-License-Identifier: MIT */
/*
 * samples.h - all measured times, and their statistics.
 */
#ifndef TOOLS_PERF_SAMPLES_H
#define TOOLS_PERF_SAMPLES_H

#include <winsock2.h>

#include <vector>

namespace ndperf
{

// Statistics, in microseconds.
struct Summary {
    double min, median, p90, p99, p999, max, mean, deviation;
};

// The number of samples between two bounds, the lower one exclusive, in microseconds.
struct Bucket {
    double from, below;
    UINT64 count;
};

class Samples
{
  public:
    // Allocates and touches memory for the expected number before the measurement; more may be added, and none move.
    explicit Samples(UINT64 expected = 0);
    // ticks of QueryPerformanceCounter
    void add(UINT64 ticks)
    {
        if (count_ == chunks_.size() * CHUNK)
            grow();
        chunks_[count_ / CHUNK][count_ % CHUNK] = ticks;
        ++count_;
    }
    void add(const Samples &other);
    // scale in: microseconds of a tick; half of that if samples are round trips and half of each counts
    void set_scale(double scale)
    {
        scale_ = scale;
    }
    size_t count() const
    {
        return count_;
    }
    // Returns a sample, in the order of measurement before sort.
    double at(size_t i) const
    {
        return (double)chunks_[i / CHUNK][i % CHUNK] * scale_;
    }
    void sort();
    // Both need sort to be called before, and at least one sample.
    Summary summary() const;
    // Returns the buckets, ten for each power of ten, from the least to the greatest sample.
    std::vector<Bucket> histogram() const;

  private:
    enum { CHUNK = 4096 }; // samples; few, since a round that begins a chunk waits for its memory

    void grow();
    double quantile(double q) const;

    std::vector<std::vector<UINT64>> chunks_; // each has CHUNK samples
    size_t count_;
    double scale_;
};

// Return the time now, in ticks, and the ticks of a second.
UINT64 ticks();
double ticks_per_second();

} // namespace ndperf
#endif
