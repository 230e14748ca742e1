/* SPDX-License-Identifier: MIT */
/* counters.h - what an adapter has counted, in the form that programs read. */
#ifndef NDSPI_CORE_ADAPTER_COUNTERS_H
#define NDSPI_CORE_ADAPTER_COUNTERS_H

#include "ndspi/core/base.h"

#include <ndspi_counters.h>

struct nd_adapter;

/* Fills in all counters. Any thread; no lock held. */
void nd_counters_read(struct nd_adapter *adapter, ND_LINUX_COUNTERS *counters);
/* Does the work of NdLinuxQueryCounters, with an adapter of ours. Returns ND_SUCCESS, ND_INVALID_PARAMETER_2. */
HRESULT nd_counters_query(struct nd_adapter *adapter, ND_LINUX_COUNTERS *counters);
/* NdLinuxCounter. */
const ND_LINUX_COUNTER *nd_counter_row(size_t index);

#endif
