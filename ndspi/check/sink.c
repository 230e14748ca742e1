/* SPDX-License-Identifier: MIT */
/*
 * sink.c - the sink between the objects and the process's own sink; it tells the checker when each request begins and
 * ends.
 */
#include "ndspi/check/check.h"
#include "ndspi/check/request.h"

static const struct nd_sink *own; /* the process's; set before any file is made with it */

static void start(struct nd_sink_file *file, OVERLAPPED *overlapped)
{
    /* It stores ND_PENDING first: once the checker knows the request, calls of other threads look for it there. */
    own->start(file, overlapped);
    nd_check_request_begins(overlapped);
}

static void complete(struct nd_sink_file *file, OVERLAPPED *overlapped, HRESULT status)
{
    if (nd_check_request_ends(overlapped, status))
        own->complete(file, overlapped, status);
    else
        own->unreserve(file);
}

const struct nd_sink *nd_check_sink(const struct nd_sink *sink)
{
    static struct nd_sink checking;
    bool is_own;

    lock_acquire(&nd_check_lock);
    if (!own) {
        checking = *sink;
        checking.start = start;
        checking.complete = complete;
        own = sink;
        if (sink->sleeps_elsewhere)
            nd_check_place_never();
    }
    is_own = own == sink;
    lock_release(&nd_check_lock);
    return is_own ? &checking : sink;
}
