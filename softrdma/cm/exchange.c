/* SPDX-License-Identifier: MIT */
/*
 * exchange.c - see exchange.h. The reactor handles events of ids one at a time, and may destroy ids under the
 * exchange's lock. A call of the program must not, since the handler of a fetched event waits for that lock: it takes
 * the ids out of the exchange and destroys them without the lock. The handler ignores events of ids that the exchange
 * does not have.
 */
#include "softrdma/cm/exchange.h"

#include "util/clock.h"
#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* WAIT_MIN_MS: TCP repeats a lost SYN after one second, then after two. */
enum { WAIT_MIN_MS = 4000, PSN_MASK = 0xFFFFFF, QPN_BITS = 24, PORT_SHIFT = 8 };

enum state { IDLE, ASKING, WAITING, JOINED, LOST };

struct peer {
    struct sockaddr_storage local, remote; /* remote has the port of its number, local has none */
    uint32_t number;
};

struct srd_exchange {
    struct srd_qp_exchange base; /* must be first */
    struct srd_qp *qp;
    struct srd_exchange_port *port;
    struct lock lock; /* LOCK_SRD_EXCHANGE: guards the members below */
    enum state state;
    /* each pins the queue pair; while ASKING the peer's Request may wait in in */
    struct rdma_cm_id *out, *in;
    struct peer peer;
    uint32_t expected_psn;       /* once JOINED: the sequence number that the peer expects */
    struct reactor_source timer; /* limits the wait of posted requests; pins the queue pair */
    bool refused;                /* the peer refused the last Request */
    uint64_t ends_ns;            /* the timer's deadline; REACTOR_NEVER: none */
};

/* The private data of a Request and of its Reply: big-endian on the wire. */
struct card {
    uint8_t magic[4];
    uint32_t from, to; /* queue pair numbers */
    uint32_t psn;      /* the sequence number expected of the other end */
};
static const uint8_t magic[4] = { 's', 'r', 'x', 1 };
_Static_assert(sizeof(struct card) <= SRD_CM_CONNECT_PRIVATE, "fits a Request");

static struct srd_exchange *exchange_of(struct srd_qp *qp)
{
    return (struct srd_exchange *)qp->exchange;
}

static struct ibv_qp_attr attr_of(struct srd_qp *qp)
{
    struct ibv_qp_attr attr;

    lock_acquire(&qp->sq.lock);
    attr = qp->attr;
    attr.qp_state = qp->qp.state;
    lock_release(&qp->sq.lock);
    return attr;
}

/* --- the peer ----------------------------------------------------------------------------------------------------- */

/* Makes the peer that attr names. Returns 0 or EINVAL. */
static int find_peer(struct srd_qp *qp, const struct ibv_qp_attr *attr, struct peer *peer)
{
    const struct ibv_global_route *grh = &attr->ah_attr.grh;
    struct sockaddr *local = (struct sockaddr *)&peer->local,
                    *remote = (struct sockaddr *)&peer->remote;
    const char *why = NULL;

    peer->number = attr->dest_qp_num;
    if (!attr->ah_attr.is_global)
        why = "the peer has to be named by a GID (ibv_rc_pingpong: -g INDEX)";
    else if (peer->number >> QPN_BITS || peer->number >> PORT_SHIFT < SRD_QP_PORT_MIN)
        why = "the peer's number does not belong to a softrdma queue pair made for this";
    else if (srd_addr_at(srd_device_of(qp->qp.context), grh->sgid_index, &peer->local))
        why = "the device has no GID of this index";
    if (!why) {
        srd_addr_of_gid(&grh->dgid, local, &peer->remote);
        srd_addr_set_port(local, 0);
        srd_addr_set_port(remote, htons((uint16_t)(peer->number >> PORT_SHIFT)));
        if (local->sa_family != remote->sa_family)
            why = "its GID and the peer's are not both IPv4 or both IPv6";
        else if (srd_addr_is_any(remote))
            why = "the peer's GID is zero";
        else if (srd_addr_same_host(local, remote) && peer->number == qp->qp.qp_num)
            why = "a queue pair cannot be its own peer";
    }
    if (!why)
        return 0;
    log_limited(LOG_WARN, LOG_CM, "cannot move queue pair 0x%x to RTR: %s", qp->qp.qp_num, why);
    return EINVAL;
}

