/* SPDX-License-Identifier: MIT */
/* post.h - checks the arguments of a call that posts a request, and explains why it was refused. */
#ifndef NDSPI_CHECK_POST_H
#define NDSPI_CHECK_POST_H

#include "ndspi/check/pending.h"

/* Before the call: its entries. No other thread posts to the queue until nd_check_posted. */
void nd_check_list(const struct nd_check_call *call, const struct nd_check_list *list);

/* After it. */
void nd_check_posted(
    const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list);

#endif
