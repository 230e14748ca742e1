/* SPDX-License-Identifier: MIT */
/*
 * passive.c - the accepting side: MPA Request, the program's decision, Reply, and the first FPDU, which establishes the
 * connection.
 *
 * An active program may still reject after it has seen the Reply. Then the stream ends before any FPDU; a softrdma peer
 * first sends its private data, in a frame shaped like a Reply with another key.
 */
#include "softrdma/cm/id.h"

#include "softrdma/queues/qp.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>

/* The key "MPA ID Rej Frame" differs from the Reply's in one octet; no first FPDU of a softrdma peer begins so. */
enum { KEY_OCTETS = 16, KEY_AT = 9, KEY_REPLY = 'p', KEY_REJECT = 'j' };
static const uint8_t reject_key[KEY_OCTETS] = "MPA ID Rej Frame";

/*
 * The most earlier connections to look at before a request is reported: as many as a turn of the reactor finds ready.
 */
enum { EARLIER_MAX = 32 };

/* Logs and drops an incoming connection. cut: the peer has closed, and waits for no FIN. */
static void drop_locked(struct srd_id *id, const char *why, bool cut)
{
    char text[SRD_ADDR_TEXT];

    log_limited(LOG_INFO, LOG_CM, "connection from %s: %s; closed",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text), why);
    id->state = SRD_ID_OVER;
    srd_id_drop_share_locked(id);
    if (cut)
        srd_conn_cut(id->conn);
    else
        srd_conn_close(id->conn);
}

/* Whether the Request says that memory waits in the listener's queue (meet.h). */
static bool is_offered(const struct srd_mpa_frame *request)
{
    const uint8_t both = SRD_MPA_SOFT_REQUEST | SRD_MPA_SOFT_SHARED;

    return (request->reserved & both) == both;
}

static void receive_request_locked(struct srd_id *id)
{
    ssize_t got = srd_conn_fill(id->conn);
    struct srd_mpa_local probe = {
        .ird = SRD_MAX_RD_ATOM, .ord = SRD_MAX_RD_ATOM, .ird_max = SRD_MAX_RD_ATOM
    };
    int taken;

    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        drop_locked(id, "ended before its MPA request", true);
        return;
    }
    taken = srd_mpa_decode(id->request, false, id->conn->in, id->conn->in_octets);
    if (!taken)
        return;
    if (taken < 0) {
        drop_locked(id, "does not speak MPA", false);
        return;
    }
    if ((size_t)taken < id->conn->in_octets) {
        drop_locked(id, "sent more than its MPA request", false);
        return;
    }
    id->conn->in_octets = 0;
    srd_source_deadline(&id->conn->source, UINT64_MAX);
    if (srd_mpa_accept(id->request, &probe, id->reply, &id->params) != SRD_MPA_AGREED) {
        char text[SRD_ADDR_TEXT];
        log_limited(LOG_WARN, LOG_CM,
            "connection from %s demands MPA markers, which are not provided; rejected",
            srd_addr_text(&id->ibv.route.addr.dst_addr, text));
        srd_id_refuse_locked(id, NULL, 0);
        return;
    }
    if (is_offered(id->request) && id->listener)
        id->share = srd_meet_claim(
            id->listener->meet, &id->ibv.route.addr.src_addr, &id->ibv.route.addr.dst_addr);
    id->state = SRD_ID_REQUEST;
}

/* Drops the connection of an id that the program never sees: each holds a reference to the other. */
static void forget_conn(struct srd_id *id)
{
    struct srd_conn *conn;

    lock_acquire(&id->lock);
    conn = id->conn;
    id->conn = NULL;
    lock_release(&id->lock);
    if (conn)
        srd_conn_unref(conn);
}

/*
 * Reads the first FPDUs of accepted connections before a later request is reported: so the program sees the order in
 * which a peer makes two connections, as with a device that has one queue for all messages.
 */
static void read_awaited(const struct rdma_event_channel *channel)
{
    struct srd_id *ids[SRD_CM_AWAITED_MAX];
    int count = srd_id_awaited(ids);

    for (int i = 0; i < count; i++) {
        struct srd_id *id = ids[i];
        struct srd_conn *conn = NULL;
        unsigned actions = 0;

        lock_acquire(&id->lock);
        if (id->state == SRD_ID_ACCEPTED && id->ibv.channel == channel) {
            conn = id->conn;
            srd_conn_ref(conn);
            if (srd_life_phase(&conn->life) == SRD_CONN_STARTUP)
                actions = srd_passive_ready_locked(id);
        }
        lock_release(&id->lock);
        if (conn) {
            if (actions)
                srd_conn_started(conn, actions);
            /* Another thread may have established it, and be about to report it. */
            if (srd_life_has(&conn->life, SRD_CONN_UP))
                srd_id_on_established(id, conn);
            srd_conn_unref(conn);
        }
        srd_id_unref(id);
    }
}

