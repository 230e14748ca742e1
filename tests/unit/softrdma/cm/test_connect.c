/* SPDX-License-Identifier: MIT */
/* Connections end to end: establish, move data each way, refuse, disconnect; over IPv4 and IPv6. */
#include "tests/unit/softrdma/pair.h"
#include "tests/unit/softrdma/receive_side.h"
#include "softrdma/connection/conn.h"
#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
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

static void move_data(const char *host)
{
    struct pair pair;
    struct ibv_wc wc[2];

    pair_connect(&pair, host);
    memcpy(pair.active.memory, "from active", 12);
    end_recv(&pair.passive, 7, 100, 64);
    end_post(&pair.active, IBV_WR_SEND, 8, 0, 12, NULL, 0, 0);
    test_poll(pair.passive.cq, 1, wc);
    assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[0].opcode, IBV_WC_RECV);
    assert_int_equal(wc[0].wr_id, 7);
    assert_int_equal(wc[0].byte_len, 12);
    assert_memory_equal(pair.passive.memory + 100, "from active", 12);
    test_poll(pair.active.cq, 1, wc);
    assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[0].opcode, IBV_WC_SEND);
    assert_int_equal(wc[0].wr_id, 8);

    memset(pair.passive.memory + 4096, 0x5a, 500000);
    end_post(&pair.passive, IBV_WR_RDMA_WRITE, 9, 4096, 500000, &pair.active, 8192, 0);
    test_poll(pair.passive.cq, 1, wc);
    assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[0].opcode, IBV_WC_RDMA_WRITE);
    assert_memory_equal(pair.passive.memory + 4096, pair.active.memory + 8192, 500000);

    memset(pair.passive.memory, 0x3c, 4096);
    end_post(&pair.active, IBV_WR_RDMA_READ, 10, 16384, 4096, &pair.passive, 0, 0);
    test_poll(pair.active.cq, 1, wc);
    assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
    assert_int_equal(wc[0].opcode, IBV_WC_RDMA_READ);
    assert_memory_equal(pair.active.memory + 16384, pair.passive.memory, 4096);
    pair_close(&pair);
}

static void data_moves_over_ipv4(void **state)
{
    (void)state;
    move_data("127.0.0.1");
}

static void data_moves_over_ipv6(void **state)
{
    (void)state;
    move_data("::1");
}

static void disconnect_flushes_both_and_tells_both(void **state)
{
    struct pair pair;
    struct ibv_wc wc[2];

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.active, 1, 0, 64);
    end_recv(&pair.passive, 2, 0, 64);
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    /* The flush comes no later than the event. */
    assert_int_equal(ibv_poll_cq(pair.passive.cq, 2, wc), 1);
    assert_int_equal(wc[0].wr_id, 2);
    assert_int_equal(wc[0].status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(ibv_poll_cq(pair.active.cq, 2, wc), 1);
    assert_int_equal(wc[0].wr_id, 1);
    assert_int_equal(wc[0].status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(srd_disconnect(pair.passive.id), 0); /* twice is harmless */
    pair_close(&pair);
}

static void destroyed_id_disconnects_its_peer(void **state)
{
    struct pair pair;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_int_equal(srd_destroy_id(pair.active.id), 0);
    pair.active.id = NULL;
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    pair_close(&pair);
}

static void destroyed_queue_pair_disconnects_its_peer(void **state)
{
    struct pair pair;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
    pair.active.qp = NULL;
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    pair_close(&pair);
}

static void private_data_and_limits_arrive(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 3, .initiator_depth = 5 };
    uint8_t request[56], reply[148];
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    memset(request, 'q', sizeof(request));
    memset(reply, 'p', sizeof(reply));
    pair_prepare(&pair, "127.0.0.1");
    param.qp_num = pair.active.qp->qp_num;
    param.private_data = request;
    param.private_data_len = 57;
    assert_int_equal(srd_connect(pair.active.id, &param), -1);
    assert_int_equal(errno, EINVAL);
    param.private_data_len = 56;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);

    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(event->param.conn.private_data_len, 56);
    assert_memory_equal(event->param.conn.private_data, request, 56);
    assert_int_equal(event->param.conn.responder_resources, 5);
    assert_int_equal(event->param.conn.initiator_depth, 3);
    assert_ptr_equal(event->id->context, &pair); /* the listener's */
    assert_int_equal(event->id->route.addr.dst_sin.sin_port, srd_get_src_port(pair.active.id));
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);

    end_to_rts(&pair.passive);
    param.qp_num = pair.passive.qp->qp_num;
    param.responder_resources = 2;
    param.initiator_depth = 2;
    param.private_data = reply;
    param.private_data_len = 149;
    assert_int_equal(srd_accept(pair.passive.id, &param), -1);
    assert_int_equal(errno, EINVAL);
    param.private_data_len = 148;
    assert_int_equal(srd_accept(pair.passive.id, &param), 0);
    event = test_event(pair.active.events, RDMA_CM_EVENT_CONNECT_RESPONSE);
    assert_int_equal(event->param.conn.private_data_len, 148);
    assert_memory_equal(event->param.conn.private_data, reply, 148);
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_close(&pair);
}