static int check(struct srd_qp *qp, const struct ibv_qp_attr *attr)
{
    struct peer peer;

    return find_peer(qp, attr, &peer);
}

/* Whether this end's Request counts when both have asked. */
static bool comes_first_locked(const struct srd_exchange *exchange)
{
    union ibv_gid local, remote;
    int order;

    srd_addr_to_gid((const struct sockaddr *)&exchange->peer.local, &local);
    srd_addr_to_gid((const struct sockaddr *)&exchange->peer.remote, &remote);
    order = memcmp(&local, &remote, sizeof(local));
    return order ? order < 0 : exchange->qp->qp.qp_num < exchange->peer.number;
}

static void fill_card(const struct srd_exchange *exchange, struct card *card)
{
    memcpy(card->magic, magic, sizeof(magic));
    card->from = htobe32(exchange->qp->qp.qp_num);
    card->to = htobe32(exchange->peer.number);
    card->psn = htobe32(attr_of(exchange->qp).rq_psn & PSN_MASK);
}

/* Reads the peer's card, in host order. False: there is none. */
static bool read_card(const struct rdma_cm_event *event, struct card *card)
{
    const struct rdma_conn_param *param = &event->param.conn;

    if (param->private_data_len < sizeof(*card))
        return false;
    memcpy(card, param->private_data, sizeof(*card));
    card->from = be32toh(card->from);
    card->to = be32toh(card->to);
    card->psn = be32toh(card->psn);
    return !memcmp(card->magic, magic, sizeof(magic));
}

/* Whether the peer expects this end's sequence number, which this end has, and needs, from RTS on. */
static bool psn_fits_locked(const struct srd_exchange *exchange, uint32_t expected)
{
    struct ibv_qp_attr attr = attr_of(exchange->qp);

    if (attr.qp_state == IBV_QPS_RTR || (attr.sq_psn & PSN_MASK) == expected)
        return true;
    log_limited(LOG_WARN, LOG_CM,
        "queue pair 0x%x sends from number 0x%x on, its peer expects 0x%x: not connected",
        exchange->qp->qp.qp_num, attr.sq_psn & PSN_MASK, expected);
    return false;
}

/* Whether a peer with the right number has the right addresses, too. If not, it logs which it has. */
static bool addresses_fit_locked(const struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    const struct sockaddr *from = &id->route.addr.dst_addr, *to = &id->route.addr.src_addr,
                          *remote = (const struct sockaddr *)&exchange->peer.remote,
                          *local = (const struct sockaddr *)&exchange->peer.local;
    char texts[4][SRD_ADDR_TEXT];

    if (srd_addr_same_host(from, remote) && srd_addr_same_host(to, local))
        return true;
    log_limited(LOG_WARN, LOG_CM,
        "queue pair 0x%x: its peer 0x%x connects from %s to %s, not from %s to %s as the program "
        "named them: refused; "
        "if addresses are translated between the hosts (NAT), connect by rdma_connect (perftest: "
        "-R)",
        exchange->qp->qp.qp_num, exchange->peer.number, srd_addr_host_text(from, texts[0]),
        srd_addr_host_text(to, texts[1]), srd_addr_host_text(remote, texts[2]),
        srd_addr_host_text(local, texts[3]));
    return false;
}

static bool is_peer_locked(
    const struct srd_exchange *exchange, struct rdma_cm_id *id, const struct card *card)
{
    return card->from == exchange->peer.number && srd_conn_may_attach(exchange->qp) &&
           addresses_fit_locked(exchange, id) && psn_fits_locked(exchange, card->psn);
}

/* --- ids and their ends ------------------------------------------------------------------------------------------- */

static void adopt(struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    srd_qp_pin(exchange->qp);
    id->context = exchange->qp;
    srd_id_from(id)->exchanged = exchange->qp;
}

