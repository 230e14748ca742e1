/* SPDX-License-Identifier: MIT */
/* What the connection manager waits for, and how each wait ends; in which order that is reported. */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/cm/id.h"
#include "reactor/internal.h"
#include "tests/support/cancels.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* Revision 2 with the enhanced word: peer-to-peer, RTR by Write, read depths 4 and 4. */
static const uint8_t request_2[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
    'r', 'a', 'm', 'e', 0x10, 2, 0, 4, 0x80, 4, 0x80, 4 };
static const uint8_t request_1[20] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
    'r', 'a', 'm', 'e', 0, 1, 0, 0 };
static const uint8_t reply_2[24] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F',
    'r', 'a', 'm', 'e', 0x10, 2, 0, 4, 0x80, 4, 0x80, 4 };
/* A Write of nothing to STag 1, last, without CRC: 14 octets behind the length, then the empty CRC field. */
static const uint8_t rtr[20] = { 0, 14, 0xC1, 0x40, 0, 0, 0, 1 };

static int raw_connect(const struct sockaddr_storage *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(struct sockaddr_in)), 0);
    return fd;
}

static void raw_send(int fd, const void *octets, size_t count)
{
    assert_int_equal(send(fd, octets, count, MSG_NOSIGNAL), (int)count);
}

static void raw_read(int fd, uint8_t *octets, size_t count)
{
    assert_int_equal(recv(fd, octets, count, MSG_WAITALL), (int)count);
}

/* ---- revision 1 between two softrdma ends ---- */

struct proxy {
    int listener;
    struct sockaddr_storage to;
};

/* Octets one way; false at the end of that stream. */
static bool relay(int from, int to)
{
    uint8_t octets[4096];
    ssize_t got = recv(from, octets, sizeof(octets), 0);

    if (got > 0)
        raw_send(to, octets, (size_t)got);
    else
        shutdown(to, SHUT_WR);
    return got > 0;
}

/* Closes the first connection, as a responder of revision 1 does; what comes second is relayed. */
static void *run_proxy(void *argument)
{
    struct proxy *proxy = argument;
    struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };

    close(accept(proxy->listener, NULL, NULL));
    fds[0].fd = accept(proxy->listener, NULL, NULL);
    fds[1].fd = raw_connect(&proxy->to);
    for (int open = 2; open;) {
        assert_true(poll(fds, 2, -1) > 0);
        for (int i = 0; i < 2; i++) {
            int other = i ? fds[0].fd : fds[1].fd;
            if (!fds[i].revents || relay(fds[i].fd, other < 0 ? ~other : other))
                continue;
            fds[i].fd = ~fds[i].fd; /* negative: left out */
            open--;
        }
    }
    close(~fds[0].fd);
    close(~fds[1].fd);
    return NULL;
}

static void after_the_fall_back_accept_ends_with_establish(void **state)
{
    struct sockaddr_storage listening;
    struct proxy proxy;
    struct pair pair;
    struct ibv_wc wc;
    pthread_t thread;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    proxy.to = pair.address;
    proxy.listener = raw_listen(&listening);
    assert_int_equal(pthread_create(&thread, NULL, run_proxy, &proxy), 0);
    end_make_qp(&pair.active);
    end_make_qp(&pair.passive);
    end_resolve(&pair.active, &listening);
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair); /* nothing was sent yet */
    /* And the passive end may be the first to send. */
    end_recv(&pair.active, 1, 0, 64);
    end_post(&pair.passive, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(wc.wr_id, 2);
    pair_close(&pair);
    pthread_join(thread, NULL);
    close(proxy.listener);
}

/* ---- limits ---- */

static int short_limit(void **state)
{
    (void)state;
    return setenv("NDSPI_SOFT_ANSWER_MS", "100", 1);
}

static int usual_limit(void **state)
{
    (void)state;
    return unsetenv("NDSPI_SOFT_ANSWER_MS");
}

static void a_request_that_nobody_answers_times_out(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
    struct sockaddr_storage address;
    struct end end;
    int listener = raw_listen(&address); /* TCP takes the connection; no program does */

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    end_resolve(&end, &address);
    param.qp_num = end.qp->qp_num;
    assert_int_equal(srd_connect(end.id, &param), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_UNREACHABLE), -ETIMEDOUT);
    assert_int_equal(srd_establish(end.id), -1);
    assert_int_equal(errno, ENOTCONN);
    close(listener);
    end_close(&end);
}

