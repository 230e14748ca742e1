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
        printf("%u,%llu,%s,%s,%.1f,%s,", (unsigned)row.size,
            (unsigned long long)(row.messages + row.peer_messages),
            figure_text(row.seconds).c_str(), figure_text(row.messages_per_second()).c_str(),
            row.processor, row.peer_text("%.1f", "").c_str());
        if (p_.times_each()) {
            Summary s = row.samples.summary();
            printf("%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", s.min, s.median, s.p90, s.p99,
                s.p999, s.max, s.mean, s.deviation);
        } else {
            printf("%s,%s\n", figure_text(row.mib_per_second()).c_str(),
                figure_text(row.gbit_per_second()).c_str());
        }
    }
};

} // namespace

Output *open_csv(const Options &options, const Parameters &parameters)
{
    return new Csv(options, parameters);
}

} // namespace ndperf