/* Finds the ids whose connections came last before id's, the last first, each with a reference. Returns how many. */
static int came_before(struct srd_id *id, struct srd_id *earlier[EARLIER_MAX])
{
    struct srd_id *listener;
    struct list_node *node;
    int count = 0;

    lock_acquire(&id->lock);
    listener = id->listener;
    if (listener)
        srd_id_ref(listener);
    lock_release(&id->lock);
    if (!listener)
        return 0;
    lock_acquire(&listener->lock);
    if (list_linked(&id->half_open_node))
        for (node = id->half_open_node.prev; node != &listener->half_open.n && count < EARLIER_MAX;
             node = node->prev) {
            earlier[count] = list_entry(node, struct srd_id, half_open_node);
            srd_id_ref(earlier[count++]);
        }
    lock_release(&listener->lock);
    srd_id_unref(listener);
    return count;
}

static bool read_request(struct srd_id *id)
{
    bool there = false;

    lock_acquire(&id->lock);
    if (id->state == SRD_ID_INCOMING && id->conn &&
        srd_life_phase(&id->conn->life) == SRD_CONN_STARTUP) {
        receive_request_locked(id);
        there = id->state != SRD_ID_INCOMING;
    }
    lock_release(&id->lock);
    return there;
}

/*
 * Reports a request, and before it those that have come on earlier connections: a turn of the reactor finds sockets
 * ready in any order. perftest gives its queue pairs to requests in the order in which its peer makes them.
 */
void srd_passive_request(struct srd_id *id)
{
    struct srd_id *earlier[EARLIER_MAX];
    int count = came_before(id, earlier);

    while (count-- > 0) {
        if (read_request(earlier[count]))
            srd_passive_report(earlier[count]);
        srd_id_unref(earlier[count]);
    }
    srd_passive_report(id);
}

void srd_passive_report(struct srd_id *id)
{
    struct srd_id *listener;
    struct srd_cm_event *event = NULL;
    bool request, listed = false, refused = false;

    lock_acquire(&id->lock);
    listener = id->listener;
    id->listener = NULL;
    request = id->state == SRD_ID_REQUEST;
    if (request && listener)
        event = srd_cm_event_record(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0, id->request);
    lock_release(&id->lock);
    if (!listener)
        return;
    srd_meet_forget(listener->meet, &id->ibv.route.addr.src_addr, &id->ibv.route.addr.dst_addr);
    if (request) {
        struct rdma_event_channel *channel;

        lock_acquire(&listener->lock);
        channel = listener->ibv.channel;
        lock_release(&listener->lock);
        read_awaited(channel);
    }
    lock_acquire(&listener->lock);
    if (list_linked(&id->half_open_node)) {
        list_del(&id->half_open_node);
        listener->n_half_open--;
        listed = true;
    }
    refused = request && (listener->destroyed || listener->queued >= listener->backlog);
    if (request && !refused) {
        listener->queued++;
        event->ibv.listen_id = &listener->ibv;
        id->ibv.channel = listener->ibv.channel;
        id->ibv.context = listener->ibv.context;
        srd_id_ref(id); /* the event has it, then the program */
        srd_cm_post_locked(listener, event);
    }
    lock_release(&listener->lock);
    if (refused) {
        log_limited(LOG_WARN, LOG_CM, "a connection request was rejected: the listener is %s",
            listener->destroyed ? "gone" : "not served fast enough, its backlog is full");
        srd_cm_event_free(event);
        lock_acquire(&id->lock);
        if (id->state == SRD_ID_REQUEST)
            srd_id_refuse_locked(id, NULL, 0);
        lock_release(&id->lock);
    }
    if (refused || !request)
        forget_conn(id);
    if (listed)
        srd_id_unref(id);
    srd_id_unref(listener);
}

static void refused_locked(struct srd_id *id, const struct srd_mpa_frame *frame)
{
    id->state = SRD_ID_OVER;
    srd_id_await_ended(id);
    srd_conn_cut(id->conn);
    srd_cm_post_event_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, frame);
}

/* Looks for a reject frame behind the Reply. Returns 1: a whole one, now in id->reply; 0: a part of one; -1: none. */
static int reject_frame_locked(struct srd_id *id)
{
    struct srd_conn *conn = id->conn;
    size_t seen = conn->in_octets < KEY_OCTETS ? conn->in_octets : KEY_OCTETS;
    int taken;

    if (!id->params.soft_peer || memcmp(conn->in, reject_key, seen) != 0)
        return -1;
    if (seen < KEY_OCTETS)
        return 0;
    conn->in[KEY_AT] = KEY_REPLY;
    taken = srd_mpa_decode(id->reply, true, conn->in, conn->in_octets);
    conn->in[KEY_AT] = KEY_REJECT;
    if (taken < 0)
        id->reply->private_octets = 0;
    return taken ? 1 : 0;
}

