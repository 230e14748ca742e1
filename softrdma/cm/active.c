/* SPDX-License-Identifier: MIT */
/*
 * active.c - the connecting side: TCP, an offer of memory (meet.h), MPA Request, Reply; then the program confirms the
 * connection (srd_establish), or the id does so itself if it has a queue pair.
 *
 * A peer that closes before a complete Reply may know revision 1 only: the id connects once more, with revision 1.
 */
#include "softrdma/cm/id.h"

#include "softrdma/cm/order.h"
#include "softrdma/queues/qp.h"
#include "softrdma/wire/fault.h"
#include "softrdma/wire/terminate.h"
#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char *reason_of(int status)
{
    switch (status) {
    case SRD_CM_NO_LISTENER: return "no program listens";
    case SRD_CM_CONSUMER: return "by the peer's program";
    default: return strerror(-status);
    }
}

/* Ends the attempt without a connection, and posts the event. */
static void fail_locked(
    struct srd_id *id, enum rdma_cm_event_type type, int status, const struct srd_mpa_frame *reply)
{
    char text[SRD_ADDR_TEXT];

    log_limited(LOG_INFO, LOG_CM, "connect to %s: %s: %s",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text),
        type == RDMA_CM_EVENT_REJECTED ? "rejected" : "failed", reason_of(status));
    id->state = SRD_ID_OVER;
    srd_order_leave_locked(id);
    srd_id_drop_share_locked(id);
    if (id->conn && srd_life_phase(&id->conn->life) == SRD_CONN_STARTUP)
        srd_conn_cut(id->conn);
    srd_cm_post_event_locked(id, type, status, reply);
}

/* Waits for a listener until the next attempt. */
static void wait_locked(struct srd_id *id)
{
    id->again = true;
    srd_conn_watch(id->conn, false, false);
    srd_source_deadline(&id->conn->source, clock_now_ms() + SRD_CM_RETRY_MS);
}

/* TCP could not connect: waits for the next attempt, or ends the last one. */
static void fail_tcp_locked(struct srd_id *id, int error)
{
    if (error == ECONNREFUSED && id->state == SRD_ID_CONNECTING &&
        clock_now_ms() < id->retry_until_ms) {
        srd_order_enter_locked(id);
        wait_locked(id);
        return;
    }
    /* Reset: the listener was closed before it took the connection. */
    if (error == ECONNREFUSED || error == ECONNRESET)
        fail_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_NO_LISTENER, NULL);
    else
        fail_locked(id, RDMA_CM_EVENT_UNREACHABLE, -error, NULL);
}

/* It is defined at the end of the file, since functions below use it to connect again, and it names them. */
static const struct srd_conn_owner_ops conn_ops;

/* Replaces a port that the program did not name by another. Returns 0 or a positive errno. */
static int change_port_locked(struct srd_id *id)
{
    struct sockaddr_storage src;

    memcpy(&src, &id->ibv.route.addr.src_storage, sizeof(src));
    srd_addr_set_port((struct sockaddr *)&src, 0);
    close(id->fd);
    id->fd = -1;
    return srd_id_bind_locked(id, (struct sockaddr *)&src);
}

/*
 * Calls connect(2), from another port if an earlier connection to this peer still has the port (EADDRNOTAVAIL:
 * TIME_WAIT). Returns a positive errno, or 0: in progress, or refused, which makes the socket ready.
 */
static int connect_locked(struct srd_id *id, const struct sockaddr *dst)
{
    for (int tries = 0;; tries++) {
        int error = 0;

        srd_cm_tune(id->fd);
        if (!connect(id->fd, dst, srd_addr_len(dst)) || errno == EINPROGRESS ||
            errno == ECONNREFUSED)
            return 0;
        error = errno;
        if (error == EADDRNOTAVAIL && id->any_port && tries < SRD_CM_PORTS_TRIED)
            error = change_port_locked(id);
        else /* EINVAL: from a loopback address to another host */
            return error == EINVAL ? ENETUNREACH : error;
        if (error)
            return error;
    }
}

