/* SPDX-License-Identifier: MIT */
/* The connection manager against peers made of raw sockets. */
#include "tests/support/haste.h"
#include "tests/unit/softrdma/pair.h"
#include "softrdma/cm/id.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/util/log_catch.h"

/* Revision 2 with the enhanced word: peer-to-peer, RTR by Write or Read, read depths 4 and 4. */
static const uint8_t request_2[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
    'r', 'a', 'm', 'e', 0x10, 2, 0, 4, 0x80, 4, 0xC0, 4 };
static const uint8_t request_1[20] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
    'r', 'a', 'm', 'e', 0, 1, 0, 0 };
/* The accepting answer to a revision 2 request; RTR by Write, read depths 4 and 4. */
static const uint8_t reply_2[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F',
    'r', 'a', 'm', 'e', 0x10, 2, 0, 4, 0x80, 4, 0x80, 4 };
static const uint8_t reply_1[20] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F',
    'r', 'a', 'm', 'e', 0, 1, 0, 0 };

/* ---- raw peers ---- */

static int raw_connect(const struct sockaddr_storage *address)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(struct sockaddr_in)), 0);
    return fd;
}

/* Octets until count are there or the stream ends; fails after timeout_ms. */
static size_t raw_read(int fd, uint8_t *buffer, size_t count, int timeout_ms)
{
    size_t got = 0;

    while (got < count) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        ssize_t n;
        assert_int_equal(poll(&p, 1, timeout_ms), 1);
        n = read(fd, buffer + got, count - got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    return got;
}

static void a_revision_1_request_is_answered_in_kind(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    uint8_t reply[64];
    struct pair pair;
    int fd;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.passive);
    fd = raw_connect(&pair.address);
    /* One octet at a time. */
    for (size_t i = 0; i < sizeof(request_1); i++)
        assert_int_equal(send(fd, request_1 + i, 1, MSG_NOSIGNAL), 1);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&pair.passive);
    param.qp_num = pair.passive.qp->qp_num;
    assert_int_equal(srd_accept(pair.passive.id, &param), 0);
    assert_int_equal(raw_read(fd, reply, 20, DEADLINE_MS), 20);
    assert_memory_equal(reply, reply_1, 20);
    close(fd);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_REJECTED), 28);
    pair_close(&pair);
}

static void closed_without_an_answer(const void *octets, size_t count, int timeout_ms)
{
    struct pair pair;
    uint8_t answer[64];
    struct pollfd fd;
    int peer;

    pair_listen(&pair, "127.0.0.1");
    peer = raw_connect(&pair.address);
    if (count)
        assert_int_equal(send(peer, octets, count, MSG_NOSIGNAL), (int)count);
    assert_int_equal(raw_read(peer, answer, sizeof(answer), timeout_ms), 0);
    fd = (struct pollfd){ .fd = pair.passive.events->fd, .events = POLLIN };
    assert_int_equal(poll(&fd, 1, 0), 0); /* the program gets no event */
    close(peer);
    pair_close(&pair);
}

static void what_is_not_mpa_is_closed(void **state)
{
    (void)state;
    closed_without_an_answer("GET / HTTP/1.0\r\n\r\n  ", 20, DEADLINE_MS);
    closed_without_an_answer(reply_2, sizeof(reply_2), DEADLINE_MS); /* a responder at both ends */
}

enum { HASTE = 10 };

static void a_peer_that_stays_silent_is_closed_after_5_seconds(void **state)
{
    uint64_t start_ms = test_now_ms();

    (void)state;
    haste_begin(HASTE);
    closed_without_an_answer(NULL, 0, DEADLINE_MS);
    haste_end();
    assert_true(test_now_ms() - start_ms >= 4900);
}

static void a_peer_that_wants_markers_is_rejected(void **state)
{
    uint8_t wants_markers[24], reply[64];
    struct pair pair;
    int fd;

    (void)state;
    memcpy(wants_markers, request_2, sizeof(wants_markers));
    wants_markers[16] |= 0x80;
    pair_listen(&pair, "127.0.0.1");
    fd = raw_connect(&pair.address);
    assert_int_equal(send(fd, wants_markers, 24, MSG_NOSIGNAL), 24);
    assert_true(raw_read(fd, reply, 64, DEADLINE_MS) >= 20);
    assert_int_equal(reply[16] & 0x20, 0x20); /* rejected */
    assert_int_equal(reply[16] & 0x80, 0);    /* and no markers asked for */
    close(fd);
    pair_close(&pair);
}

