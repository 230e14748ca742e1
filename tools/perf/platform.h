/* SPDX-License-Identifier: MIT */
/* platform.h - functions that differ between Windows and POSIX. */
#ifndef TOOLS_PERF_PLATFORM_H
#define TOOLS_PERF_PLATFORM_H

#include <stdio.h>

namespace ndperf
{

// Takes the numbers of standard streams that are closed, so that no socket gets them, and the program's output. It is
// called before anything else is opened.
void reserve_standard_streams();
// Starts a program by the shell; its output is read, or its input written, by mode "r" or "w". NULL: it cannot.
FILE *open_program(const char *command, const char *mode);
// Waits until the program has ended. Returns its status, 0 if it succeeded.
int close_program(FILE *program);
// Has the provider use this device alone. False: it has no such choice. To be called before NdStartup.
bool choose_device(const char *name);
// Returns the seconds of processor time that all threads of this process have used.
double processor_seconds();

} // namespace ndperf
#endif