/* Makes the connection, and its first attempt, unless earlier ids wait for this destination (behind). */
static int start_tcp_locked(struct srd_id *id, bool behind)
{
    const struct sockaddr *dst = &id->ibv.route.addr.dst_addr;
    struct srd_conn *conn;
    int error;

    /* TCP would connect the socket to itself. No listener can have the id's own port, so this is refused. */
    if (srd_addr_same_host(&id->ibv.route.addr.src_addr, dst) &&
        srd_addr_port(&id->ibv.route.addr.src_addr) == srd_addr_port(dst))
        return ECONNREFUSED;
    if (behind)
        srd_cm_tune(id->fd);
    else if ((error = connect_locked(id, dst)) != 0)
        return error;
    conn = srd_conn_create(id->fd, &conn_ops, id, &id->lock);
    if (!conn)
        return ENOMEM;
    srd_id_ref(id); /* the conn's */
    id->fd = -1;
    if (id->conn)
        srd_conn_unref(id->conn);
    id->conn = conn;
    id->state = SRD_ID_CONNECTING;
    if (behind) {
        wait_locked(id);
        return 0;
    }
    return -srd_conn_watch(conn, false, true); /* an earlier refusal makes the socket ready, too */
}

/* Takes another port, since an earlier connection to this peer still has this one. Returns 0 or a positive errno. */
static int replace_socket_locked(struct srd_id *id)
{
    struct sockaddr_storage src;
    int error;

    memcpy(&src, &id->ibv.route.addr.src_storage, sizeof(src));
    srd_addr_set_port((struct sockaddr *)&src, 0);
    srd_conn_close(id->conn);
    error = srd_id_bind_locked(id, (struct sockaddr *)&src);
    return error ? error : start_tcp_locked(id, false);
}

/* Connects the same socket again, which keeps its port. */
static void reconnect_locked(struct srd_id *id)
{
    const struct sockaddr *dst = &id->ibv.route.addr.dst_addr;
    int fd = id->conn->source.fd, error;

    lock_assert_held(&id->lock);
    id->again = false;
    error = connect(fd, dst, srd_addr_len(dst)) ? errno : 0;
    /* ECONNABORTED reports that the previous attempt failed: try again. */
    if (error == ECONNABORTED)
        error = connect(fd, dst, srd_addr_len(dst)) ? errno : 0;
    /* This may be the first attempt of an id that came behind others, see start_tcp_locked. */
    if (error == EADDRNOTAVAIL && id->any_port)
        error = replace_socket_locked(id);
    /*
     * EALREADY: TCP goes on with the previous attempt, although SO_ERROR has reported an ICMP error of it. The socket
     * becomes ready when that attempt ends.
     */
    if (error && error != EINPROGRESS && error != EALREADY)
        fail_tcp_locked(id, error);
    else
        srd_conn_watch(id->conn, false, true);
}

/* Connects again with MPA revision 1, from the same port if that is free. */
static void fall_back_locked(struct srd_id *id)
{
    struct sockaddr_storage src;
    char text[SRD_ADDR_TEXT];
    int error;

    log_limited(LOG_INFO, LOG_CM, "%s closed during startup; trying MPA revision 1",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text));
    srd_conn_close(id->conn);
    srd_id_drop_share_locked(id);
    memcpy(&src, &id->ibv.route.addr.src_storage, sizeof(src));
    error = srd_id_bind_locked(id, (struct sockaddr *)&src);
    if (error == EADDRINUSE) {
        srd_addr_set_port((struct sockaddr *)&src, 0);
        error = srd_id_bind_locked(id, (struct sockaddr *)&src);
    }
    id->revision = 1;
    if (!error)
        error = start_tcp_locked(id, false);
    if (error)
        fail_tcp_locked(id, error);
}

/* The stream ended, or broke, before a complete Reply: falls back to revision 1, or fails. */
static void peer_closed_locked(struct srd_id *id, int error)
{
    if (id->revision == 2)
        fall_back_locked(id);
    else
        fail_locked(id, RDMA_CM_EVENT_REJECTED, -(error ? error : ECONNRESET), NULL);
}

static void send_request_locked(struct srd_id *id)
{
    uint8_t frame[SRD_MPA_FRAME_MAX], private_data[SRD_CM_CONNECT_PRIVATE];
    uint16_t private_octets = id->request->private_octets;
    int error;

    if (id->revision == 2)
        id->share = srd_meet_offer(
            id->conn->source.fd, &id->ibv.route.addr.src_addr, &id->ibv.route.addr.dst_addr);
    id->local.shared = id->share != NULL;
    memcpy(private_data, id->request->private_data, private_octets);
    srd_mpa_request(id->request, &id->local, id->revision);
    memcpy(id->request->private_data, private_data, private_octets);
    id->request->private_octets = private_octets;
    id->state = SRD_ID_REQUEST_SENT;
    error = srd_conn_watch(id->conn, true, false);
    if (!error)
        error = srd_conn_send(id->conn, frame, srd_mpa_encode(id->request, frame));
    if (error)
        peer_closed_locked(id, -error);
    else
        srd_source_deadline(&id->conn->source, id->answer_by_ms = srd_cm_answer_deadline_ms());
}

