// SPDX-License-Identifier: MIT
//
// ndmpirun - starts the ranks of a program on this host, or on those of a host file, brings them together, and ends all
// of them when one fails.
#include <string.h>

#include <sstream>

#include "launch.h"
#include "program.h"

using namespace ndmpi;

static const char usage[] =
    "usage: ndmpirun -n RANKS [OPTION...] PROGRAM [ARGUMENT...]\n"
    "  -n RANKS       1 to 256\n"
    "  -v 1|2         version of NetworkDirect the ranks use (default 2)\n"
    "  -c nd|shm      how small messages go between ranks of one host: NetworkDirect, shared "
    "memory "
    "(default nd)\n"
    "  -a ADDRESS     adapter the ranks of this host use (default: 127.0.0.1, else the first there "
    "is)\n"
    "  -p FIRST-LAST  ports the ranks listen on; busy ones are left out (default: any)\n"
    "  -t SECONDS     for all ranks to start (default 60)\n"
    "  -f FILE        hosts to start them on: a line for each, ADDRESS [SLOTS [LOGIN]], with the "
    "address of its adapter;\n"
    "                 \"#\" begins a comment. A host of another address than this one's is reached "
    "by the remote command,\n"
    "                 with LOGIN (or ADDRESS) and a line for its shell; PROGRAM must be there, "
    "too\n"
    "  -r COMMAND     remote command (default \"ssh\")\n"
    "  -i ADDRESS     of this host, by which the others reach it, with :PORT or not (default: the "
    "way to the first of them)\n"
    "  -V, -h         print the version, print this\n"
    "PROGRAM is looked for beside ndmpirun, then on the PATH. The status is 0 only if all ranks "
    "ended with 0.\n"
    "  e.g. ndmpirun -n 4 ndring\n";

namespace
{

std::vector<std::string> words_of(const std::string &text)
{
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

// A program without a path, if it is in the folder of this one.
std::string beside(const std::string &self, const std::string &program)
{
    size_t slash = self.find_last_of("/\\");
    if (program.find_first_of("/\\") != std::string::npos || slash == std::string::npos)
        return program;
    std::string path = self.substr(0, slash) + PATH_SEPARATOR + program;
    if (runnable(path + PROGRAM_SUFFIX))
        return path + PROGRAM_SUFFIX;
    return runnable(path) ? path : program;
}

} // namespace

int main(int argc, char **argv)
{
    Options options("ndmpirun", argc, argv, usage, "n:v:c:a:p:t:f:r:i:");
    Plan plan;

    plan.ranks = options.number('n', 1, MOST_RANKS, 0);
    plan.version = options.number('v', 1, 2, 2);
    plan.patience_s = options.number('t', 1, 86400, 60);
    if (!parse_channel(options.text('c', "nd"), plan.shared))
        fail_usage("-c takes nd or shm, not \"%s\"", options.text('c', "").c_str());
    plan.first_port = plan.last_port = 0;
    plan.command = options.arguments();
    plan.remote = words_of(options.text('r', "ssh"));
    if (!plan.ranks)
        fail_usage("-n is needed: the number of ranks\n%s", usage);
    if (plan.command.empty())
        fail_usage("which program?\n%s", usage);
    if (options.given('p') &&
        (!parse_ports(options.text('p', ""), plan.first_port, plan.last_port) || !plan.first_port))
        fail_usage(
            "-p takes two ports, e.g. 50000-50099, not \"%s\"", options.text('p', "").c_str());
    if (options.given('a') && options.given('f'))
        fail_usage("-a is for one host; with -f the file names the adapters");
    if (plan.remote.empty())
        fail_usage("-r takes a command");
    plan.command[0] = beside(argv[0], plan.command[0]);

    check(NdStartup(), "NdStartup");
    plan.hosts =
        options.given('f') ? read_hosts(options.text('f', "")) : this_host(options.text('a', ""));
    if (!options.given('i'))
        plan.root = reached_by(plan.hosts);
    else if (!find_host(options.text('i', ""), plan.root))
        fail_usage(
            "neither an IP address nor the name of a host: %s", options.text('i', "").c_str());
    bool good;
    {
        Launch launch(plan);
        good = launch.run();
    }
    NdCleanup();
    return good ? 0 : 1;
}
