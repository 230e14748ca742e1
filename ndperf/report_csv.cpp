/* SPDX-License-Identifier: MIT */
/* report_csv.cpp - a line of names, and one of numbers for each size. */
#include <stdio.h>

#include "report.h"

namespace ndperf
{

namespace
{

class Csv : public Output
{
  public:
    Csv(const Options &options, const Parameters &parameters) : Output(options, parameters)
    {
    }
    void begin()
    {
        printf("bytes,messages,seconds,messages_per_second,cpu_percent,peer_cpu_percent,%s\n",
            p_.times_each() ? "min_us,median_us,p90_us,p99_us,p99_9_us,max_us,mean_us,deviation_us"
                            : "mib_per_second,gbit_per_second");
    }
    void add(const Row &row)
    {
        printf("%u,%llu,%.9f,%.3f,%.1f,%.1f,", (unsigned)row.size,
            (unsigned long long)(row.messages + row.peer_messages), row.seconds,
            row.messages_per_second(), row.processor, row.peer_processor);
        if (p_.times_each()) {
            Summary s = row.samples.summary();
            printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", s.min, s.median, s.p90, s.p99,
                s.p999, s.max, s.mean, s.deviation);
        } else {
            printf("%.3f,%.6f\n", row.mib_per_second(), row.gbit_per_second());
        }
    }
};

} // namespace

Output *open_csv(const Options &options, const Parameters &parameters)
{
    return new Csv(options, parameters);
}

} // namespace ndperf
