/* SPDX-License-Identifier: MIT */
/* post.h - what a call that posts a request hands in, and why it was refused. */
#ifndef NDSPI_CHECK_POST_H
#define NDSPI_CHECK_POST_H

#include "ndspi/check/memory.h"

/* A list of version 2, or of version 1. */
struct nd_check_list {
    const ND2_SGE *v2;
    const ND_SGE *v1;
    size_t n;
    ULONG flags;
    enum nd_check_use use;
};

/* Before the call: its entries. */
void nd_check_list(const struct nd_check_call *call, const struct nd_check_list *list);

/* After it. */
void nd_check_posted(
    const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list);

#endif