/* Destroys an id, and drops its pin, which is not the last one: the caller or its event has another. */
static void destroy(struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    if (!id)
        return;
    srd_destroy_id(id);
    srd_qp_unpin(exchange->qp);
}

static void set_timer_locked(struct srd_exchange *exchange, uint64_t deadline_ns)
{
    exchange->ends_ns = deadline_ns;
    reactor_deadline(&exchange->timer, deadline_ns);
}

static struct rdma_conn_param param_with(const struct srd_exchange *exchange, struct card *card)
{
    fill_card(exchange, card);
    return (struct rdma_conn_param){
        .qp_num = exchange->qp->qp.qp_num,
        .responder_resources = attr_of(exchange->qp).max_dest_rd_atomic,
        .initiator_depth = RDMA_MAX_INIT_DEPTH,
        .private_data = card,
        .private_data_len = sizeof(*card),
    };
}

/* Sends the peer a Request. If that fails, the peer's Request may still come. */
static void ask_locked(struct srd_exchange *exchange)
{
    struct card card;
    struct rdma_conn_param param = param_with(exchange, &card);
    struct rdma_cm_id *id;
    char text[SRD_ADDR_TEXT];

    exchange->state = WAITING;
    if (srd_create_id(srd_exchange_channel(), &id, NULL, RDMA_PS_TCP))
        return;
    adopt(exchange, id);
    if (srd_resolve_addr(id, (struct sockaddr *)&exchange->peer.local,
            (struct sockaddr *)&exchange->peer.remote, 0) ||
        srd_resolve_route(id, 0) || srd_connect(id, &param)) {
        log_limited(LOG_INFO, LOG_CM, "queue pair 0x%x cannot ask its peer at %s: %s",
            exchange->qp->qp.qp_num, srd_addr_text((struct sockaddr *)&exchange->peer.remote, text),
            strerror(errno));
        destroy(exchange, id); /* these calls' events are acknowledged without the lock */
        return;
    }
    exchange->out = id;
    exchange->state = ASKING;
}

/* Accepts the peer's Request. False: the caller has to destroy the id. */
static bool accept_locked(struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    struct card card;
    struct rdma_conn_param param = param_with(exchange, &card);

    exchange->in = NULL;
    exchange->state = WAITING;
    if (srd_accept(id, &param))
        return false;
    exchange->in = id;
    exchange->state = JOINED;
    return true;
}

/* Returns the time at which a request that begins to wait now will fail; REACTOR_NEVER: never. */
static uint64_t wait_ends_ns(struct srd_qp *qp)
{
    struct ibv_qp_attr attr = attr_of(qp);
    uint64_t limit_ms = srd_cm_answer_deadline_ms(), now_ms = clock_now_ms();
    uint64_t wait_ms = ((uint64_t)4096 << (attr.timeout & 31)) * (attr.retry_cnt + 1u) / 1000000;

    if (wait_ms < WAIT_MIN_MS)
        wait_ms = WAIT_MIN_MS;
    if (attr.timeout && now_ms + wait_ms < limit_ms)
        limit_ms = now_ms + wait_ms;
    return limit_ms == UINT64_MAX ? REACTOR_NEVER : limit_ms * 1000000;
}

static bool has_requests(struct srd_qp *qp)
{
    struct srd_sq *sq = &qp->sq;
    bool has;

    lock_acquire(&sq->lock);
    has = atomic_load_explicit(&sq->head, memory_order_relaxed) !=
          atomic_load_explicit(&sq->tail, memory_order_relaxed);
    lock_release(&sq->lock);
    return has;
}

/* Starts the timer after which requests fail that wait for the peer. */
static void limit_wait_locked(struct srd_exchange *exchange)
{
    if (exchange->ends_ns == REACTOR_NEVER && has_requests(exchange->qp))
        set_timer_locked(exchange, wait_ends_ns(exchange->qp));
}

/* Takes the ended connection off the queue pair, which gets no other. */
static void lose_locked(struct srd_exchange *exchange)
{
    exchange->state = LOST;
    srd_conn_detach(exchange->qp);
    limit_wait_locked(exchange);
}

