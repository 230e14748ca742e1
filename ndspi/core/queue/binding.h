/* SPDX-License-Identifier: MIT */
/*
 * binding.h - what an Invalidate remembers in its record: the key, and what the window's binding held, whose pin is the
 * request's until it has ended.
 */
#ifndef NDSPI_CORE_BINDING_H
#define NDSPI_CORE_BINDING_H

#include "ndspi/core/memory/mw.h"
#include "ndspi/core/queue/queue.h"

/* The Invalidate is about to be posted. Memory lock held. */
static inline void nd_binding_keep_locked(struct nd_request *request, const struct nd_mw *mw)
{
    request->special |= ND_REQUEST_BINDING | (mw->part ? ND_REQUEST_PART : 0);
    request->rkey = mw->rkey;
    if (mw->part)
        request->part = mw->part;
    else
        request->mr = mw->mr;
}

/* It has ended, well or not. Returns as nd_mw_invalidated. */
static inline bool nd_binding_end(
    const struct nd_request *request, bool well, struct nd_adapter *adapter, struct nd_dead *dead)
{
    struct nd_part *part = request->special & ND_REQUEST_PART ? request->part : NULL;

    return nd_mw_invalidated(adapter, request->queue->qp, request->rkey, well,
        part ? part->mr : request->mr, part, dead);
}

#endif
