// SPDX-License-Identifier: MIT
// launcher.cpp - see launcher.h.
#include "launcher.h"

#include <stdlib.h>

namespace ndmpi
{

bool parse_number(const std::string &text, unsigned long low, unsigned long high, unsigned &number)
{
    char *end;
    unsigned long value = strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end || value < low || value > high)
        return false;
    number = (unsigned)value;
    return true;
}

bool parse_ports(const std::string &text, unsigned &first, unsigned &last)
{
    size_t dash = text.find('-');
    return dash != std::string::npos && parse_number(text.substr(0, dash), 0, 65535, first) &&
           parse_number(text.substr(dash + 1), first, 65535, last);
}

bool parse_channel(const std::string &text, bool &shared)
{
    shared = text == "shm";
    return shared || text == "nd";
}

std::string variable(const char *name, const std::string &fallback)
{
    const char *value = getenv(name);
    return value ? value : fallback;
}

Launcher *find_launcher(Place &place)
{
    Launcher *launcher = launched_by_ndmpirun(place);
    if (!launcher)
        launcher = launched_by_pmix(place);
    return launcher ? launcher : launched_by_pmi(place);
}

} // namespace ndmpi
