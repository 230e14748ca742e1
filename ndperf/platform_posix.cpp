/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <signal.h>
#include <time.h>

namespace ndperf
{

// A program that ends early is an error of the write, not this program's end.
FILE *open_program(const char *command, const char *mode)
{
    signal(SIGPIPE, SIG_IGN);
    return popen(command, mode);
}

int close_program(FILE *program)
{
    return pclose(program);
}

double processor_seconds()
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

} // namespace ndperf
