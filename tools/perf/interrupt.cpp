/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <atomic>

#include "failure.h"

namespace ndperf
{

namespace
{

std::atomic<bool> kept_, stopping_;
HANDLE event_;

// The system calls it, in a thread of its own.
BOOL WINAPI keep(DWORD kind)
{
    if (kept_.exchange(true))
        return FALSE;
    SetEvent(event_);
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT)
        Sleep(
            INFINITE); // when this returns, the system ends the program, which has something to say before
    return TRUE;
}

} // namespace

void watch_interrupts()
{
    event_ = CreateEventA(NULL, TRUE, FALSE, NULL);
    if (!event_ || !SetConsoleCtrlHandler(keep, TRUE))
        fail("no handler for Ctrl-C: error %u", (unsigned)GetLastError());
}

bool interrupted()
{
    return kept_;
}

HANDLE interruption()
{
    return event_;
}

void stop_workers()
{
    stopping_ = true;
}

bool stopping()
{
    return stopping_.load(std::memory_order_relaxed);
}

} // namespace ndperf