static bool has_connection(struct srd_qp *qp)
{
    struct srd_conn *conn = srd_qp_conn(qp);

    if (conn)
        srd_conn_unref(conn);
    return conn != NULL;
}

/* --- events, which the reactor handles ---------------------------------------------------------------------------- */

/* One of the exchange's ids has ended. */
static void ended_locked(struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    struct rdma_cm_id *kept = exchange->in;
    bool own = id == exchange->out;

    *(own ? &exchange->out : &exchange->in) = NULL;
    if (exchange->state == JOINED) {
        if (has_connection(exchange->qp))
            lose_locked(exchange);
        else
            exchange->state = WAITING;
    } else if (exchange->state == ASKING && own) {
        exchange->state = WAITING;
        if (kept && !accept_locked(exchange, kept))
            destroy(exchange, kept);
    }
}

/* The peer has accepted: confirms the connection. False: it is not the named peer, or is gone. */
static bool conclude_locked(struct srd_exchange *exchange, const struct rdma_cm_event *event)
{
    struct card card;

    if (!read_card(event, &card) || !psn_fits_locked(exchange, card.psn)) {
        srd_reject(event->id, NULL, 0);
        return false;
    }
    destroy(exchange, exchange->in); /* the peer's own Request, which it has given up */
    exchange->in = NULL;
    if (srd_establish(event->id))
        return false;
    exchange->expected_psn = card.psn;
    exchange->state = JOINED;
    set_timer_locked(exchange, REACTOR_NEVER);
    return true;
}

/* Acts on an event. Returns whether the caller has to destroy the event's id. */
static bool event_locked(struct srd_exchange *exchange, const struct rdma_cm_event *event)
{
    struct rdma_cm_id *id = event->id;

    if (id != exchange->out && id != exchange->in)
        return false;
    switch (event->event) {
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        if (conclude_locked(exchange, event))
            return false;
        break;
    case RDMA_CM_EVENT_ESTABLISHED: set_timer_locked(exchange, REACTOR_NEVER); return false;
    default: break; /* REJECTED, UNREACHABLE, CONNECT_ERROR, DISCONNECTED */
    }
    if (id == exchange->out)
        exchange->refused = event->event == RDMA_CM_EVENT_REJECTED;
    ended_locked(exchange, id);
    return true;
}

/* Takes a Request of the peer's. False: the caller has to destroy the id, which refuses the Request. */
static bool request_locked(struct srd_exchange *exchange, struct rdma_cm_id *id)
{
    struct rdma_cm_id *out = exchange->out;

    if (exchange->state == WAITING)
        return accept_locked(exchange, id);
    if (!srd_id_withdraw(out) && comes_first_locked(exchange)) {
        destroy(exchange, exchange->in); /* an earlier Request */
        exchange->in = id;
        return true;
    }
    exchange->out = NULL;
    destroy(exchange, out);
    destroy(exchange, exchange->in);
    return accept_locked(exchange, id);
}

static void on_request(struct rdma_cm_event *event)
{
    struct rdma_cm_id *id = event->id;
    struct srd_exchange *exchange;
    struct srd_qp *qp = NULL;
    char text[SRD_ADDR_TEXT];
    bool known, taken = false;
    struct card card;

    known = read_card(event, &card);
    if (known)
        qp = srd_device_find_qp(srd_id_from(id)->device, card.to);
    if (qp && qp->exchange) {
        exchange = exchange_of(qp);
        lock_acquire(&exchange->lock);
        if ((exchange->state == ASKING || exchange->state == WAITING) &&
            is_peer_locked(exchange, id, &card)) {
            adopt(exchange, id);
            exchange->expected_psn = card.psn;
            taken = request_locked(exchange, id);
            if (!taken)
                srd_qp_unpin(qp);
        }
        lock_release(&exchange->lock);
    }
    srd_ack_cm_event(event);
    if (!taken) {
        log_limited(LOG_INFO, LOG_CM, "a queue pair asks from %s: refused, %s",
            srd_addr_text(&id->route.addr.dst_addr, text),
            !known ? "it says nothing of itself"
            : !qp  ? "its peer is not here"
                   : "its peer does not expect it now");
        srd_destroy_id(id);
    }
    if (qp)
        srd_qp_unpin(qp);
}

