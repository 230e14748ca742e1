/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h - Ctrl-C, and what else asks a program on a console to end (on Linux SIGINT, SIGQUIT, SIGTERM, SIGHUP),
 * while it measures: the measurement ends early, and what was measured is reported.
 */
#ifndef TOOLS_PERF_INTERRUPT_H
#define TOOLS_PERF_INTERRUPT_H

#include <winsock2.h>

namespace ndperf
{

// From now on the first such event is kept, and the program has to end by itself. The second one ends it, as the first
// does before this call.
void watch_interrupts();
// Whether there was one; the event that is signalled then, NULL before watch_interrupts.
bool interrupted();
HANDLE interruption();

// Has the workers end where they are. Any thread may call these.
void stop_workers();
bool stopping();

} // namespace ndperf
#endif
