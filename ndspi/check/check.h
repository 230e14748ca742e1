/* SPDX-License-Identifier: MIT */
/* check.h - where the checker of programs (NDSPI_CHECK) begins: with the providers that a program gets. */
#ifndef NDSPI_CHECK_CHECK_H
#define NDSPI_CHECK_CHECK_H

#include "ndspi/core/sink.h"

/* Returns whether NDSPI_CHECK is set now. */
bool nd_check_on(void);

/*
 * nd_check_sink - the sink of objects that are to be checked; it passes everything on to `sink`.
 * sink  in: the process's own; a second sink is returned unchanged, so its requests are not checked
 */
const struct nd_sink *nd_check_sink(const struct nd_sink *sink);

/*
 * nd_check_wrap_provider1, _provider2 - put a wrapper around a provider of version 1 or 2, and so around all objects
 * created through it.
 * hr   in: what the function that made it returned
 * out  inout: the provider
 * Returns hr.
 */
HRESULT nd_check_wrap_provider1(HRESULT hr, void **out);
HRESULT nd_check_wrap_provider2(HRESULT hr, void **out);

#endif
