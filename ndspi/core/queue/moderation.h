/* SPDX-License-Identifier: MIT */
/* moderation.h - notifications of a completion queue that wait for more results. */
#ifndef NDSPI_CORE_QUEUE_MODERATION_H
#define NDSPI_CORE_QUEUE_MODERATION_H

#include "ndspi/core/queue/cq.h"

#include "ndspi/core/device/port.h"

/* Returns whether the device can hold notifications back. */
bool nd_moderates(const struct nd_port *port);

/*
 * nd_cq_moderate - holds a notification back until count results have come or interval_us has passed; both are lowered
 * to the device's limits. A failed request may cause a notification at once.
 * interval_us  in: microseconds; UINT32_MAX: as long as the device can; 0: notifications are not held back
 * count        in: results; UINT32_MAX: any number; 0 and 1: not held back
 * Returns ND_SUCCESS; ND_NOT_SUPPORTED: the device cannot; ND_INVALID_PARAMETER_MIX: no notification would ever come:
 * no time limit, and more results than the queue is deep; ND_INSUFFICIENT_RESOURCES: the device refused;
 * ND_DEVICE_REMOVED.
 */
HRESULT nd_cq_moderate(struct nd_cq *cq, uint32_t interval_us, uint32_t count);

#endif
