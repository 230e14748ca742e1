/* SPDX-License-Identifier: MIT */
/* options.h - the program's arguments. */
#ifndef TOOLS_PERF_OPTIONS_H
#define TOOLS_PERF_OPTIONS_H

#include <string>

#include "parameters.h"

namespace ndperf
{

enum { DEFAULT_PORT = 18515 }; // perftest's port

enum Form { FORM_TEXT, FORM_JSON, FORM_CSV };

struct Options {
    Parameters parameters;
    UINT32 given; // bit i: the user gave fields[i] of parameters
    bool server;
    std::vector<SOCKADDR_INET> peers; // client: the server's addresses, in the order to try them
    std::vector<SOCKADDR_INET> binds; // local addresses; empty: the user gave none
    std::string peer_name;            // the server's name as the user wrote it
    USHORT port;                      // host order
    bool histogram, unsorted;
    Form form;
    std::string svg; // name of the file to draw; empty: none
};

// Parses the arguments; ends the program after -h, -V, and with STATUS_USAGE when one is wrong. A link's name in
// argv[0] (nd_send_lat) selects a test.
Options parse_options(int argc, char **argv);

} // namespace ndperf
#endif
