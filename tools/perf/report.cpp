/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>

#include "failure.h"

namespace ndperf
{

double Row::messages_per_second() const
{
    double own = seconds > 0 ? (double)messages / seconds : 0;
    return own + (peer_seconds > 0 ? (double)peer_messages / peer_seconds : 0);
}

std::string Row::peer_text(const char *form, const char *none) const
{
    char text[32];
    snprintf(text, sizeof(text), form, peer_processor);
    return peer_processor < 0 ? none : text;
}

std::string figure_text(double figure)
{
    return format(figure < 1000 ? "%.5g" : "%.1f", figure);
}

Report::Report(const Options &options, const Parameters &parameters)
    : options_(options), is_over_(true)
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
    is_over_ = false;
    for (size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i]->begin();
    write_out();
}

void Report::add(Row &row)
{
    if (options_.unsorted)
        row.unsorted = row.samples;
    row.samples.sort();
    for (size_t i = 0; i < outputs_.size(); ++i)
        outputs_[i]->add(row);
    write_out();
}

void Report::end_by(bool is_whole)
{
    for (size_t i = 0; i < outputs_.size() && !is_over_; ++i)
        outputs_[i]->end(is_whole);
    is_over_ = true;
    write_out();
}

} // namespace ndperf
