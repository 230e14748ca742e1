/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - how a thread waits for results: it polls, or sleeps until an event or a completion port wakes it.
 */
#ifndef TOOLS_PERF_WAITER_H
#define TOOLS_PERF_WAITER_H

#include "parameters.h"
#include "verbs.h"

namespace ndperf
{

class Waiter
{
  public:
    Waiter(Queue &queue, Wait how);
    ~Waiter();
    // Returns when the caller, which has found no results, should poll again.
    void wait();

  private:
    Queue &queue_;
    const Wait how_;
    HANDLE port_;
    Pending pending_;
};

} // namespace ndperf
#endif
