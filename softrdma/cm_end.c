/* SPDX-License-Identifier: MIT */
/* cm_end.c - the end of an id's connection, in any state; nothing is told. */
#include "softrdma/cm.h"

#include <string.h>

void srd_id_refuse_locked(struct srd_id *id, const void *private_data, uint8_t octets)
{
    uint8_t frame[SRD_MPA_FRAME_MAX];

    lock_assert_held(&id->lock);
    id->state = SRD_ID_OVER;
    if (atomic_load(&id->conn->phase) != SRD_CONN_STARTUP)
        return;
    srd_mpa_refuse(&id->request, NULL, &id->reply);
    id->reply.private_octets = octets;
    if (octets)
        memcpy(id->reply.private_data, private_data, octets);
    if (srd_conn_send(id->conn, frame, srd_mpa_encode(&id->reply, frame)))
        srd_conn_close(id->conn);
    else
        srd_conn_linger(id->conn);
}

void srd_id_end_connection(struct srd_id *id)
{
    struct srd_conn *conn;
    bool streaming = false;

    lock_acquire(&id->lock);
    conn = id->conn;
    switch (id->state) {
    case SRD_ID_REQUEST: srd_id_refuse_locked(id, NULL, 0); break;
    case SRD_ID_CONNECTED: streaming = true; break;
    case SRD_ID_RESPONSE:
    case SRD_ID_ACCEPTED:
        /* A stream that has begun is ended by the queue pair's rules, below. */
        streaming = conn && atomic_load(&conn->phase) != SRD_CONN_STARTUP;
        if (conn && !streaming)
            srd_conn_linger(conn);
        break;
    default:
        if (conn && atomic_load(&conn->phase) == SRD_CONN_STARTUP)
            srd_conn_close(conn);
    }
    id->state = SRD_ID_OVER;
    id->conn = NULL;
    lock_release(&id->lock);
    if (conn && streaming)
        srd_conn_disconnect(conn);
    if (conn)
        srd_conn_unref(conn);
}

void srd_id_abandon(struct srd_id *id)
{
    lock_acquire(&id->lock);
    id->destroyed = true;
    lock_release(&id->lock);
    srd_id_end_connection(id);
    srd_id_unref(id);
}
