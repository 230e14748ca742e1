// SPDX-License-Identifier: MIT
//
// platform.h - processes, and the little that Windows and POSIX do not have in common.
#ifndef NDMPI_PLATFORM_H
#define NDMPI_PLATFORM_H

#include <winsock2.h>

#include <string>
#include <vector>

namespace ndmpi
{

class Process
{
  public:
    // Starts a program with its arguments, and environment variables ("NAME=value") besides those of this process.
    // Looks for a program without a path on the PATH. input: what its standard input has, a line or two; if that is
    // empty, it has the one of this process. NULL: problem says why.
    static Process *start(const std::vector<std::string> &arguments,
        const std::vector<std::string> &environment, const std::string &input,
        std::string &problem);
    virtual ~Process()
    {
    }
    virtual unsigned long id() const = 0;
    // Waits until the process has ended. Returns whether its status was 0; how out: "exited with status 1".
    virtual bool wait(std::string &how) = 0;
    // Any thread, and any time until it is deleted.
    virtual void kill() = 0;
};

// The environment of this process, "NAME=value" each.
std::vector<std::string> own_variables();
// An exit code in words: "exited with status 1".
std::string describe_end(unsigned long status);
// Whether standard error is a terminal.
bool terminal();
// The file is there and may be run.
bool runnable(const std::string &path);
// Between the parts of a path, and at the end of a program's name.
extern const char PATH_SEPARATOR;
extern const char PROGRAM_SUFFIX[];

} // namespace ndmpi
#endif