/* The clock stands in the rows about half-open connections: only what they say closes one, however slow the host is. */
enum { STANDS = 0 };

/* Waits until the listener holds so many, none of which has sent its request. */
static void await_half_open(struct pair *pair, int count)
{
    struct srd_id *listener = srd_id_from(pair->listener);
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;
    int there;

    do {
        lock_acquire(&listener->lock);
        there = listener->n_half_open;
        lock_release(&listener->lock);
        if (haste_real_ms() > end_ms)
            fail_msg("%d of %d half-open connections", there, count);
    } while (there < count && !sched_yield());
}

static void expect_open(int fd)
{
    uint8_t octet;

    assert_int_equal(recv(fd, &octet, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

/* A host that many connect to at a time sees their requests late. */
static void a_crowd_that_sends_its_requests_is_served(void **state)
{
    enum { COUNT = 200 };
    int fd[COUNT];
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    haste_begin(STANDS);
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < COUNT; i++)
        fd[i] = raw_connect(&pair.address);
    await_half_open(&pair, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(send(fd[i], request_2, 24, MSG_NOSIGNAL), 24);
    for (int i = 0; i < COUNT; i++) {
        event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_int_equal(srd_destroy_id(event->id), 0);
        assert_int_equal(srd_ack_cm_event(event), 0);
    }
    haste_end();
    pair_close(&pair);
    for (int i = 0; i < COUNT; i++)
        close(fd[i]);
}

/* ---- the order of requests ---- */

/* The listener's accepts: held until there are two connections; both requests come between the first and the second. */
static _Atomic enum { PASS, HELD, FIRST, SECOND, FAILS } accepts;
static atomic_int failures; /* to come, of accepts that fail */
static int in_order[2];

int __real_accept4(int fd, struct sockaddr *address, socklen_t *octets, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *octets, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *octets, int flags)
{
    switch (atomic_load(&accepts)) {
    case PASS: break;
    case HELD: errno = EAGAIN; return -1;
    case FIRST: atomic_store(&accepts, SECOND); break;
    case FAILS:
        if (atomic_fetch_sub(&failures, 1) <= 1)
            atomic_store(&accepts, PASS);
        errno = EPERM;
        return -1;
    case SECOND:
        atomic_store(&accepts, PASS);
        for (int i = 0; i < 2; i++)
            assert_int_equal(send(in_order[i], request_2, 24, MSG_NOSIGNAL), 24);
    }
    return __real_accept4(fd, address, octets, flags);
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t octets = sizeof(address);

    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &octets), 0);
    return address.sin_port;
}

/* Also where the second's was there when it was accepted, and the first's was not. */
static void requests_are_reported_in_the_order_in_which_they_came(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    atomic_store(&accepts, HELD);
    for (int i = 0; i < 2; i++)
        in_order[i] = raw_connect(&pair.address);
    atomic_store(&accepts, FIRST);
    for (int i = 0; i < 2; i++) {
        event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_int_equal(event->id->route.addr.dst_sin.sin_port, port_of(in_order[i]));
        assert_int_equal(srd_destroy_id(event->id), 0);
        assert_int_equal(srd_ack_cm_event(event), 0);
    }
    pair_close(&pair);
    close(in_order[0]);
    close(in_order[1]);
}

/* Whatever the reason, it is said, and asked again a while later: the socket stays readable. */
static void a_failing_accept_is_tried_again_after_a_while(void **state)
{
    enum { FAILURES = 3, PAUSE_MS = 200 };
    uint64_t before_ms = test_now_ms();
    struct rdma_cm_event *event;
    struct pair pair;
    int fd;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    log_catch();
    atomic_store(&failures, FAILURES);
    atomic_store(&accepts, FAILS);
    fd = raw_connect(&pair.address);
    assert_int_equal(send(fd, request_2, 24, MSG_NOSIGNAL), 24);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_non_null(strstr(log_caught(), ": Operation not permitted; trying again every 200 ms"));
    assert_true(test_now_ms() - before_ms >= FAILURES * (PAUSE_MS - 10));
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_close(&pair);
    close(fd);
}

/* More than 128, and the oldest have had half a second: with the next that comes, they go. */
static void half_open_connections_are_bounded(void **state)
{
    enum { COUNT = 140, KEPT = 128, AGE_MS = 500 };
    int fd[COUNT + 1];
    uint8_t octet;
    struct pair pair;

    (void)state;
    haste_begin(STANDS);
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < COUNT; i++)
        fd[i] = raw_connect(&pair.address);
    await_half_open(&pair, COUNT);
    expect_open(fd[0]);
    haste_skip_ms(AGE_MS + 100);
    fd[COUNT] = raw_connect(&pair.address);
    for (int i = 0; i <= COUNT - KEPT; i++)
        assert_int_equal(raw_read(fd[i], &octet, 1, DEADLINE_MS), 0);
    for (int i = COUNT - KEPT + 1; i <= COUNT; i++)
        expect_open(fd[i]);
    haste_end();
    pair_close(&pair);
    for (int i = 0; i <= COUNT; i++)
        close(fd[i]);
}

