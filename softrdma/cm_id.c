/* SPDX-License-Identifier: MIT */
/* cm_id.c - an rdma_cm_id as the program makes it, sets it, disconnects it and destroys it. */
#include "softrdma/cm.h"

#include "softrdma/absent.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int srd_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **ibv, void *context,
    enum rdma_port_space ps)
{
    struct rdma_event_channel *own = NULL;
    struct srd_id *id;

    if (!ibv) {
        errno = EINVAL;
        return -1;
    }
    if (ps != RDMA_PS_TCP) {
        srd_absent(SRD_ABSENT_DATAGRAMS);
        errno = EPROTONOSUPPORT;
        return -1;
    }
    if (!channel && !(own = srd_create_event_channel()))
        return -1;
    id = srd_id_new(channel ? channel : own, context);
    if (!id) {
        if (own)
            srd_destroy_event_channel(own);
        return -1;
    }
    id->tail.sync = own != NULL;
    *ibv = &id->ibv;
    return 0;
}

int srd_destroy_id(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);

    if (id->generation != srd_generation) {
        srd_id_unref(id); /* events of it may still have to be acknowledged */
        return 0;
    }
    lock_acquire(&id->lock);
    id->destroyed = true; /* from here on nothing is told */
    lock_release(&id->lock);
    srd_listen_stop(id);
    srd_id_end_connection(id);
    srd_id_forget_event(ibv);
    srd_cm_drop_events(id);
    if (id->tail.sync)
        srd_destroy_event_channel(ibv->channel);
    srd_id_unref(id);
    return 0;
}

static int set_id_option(struct srd_id *id, int optname, const void *optval, size_t optlen)
{
    int number;

    switch (optname) {
    case RDMA_OPTION_ID_TOS:
        if (optlen != sizeof(uint8_t))
            return EINVAL;
        id->tos = *(const uint8_t *)optval;
        return 0;
    case RDMA_OPTION_ID_REUSEADDR:
    case RDMA_OPTION_ID_AFONLY:
        if (optlen != sizeof(number))
            return EINVAL;
        if (id->state != SRD_ID_IDLE)
            return EINVAL; /* they say how to bind */
        memcpy(&number, optval, sizeof(number));
        *(optname == RDMA_OPTION_ID_AFONLY ? &id->af_only : &id->reuse_addr) = number != 0;
        return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT: /* TCP has its own */
        return optlen == sizeof(uint8_t) ? 0 : EINVAL;
    default: return ENOSYS;
    }
}

int srd_set_option(struct rdma_cm_id *ibv, int level, int optname, void *optval, size_t optlen)
{
    if (!srd_id_enter(ibv))
        return -1;
    return srd_id_leave(ibv, level == RDMA_OPTION_ID
                                 ? set_id_option(srd_id_from(ibv), optname, optval, optlen)
                                 : ENOSYS);
}

int srd_notify(struct rdma_cm_id *ibv, enum ibv_event_type event)
{
    (void)ibv, (void)event;
    return 0; /* establishment shows on the stream itself */
}

int srd_disconnect(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);
    struct srd_conn *conn = NULL;
    int error = 0;

    if (!srd_id_enter(ibv))
        return -1;
    switch (id->state) {
    case SRD_ID_CONNECTED: conn = id->conn; break;
    case SRD_ID_RESPONSE:
    case SRD_ID_ACCEPTED:
        if (atomic_load(&id->conn->phase) != SRD_CONN_STARTUP) {
            conn = id->conn;
            break;
        }
        id->state = SRD_ID_OVER;
        srd_conn_linger(id->conn);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
        break;
    default: error = id->was_connected ? 0 : EINVAL;
    }
    if (conn)
        srd_conn_ref(conn);
    if (srd_id_leave(ibv, error))
        return -1;
    if (conn) {
        srd_conn_disconnect(conn);
        srd_conn_unref(conn);
    }
    /* It is told once: who has fetched it already waits for nothing. */
    if (ibv->event && ibv->event->event == RDMA_CM_EVENT_DISCONNECTED)
        return 0;
    return srd_id_complete(ibv, 0);
}
