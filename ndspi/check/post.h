/* SPDX-License-Identifier: MIT */
/* post.h - checks the arguments of a call that posts a request, and explains why it was refused. */
#ifndef NDSPI_CHECK_POST_H
#define NDSPI_CHECK_POST_H

#include "ndspi/check/pending.h"

/* Checks the entries of a call that is about to post. No other thread posts to the queue until nd_check_posted. */
void nd_check_list(const struct nd_check_call *call, const struct nd_check_list *list);

/* The call has returned hr: explains a failure, and records the request of a success. */
void nd_check_posted(
    const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list);

#endif
