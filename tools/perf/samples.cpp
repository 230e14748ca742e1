/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include <algorithm>
#include <cmath>

namespace ndperf
{

Samples::Samples(UINT64 expected) : count_(0), scale_(1)
{
    chunks_.reserve((size_t)expected / CHUNK + 1);
    while (chunks_.size() * CHUNK < expected)
        grow();
}

// It writes zeros, so that the pages have memory before the measurement.
void Samples::grow()
{
    chunks_.push_back(std::vector<UINT64>(CHUNK));
}

void Samples::add(const Samples &other)
{
    for (size_t i = 0; i < other.count_; ++i)
        add(other.chunks_[i / CHUNK][i % CHUNK]);
}

void Samples::sort()
{
    std::vector<UINT64> all;
    all.reserve(count_);
    for (size_t i = 0; i < count_; ++i)
        all.push_back(chunks_[i / CHUNK][i % CHUNK]);
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < count_; ++i)
        chunks_[i / CHUNK][i % CHUNK] = all[i];
}

// Returns the least sample that at least the fraction q of all samples does not exceed.
double Samples::quantile(double q) const
{
    size_t rank = (size_t)std::ceil(q * (double)count_);
    return at(rank ? rank - 1 : 0);
}

Summary Samples::summary() const
{
    Summary s;
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count(); ++i)
        sum += at(i);
    s.mean = sum / (double)count();
    for (size_t i = 0; i < count(); ++i)
        squares += (at(i) - s.mean) * (at(i) - s.mean);
    s.deviation = std::sqrt(squares / (double)count());
    s.min = at(0);
    s.median = quantile(0.5);
    s.p90 = quantile(0.9);
    s.p99 = quantile(0.99);
    s.p999 = quantile(0.999);
    s.max = at(count() - 1);
    return s;
}

std::vector<Bucket> Samples::histogram() const
{
    enum { OF_TEN = 10 };
    std::vector<Bucket> buckets;
    double least = at(0) > 0.001 ? at(0) : 0.001;
    int step = (int)std::floor(std::log10(least) * OF_TEN);
    size_t i = 0;

    while (i < count()) {
        Bucket bucket = { std::pow(10, step / (double)OF_TEN),
            std::pow(10, (step + 1) / (double)OF_TEN), 0 };
        for (; i < count() && at(i) < bucket.below; ++i)
            ++bucket.count;
        // The bound of the first bucket may be rounded to above the least sample.
        if (bucket.count || !buckets.empty())
            buckets.push_back(bucket);
        ++step;
    }
    return buckets;
}

UINT64 ticks()
{
    LARGE_INTEGER now;
    QueryPerformanceCounter(&now);
    return (UINT64)now.QuadPart;
}

double ticks_per_second()
{
    LARGE_INTEGER frequency;
    QueryPerformanceFrequency(&frequency);
    return (double)frequency.QuadPart;
}

} // namespace ndperf
