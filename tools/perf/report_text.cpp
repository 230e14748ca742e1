/* SPDX-License-Identifier: MIT */
/* report_text.cpp - a table for people. */
#include <stdio.h>

#include "failure.h"
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

// 80 columns are enough for each line below.
void Text::begin()
{
    printf("%s, version %u of NetworkDirect, to %s\n", test_name(p_.test), (unsigned)p_.nd,
        options_.peer_name.c_str());
    if (p_.streams())
        printf("%u queue pair%s, waits by %s, ", (unsigned)p_.qps, p_.qps > 1 ? "s" : "",
            wait_name(p_.wait));
    printf("%u thread%s%s\n", (unsigned)p_.threads, p_.threads > 1 ? "s" : "",
        p_.times_each() ? "; times in us" : "");
    if (p_.times_each())
        printf("%7s %8s %6s %6s %6s %6s %6s %6s %9s %4s %5s\n", "#bytes", "rounds", "min", "median",
            "p99", "p99.9", "max", "mean", p_.test == CONNECT ? "[conn/s]" : "[msg/s]", "CPU%",
            "peer%");
    else
        printf("%9s %12s %14s %12s %12s %6s %6s\n", "#bytes", "iterations", "BW[MiB/s]",
            "BW[Gbit/s]", "[Mmsg/s]", "CPU%", "peer%");
    fflush(stdout);
}

// Returns microseconds in six columns, up to a second.
std::string time_text(double us)
{
    return format(us < 999.995 ? "%6.2f" : us < 9999.95 ? "%6.1f" : "%6.0f", us);
}

void Text::print_times(const Row &row)
{
    Summary s = row.samples.summary();
    const double times[] = { s.min, s.median, s.p99, s.p999, s.max, s.mean };

    printf("%7u %8llu", (unsigned)row.size, (unsigned long long)row.messages);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); ++i)
        printf(" %s", time_text(times[i]).c_str());
    printf(" %9.0f %4.0f %s\n", row.messages_per_second(), row.processor,
        row.peer_text("%5.0f", "    -").c_str());
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
    printf("%9u %12llu %14.2f %12.3f %12.4f %6.0f %s\n", (unsigned)row.size,
        (unsigned long long)(row.messages + row.peer_messages), row.mib_per_second(),
        row.gbit_per_second(), row.messages_per_second() * 1e-6, row.processor,
        row.peer_text("%6.0f", "     -").c_str());
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
