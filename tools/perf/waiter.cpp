/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include "failure.h"

namespace ndperf
{

Waiter::Waiter(Queue &queue, Wait how) : queue_(queue), how_(how), port_(NULL)
{
    if (how == PORT) {
        port_ = CreateIoCompletionPort(queue.file(), NULL, 0, 1);
        if (!port_)
            fail("CreateIoCompletionPort failed: error %u", (unsigned)GetLastError());
        pending_.use_port();
    }
}

Waiter::~Waiter()
{
    if (port_)
        CloseHandle(port_);
}

// A Notify reports results that arrived after the last poll, also those from before the Notify. So this function need
// not poll again before it sleeps.
void Waiter::wait()
{
    if (how_ == POLL) {
        YieldProcessor();
        return;
    }
    HRESULT hr = queue_.notify(pending_);
    check(hr, "Notify");
    if (hr != ND_PENDING)
        return;
    // Requests of other objects may put packets into the port, too: version 1 has one file for all.
    OVERLAPPED *ended = NULL;
    while (how_ == PORT && ended != &pending_) {
        DWORD bytes;
        ULONG_PTR key;
        if (!GetQueuedCompletionStatus(port_, &bytes, &key, &ended, INFINITE) && !ended)
            fail("GetQueuedCompletionStatus failed: error %u", (unsigned)GetLastError());
    }
    check(queue_.notified(pending_), "Notify");
}

} // namespace ndperf