static struct rdma_cm_event *request_of(struct pair *pair, uint8_t private_data_len)
{
    static const uint8_t data[56];
    struct rdma_conn_param param = {
        .responder_resources = 1, .initiator_depth = 1, .private_data = data
    };

    param.private_data_len = private_data_len;
    param.qp_num = pair->active.qp->qp_num;
    assert_int_equal(srd_connect(pair->active.id, &param), 0);
    return test_event(pair->passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
}

static void rnr_retries_are_those_of_connect_and_accept(void **state)
{
    struct pair pair;
    struct rdma_conn_param connect = { .rnr_retry_count = 3 }, accept = { .rnr_retry_count = 5 };
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
    struct rdma_cm_event *event;
    int mask;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    connect.qp_num = pair.active.qp->qp_num;
    accept.qp_num = pair.passive.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &connect), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    pair.passive.id = event->id;
    assert_int_equal(event->param.conn.rnr_retry_count, 0); /* MPA does not carry it */
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_to_rts(&pair.passive);
    assert_int_equal(srd_accept(pair.passive.id, &accept), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
    assert_int_equal(srd_init_qp_attr(pair.active.id, &attr, &mask), 0);
    assert_int_equal(attr.rnr_retry, 3);
    pair_establish(&pair);
    assert_int_equal(srd_qp_from(pair.active.qp)->rnr_retries, 3);
    assert_int_equal(srd_qp_from(pair.passive.qp)->rnr_retries, 5);
    pair_close(&pair);
}

static int set_ack_timeout(struct end *end, const void *value, size_t octets)
{
    uint8_t copy[4] = { 0 };

    memcpy(copy, value, octets);
    errno = 0;
    return srd_set_option(end->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, copy, octets);
}

/* What rdma_set_option took shows in rdma_init_qp_attr and ibv_query_qp(3), as with the kernel's devices: 5 bits. */
static void an_ack_timeout_that_was_set_can_be_queried(void **state)
{
    const uint8_t timeout = 17, too_long = 32;
    const int wide = 17;
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    assert_int_equal(set_ack_timeout(&pair.active, &wide, sizeof(wide)), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(set_ack_timeout(&pair.active, &too_long, 1), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(set_ack_timeout(&pair.active, &timeout, 1), 0);
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair);
    assert_int_equal(srd_query_qp(pair.active.qp, &attr, IBV_QP_TIMEOUT, &init), 0);
    assert_int_equal(attr.timeout, timeout);
    assert_int_equal(srd_query_qp(pair.passive.qp, &attr, IBV_QP_TIMEOUT, &init), 0);
    assert_int_equal(attr.timeout, 14);
    pair_close(&pair);
}

static void passive_reject_carries_private_data(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    event = request_of(&pair, 0);
    assert_int_equal(event->param.conn.private_data_len, 0);
    assert_int_equal(srd_reject(event->id, "no thanks", 9), 0);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    event = test_event(pair.active.events, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 28);
    assert_int_equal(event->param.conn.private_data_len, 9);
    assert_memory_equal(event->param.conn.private_data, "no thanks", 9);
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_int_equal(srd_establish(pair.active.id), -1);
    assert_int_equal(errno, ENOTCONN);
    pair_close(&pair);
}

static void active_reject_carries_private_data(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    event = request_of(&pair, 3);
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_accept(&pair, 1);
    assert_int_equal(srd_reject(pair.active.id, "changed my mind", 15), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_REJECTED);
    assert_int_equal(event->status, 28);
    assert_int_equal(event->param.conn.private_data_len, 15);
    assert_memory_equal(event->param.conn.private_data, "changed my mind", 15);
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_close(&pair);
}

static void active_gone_before_the_rtr_is_a_rejection(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    event = request_of(&pair, 0);
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_accept(&pair, 1);
    assert_int_equal(srd_destroy_id(pair.active.id), 0);
    pair.active.id = NULL;
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_REJECTED), 28);
    pair_close(&pair);
}

