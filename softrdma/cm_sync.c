/* SPDX-License-Identifier: MIT */
/*
 * cm_sync.c - ids made without an event channel: they have one of their own, and each call that leads to an event
 * waits for it (rdma_create_id(3), "synchronous"). With O_NONBLOCK on that channel it does not wait: EAGAIN, and the
 * caller fetches the event itself; librdmacm's rsockets work so.
 */
#include "softrdma/cm.h"

#include <errno.h>

void srd_id_forget_event(struct rdma_cm_id *ibv)
{
    struct rdma_cm_event *event = ibv->event;

    ibv->event = NULL;
    if (event)
        srd_ack_cm_event(event);
}

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

int srd_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
    struct rdma_cm_event *event;
    struct ibv_qp_init_attr attr;
    int error = 0;

    if (!srd_id_from(listen)->tail.sync) {
        errno = EINVAL;
        return -1;
    }
    srd_id_forget_event(listen);
    if (srd_get_cm_event(listen->channel, &event))
        return -1;
    if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        listen->event = event;
        errno = EINVAL;
        return -1;
    }
    if (srd_id_from(listen)->child_attr) {
        attr = *srd_id_from(listen)->child_attr;
        if (srd_create_id_qp(event->id, listen->pd, &attr))
            error = errno;
    }
    if (error) {
        srd_destroy_id(event->id); /* refuses it */
        srd_ack_cm_event(event);
        errno = error;
        return -1;
    }
    *id = event->id;
    (*id)->event = event;
    return 0;
}
