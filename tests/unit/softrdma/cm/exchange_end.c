/* SPDX-License-Identifier: MIT */
#include "tests/unit/softrdma/cm/exchange_end.h"

#include "softrdma/cm/exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- events of the ids, which a test may hold back, and handle one by one ---- */

static atomic_bool holding;

int __real_srd_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_srd_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_srd_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    if (!atomic_load(&holding) || channel != srd_exchange_channel())
        return __real_srd_get_cm_event(channel, event);
    errno = EAGAIN;
    return -1;
}

static struct srd_evq *queue(void)
{
    return &((struct srd_event_channel *)srd_exchange_channel())->q;
}

void hold(bool on)
{
    atomic_store(&holding, on);
    lock_acquire(&queue()->lock);
    srd_evq_announce_locked(queue());
    lock_release(&queue()->lock);
}

bool is_event_held(void)
{
    for (;;) {
        struct rdma_cm_event *event = NULL;
        enum rdma_cm_event_type type = RDMA_CM_EVENT_ESTABLISHED;
        bool empty;

        lock_acquire(&queue()->lock);
        empty = list_empty(&queue()->queue);
        if (!empty)
            type = list_entry(queue()->queue.n.next, struct srd_cm_event, node)->ibv.event;
        lock_release(&queue()->lock);
        if (type != RDMA_CM_EVENT_ADDR_RESOLVED && type != RDMA_CM_EVENT_ROUTE_RESOLVED)
            return !empty;
        assert_int_equal(__real_srd_get_cm_event(srd_exchange_channel(), &event), 0);
        srd_exchange_event(event);
    }
}

int events_held(void)
{
    int count = 0;

    if (!is_event_held())
        return 0;
    lock_acquire(&queue()->lock);
    list_for_each (&queue()->queue, node)
        count +=
            list_entry(node, struct srd_cm_event, node)->ibv.event != RDMA_CM_EVENT_ADDR_RESOLVED &&
            list_entry(node, struct srd_cm_event, node)->ibv.event != RDMA_CM_EVENT_ROUTE_RESOLVED;
    lock_release(&queue()->lock);
    return count;
}

struct rdma_cm_event *take_event(void)
{
    struct rdma_cm_event *event = NULL;

    assert_true(SETTLES(is_event_held()));
    assert_int_equal(__real_srd_get_cm_event(srd_exchange_channel(), &event), 0);
    return event;
}

void step(enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = take_event();

    assert_int_equal(event->event, type);
    srd_exchange_event(event);
}

bool step_if_any(void)
{
    if (!SETTLES_WITHIN(20, is_event_held()))
        return false;
    srd_exchange_event(take_event());
    return true;
}

/* ---- ends ---- */

uint8_t gid_index(struct end *end, const char *host, union ibv_gid *gid)
{
    struct in6_addr wanted = { .s6_addr = { [10] = 0xFF, [11] = 0xFF } };

    if (inet_pton(AF_INET, host, wanted.s6_addr + 12) != 1)
        assert_int_equal(inet_pton(AF_INET6, host, &wanted), 1);
    for (int i = 0; !srd_query_gid(end->context, 1, i, gid); i++)
        if (!memcmp(gid, &wanted, sizeof(wanted)))
            return (uint8_t)i;
    fail_msg("no GID %s", host);
    return 0;
}

void make_qp(struct end *end)
{
    struct ibv_qp_init_attr init = { .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };

    end->qp = srd_create_exchange_qp(end->pd, &init);
    assert_non_null(end->qp);
    assert_int_equal(srd_modify_qp(end->qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
}

struct ibv_qp_attr rtr_attr(struct end *end, uint32_t peer, const char *host)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer,
        .rq_psn = PSN,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = 12,
        .ah_attr = { .is_global = 1, .port_num = 1, .grh = { .hop_limit = 1 } } };

    attr.ah_attr.grh.sgid_index = gid_index(end, host, &attr.ah_attr.grh.dgid);
    return attr;
}