/* A request of octets, and the program's answer to it. Returns the peer's socket. */
static int accepted_raw(struct pair *pair, const uint8_t *request, size_t octets)
{
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
    struct rdma_cm_event *event;
    uint8_t reply[24];
    int fd;

    end_make_qp(&pair->passive);
    fd = raw_connect(&pair->address);
    raw_send(fd, request, octets);
    event = test_event(pair->passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair->passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&pair->passive);
    param.qp_num = pair->passive.qp->qp_num;
    assert_int_equal(srd_accept(pair->passive.id, &param), 0);
    raw_read(fd, reply, octets);
    return fd;
}

static void a_reply_that_is_never_confirmed_times_out(void **state)
{
    struct pair pair;
    uint8_t octet;
    int fd;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    fd = accepted_raw(&pair, request_2, sizeof(request_2));
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_UNREACHABLE), -ETIMEDOUT);
    assert_int_equal(recv(fd, &octet, 1, 0), 0); /* and closed */
    close(fd);
    pair_close(&pair);
}

/*
 * It owes no confirmation, so its silence is none to end a connection for. What is posted here waits for its first
 * message.
 */
static void a_peer_that_confirms_nothing_is_connected_at_the_limit(void **state)
{
    struct pair pair;
    struct ibv_wc wc;
    uint8_t octet;
    int fd;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    fd = accepted_raw(&pair, request_1, sizeof(request_1));
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    end_post(&pair.passive, IBV_WR_SEND, 1, 0, 8, NULL, 0, 0);
    assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
    assert_int_equal(recv(fd, &octet, 1, MSG_DONTWAIT), -1);
    raw_send(fd, rtr, sizeof(rtr));
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    close(fd);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    pair_close(&pair);
}

static void a_limit_of_0_is_none(void **state)
{
    struct pair pair;
    struct pollfd fd = { .events = POLLIN };
    int peer;

    (void)state;
    setenv("NDSPI_SOFT_ANSWER_MS", "0", 1);
    pair_listen(&pair, "127.0.0.1");
    peer = accepted_raw(&pair, request_2, sizeof(request_2));
    fd.fd = pair.passive.events->fd;
    assert_int_equal(poll(&fd, 1, 200), 0); /* no news: the time may well pass */
    raw_send(peer, rtr, sizeof(rtr));
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    close(peer);
    pair_close(&pair);
}

struct holding {
    struct lock *lock;
    atomic_bool held;
};

/* Longer than the 2 seconds that a peer has to close its side. */
static void *hold_long(void *argument)
{
    struct holding *holding = argument;

    lock_acquire(holding->lock);
    atomic_store(&holding->held, true);
    poll(NULL, 0, 2200);
    lock_release(holding->lock);
    return NULL;
}

/* The background thread comes to the end of one connection's time late, as in a process that got no processor. */
static void a_peer_that_closed_in_time_has_done_so_whenever_that_is_seen(void **state)
{
    struct holding holding = { 0 };
    struct pair pair;
    pthread_t thread;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    holding.lock = &srd_id_from(pair.passive.id)->lock; /* it needs this to report the other end */
    assert_int_equal(pthread_create(&thread, NULL, hold_long, &holding), 0);
    while (!atomic_load(&holding.held))
        sched_yield();
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    pthread_join(thread, NULL);
    pair_close(&pair);
}

/* ---- order ---- */

/* Waits until the listener has a connection that has not sent its request. */
static void await_half_open(const struct pair *pair)
{
    struct srd_id *listener = srd_id_from(pair->listener);
    int there;

    do {
        lock_acquire(&listener->lock);
        there = listener->n_half_open;
        lock_release(&listener->lock);
    } while (!there && !sched_yield());
}

/*
 * A peer sends a second request behind the RTR of its first connection. The background thread is held in the reactor
 * while both arrive. A turn serves first what became ready last: the request, if the second connection was there before
 * (accepted), otherwise the RTR's connection.
 */
static void expect_established_before_a_later_request(bool accepted)
{
    struct rdma_cm_event *event;
    struct pair pair;
    int first, second = -1;

    pair_listen(&pair, "127.0.0.1");
    first = accepted_raw(&pair, request_2, sizeof(request_2));
    if (accepted) {
        second = raw_connect(&pair.address);
        await_half_open(&pair);
    }
    lock_acquire(&reactor.lock);
    if (!accepted)
        second = raw_connect(&pair.address);
    raw_send(first, rtr, sizeof(rtr));
    raw_send(second, request_2, sizeof(request_2));
    lock_release(&reactor.lock);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    close(first);
    close(second);
    pair_close(&pair);
}

