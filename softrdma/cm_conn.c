/* SPDX-License-Identifier: MIT */
/* cm_conn.c - what a connection tells its id, whichever side it is on. */
#include "softrdma/cm.h"

void srd_id_on_established(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_ACCEPTED) {
        id->state = SRD_ID_CONNECTED;
        id->was_connected = true;
        srd_id_await_ended(id);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    } else if (id->conn == conn && id->unreported) {
        id->unreported = false;
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_ESTABLISHED, 0, &id->reply);
    }
    lock_release(&id->lock);
}

void srd_id_on_down(void *owner, struct srd_conn *conn, int status)
{
    struct srd_id *id = owner;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_CONNECTED)
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_DISCONNECTED, status, NULL);
    else if (id->conn == conn && id->state == SRD_ID_ACCEPTED)
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, NULL);
    if (id->conn == conn) {
        id->state = SRD_ID_OVER;
        srd_id_await_ended(id);
    }
    lock_release(&id->lock);
}

void srd_id_on_unref(void *owner)
{
    srd_id_unref(owner);
}
