/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

namespace ndperf
{

namespace
{

// Figures that nobody can read are no measurement: a full disk, a closed output.
void flush()
{
    if (fflush(stdout) || ferror(stdout))
        fail("cannot write to standard output: %s", strerror(errno));
}

} // namespace

double Row::messages_per_second() const
{
    double own = seconds > 0 ? (double)messages / seconds : 0;
    return own + (peer_seconds > 0 ? (double)peer_messages / peer_seconds : 0);
}

Report::Report(const Options &options, const Parameters &parameters) : options_(options)
{
    Output *printed = options.form == FORM_JSON  ? open_json(options, parameters)
                      : options.form == FORM_CSV ? open_csv(options, parameters)
                                                 : open_text(options, parameters);
    outputs_.push_back(std::unique_ptr<Output>(printed));
    if (!options.svg.empty())
        outputs_.push_back(std::unique_ptr<Output>(open_plot(options, parameters)));
}

void Report::begin()
{
    for (size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i]->begin();
    flush();
}

void Report::add(Row &row)
{
    if (options_.unsorted)
        row.unsorted = row.samples;
    row.samples.sort();
    for (size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i]->add(row);
    flush();
}

void Report::end()
{
    for (size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i]->end();
    flush();
}

} // namespace ndperf