void to_rtr(struct end *end, uint32_t peer, const char *host)
{
    struct ibv_qp_attr attr = rtr_attr(end, peer, host);

    assert_int_equal(srd_modify_qp(end->qp, &attr, RTR_MASK), 0);
}

void to_rts(struct end *end, uint32_t psn)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
        .timeout = 14,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .sq_psn = psn,
        .max_rd_atomic = 1 };

    assert_int_equal(srd_modify_qp(end->qp, &attr, RTS_MASK), 0);
}

void move(struct end *end, enum ibv_qp_state to)
{
    struct ibv_qp_attr attr = { .qp_state = to };

    assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
}

enum ibv_qp_state state_of(struct end *end)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    assert_int_equal(srd_query_qp(end->qp, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
}

void open_pair(struct pair *pair)
{
    memset(pair, 0, sizeof(*pair));
    end_open(&pair->active);
    end_open(&pair->passive);
    make_qp(&pair->active);
    make_qp(&pair->passive);
}

void connect_pair(struct pair *pair, const char *host)
{
    to_rtr(&pair->active, pair->passive.qp->qp_num, host);
    to_rts(&pair->active, PSN);
    to_rtr(&pair->passive, pair->active.qp->qp_num, host);
    to_rts(&pair->passive, PSN);
}

void expect(struct end *end, uint64_t wr_id, enum ibv_wc_status status)
{
    struct ibv_wc wc;

    test_poll(end->cq, 1, &wc);
    assert_int_equal(wc.wr_id, wr_id);
    assert_int_equal(wc.status, status);
}

void works(struct pair *pair)
{
    struct end *ends[2] = { &pair->active, &pair->passive };

    for (int i = 0; i < 2; i++) {
        struct end *from = ends[i], *to = ends[!i];

        memset(from->memory, 'a' + i, 64);
        end_recv(to, 1, 4096, 64);
        end_post(from, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
        end_post(from, IBV_WR_RDMA_WRITE, 3, 0, 64, to, 8192, 0);
        end_post(from, IBV_WR_RDMA_READ, 4, 12288, 64, to, 8192, 0);
        expect(to, 1, IBV_WC_SUCCESS);
        for (uint64_t id = 2; id <= 4; id++)
            expect(from, id, IBV_WC_SUCCESS);
        assert_memory_equal(to->memory + 4096, from->memory, 64);
        assert_memory_equal(from->memory + 12288, from->memory, 64);
    }
}

bool is_connected(struct end *end)
{
    struct srd_conn *conn = srd_qp_conn(srd_qp_from(end->qp));

    if (conn)
        srd_conn_unref(conn);
    return conn != NULL;
}
/* ---- how long a request waits ---- */

static int answer_limit(const char *ms)
{
    return setenv("NDSPI_SOFT_ANSWER_MS", ms, 1);
}

int usual_limit(void **state)
{
    (void)state;
    return unsetenv("NDSPI_SOFT_ANSWER_MS");
}

int short_limit(void **state)
{
    (void)state;
    return answer_limit("100");
}

void limit_from_now_on(void)
{
    assert_int_equal(answer_limit("100"), 0);
}

/* ---- a peer made by hand ---- */

void put(uint8_t *at, uint32_t value)
{
    value = htonl(value);
    memcpy(at, &value, sizeof(value));
}

static int send_request_to(
    const char *from, const char *to_host, uint32_t to, const uint8_t *data, uint8_t octets)
{
    static const uint8_t request[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
        'r', 'a', 'm', 'e', 0x14, 2, 0, 0, 0x80, 4, 0x80, 4 };
    struct sockaddr_storage own, address;
    uint8_t frame[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    test_address(from, 0, &own);
    test_address(to_host, (uint16_t)(to >> 8), &address);
    assert_int_equal(bind(fd, (struct sockaddr *)&own, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(struct sockaddr_in)), 0);
    memcpy(frame, request, sizeof(request));
    frame[19] = (uint8_t)(octets + 4);
    memcpy(frame + sizeof(request), data, octets);
    assert_int_equal(
        send(fd, frame, sizeof(request) + octets, MSG_NOSIGNAL), (int)sizeof(request) + octets);
    return fd;
}

int send_request(const char *from, uint32_t to, const uint8_t *data, uint8_t octets)
{
    return send_request_to(from, "127.0.0.1", to, data, octets);
}

bool is_accepted(int fd)
{
    uint8_t reply[20];

    assert_int_equal(recv(fd, reply, sizeof(reply), MSG_WAITALL), (int)sizeof(reply));
    assert_memory_equal(reply, "MPA ID Rep Frame", 16);
    return !(reply[16] & 0x20);
}
void open_by_hand_at(
    struct by_hand *peer, const char *host, const char *end_host, bool larger, int backlog)
{
    struct sockaddr_storage address;
    uint32_t port;

    memset(peer, 0, sizeof(*peer));
    peer->host = host;
    peer->end_host = end_host;
    end_open(&peer->end);
    make_qp(&peer->end);
    port = peer->end.qp->qp_num >> 8;
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    do {
        port += larger ? 1 : (uint32_t)-1;
        assert_true(port >= 1 << 15 && port < 1 << 16);
        test_address(host, (uint16_t)port, &address);
    } while (bind(peer->listener, (struct sockaddr *)&address, sizeof(struct sockaddr_in)));
    assert_int_equal(listen(peer->listener, backlog), 0);
    peer->number = port << 8 | 5;
    memcpy(peer->card, (uint8_t[]){ 's', 'r', 'x', 1 }, 4);
    put(peer->card + 4, peer->number);
    put(peer->card + 8, peer->end.qp->qp_num);
    put(peer->card + 12, PSN);
}

void open_by_hand(struct by_hand *peer, bool larger, int backlog)
{
    open_by_hand_at(peer, "127.0.0.1", "127.0.0.1", larger, backlog);
}

void ask_by_hand(struct by_hand *peer)
{
    struct ibv_qp_attr attr = rtr_attr(&peer->end, peer->number, peer->end_host);

    assert_int_equal(inet_pton(AF_INET, peer->host, attr.ah_attr.grh.dgid.raw + 12), 1);
    assert_int_equal(srd_modify_qp(peer->end.qp, &attr, RTR_MASK), 0);
}

void close_by_hand(struct by_hand *peer)
{
    close(peer->listener);
    end_close(&peer->end);
}

int ask_the_end(struct by_hand *peer)
{
    return send_request_to(
        peer->host, peer->end_host, peer->end.qp->qp_num, peer->card, sizeof(peer->card));
}

int read_request(struct by_hand *peer)
{
    uint8_t request[40], card[16] = { 's', 'r', 'x', 1 };
    int fd = accept(peer->listener, NULL, NULL);

    assert_true(fd >= 0);
    assert_int_equal(recv(fd, request, sizeof(request), MSG_WAITALL), (int)sizeof(request));
    assert_memory_equal(request, "MPA ID Req Frame", 16);
    put(card + 4, peer->end.qp->qp_num);
    put(card + 8, peer->number);
    put(card + 12, PSN);
    assert_memory_equal(request + 24, card, sizeof(card));
    return fd;
}

void answer(struct by_hand *peer, int fd, bool accept)
{
    uint8_t reply[40] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F', 'r', 'a', 'm',
        'e', 0x12, 2, 0, 20, 0x80, 1, 0x80, 1 };

    if (!accept)
        reply[16] |= 0x20;
    memcpy(reply + 24, peer->card, sizeof(peer->card));
    assert_int_equal(send(fd, reply, sizeof(reply), MSG_NOSIGNAL), (int)sizeof(reply));
}

void expect_end(int fd)
{
    uint8_t octet;

    assert_true(recv(fd, &octet, 1, 0) <= 0);
    close(fd);
}