static void established_is_reported_before_a_later_request(void **state)
{
    (void)state;
    expect_established_before_a_later_request(false);
    expect_established_before_a_later_request(true);
}

/* With the queue pair on the id there is no srd_establish: ESTABLISHED says that the RTR is on its way. */
static void established_is_reported_behind_the_rtr(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 4, .initiator_depth = 4 };
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct sockaddr_storage address;
    uint8_t frame[64];
    int listener = raw_listen(&address);

    (void)state;
    for (int i = 0; i < 100; i++) {
        struct ibv_qp_init_attr copy = init;
        struct end end;
        int fd;

        end_open(&end);
        end_resolve(&end, &address);
        assert_int_equal(srd_create_id_qp(end.id, NULL, &copy), 0);
        assert_int_equal(srd_connect(end.id, &param), 0);
        fd = accept(listener, NULL, NULL);
        raw_read(fd, frame, 24);
        raw_send(fd, reply_2, sizeof(reply_2));
        assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ESTABLISHED), 0);
        assert_int_equal(recv(fd, frame, sizeof(frame), MSG_DONTWAIT), 20);
        srd_destroy_id_qp(end.id);
        close(fd);
        end_close(&end);
    }
    close(listener);
}

/* ---- a channel destroyed while a thread waits ---- */

static void *wait_for_events(void *argument)
{
    struct rdma_cm_event *event;

    srd_get_cm_event(argument, &event);
    return (void *)1; /* not reached */
}

/* As with a kernel device the thread sleeps on, without touching the channel again. */
static void a_channel_may_be_destroyed_under_a_waiting_thread(void **state)
{
    struct srd_evq *q;
    struct pair pair;
    pthread_t thread;
    struct ibv_wc wc;
    void *result;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct rdma_event_channel *channel = srd_create_event_channel();

        q = &((struct srd_event_channel *)channel)->q;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_events, channel), 0);
        while (!atomic_load(&q->sleepers.word))
            sched_yield();
        srd_destroy_event_channel(channel);
        /* What wakes threads that wait for the device: */
        pair_connect(&pair, "127.0.0.1");
        end_recv(&pair.passive, 1, 0, 64);
        end_post(&pair.active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
        test_poll(pair.passive.cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        pair_close(&pair);
        assert_int_equal(pthread_cancel(thread), 0); /* a sleep is where a thread can be canceled */
        assert_int_equal(pthread_join(thread, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED);
    }
}

#if CANCELS
/*
 * And a thread canceled in its sleep leaves no trace: the channel can be destroyed, and the device makes progress as
 * before.
 */
static void a_waiting_thread_may_be_canceled(void **state)
{
    struct rdma_event_channel *channel = srd_create_event_channel();
    struct srd_evq *q = &((struct srd_event_channel *)channel)->q;
    pthread_t thread;
    void *result;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_events, channel), 0);
    while (!atomic_load(&q->sleepers.word))
        sched_yield();
    assert_int_equal(pthread_cancel(thread), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&q->sleepers.word), 0);
    assert_true(list_empty(&q->waiters));
    srd_destroy_event_channel(channel);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_the_fall_back_accept_ends_with_establish),
        cmocka_unit_test_setup_teardown(
            a_request_that_nobody_answers_times_out, short_limit, usual_limit),
        cmocka_unit_test_setup_teardown(
            a_reply_that_is_never_confirmed_times_out, short_limit, usual_limit),
        cmocka_unit_test_setup_teardown(
            a_peer_that_confirms_nothing_is_connected_at_the_limit, short_limit, usual_limit),
        cmocka_unit_test_setup_teardown(a_limit_of_0_is_none, short_limit, usual_limit),
        cmocka_unit_test(a_peer_that_closed_in_time_has_done_so_whenever_that_is_seen),
        cmocka_unit_test(established_is_reported_before_a_later_request),
        cmocka_unit_test(established_is_reported_behind_the_rtr),
        cmocka_unit_test(a_channel_may_be_destroyed_under_a_waiting_thread),
#if CANCELS
        cmocka_unit_test(a_waiting_thread_may_be_canceled),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