static void on_event(struct rdma_cm_event *event)
{
    struct rdma_cm_id *id = event->id;
    struct srd_qp *qp = id->context;
    struct srd_exchange *exchange = exchange_of(qp);
    bool over;

    srd_qp_pin(qp);
    lock_acquire(&exchange->lock);
    over = event_locked(exchange, event);
    lock_release(&exchange->lock);
    srd_ack_cm_event(event);
    if (over)
        destroy(exchange, id);
    srd_qp_unpin(qp);
}

void srd_exchange_event(struct rdma_cm_event *event)
{
    switch (event->event) {
    case RDMA_CM_EVENT_CONNECT_REQUEST: on_request(event); break;
    case RDMA_CM_EVENT_ADDR_RESOLVED:
    case RDMA_CM_EVENT_ADDR_ERROR: /* the next call in ask_locked has failed, too */
    case RDMA_CM_EVENT_ROUTE_RESOLVED: srd_ack_cm_event(event); break;
    default: on_event(event);
    }
}

/* Logs that the peer was not reached. Only the peer knows why it refuses, for translated addresses, for example. */
static void say_unreached_locked(const struct srd_exchange *exchange)
{
    char to[SRD_ADDR_TEXT], from[SRD_ADDR_TEXT];

    srd_addr_host_text((const struct sockaddr *)&exchange->peer.remote, to);
    srd_addr_host_text((const struct sockaddr *)&exchange->peer.local, from);
    if (exchange->refused)
        log_limited(LOG_WARN, LOG_CM,
            "queue pair 0x%x: its peer 0x%x at %s refuses what comes from %s, as the program named "
            "them; if addresses are translated between the hosts (NAT), connect by rdma_connect "
            "(perftest: -R)",
            exchange->qp->qp.qp_num, exchange->peer.number, to, from);
    else
        log_limited(LOG_INFO, LOG_CM, "queue pair 0x%x does not reach its peer 0x%x at %s",
            exchange->qp->qp.qp_num, exchange->peer.number, to);
}

/* Fails the requests that have waited for the peer long enough. */
static void on_expired(struct reactor_source *source, enum reactor_how how)
{
    struct srd_exchange *exchange = container_of(source, struct srd_exchange, timer);
    struct srd_qp *qp = exchange->qp;
    bool due;

    (void)how;
    lock_acquire(&exchange->lock);
    due = exchange->ends_ns <= clock_now_ns(); /* another thread may have changed the limit */
    if (due)
        exchange->ends_ns = REACTOR_NEVER;
    if (due && !has_connection(qp) && has_requests(qp)) {
        say_unreached_locked(exchange);
        destroy(exchange, exchange->out);
        destroy(exchange, exchange->in);
        exchange->out = exchange->in = NULL;
        lose_locked(exchange);
        srd_stream_unreachable(qp, clock_now_ms());
        set_timer_locked(exchange, REACTOR_NEVER);
    }
    lock_release(&exchange->lock);
}

static void on_timer_free(struct reactor_source *source)
{
    srd_qp_unpin(container_of(source, struct srd_exchange, timer)->qp);
}

static const struct reactor_source_ops timer_ops = { .expired = on_expired, .free = on_timer_free };

/* --- calls of the program ----------------------------------------------------------------------------------------- */

static int start_locked(struct srd_exchange *exchange)
{
    struct srd_qp *qp = exchange->qp;
    struct ibv_qp_attr attr = attr_of(qp);
    int error = find_peer(qp, &attr, &exchange->peer);

    if (!error)
        error = srd_exchange_listen(exchange->port);
    if (error)
        return error;
    /* A message waits for a Receive for ever until the move to RTS, which sets rnr_retry. */
    atomic_store_explicit(&qp->rnr_retries, SRD_RNR_FOR_EVER, memory_order_relaxed);
    exchange->refused = false;
    ask_locked(exchange);
    return 0;
}

