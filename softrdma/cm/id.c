/* SPDX-License-Identifier: MIT */
/*
 * id.c - an rdma_cm_id: creation, references, options, disconnect and destruction; its connection's reports; and the
 * calls that librdmacm builds from others: synchronous ids, endpoints, shared receive queues on an id.
 */
#include "softrdma/cm/id.h"

#include "softrdma/cm/order.h"

#include "softrdma/absent.h"
#include "softrdma/process.h"
#include "util/fork.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The list of srd_id_await. It has no references: the function that drops an id's last one takes the id off. */
static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct list_head ids;
} awaited = { .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma awaited"),
    .ids = { { &awaited.ids.n, &awaited.ids.n } } };

static void forked(void)
{
    lock_init(&awaited.lock, LOCK_SRD_CHANNEL, "softrdma awaited");
    list_init(&awaited.ids);
}

FORK_CHILD(forked);

void srd_id_await(struct srd_id *id)
{
    lock_acquire(&awaited.lock);
    list_add_tail(&awaited.ids, &id->awaited_node);
    lock_release(&awaited.lock);
}

void srd_id_await_ended(struct srd_id *id)
{
    if (id->generation != srd_generation)
        return; /* the list is the parent's */
    lock_acquire(&awaited.lock);
    list_del(&id->awaited_node);
    lock_release(&awaited.lock);
}

/* Takes a reference unless the count is zero already. */
static bool ref_living(struct srd_id *id)
{
    unsigned refs = atomic_load_explicit(&id->refs, memory_order_relaxed);

    while (refs && !atomic_compare_exchange_weak_explicit(
                       &id->refs, &refs, refs + 1, memory_order_relaxed, memory_order_relaxed))
        ;
    return refs;
}

int srd_id_awaited(struct srd_id *ids[SRD_CM_AWAITED_MAX])
{
    struct list_node *node;
    int count = 0;

    lock_acquire(&awaited.lock);
    for (node = awaited.ids.n.prev; node != &awaited.ids.n && count < SRD_CM_AWAITED_MAX;
         node = node->prev) {
        struct srd_id *id = list_entry(node, struct srd_id, awaited_node);

        if (ref_living(id))
            ids[count++] = id;
    }
    lock_release(&awaited.lock);
    for (int i = 0; i < count / 2; i++) {
        struct srd_id *id = ids[i];

        ids[i] = ids[count - 1 - i];
        ids[count - 1 - i] = id;
    }
    return count;
}

struct srd_id *srd_id_new(struct rdma_event_channel *channel, void *context)
{
    struct srd_id *id = calloc(1, sizeof(*id));

    if (!id)
        return NULL;
    if (!(id->request = calloc(2, sizeof(*id->request)))) {
        free(id);
        return NULL;
    }
    id->reply = id->request + 1;
    lock_init(&id->lock, LOCK_SRD_CM, "softrdma id");
    atomic_init(&id->refs, 1);
    id->generation = srd_generation;
    id->ibv.channel = channel;
    id->ibv.context = context;
    id->ibv.ps = RDMA_PS_TCP;
    id->ibv.qp_type = IBV_QPT_RC;
    id->fd = -1;
    id->rnr_retries = SRD_RNR_FOR_EVER;
    id->ack_timeout = SRD_CM_ACK_TIMEOUT;
    list_init(&id->half_open);
    list_node_init(&id->half_open_node);
    list_node_init(&id->order_node);
    list_node_init(&id->awaited_node);
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
    srd_id_await_ended(id);
    if (id->fd >= 0)
        close(id->fd);
    if (id->listener)
        srd_id_unref(id->listener);
    if (id->meet)
        srd_meet_unref(id->meet);
    if (id->share)
        srd_share_free(id->share);
    free(id->child_attr);
    free(id->request);
    free(id);
}

void srd_id_forget_frames_locked(struct srd_id *id)
{
    lock_assert_held(&id->lock);
    free(id->request);
    id->request = id->reply = NULL;
}

