/* SPDX-License-Identifier: MIT */
/* cm_event.h - events of the connection manager, as verbs mean them (quirks PADDED_DATA, REPLY_SWAPPED). */
#ifndef NDSPI_VERBS_CM_EVENT_H
#define NDSPI_VERBS_CM_EVENT_H

#include "ndspi/verbs/quirks.h"

#include <rdma/rdma_cma.h>

/*
 * nd_cm_event_mend - repairs an event that was fetched and is not acknowledged yet.
 * quirks  in: of the device's family
 * event   inout: of a reply: cuts its private data to what the message can carry, and swaps its read depths
 */
void nd_cm_event_mend(nd_quirk_set quirks, struct rdma_cm_event *event);

/* "CONNECT_REQUEST" for RDMA_CM_EVENT_CONNECT_REQUEST, for the log; never NULL. */
const char *nd_cm_event_name(enum rdma_cm_event_type event);

#endif
