/* SPDX-License-Identifier: MIT */
/*
 * request.h - the OVERLAPPEDs that the checker knows: the call that each serves, and whether it has ended. A sink
 * between the objects and the process's own reports the beginning and the end of each request.
 */
#ifndef NDSPI_CHECK_REQUEST_H
#define NDSPI_CHECK_REQUEST_H

#include "ndspi/check/object.h"
#include "ndspi/core/sink.h"

enum { ND_CHECK_ENDED_MOST = 4096 }; /* ended OVERLAPPEDs that are remembered */

/* A request begins, or ends, on any thread; under the lock of its object's requests. */
void nd_check_request_begins(const OVERLAPPED *overlapped);
/* Returns false: the structure's memory is gone, so nothing may be stored there. */
bool nd_check_request_ends(const OVERLAPPED *overlapped, HRESULT status);

/* A Notify of a completion queue has returned. */
void nd_check_notified(const struct nd_check_call *call, HRESULT hr);

/* Called by GetResults and Notify of a completion queue: reports, once, that more results waited than its depth. */
void nd_check_room(const struct nd_check_call *call);

/* GetOverlappedResult of this structure is called. */
void nd_check_result_of(const struct nd_check_call *call, const OVERLAPPED *overlapped);

/* A call begins: reports pending OVERLAPPEDs on the stack of this thread's functions that have returned. */
void nd_check_frames_locked(const struct nd_check_call *call);

/* Forgets the requests of an object whose memory is freed, or which a forked child inherits. */
void nd_check_forget_requests_locked(struct nd_checked *checked);

#endif
