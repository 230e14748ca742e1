/* SPDX-License-Identifier: MIT */
/* options.h - the arguments. */
#ifndef TOOLS_PERF_OPTIONS_H
#define TOOLS_PERF_OPTIONS_H

#include <string>

#include "parameters.h"

namespace ndperf
{

enum { DEFAULT_PORT = 18515 }; // perftest's

enum Form { FORM_TEXT, FORM_JSON, FORM_CSV };

struct Options {
    Parameters parameters;
    UINT32 given; // bit i: the user gave fields[i] of parameters
    bool server;
    std::vector<SOCKADDR_INET>
        peers; // of a client: the server's, in the order in which they are tried
    std::vector<SOCKADDR_INET> binds; // local ones; none: not given
    std::string peer_name;            // as the user wrote it
    USHORT port;                      // host order
    bool histogram, unsorted;
    Form form;
    std::string svg; // the file; empty: none
};

// Parses them; ends the program after -h, -V, and with STATUS_USAGE when one is wrong. A link's name in argv[0]
// (nd_send_lat) selects a test.
Options parse_options(int argc, char **argv);

} // namespace ndperf
#endif
