/* SPDX-License-Identifier: MIT */
/*
 * sink_call.h - the sink of a facade whose requests end by a call, not by an OVERLAPPED.
 *
 * The facade embeds an nd_call in what it keeps of a request, and gives nd_call_request of it to the core, wherever the
 * core takes an OVERLAPPED. Nothing is allocated for a request and none has a file, so none fails for these reasons.
 */
#ifndef NDSPI_CORE_SINK_CALL_H
#define NDSPI_CORE_SINK_CALL_H

#include "ndspi/core/sink.h"

struct nd_call {
    /*
     * The request has ended; called once per request, by any thread, perhaps before the function that began it has
     * returned. Locks of the core are held, LOCK_PENDING among them: it calls nothing of the core, and what it has the
     * program called with waits until another thread takes it up. The core does not touch the nd_call after it.
     */
    void (*end)(struct nd_call *call, HRESULT status);
};

/* For the core's functions that begin a request. One request at a time. */
static inline OVERLAPPED *nd_call_request(struct nd_call *call)
{
    return (OVERLAPPED *)(void *)call;
}

extern const struct nd_sink nd_sink_calls;

/* Where the objects of such a facade have their requests: one file for the process, which is never closed. */
struct nd_sink_file *nd_sink_calls_file(void);

#endif
