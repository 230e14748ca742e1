/* SPDX-License-Identifier: MIT */
/*
 * sink_call.h - the sink of a facade whose requests end by a call, not by an OVERLAPPED.
 *
 * The facade embeds an nd_call in its record of a request, and passes nd_call_request of it to the core where the core
 * takes an OVERLAPPED. A request needs no memory and no file, so it never fails for lack of either.
 */
#ifndef NDSPI_CORE_SINK_CALL_H
#define NDSPI_CORE_SINK_CALL_H

#include "ndspi/core/sink.h"

struct nd_call {
    /*
     * The request has ended; called once per request, by any thread, perhaps before the function that began it has
     * returned. Locks of the core are held, LOCK_PENDING among them: it must not call the core, and leaves the
     * program's callbacks to another thread. The core does not touch the nd_call after it.
     */
    void (*end)(struct nd_call *call, HRESULT status);
};

/* What the core's functions that begin a request take. A call serves one request at a time. */
static inline OVERLAPPED *nd_call_request(struct nd_call *call)
{
    return (OVERLAPPED *)(void *)call;
}

extern const struct nd_sink nd_sink_calls;

/* The file of all requests of such a facade: one for the process, never closed. */
struct nd_sink_file *nd_sink_calls_file(void);

#endif