void srd_id_drop_share_locked(struct srd_id *id)
{
    lock_assert_held(&id->lock);
    if (id->share)
        srd_share_free(id->share);
    id->share = NULL;
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

/* --- the end of a connection, without a report -------------------------------------------------------------------- */

void srd_id_refuse_locked(struct srd_id *id, const void *private_data, uint8_t octets)
{
    uint8_t frame[SRD_MPA_FRAME_MAX];

    lock_assert_held(&id->lock);
    id->state = SRD_ID_OVER;
    srd_id_drop_share_locked(id);
    if (srd_life_phase(&id->conn->life) != SRD_CONN_STARTUP)
        return;
    srd_mpa_refuse(id->request, NULL, id->reply);
    id->reply->private_octets = octets;
    if (octets)
        memcpy(id->reply->private_data, private_data, octets);
    if (srd_conn_send(id->conn, frame, srd_mpa_encode(id->reply, frame)))
        srd_conn_close(id->conn);
    else
        srd_conn_linger(id->conn);
}

/* Ends the id's connection, if it has one, for srd_destroy_id. No lock held. */
static void end_connection(struct srd_id *id)
{
    struct srd_conn *conn;
    bool streaming = false;

    lock_acquire(&id->lock);
    srd_order_leave_locked(id);
    conn = id->conn;
    switch (id->state) {
    case SRD_ID_REQUEST: srd_id_refuse_locked(id, NULL, 0); break;
    case SRD_ID_CONNECTED: streaming = true; break;
    case SRD_ID_RESPONSE:
    case SRD_ID_ACCEPTED:
        /* A stream that has begun ends by the queue pair's rules, below. */
        streaming = conn && srd_life_phase(&conn->life) != SRD_CONN_STARTUP;
        if (conn && !streaming)
            srd_conn_linger(conn);
        break;
    default:
        if (conn && srd_life_phase(&conn->life) == SRD_CONN_STARTUP)
            srd_conn_close(conn);
    }
    id->state = SRD_ID_OVER;
    id->conn = NULL;
    srd_id_drop_share_locked(id);
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

/* --- reports of a connection, on either side ---------------------------------------------------------------------- */

void srd_id_on_established(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_ACCEPTED) {
        id->state = SRD_ID_CONNECTED;
        id->was_connected = true;
        srd_id_await_ended(id);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
        srd_id_forget_frames_locked(id);
    } else if (id->conn == conn && id->unreported) {
        id->unreported = false;
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_ESTABLISHED, 0, id->reply);
        srd_id_forget_frames_locked(id);
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

/*
 * Ids made without an event channel have one of their own, and each call that leads to an event waits for it
 * (rdma_create_id(3), "synchronous"). With O_NONBLOCK on that channel the call does not wait but returns EAGAIN, and
 * the caller fetches the event itself, as librdmacm's rsockets do.
 */
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

/* --- calls of the program ----------------------------------------------------------------------------------------- */

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
        srd_id_unref(id); /* the program may still have to acknowledge its events */
        return 0;
    }
    lock_acquire(&id->lock);
    id->destroyed = true; /* ends the posting of events */
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
            return EINVAL; /* these options affect bind */
        memcpy(&number, optval, sizeof(number));
        *(optname == RDMA_OPTION_ID_AFONLY ? &id->af_only : &id->reuse_addr) = number != 0;
        return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT:
        if (optlen != sizeof(uint8_t) || *(const uint8_t *)optval > SRD_CM_ACK_TIMEOUT_MAX)
            return EINVAL;
        id->ack_timeout = *(const uint8_t *)optval;
        return 0;
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
    return 0; /* the stream shows by itself that it is established */
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
        if (srd_life_phase(&id->conn->life) != SRD_CONN_STARTUP) {
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
    /* DISCONNECTED is reported once; if the program has fetched it already, do not wait for it. */
    if (ibv->event && ibv->event->event == RDMA_CM_EVENT_DISCONNECTED)
        return 0;
    return srd_id_complete(ibv, 0);
}

/* --- endpoints, and other calls that librdmacm builds from its own ------------------------------------------------ */

/* How long resolving may take in rdma_create_ep(3). */
enum { RESOLVE_MS = 2000 };

static int make_listening(struct srd_id *id, const struct rdma_addrinfo *res, struct ibv_pd *pd,
    const struct ibv_qp_init_attr *attr)
{
    if (attr) {
        id->child_attr = malloc(sizeof(*attr));
        if (!id->child_attr)
            return -1;
        *id->child_attr = *attr;
        id->child_attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
    }
    if (srd_bind_addr(&id->ibv, res->ai_src_addr))
        return -1;
    if (pd)
        id->ibv.pd = pd;
    return 0;
}

static int make_connecting(struct rdma_cm_id *id, const struct rdma_addrinfo *res,
    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (srd_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, RESOLVE_MS) ||
        srd_resolve_route(id, RESOLVE_MS))
        return -1;
    if (!attr)
        return 0;
    attr->qp_type = (enum ibv_qp_type)res->ai_qp_type;
    return srd_create_id_qp(id, pd, attr);
}

int srd_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *attr)
{
    struct rdma_cm_id *id;
    int error;

    if (srd_create_id(NULL, &id, NULL, (enum rdma_port_space)res->ai_port_space))
        return -1;
    if (res->ai_flags & RAI_PASSIVE ? make_listening(srd_id_from(id), res, pd, attr)
                                    : make_connecting(id, res, pd, attr)) {
        error = errno;
        srd_destroy_ep(id);
        errno = error;
        return -1;
    }
    *out = id;
    return 0;
}

void srd_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp)
        srd_destroy_id_qp(id);
    if (id->srq)
        srd_destroy_id_srq(id);
    srd_destroy_id(id);
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

int srd_create_id_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ibv_srq *srq;

    if (!id->verbs || id->srq || (pd && pd->context->device != id->verbs->device)) {
        errno = EINVAL;
        return -1;
    }
    srq = srd_create_srq(pd ? pd : id->pd, attr);
    if (!srq)
        return -1;
    id->srq = srq;
    id->pd = srq->pd;
    return 0;
}

void srd_destroy_id_srq(struct rdma_cm_id *id)
{
    if (id->srq)
        srd_destroy_srq(id->srq);
    id->srq = NULL;
}

struct ibv_context **srd_get_devices(int *num_devices)
{
    struct ibv_context **contexts;
    struct ibv_device **devices;
    struct ibv_pd *pd;
    int count;

    devices = srd_get_device_list(&count);
    contexts = devices ? calloc((size_t)count + 1, sizeof(struct ibv_context *)) : NULL;
    for (int i = 0; contexts && i < count; i++) {
        contexts[i] = srd_device_shared((struct srd_device *)devices[i], &pd);
        if (!contexts[i]) {
            free(contexts);
            contexts = NULL;
        }
    }
    srd_free_device_list(devices);
    if (contexts && num_devices)
        *num_devices = count;
    return contexts;
}

void srd_free_devices(struct ibv_context **list)
{
    free(list);
}
