/* SPDX-License-Identifier: MIT */
/* cm_id.c - an rdma_cm_id from creation to destruction, its options, and its connection's calls back. */
#include "softrdma/cm.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct srd_id *srd_id_new(struct rdma_event_channel *channel, void *context)
{
    struct srd_id *id = calloc(1, sizeof(*id));

    if (!id)
        return NULL;
    lock_init(&id->lock, LOCK_SRD_CM, "softrdma id");
    atomic_init(&id->refs, 1);
    id->generation = srd_generation;
    id->ibv.channel = channel;
    id->ibv.context = context;
    id->ibv.ps = RDMA_PS_TCP;
    id->ibv.qp_type = IBV_QPT_RC;
    id->fd = -1;
    list_init(&id->half_open);
    list_node_init(&id->half_open_node);
    return id;
}

void srd_id_ref(struct srd_id *id)
{
    atomic_fetch_add_explicit(&id->refs, 1, memory_order_relaxed);
}

void srd_id_unref(struct srd_id *id)
{
    if (atomic_fetch_sub_explicit(&id->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (id->fd >= 0)
        close(id->fd);
    if (id->listener)
        srd_id_unref(id->listener);
    free(id->child_attr);
    free(id);
}

bool srd_id_enter(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);

    if (id->generation != srd_generation) {
        errno = EIO;
        return false;
    }
    lock_acquire(&id->lock);
    return true;
}

int srd_id_leave(struct rdma_cm_id *ibv, int error)
{
    lock_release(&srd_id_from(ibv)->lock);
    if (!error)
        return 0;
    errno = error;
    return -1;
}

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
        log_write(LOG_INFO, LOG_CM,
            "create_id: port space 0x%x; the device has connections only (RDMA_PS_TCP)",
            (unsigned)ps);
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

/* Ends whatever connection there is, as destroying an id does. No lock held. */
static void end_connection(struct srd_id *id)
{
    struct srd_conn *conn;
    bool streaming = false;

    lock_acquire(&id->lock);
    conn = id->conn;
    switch (id->state) {
    case SRD_ID_REQUEST: srd_passive_refuse_locked(id, NULL, 0); break;
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
    end_connection(id);
    srd_id_unref(id);
}

int srd_destroy_id(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);

    if (id->generation != srd_generation) {
        if (id->fd >= 0)
            close(id->fd);
        free(id);
        return 0;
    }
    lock_acquire(&id->lock);
    id->destroyed = true; /* from here on nothing is told */
    lock_release(&id->lock);
    srd_listen_stop(id);
    end_connection(id);
    srd_id_forget_event(ibv);
    srd_cm_drop_events(id);
    if (id->tail.sync)
        srd_destroy_event_channel(ibv->channel);
    srd_id_unref(id);
    return 0;
}

__be16 srd_get_src_port(struct rdma_cm_id *id)
{
    return srd_addr_port(&id->route.addr.src_addr);
}

__be16 srd_get_dst_port(struct rdma_cm_id *id)
{
    return srd_addr_port(&id->route.addr.dst_addr);
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
        srd_cm_tell_locked(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
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

static void on_ready(void *owner, struct srd_conn *conn, uint32_t events)
{
    struct srd_id *id = owner;
    unsigned wants = 0;
    bool request = false;

    lock_acquire(&id->lock);
    /* id->conn is gone when the id is; a connection that was given up for another is nobody's. */
    if (id->conn == conn && atomic_load(&conn->phase) == SRD_CONN_STARTUP) {
        switch (id->state) {
        case SRD_ID_CONNECTING:
        case SRD_ID_REQUEST_SENT:
        case SRD_ID_RESPONSE: wants = srd_active_ready_locked(id, events); break;
        case SRD_ID_INCOMING:
            wants = srd_passive_ready_locked(id);
            request = id->state != SRD_ID_INCOMING;
            break;
        case SRD_ID_REQUEST:
        case SRD_ID_ACCEPTED: wants = srd_passive_ready_locked(id); break;
        default: break;
        }
    }
    lock_release(&id->lock);
    if (request)
        srd_passive_tell(id);
    if (wants)
        srd_conn_started(conn, wants);
}

static void on_expired(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;
    char text[SRD_ADDR_TEXT];
    unsigned wants = 0;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_INCOMING) {
        log_write(LOG_WARN, LOG_CM, "%s connected and sent no MPA request within %d ms; closed",
            srd_addr_text(&id->ibv.route.addr.dst_addr, text), SRD_CM_REQUEST_MS);
        id->state = SRD_ID_OVER;
        srd_conn_close(conn);
    } else if (id->conn == conn && id->state == SRD_ID_CONNECTING) {
        srd_active_again_locked(id);
    } else if (id->conn == conn && id->state == SRD_ID_ACCEPTED) {
        wants = srd_passive_speak_locked(id);
    }
    lock_release(&id->lock);
    srd_passive_tell(id);
    if (wants)
        srd_conn_started(conn, wants);
}

static void on_established(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_ACCEPTED) {
        id->state = SRD_ID_CONNECTED;
        id->was_connected = true;
        srd_cm_tell_locked(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    }
    lock_release(&id->lock);
}

static void on_down(void *owner, struct srd_conn *conn, int status)
{
    struct srd_id *id = owner;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_CONNECTED)
        srd_cm_tell_locked(id, RDMA_CM_EVENT_DISCONNECTED, status, NULL);
    else if (id->conn == conn && id->state == SRD_ID_ACCEPTED)
        srd_cm_tell_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, NULL);
    if (id->conn == conn)
        id->state = SRD_ID_OVER;
    lock_release(&id->lock);
}

static void on_unref(void *owner)
{
    srd_id_unref(owner);
}

const struct srd_conn_owner_ops srd_id_conn_ops = { on_ready, on_expired, on_established, on_down,
    on_unref };
