/* SPDX-License-Identifier: MIT */
/*
 * connect.cpp - each thread makes and ends connections one after the other; it times Connect and CompleteConnect.
 *
 * Each connection has the cookie of the measurement in its Greeting, and LAST as its index if it is the last one of a
 * thread: so each thread of the server ends with a thread of the client.
 */
#include <string.h>

#include "channel.h"
#include "failure.h"
#include "interrupt.h"
#include "phases.h"

namespace ndperf
{

namespace
{

enum { ANOTHER = 0, LAST = 1 };

Greeting greeting_of(const Worker &worker, UINT32 index)
{
    Greeting g = { htonl(GREETING_MAGIC), htonl(PROTOCOL), htonl(worker.meeting().cookie),
        htonl(index) };
    return g;
}

void connect_all(Worker &worker, const Phase &phase)
{
    UINT64 deadline = deadline_of(worker, phase);
    bool ended = false;

    for (UINT64 i = 0; !ended && !stopping(); ++i) {
        ended = deadline ? ticks() >= deadline : i + 1 == phase.iterations;
        std::unique_ptr<Endpoint> endpoint(worker.lone_endpoint());
        Greeting greeting = greeting_of(worker, ended ? LAST : ANOTHER);
        UINT64 begun = ticks();
        check(endpoint->connect(worker.meeting().server, &greeting, sizeof(greeting)), "Connect");
        check(endpoint->complete_connect(), "CompleteConnect");
        worker.samples.add(ticks() - begun);
        worker.count(1);
        check(endpoint->disconnect(), "Disconnect");
    }
}

// Waits until the client has ended the connection.
void await_end(Worker &worker, Endpoint &endpoint)
{
    Pending end;
    HANDLE lost = worker.meeting().lost;

    if (await(endpoint.notify_disconnect(end), end, lost) == ND_PENDING)
        fail_lost();
    endpoint.disconnect(); // the client may have disconnected first
}

// Accepts one connection. Returns its index, or ANOTHER after a stranger's.
UINT32 take(Worker &worker)
{
    std::unique_ptr<Endpoint> endpoint(worker.lone_endpoint());
    Greeting own = greeting_of(worker, ANOTHER), theirs;
    HANDLE lost = worker.meeting().lost;

    HRESULT hr = worker.next_request(*endpoint);
    if (hr == ND_CANCELED)
        fail_lost();
    check(hr, "GetConnectionRequest");
    if (!endpoint->private_data(&theirs, sizeof(theirs)) || theirs.cookie != own.cookie ||
        theirs.magic != own.magic) {
        endpoint->reject(&own, sizeof(own));
        return ANOTHER;
    }
    hr = endpoint->accept(lost);
    if (hr == ND_CANCELED)
        fail_lost();
    check(hr, "Accept");
    await_end(worker, *endpoint);
    return ntohl(theirs.index);
}

} // namespace

void run_connects(Worker &worker, const Phase &phase)
{
    if (!worker.server())
        connect_all(worker, phase);
    else
        while (take(worker) != LAST)
            continue;
}

} // namespace ndperf
