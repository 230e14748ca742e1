/* SPDX-License-Identifier: MIT */
/*
 * interrupt.h - handles Ctrl-C and the other events that ask a program on a console to end (on Linux SIGINT, SIGQUIT,
 * SIGTERM, SIGHUP) while it measures: the measurement ends early, and its results until then are reported.
 */
#ifndef TOOLS_PERF_INTERRUPT_H
#define TOOLS_PERF_INTERRUPT_H

#include <winsock2.h>

namespace ndperf
{

// From now on the first such event is only noted, and the program has to end by itself. The second one ends the
// program, as the first does before this call.
void watch_interrupts();
// Whether an event was noted; and the handle that is signalled then, NULL before watch_interrupts.
bool interrupted();
HANDLE interruption();

// Has the workers end their phase at once. Any thread may call these.
void stop_workers();
bool stopping();

} // namespace ndperf
#endif