/* TCP is connected: sends the Request; after this the next id with this destination may try. */
static void connected_locked(struct srd_id *id)
{
    send_request_locked(id);
    if (!id->again) /* otherwise it fell back at once, was refused, and waits */
        srd_order_leave_locked(id);
}

/* Whether TCP has connected; over loopback it mostly has at once. */
static bool is_connected(const struct srd_conn *conn)
{
    struct pollfd writable = { .fd = conn->source.fd, .events = POLLOUT };

    return poll(&writable, 1, 0) == 1 && writable.revents == POLLOUT;
}

/* Makes the next attempt of an id that waits. Returns whether it waits no more, so that the next id may try. */
static bool try_again_locked(struct srd_id *id)
{
    if (!id->again || id->state != SRD_ID_CONNECTING)
        return false;
    reconnect_locked(id);
    if (id->state == SRD_ID_CONNECTING && !id->again && is_connected(id->conn))
        connected_locked(id);
    return id->state != SRD_ID_CONNECTING;
}

/*
 * Has the first id that waits for this destination try at once; if it waits no more, the next one, too. No lock held.
 */
static void go_on(const struct srd_id *before)
{
    struct srd_id *id;
    bool went = true;

    while (went && (id = srd_order_first(&before->ibv.route.addr.dst_addr)) != NULL) {
        lock_acquire(&id->lock);
        went = try_again_locked(id);
        lock_release(&id->lock);
        srd_id_unref(id);
    }
}

static unsigned attach_locked(struct srd_id *id, int *error)
{
    unsigned actions = 0;

    srd_id_complete_params_locked(id);
    *error = srd_conn_attach(id->conn, id->device, id->qp_num, &id->params, &actions);
    if (!*error) {
        id->state = SRD_ID_CONNECTED;
        id->was_connected = true;
    }
    return actions;
}

/* Moves the queue pair on the id as librdmacm does, so that the program need not call srd_establish. */
static unsigned establish_itself_locked(struct srd_id *id)
{
    unsigned actions = 0;
    int error = srd_id_qp_ready(id);

    if (!error)
        actions = attach_locked(id, &error);
    if (error)
        fail_locked(id, RDMA_CM_EVENT_CONNECT_ERROR, -error, NULL);
    else {
        id->unreported = true;
        srd_life_add(&id->conn->life, SRD_CONN_UP);
    }
    return actions;
}

/*
 * Ends the attempt since this end cannot use the Reply (RFC 6581). The peer is in its FPDU phase: it gets a Terminate.
 */
static void refuse_reply_locked(struct srd_id *id, unsigned code)
{
    uint8_t fpdu[SRD_TERMINATE_FPDU_MAX];
    size_t octets = srd_terminate_bare(SRD_FAULT(2, 0, code), id->params.crc, fpdu);
    char text[SRD_ADDR_TEXT];

    log_limited(LOG_WARN, LOG_CM,
        "connect to %s: its answer cannot be used: %s (Terminate 2/0/%02x)",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text),
        srd_fault_row(SRD_FAULT(2, 0, (srd_fault)code))->name, code);
    id->state = SRD_ID_OVER;
    if (!srd_conn_send(id->conn, fpdu, octets))
        srd_conn_linger(id->conn);
    fail_locked(id, RDMA_CM_EVENT_REJECTED, -EPROTO, NULL);
}

/* Gives the connection its share, or drops it: the Reply says whether the peer has taken the memory. */
static void use_share_locked(struct srd_id *id)
{
    char text[SRD_ADDR_TEXT];

    if (!id->share)
        return;
    log_limited(LOG_INFO, LOG_CM, "connect to %s: %s",
        srd_addr_text(&id->ibv.route.addr.dst_addr, text),
        id->params.shared ? "through shared memory" : "through TCP, the peer takes no memory");
    if (id->params.shared) {
        srd_conn_give_share(id->conn, id->share);
        id->share = NULL;
    }
    srd_id_drop_share_locked(id);
}

