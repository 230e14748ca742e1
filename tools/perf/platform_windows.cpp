/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <windows.h>

namespace ndperf
{

// Windows' handles have other numbers than standard streams.
void reserve_standard_streams()
{
}

FILE *open_program(const char *command, const char *mode)
{
    return _popen(command, mode);
}

int close_program(FILE *program)
{
    return _pclose(program);
}

bool choose_device(const char *)
{
    return false;
}

double processor_seconds()
{
    FILETIME created, exited, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &created, &exited, &kernel, &user))
        return 0;
    UINT64 units = ((UINT64)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
                   ((UINT64)user.dwHighDateTime << 32 | user.dwLowDateTime);
    return (double)units * 1e-7; // units of 100 ns
}

} // namespace ndperf
