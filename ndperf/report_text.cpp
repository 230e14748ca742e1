/* SPDX-License-Identifier: MIT */
/* report_text.cpp - a table for people. */
#include <stdio.h>

#include "report.h"

namespace ndperf
{

namespace
{

class Text : public Output
{
  public:
    Text(const Options &options, const Parameters &parameters) : Output(options, parameters)
    {
    }
    void begin();
    void add(const Row &row);

  private:
    void print_times(const Row &row);
    void print_bandwidth(const Row &row);
};

void Text::begin()
{
    printf("%s, version %u of NetworkDirect, ", test_name(p_.test), (unsigned)p_.nd);
    if (p_.streams())
        printf("%u queue pair%s, waits by %s, ", (unsigned)p_.qps, p_.qps > 1 ? "s" : "",
            wait_name(p_.wait));
    printf("%u thread%s, to %s\n", (unsigned)p_.threads, p_.threads > 1 ? "s" : "",
        options_.peer_name.c_str());
    if (p_.times_each())
        printf("%9s %10s %10s %10s %10s %10s %10s %10s %10s %10s %6s %6s\n", "#bytes", "iterations",
            "min[us]", "median", "p90", "p99", "p99.9", "max", "mean", "[1/s]", "CPU%", "peer%");
    else
        printf("%9s %12s %14s %12s %12s %6s %6s\n", "#bytes", "iterations", "BW[MiB/s]",
            "BW[Gbit/s]", "[Mmsg/s]", "CPU%", "peer%");
    fflush(stdout);
}

void Text::print_times(const Row &row)
{
    Summary s = row.samples.summary();
    printf("%9u %10llu %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.2f %10.0f %6.0f %6.0f\n",
        (unsigned)row.size, (unsigned long long)row.messages, s.min, s.median, s.p90, s.p99, s.p999,
        s.max, s.mean, row.messages_per_second(), row.processor, row.peer_processor);
    if (options_.histogram) {
        std::vector<Bucket> buckets = row.samples.histogram();
        printf("%12s %12s %12s\n", "from[us]", "below", "count");
        for (size_t i = 0; i < buckets.size(); ++i)
            printf("%12.2f %12.2f %12llu\n", buckets[i].from, buckets[i].below,
                (unsigned long long)buckets[i].count);
    }
    if (options_.unsorted) {
        printf("%12s %12s\n", "#iteration", "latency[us]");
        for (size_t i = 0; i < row.unsorted.count(); ++i)
            printf("%12llu %12.2f\n", (unsigned long long)i, row.unsorted.at(i));
    }
}

void Text::print_bandwidth(const Row &row)
{
    printf("%9u %12llu %14.2f %12.3f %12.4f %6.0f %6.0f\n", (unsigned)row.size,
        (unsigned long long)(row.messages + row.peer_messages), row.mib_per_second(),
        row.gbit_per_second(), row.messages_per_second() * 1e-6, row.processor, row.peer_processor);
}

void Text::add(const Row &row)
{
    if (p_.times_each())
        print_times(row);
    else
        print_bandwidth(row);
}

} // namespace

Output *open_text(const Options &options, const Parameters &parameters)
{
    return new Text(options, parameters);
}

} // namespace ndperf