static unsigned attach_locked(struct srd_id *id)
{
    unsigned actions = 0;
    int error;

    srd_source_deadline(&id->conn->source, UINT64_MAX);
    srd_id_complete_params_locked(id);
    error = srd_conn_attach(id->conn, id->device, id->qp_num, &id->params, &actions);
    if (error) {
        log_limited(LOG_WARN, LOG_CM,
            "queue pair 0x%x cannot take its connection: %s; accept with one in RTR or RTS",
            id->qp_num, strerror(error));
        id->state = SRD_ID_OVER;
        srd_conn_close(id->conn);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_CONNECT_ERROR, -error, NULL);
        return 0;
    }
    return actions;
}

/* Establishes the connection without a first FPDU. Unless this end may speak first, its Sends still wait for one. */
static unsigned establish_silent_locked(struct srd_id *id)
{
    id->params.speaks_first = id->may_speak;
    return attach_locked(id);
}

static unsigned first_fpdu_locked(struct srd_id *id)
{
    ssize_t got = srd_conn_fill(id->conn);

    if (got == -EAGAIN)
        return 0;
    /* The peer closed without a message: it was connected, and did not reject. */
    if (got == 0 && id->may_speak)
        return establish_silent_locked(id);
    if (got <= 0) {
        refused_locked(id, NULL);
        return 0;
    }
    switch (reject_frame_locked(id)) {
    case 0: return 0;
    case 1: refused_locked(id, id->reply); return 0;
    default: return attach_locked(id);
    }
}

/* Limits the wait for the first FPDU: by NDSPI_SOFT_SPEAK_MS only if the peer announced no RTR. */
static void await_first_fpdu_locked(struct srd_id *id)
{
    unsigned ms = id->params.rtr_expected ? 0 : srd_cm_first_fpdu_ms();

    id->may_speak = ms != 0;
    srd_source_deadline(&id->conn->source, ms ? clock_now_ms() + ms : srd_cm_answer_deadline_ms());
}

/* The wait for the first FPDU has timed out. Actions as srd_passive_ready_locked. */
static unsigned first_fpdu_expired_locked(struct srd_id *id)
{
    char text[SRD_ADDR_TEXT];
    int unsent = 0;

    lock_assert_held(&id->lock);
    if (srd_life_phase(&id->conn->life) != SRD_CONN_STARTUP)
        return 0; /* the first FPDU came meanwhile */
    if (id->params.rtr_expected) {
        log_limited(LOG_INFO, LOG_CM,
            "connection from %s: accepted, but never completed by the peer",
            srd_addr_text(&id->ibv.route.addr.dst_addr, text));
        id->state = SRD_ID_OVER;
        srd_id_await_ended(id);
        srd_conn_close(id->conn);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
        return 0;
    }
    /* Some peers fail if octets follow the Reply at once, so TCP must have delivered the Reply alone first. */
    if (ioctl(id->conn->source.fd, SIOCOUTQ, &unsent) || unsent ||
        id->conn->out_sent < id->conn->out_octets) {
        await_first_fpdu_locked(id);
        return 0;
    }
    return establish_silent_locked(id);
}

unsigned srd_passive_ready_locked(struct srd_id *id)
{
    lock_assert_held(&id->lock);
    switch (id->state) {
    case SRD_ID_INCOMING: receive_request_locked(id); return 0;
    case SRD_ID_REQUEST:
        /* The peer waits for the Reply, so a readable socket means that it has closed. */
        if (srd_conn_fill(id->conn) != -EAGAIN) {
            drop_locked(id, "went away before it was answered", true);
            id->peer_gone = true;
            srd_cm_post_gone_locked(id);
        }
        return 0;
    case SRD_ID_ACCEPTED:
        if (srd_conn_flush(id->conn)) {
            refused_locked(id, NULL);
            return 0;
        }
        return first_fpdu_locked(id);
    default: return 0;
    }
}

static void on_ready(void *owner, struct srd_conn *conn, uint32_t events)
{
    struct srd_id *id = owner;
    unsigned actions = 0;
    bool request = false;

    (void)events;
    lock_acquire(&id->lock);
    if (id->conn == conn && srd_life_phase(&conn->life) == SRD_CONN_STARTUP) {
        request = id->state == SRD_ID_INCOMING;
        actions = srd_passive_ready_locked(id);
        request = request && id->state != SRD_ID_INCOMING;
    }
    lock_release(&id->lock);
    if (request)
        srd_passive_request(id);
    if (actions)
        srd_conn_started(conn, actions);
}