static void request_destroyed_unanswered_is_rejected(void **state)
{
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    event = request_of(&pair, 0);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 28);
    pair_close(&pair);
}

static void requests_of_a_destroyed_listener_are_rejected(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct pollfd fd = { .events = POLLIN };
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    param.qp_num = pair.active.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    fd.fd = pair.passive.events->fd;
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1); /* queued, not fetched */
    assert_int_equal(srd_destroy_id(pair.listener), 0);
    pair.listener = NULL;
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 28);
    assert_int_equal(poll(&fd, 1, 0), 0); /* the event went with the listener */
    pair_close(&pair);
}

static void nobody_listening_is_a_rejection(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    assert_int_equal(srd_destroy_id(pair.listener), 0);
    pair.listener = NULL;
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    param.qp_num = pair.active.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 8);
    assert_int_equal(srd_connect(pair.active.id, &param), -1); /* an id connects once */
    assert_int_equal(errno, EINVAL);
    pair_close(&pair);
}

static void peer_gone_before_accept_shows_at_accept(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct rdma_cm_event *event;
    struct ibv_qp_attr attr;
    struct pair pair;
    int mask;

    (void)state;
    pair_prepare(&pair, "127.0.0.1");
    event = request_of(&pair, 0);
    pair.passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_int_equal(srd_destroy_id(pair.active.id), 0);
    pair.active.id = NULL;
    do { /* the end of the stream is on its way */
        attr.qp_state = IBV_QPS_RTR;
        assert_true(test_now_ms() < end_ms);
    } while (srd_init_qp_attr(pair.passive.id, &attr, &mask) == 0);
    assert_int_equal(errno, EINVAL);
    param.qp_num = pair.passive.qp->qp_num;
    assert_int_equal(srd_accept(pair.passive.id, &param), -1);
    assert_int_equal(errno, ECONNRESET);
    pair_close(&pair);
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void many_connections_leave_no_descriptor(void **state)
{
    struct pair pair;
    int before = 0;

    (void)state;
    for (int i = 0; i < 101; i++) {
        pair_connect(&pair, i % 2 ? "127.0.0.1" : "::1");
        assert_int_equal(srd_disconnect(i % 3 ? pair.active.id : pair.passive.id), 0);
        test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED);
        test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED);
        pair_close(&pair);
        if (i == 0)
            before = open_descriptors();
    }
    assert_int_equal(open_descriptors(), before);
}

static double cpu_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void idle_connections_cost_no_cpu(void **state)
{
    struct pair pair;
    struct ibv_wc wc;
    struct pollfd fd;
    double before;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    test_poll(pair.passive.cq, 1, &wc);
    test_poll(pair.active.cq, 1, &wc);
    /* The interval ends early only if something moves, and nothing does. */
    fd = (struct pollfd){ .fd = pair.active.events->fd, .events = POLLIN };
    assert_int_equal(poll(&fd, 1, 50), 0);
    before = cpu_seconds();
    assert_int_equal(poll(&fd, 1, 1000), 0);
    /* A look each ms would take more; the thread that ThreadSanitizer has beside ours takes some ms now and then. */
    assert_true(cpu_seconds() - before < 0.02);
    pair_close(&pair);
}

static void *send_one(void *argument)
{
    struct pair *pair = argument;

    end_post(&pair->active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    return NULL;
}

/*
 * A thread stands still in the middle of a connection, like one that has lost the processor. The background thread must
 * not spin because the socket is readable: it may keep that thread from the processor.
 */
static void connection_that_a_thread_is_in_is_left_to_it(void **state)
{
    struct srd_conn *conn;
    struct pair pair;
    struct pollfd fd;
    pthread_t thread;
    struct ibv_wc wc;
    double before;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.passive, 1, 0, 64);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    end_stop_receiving(&pair.passive);
    conn = srd_qp_from(pair.passive.qp)->conn;
    if (conn->transport == &srd_transport_shared) { /* one more turn was wanted, besides */
        atomic_store(&conn->again, true);
        srd_source_update(&conn->source);
    }
    assert_int_equal(pthread_create(&thread, NULL, send_one, &pair), 0);
    pthread_join(thread, NULL);
    fd = (struct pollfd){ .fd = pair.passive.channel->fd, .events = POLLIN };
    before = cpu_seconds();
    assert_int_equal(poll(&fd, 1, 200), 0); /* no thread can receive it */
    assert_true(cpu_seconds() - before < 0.1);
    end_let_receive(&pair.passive);
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1); /* now this one has, for those who came */
    test_poll(pair.passive.cq, 1, &wc);
    test_poll(pair.active.cq, 1, &wc);
    pair_close(&pair);
}