static unsigned replied_locked(struct srd_id *id)
{
    switch (srd_mpa_conclude(id->request, id->reply, &id->local, &id->params)) {
    case SRD_MPA_AGREED:
        use_share_locked(id);
        if (id->ibv.qp)
            return establish_itself_locked(id);
        id->state = SRD_ID_RESPONSE;
        srd_conn_watch(id->conn, !id->conn->in_octets, false);
        srd_cm_post_event_locked(id, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, id->reply);
        return 0;
    case SRD_MPA_REJECTED:
        fail_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, id->reply);
        return 0;
    case SRD_MPA_NO_IRD: refuse_reply_locked(id, 0x06); return 0;
    case SRD_MPA_NO_RTR: refuse_reply_locked(id, 0x07); return 0;
    case SRD_MPA_NO_MARKERS:
    case SRD_MPA_MALFORMED: break;
    }
    fail_locked(id, RDMA_CM_EVENT_REJECTED, -EPROTO, NULL);
    return 0;
}

static unsigned receive_reply_locked(struct srd_id *id)
{
    ssize_t got = srd_conn_fill(id->conn);
    int taken;

    if (got == -EAGAIN)
        return 0;
    if (got <= 0) {
        peer_closed_locked(id, (int)-got);
        return 0;
    }
    taken = srd_mpa_decode(id->reply, true, id->conn->in, id->conn->in_octets);
    if (!taken)
        return 0;
    if (taken < 0) {
        fail_locked(id, RDMA_CM_EVENT_REJECTED, taken, NULL);
        return 0;
    }
    srd_source_deadline(&id->conn->source, UINT64_MAX);
    id->conn->in_octets -= (size_t)taken;
    memmove(id->conn->in, id->conn->in + taken, id->conn->in_octets);
    return replied_locked(id);
}

/* Looks whether the peer closes between Reply and srd_establish. FPDUs that it has sent wait in the socket. */
static void watch_response_locked(struct srd_id *id)
{
    ssize_t got = srd_conn_fill(id->conn);

    if (got == -EAGAIN)
        return;
    if (got > 0)
        srd_conn_watch(id->conn, false, false);
    else
        fail_locked(id, RDMA_CM_EVENT_REJECTED, SRD_CM_CONSUMER, NULL);
}