static void on_expired(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;
    char text[SRD_ADDR_TEXT];
    unsigned actions = 0;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_INCOMING) {
        log_limited(LOG_WARN, LOG_CM, "%s connected and sent no MPA request within %d ms; closed",
            srd_addr_text(&id->ibv.route.addr.dst_addr, text), SRD_CM_REQUEST_MS);
        id->state = SRD_ID_OVER;
        srd_conn_close(conn);
    } else if (id->conn == conn && id->state == SRD_ID_ACCEPTED) {
        actions = first_fpdu_expired_locked(id);
    }
    lock_release(&id->lock);
    srd_passive_report(id);
    if (actions)
        srd_conn_started(conn, actions);
}

const struct srd_conn_owner_ops srd_passive_conn_ops = { on_ready, on_expired,
    srd_id_on_established, srd_id_on_down, srd_id_on_unref };

/* Gives the connection its share: the Reply announces it, and the octets behind the Reply go through the memory. */
static void give_share_locked(struct srd_id *id)
{
    char text[SRD_ADDR_TEXT];

    log_limited(LOG_INFO, LOG_CM, "connection from %s: through shared memory",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text));
    srd_conn_give_share(id->conn, id->share);
    id->share = NULL;
}

static int accept_locked(struct srd_id *id, const struct rdma_conn_param *param, uint8_t octets)
{
    uint8_t frame[SRD_MPA_FRAME_MAX];
    int error;

    if (id->state != SRD_ID_REQUEST)
        return id->state == SRD_ID_OVER ? ECONNRESET : EINVAL;
    error = srd_id_pick_qp_locked(id, param);
    if (!error)
        error = srd_id_pick_limits_locked(id, param);
    if (!error)
        error = srd_id_qp_ready(id);
    if (error)
        return error;
    id->local.shared = id->share != NULL;
    /* It agrees: the Request was checked when it came. */
    srd_mpa_accept(id->request, &id->local, id->reply, &id->params);
    id->reply->private_octets = octets;
    if (octets)
        memcpy(id->reply->private_data, param->private_data, octets);
    id->state = SRD_ID_ACCEPTED;
    if (id->share)
        give_share_locked(id);
    error = -srd_conn_send(id->conn, frame, srd_mpa_encode(id->reply, frame));
    if (error) {
        id->state = SRD_ID_OVER;
        srd_conn_close(id->conn);
    } else {
        await_first_fpdu_locked(id);
        srd_id_await(id);
    }
    return error;
}

int srd_accept(struct rdma_cm_id *ibv, struct rdma_conn_param *param)
{
    uint8_t octets = param && param->private_data ? param->private_data_len : 0;

    if (octets > SRD_CM_ACCEPT_PRIVATE) {
        log_write(LOG_INFO, LOG_CM, "accept: %u octets of private data, the limit is %d", octets,
            SRD_CM_ACCEPT_PRIVATE);
        errno = EINVAL;
        return -1;
    }
    if (!srd_id_enter(ibv))
        return -1;
    return srd_id_complete(ibv, srd_id_leave(ibv, accept_locked(srd_id_from(ibv), param, octets)));
}

/* Rejects after an accepting Reply: the peer sees the stream end before any FPDU. */
static void refuse_response_locked(struct srd_id *id, const void *private_data, uint8_t octets)
{
    uint8_t frame[SRD_MPA_FRAME_MAX];

    id->state = SRD_ID_OVER;
    if (id->params.soft_peer) {
        srd_mpa_refuse(id->request, NULL, id->reply);
        id->reply->private_octets = octets;
        memcpy(id->reply->private_data, private_data, octets);
        size_t count = srd_mpa_encode(id->reply, frame);
        frame[KEY_AT] = KEY_REJECT;
        if (srd_conn_send(id->conn, frame, count)) {
            srd_conn_close(id->conn);
            return;
        }
    }
    srd_conn_linger(id->conn);
}

int srd_reject(struct rdma_cm_id *ibv, const void *private_data, uint8_t private_data_len)
{
    struct srd_id *id = srd_id_from(ibv);
    uint8_t octets = private_data ? private_data_len : 0;
    int error = 0;

    if (octets > SRD_CM_REJECT_PRIVATE) {
        log_write(LOG_INFO, LOG_CM, "reject: %u octets of private data, the limit is %d", octets,
            SRD_CM_REJECT_PRIVATE);
        errno = EINVAL;
        return -1;
    }
    if (!srd_id_enter(ibv))
        return -1;
    if (id->state == SRD_ID_REQUEST)
        srd_id_refuse_locked(id, private_data, octets);
    else if (id->state == SRD_ID_RESPONSE)
        refuse_response_locked(id, private_data ? private_data : "", octets);
    else
        error = id->state == SRD_ID_OVER ? ECONNRESET : EINVAL;
    return srd_id_leave(ibv, error);
}
