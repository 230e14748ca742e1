// SPDX-License-Identifier: MIT
// program.cpp - see program.h.
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "platform.h"

namespace ndmpi
{

Options::Options(
    const std::string &program, int argc, char **argv, const char *usage, const char *options)
{
    set_name(program + ": ");
    WSADATA data;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        fail("Winsock does not start");
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; ++i) {
        char letter = argv[i][2] ? 0 : argv[i][1];
        const char *option = letter && letter != ':' ? strchr(options, letter) : NULL;
        if (letter == 'h' || strcmp(argv[i], "--help") == 0) {
            printf("%s", usage);
            write_out();
            exit(0);
        }
        if (letter == 'V' || strcmp(argv[i], "--version") == 0) {
            printf("%s %s\n", program.c_str(), SAMPLE_VERSION);
            write_out();
            exit(0);
        }
        if (!option)
            fail_usage("unknown argument %s\n%s", argv[i], usage);
        bool valued = option[1] == ':';
        if (valued && i + 1 == argc)
            fail_usage("a value must follow %s\n%s", argv[i], usage);
        values_.push_back(std::make_pair(letter, std::string(valued ? argv[++i] : "")));
    }
    arguments_.assign(argv + i, argv + argc);
}

bool Options::given(char letter) const
{
    for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i].first == letter)
            return true;
    return false;
}

std::string Options::text(char letter, const std::string &fallback) const
{
    std::string value = fallback;
    for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i].first == letter)
            value = values_[i].second;
    return value;
}

unsigned Options::number(char letter, unsigned low, unsigned high, unsigned fallback) const
{
    unsigned number = fallback;
    std::string value = text(letter, "");
    if (given(letter) && !parse_number(value, low, high, number))
        fail_usage(
            "-%c takes a number from %u to %u, not \"%s\"", letter, low, high, value.c_str());
    return number;
}

// ---- progress -------------------------------------------------------------------------------------------------------

namespace
{

const double QUIET_S = 1;     // before anything is shown
const double TERMINAL_S = .2; // between two changes
const double LOG_S = 5;       // between two lines

} // namespace

Progress::Progress(const std::string &what, unsigned long long total, bool shown)
    : what_(what), total_(total ? total : 1), shown_(shown), terminal_(terminal()),
      start_(sample_seconds()), next_(start_ + (terminal_ ? QUIET_S : LOG_S)), visible_(false)
{
}

Progress::~Progress()
{
    hide();
}

void Progress::hide()
{
    if (visible_ && terminal_)
        fprintf(stderr, "\r%60s\r", "");
    visible_ = false;
}

void Progress::at(unsigned long long done)
{
    if (!shown_)
        return;
    double now = sample_seconds();
    if (now < next_)
        return;
    double passed = now - start_, share = (double)done / (double)total_;
    fprintf(stderr, "%s%s: %3.0f %%, %.0f s, about %.0f s to go%s", terminal_ ? "\r" : "",
        what_.c_str(), 100 * share, passed, share > 0 ? passed / share - passed : 0.,
        terminal_ ? "  " : "\n");
    fflush(stderr);
    next_ = now + (terminal_ ? TERMINAL_S : LOG_S);
    visible_ = true;
}

void verify(const unsigned char *data, size_t size, ULONG seed, int from)
{
    ULONG damaged = sample_damage(data, 0, (ULONG)size, seed);
    if (damaged < size)
        fail("byte %u of a message of %llu bytes from rank %d is damaged", (unsigned)damaged,
            (unsigned long long)size, from);
}

} // namespace ndmpi
