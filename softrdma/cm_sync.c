/* SPDX-License-Identifier: MIT */
/*
 * cm_sync.c - ids made without an event channel: they have one of their own, and each call that leads to an event
 * waits for it (rdma_create_id(3), "synchronous"). With O_NONBLOCK on that channel it does not wait: EAGAIN, and the
 * caller fetches the event itself; librdmacm's rsockets work so.
 */
#include "softrdma/cm.h"

#include <errno.h>

int srd_id_complete(struct rdma_cm_id *ibv, int result)
{
    struct rdma_cm_event *event;

    if (result || !srd_id_from(ibv)->tail.sync)
        return result;
    srd_id_forget_event(ibv);
    if (srd_get_cm_event(ibv->channel, &event))
        return -1;
    ibv->event = event;
    if (!event->status)
        return 0;
    if (event->event == RDMA_CM_EVENT_REJECTED)
        errno = ECONNREFUSED;
    else
        errno = event->status < 0 ? -event->status : event->status;
    return -1;
}