/*
 * Gives the connection up, since the peer expects another sequence number than this end will send. Returns the id to
 * destroy without the lock; a connection reports its end first.
 */
static struct rdma_cm_id *part_locked(struct srd_exchange *exchange)
{
    struct srd_conn *conn = srd_qp_conn(exchange->qp);
    struct rdma_cm_id *in = exchange->in;

    if (!conn) {
        exchange->in = NULL;
        exchange->state = LOST;
        return in;
    }
    srd_conn_part(conn);
    srd_conn_unref(conn);
    return NULL;
}

static int moved(struct srd_qp *qp, bool named)
{
    struct srd_exchange *exchange = exchange_of(qp);
    struct rdma_cm_id *parted = NULL;
    int error = 0;

    lock_acquire(&exchange->lock);
    if (named && exchange->state == IDLE)
        error = start_locked(exchange);
    else if (exchange->state == JOINED && !psn_fits_locked(exchange, exchange->expected_psn))
        parted = part_locked(exchange);
    lock_release(&exchange->lock);
    destroy(exchange, parted);
    return error;
}

static void posted(struct srd_qp *qp)
{
    struct srd_exchange *exchange = exchange_of(qp);

    lock_acquire(&exchange->lock);
    if (exchange->state != IDLE)
        limit_wait_locked(exchange);
    lock_release(&exchange->lock);
}

static void forget(struct srd_qp *qp, bool destroyed)
{
    struct srd_exchange *exchange = exchange_of(qp);
    struct rdma_cm_id *out, *in;

    if (srd_stale(qp->qp.context))
        return; /* a thread of the parent may have the lock */
    lock_acquire(&exchange->lock);
    out = exchange->out;
    in = exchange->in;
    exchange->out = exchange->in = NULL;
    exchange->state = IDLE;
    set_timer_locked(exchange, REACTOR_NEVER);
    lock_release(&exchange->lock);
    destroy(exchange, out);
    destroy(exchange, in);
    if (!destroyed)
        return;
    srd_exchange_leave(srd_device_of(qp->qp.context), exchange->port);
    reactor_remove(&exchange->timer);
    reactor_unref(&exchange->timer);
}

static void free_exchange(struct srd_qp_exchange *exchange)
{
    free(exchange);
}

static const struct srd_qp_exchange_ops exchange_ops = { check, moved, posted, forget,
    free_exchange };

/* Gives the queue pair an exchange. Returns 0 or a positive errno. */
static int prepare(struct srd_qp *qp)
{
    struct srd_exchange *exchange = calloc(1, sizeof(*exchange));
    int error;

    if (!exchange)
        return ENOMEM;
    exchange->base.ops = &exchange_ops;
    exchange->qp = qp;
    exchange->ends_ns = REACTOR_NEVER;
    lock_init(&exchange->lock, LOCK_SRD_EXCHANGE, "softrdma exchange of a qp");
    reactor_source_init(&exchange->timer, &timer_ops, -1);
    error = srd_exchange_join(qp, &exchange->port);
    if (error) {
        free(exchange);
        return error;
    }
    error = -reactor_add(&exchange->timer, 0);
    if (error) {
        srd_device_remove_qp(qp->qp.context, qp->qp.qp_num);
        srd_exchange_leave(srd_device_of(qp->qp.context), exchange->port);
        free(exchange);
        return error;
    }
    srd_qp_pin(qp);
    qp->exchange = &exchange->base;
    return 0;
}

static struct ibv_qp *prepared(struct ibv_qp *qp)
{
    int error = qp ? prepare(srd_qp_from(qp)) : 0;

    if (!error)
        return qp;
    srd_destroy_qp(qp);
    errno = error;
    return NULL;
}

struct ibv_qp *srd_create_exchange_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    return prepared(srd_create_qp(pd, attr));
}

struct ibv_qp *srd_create_exchange_qp_ex(
    struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    return prepared(srd_create_qp_ex(context, attr));
}