/* Goes on with a connection in startup. Returns actions for srd_conn_started. */
static unsigned ready_locked(struct srd_id *id, uint32_t events)
{
    socklen_t octets = sizeof(int);
    int error = 0;

    lock_assert_held(&id->lock);
    switch (id->state) {
    case SRD_ID_CONNECTING:
        if (id->again || !(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
            return 0;
        if (getsockopt(id->conn->source.fd, SOL_SOCKET, SO_ERROR, &error, &octets))
            error = errno;
        if (error)
            fail_tcp_locked(id, error);
        else
            connected_locked(id);
        return 0;
    case SRD_ID_REQUEST_SENT:
        if ((events & EPOLLOUT) && (error = -srd_conn_flush(id->conn)) != 0) {
            peer_closed_locked(id, error);
            return 0;
        }
        return receive_reply_locked(id);
    case SRD_ID_RESPONSE: watch_response_locked(id); return 0;
    default: return 0;
    }
}

static void on_ready(void *owner, struct srd_conn *conn, uint32_t events)
{
    struct srd_id *id = owner;
    unsigned actions = 0;
    bool waited;

    lock_acquire(&id->lock);
    waited = id->state == SRD_ID_CONNECTING;
    /* id->conn is NULL once the id is destroyed, and another one once fall_back_locked has replaced conn. */
    if (id->conn == conn && srd_life_phase(&conn->life) == SRD_CONN_STARTUP)
        actions = ready_locked(id, events);
    waited = waited && id->state != SRD_ID_CONNECTING;
    lock_release(&id->lock);
    if (waited)
        go_on(id);
    if (actions) {
        srd_conn_started(conn, actions);
        srd_id_on_established(id, conn);
    }
}

static void on_expired(void *owner, struct srd_conn *conn)
{
    struct srd_id *id = owner;
    bool went = false;

    lock_acquire(&id->lock);
    if (id->conn == conn && id->state == SRD_ID_CONNECTING && id->again) {
        /*
         * It is time for the next attempt, which the first id makes; each id makes its last attempt, however many wait.
         */
        if (srd_order_is_first(id) || clock_now_ms() >= id->retry_until_ms)
            went = try_again_locked(id);
        else
            wait_locked(id);
    } else if (id->conn == conn && id->state == SRD_ID_REQUEST_SENT) {
        /* This may be the deadline of an attempt that another thread has made meanwhile. */
        if (clock_now_ms() >= id->answer_by_ms)
            fail_locked(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
        else
            srd_source_deadline(&conn->source, id->answer_by_ms);
    }
    lock_release(&id->lock);
    if (went)
        go_on(id);
}

static const struct srd_conn_owner_ops conn_ops = { on_ready, on_expired, srd_id_on_established,
    srd_id_on_down, srd_id_on_unref };

/* Looks right after the call whether TCP has connected or failed, as it mostly has over loopback. */
static void look_at_once_locked(struct srd_id *id)
{
    socklen_t octets = sizeof(int);
    int error = 0;

    if (id->again)
        return;
    /*
     * Requests are sent in the order of the calls, not in that in which threads see the sockets writable: perftest
     * assigns its peer's requests to its queue pairs in that order. So a refused id waits before the next call.
     */
    if (is_connected(id->conn))
        connected_locked(id);
    else if (clock_now_ms() < id->retry_until_ms &&
             !getsockopt(id->conn->source.fd, SOL_SOCKET, SO_ERROR, &error, &octets) && error)
        fail_tcp_locked(id, error);
}

int srd_connect(struct rdma_cm_id *ibv, struct rdma_conn_param *param)
{
    struct srd_id *id = srd_id_from(ibv);
    uint8_t octets = param && param->private_data ? param->private_data_len : 0;
    int error;

    if (octets > SRD_CM_CONNECT_PRIVATE) {
        log_write(LOG_INFO, LOG_CM, "connect: %u octets of private data, the limit is %d", octets,
            SRD_CM_CONNECT_PRIVATE);
        errno = EINVAL;
        return -1;
    }
    if (!srd_id_enter(ibv))
        return -1;
    error = id->state == SRD_ID_ROUTE ? srd_id_pick_qp_locked(id, param) : EINVAL;
    if (!error)
        error = srd_id_pick_limits_locked(id, param);
    if (error)
        return srd_id_leave(ibv, error);
    id->revision = 2;
    id->retry_until_ms = clock_now_ms() + srd_cm_retry_ms();
    id->request->private_octets = octets;
    if (octets)
        memcpy(id->request->private_data, param->private_data, octets);
    error = start_tcp_locked(id, srd_order_call_locked(id, srd_cm_retry_ms() != 0));
    /* Network errors are reported by events, as other devices report them. */
    if (error == ENETUNREACH || error == EHOSTUNREACH || error == ETIMEDOUT ||
        error == ECONNREFUSED) {
        fail_tcp_locked(id, error);
        error = 0;
    } else if (error) {
        id->state = SRD_ID_OVER;
        srd_order_leave_locked(id);
    } else if (id->state == SRD_ID_CONNECTING) {
        look_at_once_locked(id);
    }
    return srd_id_complete(ibv, srd_id_leave(ibv, error));
}

int srd_establish(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);
    struct srd_conn *conn = NULL;
    unsigned actions = 0;
    int error;

    if (!srd_id_enter(ibv))
        return -1;
    error = id->state == SRD_ID_RESPONSE && !ibv->qp ? 0
            : id->state == SRD_ID_OVER               ? ENOTCONN
                                                     : EINVAL;
    if (!error)
        actions = attach_locked(id, &error);
    if (!error) {
        srd_id_forget_frames_locked(id); /* the program has the Reply */
        conn = id->conn;
        srd_conn_ref(conn);
    }
    if (srd_id_leave(ibv, error))
        return -1;
    srd_conn_started(conn, actions);
    srd_conn_unref(conn);
    return 0;
}

bool srd_id_withdraw(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);
    bool unsent;

    lock_acquire(&id->lock);
    unsent = id->state < SRD_ID_REQUEST_SENT || id->state == SRD_ID_OVER;
    srd_order_leave_locked(id);
    if (id->state == SRD_ID_CONNECTING)
        srd_conn_cut(id->conn);
    if (unsent)
        id->state = SRD_ID_OVER;
    lock_release(&id->lock);
    return unsent;
}
