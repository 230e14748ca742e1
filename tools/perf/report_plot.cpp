/* SPDX-License-Identifier: MIT */
/* report_plot.cpp - a picture, which gnuplot draws: this starts it and writes commands and numbers to its input. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"
#include "platform.h"
#include "report.h"

namespace ndperf
{

namespace
{

// Returns text in the form that gnuplot reads between single quotes.
std::string quoted(const std::string &text)
{
    std::string all = "'";
    for (size_t i = 0; i < text.size(); ++i)
        all += text[i] == '\'' ? std::string("''") : std::string(1, text[i]);
    return all + "'";
}

class Plot : public Output
{
  public:
    Plot(const Options &options, const Parameters &parameters);
    void begin()
    {
    }
    void add(const Row &row);
    void end(bool is_whole);

  private:
    void draw(const std::string &commands);
    std::string commands() const;

    size_t rows_;
    std::string sizes_;     // a line for each size
    std::string histogram_; // the last size's
};

// Looks for gnuplot and opens the file before the measurement, so that a failure shows before it.
Plot::Plot(const Options &options, const Parameters &parameters)
    : Output(options, parameters), rows_(0)
{
    char said[16] = "";
    FILE *gnuplot = open_program("gnuplot --version 2>&1", "r");
    bool is_there = gnuplot && fgets(said, sizeof(said), gnuplot) && !strncmp(said, "gnuplot", 7);
    if (gnuplot)
        is_there = close_program(gnuplot) == 0 && is_there;
    if (!is_there)
        fail("--svg needs gnuplot, which does not run here\n"
             "  Install it (Debian: gnuplot-nox), or take the numbers of --csv or --json.");
    FILE *before = fopen(options.svg.c_str(), "r");
    if (before)
        fclose(before);
    FILE *file = fopen(options.svg.c_str(), "a");
    if (!file)
        fail("--svg: %s cannot be written: %s", options.svg.c_str(), strerror(errno));
    fclose(file);
    if (!before)
        remove(options.svg.c_str()); // a failed measurement leaves no file
}

void Plot::add(const Row &row)
{
    ++rows_;
    if (!p_.times_each()) {
        sizes_ += format("%u %.3f %.3f\n", (unsigned)row.size, row.mib_per_second(),
            row.messages_per_second() / 1000);
        return;
    }
    Summary s = row.samples.summary();
    std::vector<Bucket> buckets = row.samples.histogram();
    sizes_ += format("%u %.3f %.3f %.3f %.3f\n", (unsigned)row.size, s.min, s.median, s.p99, s.max);
    histogram_.clear();
    for (size_t i = 0; i < buckets.size(); ++i)
        histogram_ += format("%.4f %.4f %llu\n", buckets[i].from, buckets[i].below,
            (unsigned long long)buckets[i].count);
}

std::string Plot::commands() const
{
    std::string title = format("set title '%s, version %u of NetworkDirect%s'\n",
        test_name(p_.test), (unsigned)p_.nd,
        rows_ == 1 && p_.largest() ? format(", %u bytes", (unsigned)p_.largest()).c_str() : "");

    if (!p_.times_each())
        return title +
               "set logscale x 2\nset xlabel 'bytes'\nset format x '%.0f'\nset ylabel 'MiB/s'\n"
               "set y2label 'thousand messages/s'\nset y2tics\nset ytics nomirror\n"
               "set yrange [0:*]\nset y2range [0:*]\n"
               "plot $sizes using 1:2 with linespoints pt 7 title 'MiB/s', "
               "$sizes using 1:3 axes x1y2 with linespoints pt 5 title 'thousand messages/s'\n";
    if (rows_ > 1)
        return title +
               "set logscale xy\nset logscale x 2\nset xlabel 'bytes'\nset format x '%.0f'\n"
               "set ylabel 'latency (us)'\n"
               "plot $sizes using 1:2 with linespoints pt 7 title 'min', "
               "$sizes using 1:3 with linespoints pt 5 title 'median', "
               "$sizes using 1:4 with linespoints pt 9 title 'p99', "
               "$sizes using 1:5 with linespoints pt 11 title 'max'\n";
    return title + "set logscale x\nset xlabel 'latency (us)'\nset ylabel 'messages'\n"
                   "set style fill solid 0.6\nset yrange [0:*]\n"
                   "plot $histogram using (sqrt($1*$2)):3:($2-$1) with boxes notitle\n";
}

void Plot::end(bool is_whole)
{
    if (!is_whole && !rows_)
        return;
    draw("set terminal svg noenhanced size 900,560 dynamic font 'sans-serif,13' background "
         "'#ffffff'\n"
         "set output " +
         quoted(options_.svg) + "\nset grid\nset key below\n$sizes << END\n" + sizes_ +
         "END\n$histogram << END\n" + histogram_ + "END\n" + commands());
}

void Plot::draw(const std::string &commands)
{
    FILE *gnuplot = open_program("gnuplot", "w");
    bool is_drawn =
        gnuplot && fwrite(commands.data(), 1, commands.size(), gnuplot) == commands.size();
    if (gnuplot)
        is_drawn = close_program(gnuplot) == 0 && is_drawn;
    if (!is_drawn)
        fail("gnuplot did not draw %s", options_.svg.c_str());
}

} // namespace

Output *open_plot(const Options &options, const Parameters &parameters)
{
    return new Plot(options, parameters);
}

} // namespace ndperf
