/* SPDX-License-Identifier: MIT */
/*
 * report_json.cpp - one JSON object. Windows' build has no JSON library; this writes only numbers and a few words.
 */
#include <stdio.h>

#include "failure.h"
#include "report.h"

namespace ndperf
{

namespace
{

std::string quoted(const std::string &text)
{
    std::string all = "\"";
    for (size_t i = 0; i < text.size(); ++i) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            all += std::string("\\") + (char)c;
        else if (c < ' ')
            all += format("\\u%04x", c);
        else
            all += (char)c;
    }
    return all + "\"";
}

// Returns the key of an option: "tx_depth" for "--tx-depth".
std::string key_of(const Field &field)
{
    std::string key = field.option + 2;
    for (size_t i = 0; i < key.size(); ++i)
        if (key[i] == '-')
            key[i] = '_';
    return key;
}

std::string value_of(const Parameters &p, const Field &field)
{
    UINT32 value = p.*field.member;
    if (field.member == &Parameters::wait)
        return quoted(wait_name(value));
    if (field.member == &Parameters::inline_size && value == INLINE_ADVISED)
        return quoted("advised");
    if (is_flag(field))
        return value ? "true" : "false";
    return format("%u", (unsigned)value);
}

class Json : public Output
{
  public:
    Json(const Options &options, const Parameters &parameters)
        : Output(options, parameters), rows_(0)
    {
    }
    void begin();
    void add(const Row &row);
    void end(bool is_whole)
    {
        printf("\n  ],\n  \"complete\": %s\n}\n", is_whole ? "true" : "false");
    }

  private:
    void add_times(const Row &row);

    size_t rows_;
};

void Json::begin()
{
    printf("{\n  \"program\": \"ndperf\",\n  \"version\": %s,\n  \"test\": %s,\n  \"server\": %s,\n"
           "  \"parameters\": {",
        quoted(NDPERF_VERSION).c_str(), quoted(test_name(p_.test)).c_str(),
        quoted(options_.peer_name).c_str());
    for (size_t i = 0; i < field_count; ++i)
        printf("%s\n    %s: %s", i ? "," : "", quoted(key_of(fields[i])).c_str(),
            value_of(p_, fields[i]).c_str());
    printf("\n  },\n  \"results\": [");
}

void Json::add_times(const Row &row)
{
    Summary s = row.samples.summary();
    std::vector<Bucket> buckets = row.samples.histogram();

    printf(
        ",\n      \"latency_us\": {\"min\": %.3f, \"median\": %.3f, \"p90\": %.3f, \"p99\": %.3f, "
        "\"p99_9\": %.3f, \"max\": %.3f, \"mean\": %.3f, \"deviation\": %.3f},\n"
        "      \"histogram\": [",
        s.min, s.median, s.p90, s.p99, s.p999, s.max, s.mean, s.deviation);
    for (size_t i = 0; i < buckets.size(); ++i)
        printf("%s\n        {\"from_us\": %.3f, \"below_us\": %.3f, \"count\": %llu}", i ? "," : "",
            buckets[i].from, buckets[i].below, (unsigned long long)buckets[i].count);
    printf("\n      ]");
    if (!options_.unsorted)
        return;
    printf(",\n      \"samples_us\": [");
    for (size_t i = 0; i < row.unsorted.count(); ++i)
        printf("%s%.3f", i ? ", " : "", row.unsorted.at(i));
    printf("]");
}

void Json::add(const Row &row)
{
    printf("%s\n    {\n      \"bytes\": %u,\n      \"messages\": %llu,\n      \"seconds\": %s,\n"
           "      \"messages_per_second\": %s,\n      \"cpu_percent\": %.1f,\n"
           "      \"peer_cpu_percent\": %s",
        rows_++ ? "," : "", (unsigned)row.size,
        (unsigned long long)(row.messages + row.peer_messages), figure_text(row.seconds).c_str(),
        figure_text(row.messages_per_second()).c_str(), row.processor,
        row.peer_text("%.1f", "null").c_str());
    if (p_.times_each())
        add_times(row);
    else
        printf(",\n      \"mib_per_second\": %s,\n      \"gbit_per_second\": %s",
            figure_text(row.mib_per_second()).c_str(), figure_text(row.gbit_per_second()).c_str());
    printf("\n    }");
}

} // namespace

Output *open_json(const Options &options, const Parameters &parameters)
{
    return new Json(options, parameters);
}

} // namespace ndperf
