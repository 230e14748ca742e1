/* SPDX-License-Identifier: MIT */
/* report.h - the results of a client, and their forms of output. */
#ifndef TOOLS_PERF_REPORT_H
#define TOOLS_PERF_REPORT_H

#include <memory>
#include <string>
#include <vector>

#include "options.h"
#include "samples.h"

namespace ndperf
{

// The results of one size.
struct Row {
    UINT32 size;     // bytes
    UINT64 messages; // number of this side's messages; of connections in the test connect
    double seconds;
    UINT64 peer_messages; // bidirectional: number of the peer's messages
    double peer_seconds;
    double processor, peer_processor; // percent of one processor; peer's negative: not known
    Samples samples;                  // times of each message, sorted, if the test keeps them
    Samples unsorted;                 // with -U

    // Returns the rate of both sides together.
    double messages_per_second() const;
    double mib_per_second() const
    {
        return messages_per_second() * size / 1048576;
    }
    // Returns the peer's processor time in this form; if it is not known, none.
    std::string peer_text(const char *form, const char *none) const;
    double gbit_per_second() const
    {
        return messages_per_second() * size * 8e-9;
    }
};

// Returns a figure for programs: five significant digits, or one behind the point.
std::string figure_text(double figure);

// A form of output. The rows come in the order of their sizes.
class Output
{
  public:
    Output(const Options &options, const Parameters &parameters) : options_(options), p_(parameters)
    {
    }
    virtual ~Output()
    {
    }
    virtual void begin() = 0;
    virtual void add(const Row &row) = 0;
    // is_whole in: false: the measurement was stopped
    virtual void end(bool is_whole)
    {
        (void)is_whole;
    }

  protected:
    const Options &options_;
    const Parameters &p_;
};

Output *open_text(const Options &options, const Parameters &parameters);
Output *open_json(const Options &options, const Parameters &parameters);
Output *open_csv(const Options &options, const Parameters &parameters);
// Opens the output as a picture. Ends the program if there is no gnuplot, or the file cannot be written.
Output *open_plot(const Options &options, const Parameters &parameters);

class Report
{
  public:
    // Opens every form that the options ask for.
    Report(const Options &options, const Parameters &parameters);
    void begin();
    void add(Row &row); // sorts its samples
    void end()
    {
        end_by(true);
    }
    // Called in place of end, or before begin, or after end, when the measurement was stopped.
    void stop()
    {
        end_by(false);
    }

  private:
    void end_by(bool is_whole);

    const Options &options_;
    bool is_over_;
    std::vector<std::unique_ptr<Output>> outputs_;
};

} // namespace ndperf
#endif
