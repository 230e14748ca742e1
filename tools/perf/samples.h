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

// In microseconds.
struct Summary {
    double min, median, p90, p99, p999, max, mean, deviation;
};

// Samples between two bounds, below exclusive, in microseconds.
struct Bucket {
    double from, below;
    UINT64 count;
};

class Samples
{
  public:
    // Allocates and touches memory for so many before the measurement; more may be added, without moving others.
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
    // scale in: microseconds of a tick, halved if samples are round trips and half of each counts
    void set_scale(double scale)
    {
        scale_ = scale;
    }
    size_t count() const
    {
        return count_;
    }
    // In the order of measurement until sort.
    double at(size_t i) const
    {
        return (double)chunks_[i / CHUNK][i % CHUNK] * scale_;
    }
    void sort();
    // Both need sort, and a sample at least.
    Summary summary() const;
    // Ten buckets for each power of ten, those from the least to the greatest sample.
    std::vector<Bucket> histogram() const;

  private:
    enum { CHUNK = 4096 }; // samples: few, since the round that begins a chunk waits for its memory

    void grow();
    double quantile(double q) const;

    std::vector<std::vector<UINT64>> chunks_; // of CHUNK each
    size_t count_;
    double scale_;
};

// Now, in ticks, and how many a second has.
UINT64 ticks();
double ticks_per_second();

} // namespace ndperf
#endif