/* More than a quarter of the files the process may have: the oldest go, however young. */
static void a_flood_of_half_open_connections_is_bounded_at_once(void **state)
{
    enum { COUNT = 170, FILES = 600, KEPT = 150 };
    struct rlimit before, files;
    int fd[COUNT];
    uint8_t octet;
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    files = before;
    files.rlim_cur = FILES;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    haste_begin(STANDS);
    pair_listen(&pair, "127.0.0.1");
    for (int i = 0; i < COUNT; i++)
        fd[i] = raw_connect(&pair.address);
    for (int i = 0; i < COUNT - KEPT; i++)
        assert_int_equal(raw_read(fd[i], &octet, 1, DEADLINE_MS), 0);
    assert_int_equal(send(fd[COUNT - 1], request_2, 24, MSG_NOSIGNAL), 24);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    haste_end();
    pair_close(&pair);
    for (int i = 0; i < COUNT; i++)
        close(fd[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int raw_accept(int listener)
{
    struct pollfd p = { .fd = listener, .events = POLLIN };
    int fd;

    assert_int_equal(poll(&p, 1, DEADLINE_MS), 1);
    fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void start_connect(struct end *end, struct sockaddr_storage *address)
{
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };

    end_open(end);
    end_make_qp(end);
    end_resolve(end, address);
    param.qp_num = end->qp->qp_num;
    assert_int_equal(srd_connect(end->id, &param), 0);
}

static void an_old_peer_is_tried_again_with_revision_1(void **state)
{
    struct sockaddr_storage address;
    uint8_t frame[64];
    struct end end;
    int listener, fd;

    (void)state;
    listener = raw_listen(&address);
    start_connect(&end, &address);
    fd = raw_accept(listener);
    assert_int_equal(raw_read(fd, frame, 24, DEADLINE_MS), 24);
    assert_memory_equal(frame, request_2, 16);
    assert_int_equal(frame[17], 2);
    assert_int_equal(frame[16] & 0x80, 0); /* never asks for markers */
    close(fd);                             /* does not know revision 2 */
    fd = raw_accept(listener);
    assert_int_equal(raw_read(fd, frame, 20, DEADLINE_MS), 20);
    assert_int_equal(frame[16] & 0x10, 0);
    assert_int_equal(frame[17], 1);
    assert_int_equal(send(fd, reply_1, sizeof(reply_1), MSG_NOSIGNAL), (int)sizeof(reply_1));
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
    close(fd);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_REJECTED), 28);
    close(listener);
    end_close(&end);
}

static void a_peer_that_closes_twice_has_rejected(void **state)
{
    struct sockaddr_storage address;
    struct end end;
    int listener;

    (void)state;
    listener = raw_listen(&address);
    start_connect(&end, &address);
    close(raw_accept(listener));
    close(raw_accept(listener));
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_REJECTED), -ECONNRESET);
    close(listener);
    end_close(&end);
}

