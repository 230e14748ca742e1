// SPDX-License-Identifier: MIT
// platform_posix.cpp - see platform.h.
#include "platform.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"

extern char **environ;

namespace ndmpi
{

const char PATH_SEPARATOR = '/';
const char PROGRAM_SUFFIX[] = "";

std::vector<std::string> own_variables()
{
    std::vector<std::string> all;
    for (char **variable = environ; *variable; ++variable)
        all.push_back(*variable);
    return all;
}

namespace
{

// The signal by which a process ended (GetExitCodeProcess), or that a shell on another host reports; 0: none.
int signal_of(unsigned long status)
{
    switch (status) {
    case 0xC0000005: return SIGSEGV;
    case 0xC000001D: return SIGILL;
    case 0xC0000094: return SIGFPE;
    case 0xC000013A: return SIGINT;
    case 0xC0000409: return SIGABRT;
    default: return status > 128 && status < 128 + NSIG ? (int)status - 128 : 0;
    }
}

} // namespace

std::string describe_end(unsigned long status)
{
    if (int number = signal_of(status))
        return format("was killed by signal %d (%s)", number, strsignal(number));
    return format(status > 255 ? "was ended with code 0x%08lx" : "exited with status %lu", status);
}

bool terminal()
{
    return isatty(STDERR_FILENO);
}

bool runnable(const std::string &path)
{
    return access(path.c_str(), X_OK) == 0;
}

} // namespace ndmpi