static void passive_target_need_not_enter_the_library(void **state)
{
    struct pair pair;
    struct ibv_wc wc;
    volatile uint8_t *last;
    uint64_t end_ms;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    last = pair.passive.memory + 99999;
    memset(pair.active.memory, 0x77, 100000);
    end_post(&pair.active, IBV_WR_RDMA_WRITE, 1, 0, 100000, &pair.passive, 0, 0);
    end_ms = test_now_ms() + DEADLINE_MS;
    while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != 0x77)
        assert_true(test_now_ms() < end_ms);
    assert_memory_equal(pair.passive.memory, pair.active.memory, 100000);
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    pair_close(&pair);
}

static void two_peers_that_both_write_do_not_wait_for_each_other(void **state)
{
    enum { COUNT = 32, OCTETS = 400000 }; /* far more than two socket buffers hold */
    struct ibv_wc wc[COUNT];
    struct pair pair;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    memset(pair.active.memory, 1, OCTETS);
    memset(pair.passive.memory, 2, OCTETS);
    for (int i = 0; i < COUNT; i++) {
        end_post(&pair.active, IBV_WR_RDMA_WRITE, (uint64_t)i, 0, OCTETS, &pair.passive, OCTETS, 0);
        end_post(&pair.passive, IBV_WR_RDMA_WRITE, (uint64_t)i, 0, OCTETS, &pair.active, OCTETS, 0);
    }
    /* One end is polled, the other is the background thread's; then the other way round. */
    test_poll(pair.active.cq, COUNT, wc);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
    test_poll(pair.passive.cq, COUNT, wc);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
    assert_memory_equal(pair.passive.memory + OCTETS, pair.active.memory, OCTETS);
    assert_memory_equal(pair.active.memory + OCTETS, pair.passive.memory, OCTETS);
    pair_close(&pair);
}

/*
 * Its end is found where more has come than can be held without Receives: the octets behind are dropped, and the FIN
 * follows, long before the time to wait for that is over.
 */
static void an_end_that_holds_all_it_can_disconnects_at_once(void **state)
{
    enum {
        COUNT = 12,
        OCTETS = 262144
    }; /* more than is held, and then more than the way to it takes */
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct srd_conn *conn;
    struct pair pair;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    conn = srd_qp_conn(srd_qp_from(pair.passive.qp));
    for (int i = 0; i < COUNT; i++)
        end_post(&pair.active, IBV_WR_SEND, 1, 0, OCTETS, NULL, 0, 0);
    while (atomic_load(&conn->want_in) && test_now_ms() < end_ms)
        sched_yield();
    assert_false(atomic_load(&conn->want_in));
    end_ms = test_now_ms() + SRD_CONN_CLOSE_MS;
    assert_int_equal(srd_disconnect(pair.passive.id), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    while (srd_life_phase(&conn->life) != SRD_CONN_CLOSED && test_now_ms() < end_ms)
        sched_yield();
    assert_true(test_now_ms() < end_ms);
    srd_conn_unref(conn);
    pair_close(&pair);
}

static void completion_channel_blocks_until_it_fires(void **state)
{
    struct pair pair;
    struct ibv_wc wc;
    struct ibv_cq *cq;
    void *context;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.passive, 1, 0, 64);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, 0), 0);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), 0);
    assert_ptr_equal(cq, pair.passive.cq);
    assert_ptr_equal(context, &pair.passive);
    assert_int_equal(ibv_poll_cq(cq, 1, &wc), 1);
    srd_ack_cq_events(cq, 1);
    /* Solicited mode: a plain send does not fire, a solicited one does. */
    assert_int_equal(ibv_req_notify_cq(cq, 1), 0);
    end_recv(&pair.passive, 3, 0, 64);
    end_recv(&pair.passive, 4, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 5, 0, 8, NULL, 0, 0);
    test_poll(cq, 1, &wc);
    assert_int_equal(wc.wr_id, 3);
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(fcntl(pair.passive.channel->fd, F_SETFL, 0), 0);
    end_post(&pair.active, IBV_WR_SEND, 6, 0, 8, NULL, 0, IBV_SEND_SOLICITED);
    assert_int_equal(srd_get_cq_event(pair.passive.channel, &cq, &context), 0);
    srd_ack_cq_events(cq, 1);
    pair_close(&pair);
}

static void expect_channel_event(struct end *end)
{
    struct pollfd fd = { .fd = end->channel->fd, .events = POLLIN };
    struct ibv_cq *cq;
    void *context;

    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    assert_int_equal(srd_get_cq_event(end->channel, &cq, &context), 0);
    assert_ptr_equal(cq, end->cq);
    srd_ack_cq_events(cq, 1);
}

