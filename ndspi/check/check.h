/* SPDX-License-Identifier: MIT */
/* check.h - where the checker of programs (NDSPI_CHECK) begins: with the providers that a program gets. */
#ifndef NDSPI_CHECK_CHECK_H
#define NDSPI_CHECK_CHECK_H

#include "ndspi/core/sink.h"

/* Whether the environment asks for it, now. */
bool nd_check_on(void);

/*
 * nd_check_sink - the sink that objects report to that are to be checked; it hands on to the process's own.
 * sink  in: that one; a second one is returned as it is, so its requests are not checked
 */
const struct nd_sink *nd_check_sink(const struct nd_sink *sink);

/*
 * nd_check_wrap_provider1, _provider2 - put a wrapper around a provider of version 1 or 2, and so around all that is
 * made of it.
 * hr   in: what the function that made it returned
 * out  inout: the provider
 * Returns hr.
 */
HRESULT nd_check_wrap_provider1(HRESULT hr, void **out);
HRESULT nd_check_wrap_provider2(HRESULT hr, void **out);

#endif
