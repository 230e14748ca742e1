/* SPDX-License-Identifier: MIT */
/*
 * phases.h - what a worker does in a phase: latency.cpp, bandwidth.cpp and connect.cpp.
 */
#ifndef TOOLS_PERF_PHASES_H
#define TOOLS_PERF_PHASES_H

#include "worker.h"

namespace ndperf
{

// Runs this side's part of the worker's test until its end.
void run_phase(Worker &worker, const Phase &phase);
void run_bandwidth(Worker &worker, const Phase &phase);
void run_send_latency(Worker &worker, const Phase &phase);
void run_write_latency(Worker &worker, const Phase &phase);
void run_read_latency(Worker &worker, const Phase &phase);
void run_connects(Worker &worker, const Phase &phase);

// Prepares the memory before the peer begins: called on both sides before they start together.
void prepare_phase(Worker &worker, const Phase &phase);
// With verify: checks the peer's Writes. begun, sent in: the number of messages that the stream's peer had sent before
// this phase, and has sent by now
void verify_writes(Worker &worker, Stream &stream, const Phase &phase, UINT64 begun, UINT64 sent);

// Returns the time at which a phase of a duration ends.
UINT64 deadline_of(const Worker &worker, const Phase &phase);
// Fills a message with bytes that follow from its number; checks one. Returns whether all its bytes are right.
void fill(char *data, ULONG bytes, UINT64 number);
bool is_right(const char *data, ULONG bytes, UINT64 number);

} // namespace ndperf
#endif