/* A queue armed for solicited completions reports failed requests: no peer can have marked them. */
static void failed_requests_count_as_solicited(void **state)
{
    struct pair pair;
    struct ibv_wc wc[2];

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 1), 0);
    assert_int_equal(ibv_req_notify_cq(pair.active.cq, 1), 0);
    end_recv(&pair.passive, 1, 0, 8);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 9, NULL, 0, 0); /* too long */
    expect_channel_event(&pair.passive);
    expect_channel_event(&pair.active);
    test_poll(pair.passive.cq, 1, wc);
    assert_int_equal(wc[0].wr_id, 1);
    assert_int_equal(wc[0].status, IBV_WC_LOC_LEN_ERR);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 1), 0);
    end_recv(&pair.passive, 3, 0, 8); /* flushed at once */
    expect_channel_event(&pair.passive);
    pair_close(&pair);

    pair_connect(&pair, "127.0.0.1");
    end_recv(&pair.passive, 1, 0, 8);
    end_recv(&pair.passive, 2, 0, 8);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 1), 0);
    assert_int_equal(srd_disconnect(pair.active.id), 0);
    expect_channel_event(&pair.passive); /* by the flush */
    test_poll(pair.passive.cq, 2, wc);
    for (int i = 0; i < 2; i++)
        assert_int_equal(wc[i].status, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

static void a_solicited_send_with_invalidate_is_one(void **state)
{
    struct ibv_send_wr bind = {
        .wr_id = 1, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_send_wr send = { .wr_id = 3,
        .opcode = IBV_WR_SEND_WITH_INV,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED };
    struct ibv_send_wr *bad;
    struct ibv_mw *mw;
    struct pair pair;
    struct ibv_wc wc;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    mw = ibv_alloc_mw(pair.passive.pd, IBV_MW_TYPE_2);
    assert_non_null(mw);
    bind.bind_mw.mw = mw;
    bind.bind_mw.rkey = send.invalidate_rkey = ibv_inc_rkey(mw->rkey);
    bind.bind_mw.bind_info = (struct ibv_mw_bind_info){ .mr = pair.passive.mr,
        .addr = (uintptr_t)pair.passive.memory,
        .length = 8,
        .mw_access_flags = IBV_ACCESS_REMOTE_READ };
    assert_int_equal(ibv_post_send(pair.passive.qp, &bind, &bad), 0);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 1), 0);
    end_recv(&pair.passive, 2, 0, 8);
    assert_int_equal(ibv_post_send(pair.active.qp, &send, &bad), 0);
    expect_channel_event(&pair.passive);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
    assert_int_equal(wc.invalidated_rkey, send.invalidate_rkey);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_moves_over_ipv4),
        cmocka_unit_test(data_moves_over_ipv6),
        cmocka_unit_test(disconnect_flushes_both_and_tells_both),
        cmocka_unit_test(destroyed_id_disconnects_its_peer),
        cmocka_unit_test(destroyed_queue_pair_disconnects_its_peer),
        cmocka_unit_test(private_data_and_limits_arrive),
        cmocka_unit_test(rnr_retries_are_those_of_connect_and_accept),
        cmocka_unit_test(an_ack_timeout_that_was_set_can_be_queried),
        cmocka_unit_test(passive_reject_carries_private_data),
        cmocka_unit_test(active_reject_carries_private_data),
        cmocka_unit_test(active_gone_before_the_rtr_is_a_rejection),
        cmocka_unit_test(request_destroyed_unanswered_is_rejected),
        cmocka_unit_test(requests_of_a_destroyed_listener_are_rejected),
        cmocka_unit_test(nobody_listening_is_a_rejection),
        cmocka_unit_test(peer_gone_before_accept_shows_at_accept),
        cmocka_unit_test(many_connections_leave_no_descriptor),
        cmocka_unit_test(idle_connections_cost_no_cpu),
        cmocka_unit_test(connection_that_a_thread_is_in_is_left_to_it),
        cmocka_unit_test(passive_target_need_not_enter_the_library),
        cmocka_unit_test(two_peers_that_both_write_do_not_wait_for_each_other),
        cmocka_unit_test(an_end_that_holds_all_it_can_disconnects_at_once),
        cmocka_unit_test(completion_channel_blocks_until_it_fires),
        cmocka_unit_test(failed_requests_count_as_solicited),
        cmocka_unit_test(a_solicited_send_with_invalidate_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