static void a_peer_that_does_not_close_is_left_after_2_seconds(void **state)
{
    struct sockaddr_storage address;
    uint8_t frame[64];
    uint64_t start_ms;
    struct ibv_wc wc;
    struct end end;
    int listener, fd;

    (void)state;
    listener = raw_listen(&address);
    start_connect(&end, &address);
    fd = raw_accept(listener);
    assert_int_equal(raw_read(fd, frame, 24, DEADLINE_MS), 24);
    assert_int_equal(send(fd, reply_2, sizeof(reply_2), MSG_NOSIGNAL), (int)sizeof(reply_2));
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
    end_to_rts(&end);
    assert_int_equal(srd_establish(end.id), 0);
    assert_int_equal(raw_read(fd, frame, 20, DEADLINE_MS), 20); /* the RTR: a zero-length Write */
    assert_int_equal(frame[0], 0);
    assert_int_equal(frame[1], 14);
    assert_int_equal(frame[3] & 0x0F, 0);
    end_recv(&end, 1, 0, 8);
    start_ms = test_now_ms();
    haste_begin(HASTE);
    assert_int_equal(srd_disconnect(end.id), 0);
    assert_int_equal(ibv_poll_cq(end.cq, 1, &wc), 1); /* flushed at once all the same */
    assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_DISCONNECTED), -ETIMEDOUT);
    haste_end();
    assert_true(test_now_ms() - start_ms >= 1900);
    close(fd);
    close(listener);
    end_close(&end);
}

/* ---- a refusal that TCP has not ended the attempt for ---- */

/*
 * As Linux does where the ICMP error comes while the socket is in use: SO_ERROR tells it, and TCP goes on with the
 * attempt, which the next connect finds under way.
 */
static _Atomic enum { NO_FIREWALL, REFUSES, UNDER_WAY } firewall;
static atomic_uint found_under_way;

int __real_connect(int fd, const struct sockaddr *address, socklen_t octets);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t octets);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t octets)
{
    if (atomic_load(&firewall) != UNDER_WAY)
        return __real_connect(fd, address, octets);
    atomic_fetch_add(&found_under_way, 1);
    atomic_store(&firewall, REFUSES);
    errno = EALREADY;
    return -1;
}

int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *octets);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *octets);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *octets)
{
    int rc = __real_getsockopt(fd, level, name, value, octets);

    if (level == SOL_SOCKET && name == SO_ERROR && atomic_load(&firewall) == REFUSES) {
        *(int *)value = ECONNREFUSED;
        atomic_store(&firewall, UNDER_WAY);
    }
    return rc;
}

static void a_firewall_that_refuses_by_icmp_refuses_when_the_patience_ends(void **state)
{
    enum { PATIENCE_MS = 60000, HASTE_TO_ITS_END = 500 };
    struct sockaddr_storage address;
    uint64_t before_ms;
    struct end end;

    (void)state;
    assert_int_equal(setenv("NDSPI_SOFT_PATIENCE_MS", "60000", 1), 0);
    close(raw_listen(&address));
    atomic_store(&firewall, REFUSES);
    before_ms = test_now_ms();
    start_connect(&end, &address);
    while (atomic_load(&found_under_way) < 2)
        poll(NULL, 0, 1); /* it tries again, by its own clock */
    haste_begin(HASTE_TO_ITS_END);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_REJECTED), 8);
    haste_end();
    assert_true(test_now_ms() - before_ms >= PATIENCE_MS);
    atomic_store(&firewall, NO_FIREWALL);
    unsetenv("NDSPI_SOFT_PATIENCE_MS");
    end_close(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_revision_1_request_is_answered_in_kind),
        cmocka_unit_test(what_is_not_mpa_is_closed),
        cmocka_unit_test(a_peer_that_stays_silent_is_closed_after_5_seconds),
        cmocka_unit_test(a_peer_that_wants_markers_is_rejected),
        cmocka_unit_test(a_crowd_that_sends_its_requests_is_served),
        cmocka_unit_test(requests_are_reported_in_the_order_in_which_they_came),
        cmocka_unit_test(a_failing_accept_is_tried_again_after_a_while),
        cmocka_unit_test(half_open_connections_are_bounded),
        cmocka_unit_test(a_flood_of_half_open_connections_is_bounded_at_once),
        cmocka_unit_test(an_old_peer_is_tried_again_with_revision_1),
        cmocka_unit_test(a_peer_that_closes_twice_has_rejected),
        cmocka_unit_test(a_peer_that_does_not_close_is_left_after_2_seconds),
        cmocka_unit_test(a_firewall_that_refuses_by_icmp_refuses_when_the_patience_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
