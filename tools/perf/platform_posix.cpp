/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

namespace ndperf
{

// Opens /dev/null in a mode in which a transfer still fails.
void reserve_standard_streams()
{
    for (int fd = 0; fd <= 2; ++fd)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            return; // there is no /dev, so it cannot reserve any number
}

// If the started program ends early, a write to it fails, and SIGPIPE does not end this program.
FILE *open_program(const char *command, const char *mode)
{
    signal(SIGPIPE, SIG_IGN);
    return popen(command, mode);
}

int close_program(FILE *program)
{
    return pclose(program);
}

bool choose_device(const char *name)
{
    return setenv("NDSPI_DEVICE", name, 1) == 0;
}

double processor_seconds()
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

} // namespace ndperf
