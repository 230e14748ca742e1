// SPDX-License-Identifier: MIT
// platform_windows.cpp - see platform.h.
#include "platform.h"

#include <windows.h>

#include <io.h>
#include <stdio.h>

#include "failure.h"
#include "launcher.h"

namespace ndmpi
{

const char PATH_SEPARATOR = '\\';
const char PROGRAM_SUFFIX[] = ".exe";

std::vector<std::string> own_variables()
{
    std::vector<std::string> all;
    char *block = GetEnvironmentStringsA();
    for (const char *variable = block; variable && *variable; variable += all.back().size() + 1)
        all.push_back(variable);
    if (block)
        FreeEnvironmentStringsA(block);
    return all;
}

std::string describe_end(unsigned long status)
{
    return format("exited with status %lu", status);
}

bool terminal()
{
    return _isatty(_fileno(stderr)) != 0;
}

bool runnable(const std::string &path)
{
    return _access(path.c_str(), 0) == 0;
}

// These launchers are those of POSIX systems.
Launcher *launched_by_pmi(Place &)
{
    return NULL;
}

Launcher *launched_by_pmix(Place &)
{
    return NULL;
}

} // namespace ndmpi
