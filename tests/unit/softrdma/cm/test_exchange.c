/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs that a program connects by number and GID: which end asks first, what strangers may do, what is refused
 * at once. Whose Request counts, and when a request fails: test_exchange_rule.c.
 */
#include "tests/unit/softrdma/cm/exchange_end.h"

#include "softrdma/cm/exchange.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a queue pair whose connection is not attached yet, before and after its stream has begun ---- */

static _Atomic(struct pair *) attaching; /* whose next attach is disturbed, once */
static pthread_t intruder;
static atomic_bool early;    /* before its stream begins, not after */
static atomic_bool fails;    /* the queue pair is moved to the error state in place of that */
static atomic_bool intruded; /* the intruder has been started */

unsigned __real_srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms);
unsigned __wrap_srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms);

struct intrusion {
    struct end *end;
    atomic_int thread; /* its number */
    atomic_bool over;
};

static void *intrude(void *argument);

/* Another thread gives the queue pair a number that the peer does not expect, or moves it to the error state. */
static void disturb(struct pair *pair, struct srd_qp *qp)
{
    static struct intrusion intrusion; /* one at a time */

    intrusion.end = srd_qp_from(pair->active.qp) == qp ? &pair->active : &pair->passive;
    atomic_store(&intrusion.thread, 0);
    atomic_store(&intrusion.over, false);
    assert_int_equal(pthread_create(&intruder, NULL, intrude, &intrusion), 0);
    atomic_store(&intruded, true);
    assert_true(SETTLES(
        atomic_load(&intrusion.over) ||
        (atomic_load(&intrusion.thread) && thread_is_asleep(atomic_load(&intrusion.thread)))));
    if (!atomic_load(&early)) /* who ends the stream waits until the attach has ended */
        assert_false(atomic_load(&intrusion.over));
}

/* In the middle of an attach. */
unsigned __wrap_srd_stream_start(struct srd_qp *qp, const struct srd_stream_params *params,
    const void *surplus, size_t surplus_octets, uint64_t now_ms)
{
    struct pair *pair = params->initiator ? NULL : atomic_exchange(&attaching, NULL);
    unsigned actions;

    if (pair && atomic_load(&early))
        disturb(pair, qp);
    actions = __real_srd_stream_start(qp, params, surplus, surplus_octets, now_ms);
    if (pair && !atomic_load(&early))
        disturb(pair, qp);
    return actions;
}

/* ---- orders ---- */

static void either_end_may_be_first(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    assert_int_not_equal(pair.active.qp->qp_num, pair.passive.qp->qp_num);
    assert_true(pair.active.qp->qp_num >> 23 == 1);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    pair_close(&pair);
    open_pair(&pair);
    to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair.active, PSN);
    to_rts(&pair.passive, PSN);
    works(&pair);
    pair_close(&pair);
}

static void ipv6(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    connect_pair(&pair, "::1");
    works(&pair);
    pair_close(&pair);
}

/* What is posted before there is a connection is sent then. */
static void requests_wait_for_the_connection(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair.active, PSN);
    end_post(&pair.active, IBV_WR_SEND, 7, 0, 64, NULL, 0, 0);
    end_recv(&pair.passive, 8, 0, 64);
    end_recv(&pair.active, 9, 0, 64);
    to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1"); /* and stays there */
    expect(&pair.passive, 8, IBV_WC_SUCCESS);
    expect(&pair.active, 7, IBV_WC_SUCCESS);
    end_post(&pair.passive, IBV_WR_SEND, 10, 0, 64, NULL, 0, 0);
    expect(&pair.active, 9, IBV_WC_SUCCESS);
    expect(&pair.passive, 10, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* Both have asked; their Requests are handled in the order told. */
static void cross(bool smaller_first)
{
    struct end *smaller, *larger;
    struct pair pair;

    open_pair(&pair);
    smaller = pair.active.qp->qp_num < pair.passive.qp->qp_num ? &pair.active : &pair.passive;
    larger = smaller == &pair.active ? &pair.passive : &pair.active;
    hold(true);
    for (int i = 0; i < 2; i++) {
        if (smaller_first == !i)
            to_rtr(smaller, larger->qp->qp_num, "127.0.0.1");
        else
            to_rtr(larger, smaller->qp->qp_num, "127.0.0.1");
        assert_true(SETTLES(events_held() == i + 1)); /* its Request */
    }
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    hold(false);
    to_rts(&pair.active, PSN);
    to_rts(&pair.passive, PSN);
    works(&pair);
    pair_close(&pair);
}

static void two_that_have_asked_agree(void **state)
{
    (void)state;
    cross(true);
    cross(false);
}

enum { RACERS = 24 };
struct race {
    struct end *end;
    struct ibv_qp *own[RACERS], *peer[RACERS];
    pthread_barrier_t *start;
};

static void *run_race(void *argument)
{
    struct race *race = argument;
    struct end end = *race->end;

    pthread_barrier_wait(race->start);
    for (int i = 0; i < RACERS; i++) {
        end.qp = race->own[i];
        to_rtr(&end, race->peer[i]->qp_num, "127.0.0.1");
        to_rts(&end, PSN);
    }
    return NULL;
}

static void both_at_once(void **state)
{
    struct race races[2];
    pthread_barrier_t start;
    pthread_t threads[2];
    struct pair pair;

    (void)state;
    memset(&pair, 0, sizeof(pair));
    end_open(&pair.active);
    end_open(&pair.passive);
    races[0].end = &pair.active;
    races[1].end = &pair.passive;
    for (int i = 0; i < RACERS; i++) {
        make_qp(&pair.active);
        make_qp(&pair.passive);
        races[0].own[i] = races[1].peer[i] = pair.active.qp;
        races[1].own[i] = races[0].peer[i] = pair.passive.qp;
    }
    assert_int_equal(pthread_barrier_init(&start, NULL, 2), 0);
    for (int i = 0; i < 2; i++) {
        races[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, run_race, &races[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RACERS; i++) {
        pair.active.qp = races[0].own[i];
        pair.passive.qp = races[1].own[i];
        works(&pair);
        if (i < RACERS - 1) {
            assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
            assert_int_equal(srd_destroy_qp(pair.passive.qp), 0);
        }
    }
    pthread_barrier_destroy(&start);
    pair_close(&pair);
}

/* ---- no peer ---- */

static void a_request_without_a_peer_fails(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair.active, PSN);
    end_recv(&pair.active, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
    end_post(&pair.active, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0);
    expect(&pair.active, 2, IBV_WC_RETRY_EXC_ERR);
    expect(&pair.active, 3, IBV_WC_WR_FLUSH_ERR);
    expect(&pair.active, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(state_of(&pair.active), IBV_QPS_ERR);
    pair_close(&pair);
}

/* Standard error while a test collects it: the log's lines. */
static int real_stderr, collected[2];

static void collect(void)
{
    real_stderr = dup(STDERR_FILENO);
    assert_int_equal(pipe2(collected, O_CLOEXEC), 0);
    assert_true(dup2(collected[1], STDERR_FILENO) >= 0);
}

static void collect_end(char *text, size_t octets)
{
    ssize_t got;

    fflush(stderr);
    assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
    close(real_stderr);
    close(collected[1]);
    got = read(collected[0], text, octets - 1);
    assert_true(got >= 0);
    text[got] = 0;
    close(collected[0]);
}

/* The peer names another queue pair, or is named by another address, or expects other messages. */
static void what_does_not_fit_is_not_connected(void **state)
{
    char text[4096], line[256];
    struct pair pair;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct ibv_qp_attr attr;

        open_pair(&pair);
        attr = rtr_attr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
        if (i == 0)
            attr.dest_qp_num ^= 1 << 7;
        if (i == 1) /* the host has it without having been told to */
            attr.ah_attr.grh.dgid.raw[15] = 2;
        if (i == 2)
            attr.rq_psn++;
        to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
        to_rts(&pair.active, PSN);
        assert_int_equal(srd_modify_qp(pair.passive.qp, &attr, RTR_MASK), 0);
        to_rts(&pair.passive, PSN);
        end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
        end_post(&pair.passive, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0);
        collect();
        expect(&pair.active, 2, IBV_WC_RETRY_EXC_ERR);
        expect(&pair.passive, 3, IBV_WC_RETRY_EXC_ERR);
        collect_end(text, sizeof(text));
        snprintf(line, sizeof(line),
            "warn: cm: queue pair 0x%x: its peer 0x%x at 127.0.0.2 refuses what comes from "
            "127.0.0.1, as the program named them",
            pair.passive.qp->qp_num, pair.active.qp->qp_num);
        if (i == 1 && !strstr(text, line)) /* the one that asked: it cannot know why */
            fail_msg("no \"%s\" in: %s", line, text);
        pair_close(&pair);
    }
}

/* They are connected in RTR; what one will send is known from RTS on. */
static void a_wrong_sequence_number_ends_the_connection(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
    assert_true(SETTLES(is_connected(&pair.active) && is_connected(&pair.passive)));
    limit_from_now_on();
    end_recv(&pair.active, 1, 0, 64);
    to_rts(&pair.active, PSN + 1);
    assert_true(SETTLES(!is_connected(&pair.active) && !is_connected(&pair.passive)));
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
    expect(&pair.active, 2, IBV_WC_RETRY_EXC_ERR);
    expect(&pair.active, 1, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

static void *intrude(void *argument)
{
    struct intrusion *intrusion = argument;

    atomic_store(&intrusion->thread, thread_number());
    if (atomic_load(&fails))
        move(intrusion->end, IBV_QPS_ERR);
    else
        to_rts(intrusion->end, PSN + 1);
    atomic_store(&intrusion->over, true);
    return NULL;
}

/* The connection must not come up in spite of that, nor again after it has been closed. */
static void its_end_may_come_while_it_attaches(void **state)
{
    struct pair pair;

    (void)state;
    for (int i = 0; i < 3; i++) {
        open_pair(&pair);
        atomic_store(&early, i == 0);
        atomic_store(&fails, i == 2);
        atomic_store(&intruded, false);
        atomic_store(&attaching, &pair);
        to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
        to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
        assert_true(SETTLES(atomic_load(&intruded)));
        assert_int_equal(pthread_join(intruder, NULL), 0);
        assert_true(SETTLES(!is_connected(&pair.active) && !is_connected(&pair.passive)));
        pair_close(&pair);
    }
}

static void a_peer_that_goes_is_silent(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    limit_from_now_on();
    end_recv(&pair.active, 1, 0, 64);
    assert_int_equal(srd_destroy_qp(pair.passive.qp), 0);
    pair.passive.qp = NULL;
    assert_true(SETTLES(!is_connected(&pair.active)));
    assert_int_equal(state_of(&pair.active), IBV_QPS_RTS);
    end_recv(&pair.active, 2, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0);
    expect(&pair.active, 3, IBV_WC_RETRY_EXC_ERR);
    expect(&pair.active, 1, IBV_WC_WR_FLUSH_ERR);
    expect(&pair.active, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(state_of(&pair.active), IBV_QPS_ERR);
    pair_close(&pair);
}

/* A Read waits for the peer when that goes. */
static void a_request_under_way_fails_when_the_peer_goes(void **state)
{
    struct pair pair;

    (void)state;
    open_pair(&pair);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    limit_from_now_on();
    end_post(&pair.active, IBV_WR_SEND, 3, 0, 64, NULL, 0, 0); /* there is no Receive */
    end_recv(&pair.active, 4, 0, 64);
    assert_int_equal(srd_destroy_qp(pair.passive.qp), 0);
    pair.passive.qp = NULL;
    expect(&pair.active, 3, IBV_WC_RETRY_EXC_ERR);
    expect(&pair.active, 4, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

static void after_the_peer_the_program_may_flush_or_begin_anew(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
    struct pair pair;
    struct ibv_wc wc;

    (void)state;
    open_pair(&pair);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    end_recv(&pair.active, 1, 0, 64);
    move(&pair.passive, IBV_QPS_RESET);
    assert_true(SETTLES(!is_connected(&pair.active)));
    assert_int_equal(ibv_poll_cq(pair.active.cq, 1, &wc), 0);
    move(&pair.active, IBV_QPS_ERR);
    expect(&pair.active, 1, IBV_WC_WR_FLUSH_ERR);
    move(&pair.active, IBV_QPS_RESET);
    for (int i = 0; i < 2; i++)
        assert_int_equal(srd_modify_qp(i ? pair.active.qp : pair.passive.qp, &attr,
                             IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    pair_close(&pair);
}

/* With the events of its attempt handled so far, and no further. */
static void a_queue_pair_may_go_at_any_time(void **state)
{
    struct pair pair;

    (void)state;
    for (int steps = 0; steps < 6; steps++) {
        open_pair(&pair);
        hold(true);
        to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
        to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
        for (int i = 0; i < steps && step_if_any(); i++)
            ;
        assert_int_equal(srd_destroy_qp(pair.active.qp), 0);
        pair.active.qp = NULL;
        hold(false);
        pair_close(&pair);
    }
}

/* ---- strangers ---- */

static bool asks(const char *from, uint32_t to, const uint8_t *data, uint8_t octets)
{
    int fd = send_request(from, to, data, octets);
    bool accepted = is_accepted(fd);

    close(fd);
    return accepted;
}

/* The active end waits for the passive one, which it names. card: out; with it the passive one asks. */
static void open_asked(struct pair *pair, uint8_t card[16])
{
    open_pair(pair);
    memcpy(card, "srx\1", 4);
    put(card + 4, pair->passive.qp->qp_num);
    put(card + 8, pair->active.qp->qp_num);
    put(card + 12, PSN);
    to_rtr(&pair->active, pair->passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair->active, PSN);
}

static void strangers_are_refused(void **state)
{
    struct pair pair;
    uint8_t card[16], wrong[16];
    uint32_t own;

    (void)state;
    open_asked(&pair, card);
    own = pair.active.qp->qp_num;
    assert_false(asks("127.0.0.1", own, card, 0)); /* a Request of the connection manager's */
    assert_false(asks("127.0.0.1", own, card, 15));
    assert_false(asks("127.0.0.2", own, card, 16)); /* from elsewhere */
    for (int at = 0; at < 16; at++) {
        memcpy(wrong, card, sizeof(card));
        wrong[at] ^= 0x40;
        assert_false(asks("127.0.0.1", own, wrong, 16));
    }
    pair_close(&pair);
}

/* ---- a peer at another address ---- */

/*
 * The named peer asks, with its number and the right PSN, but from another address than the program named: addresses
 * are translated on the way. Neither end could find out why it is refused.
 */
static void a_peer_whose_address_is_translated_is_a_warning(void **state)
{
    uint8_t card[16];
    char text[4096], line[256];
    struct pair pair;
    uint32_t own;

    (void)state;
    open_asked(&pair, card);
    own = pair.active.qp->qp_num;
    collect();
    assert_false(asks("127.0.0.2", own, card, 16));
    collect_end(text, sizeof(text));
    snprintf(line, sizeof(line),
        "warn: cm: queue pair 0x%x: its peer 0x%x connects from 127.0.0.2 to 127.0.0.1, not from "
        "127.0.0.1 to 127.0.0.1 "
        "as the program named them: refused",
        own, pair.passive.qp->qp_num);
    if (!strstr(text, line))
        fail_msg("no \"%s\" in: %s", line, text);
    collect();
    card[7] ^= 1; /* another queue pair at that address is no peer of this one */
    assert_false(asks("127.0.0.2", own, card, 16));
    collect_end(text, sizeof(text));
    assert_null(strstr(text, "its peer"));
    pair_close(&pair);
}

/* ---- what is refused at once ---- */

static void refused(struct end *end, const struct ibv_qp_attr *with, int mask)
{
    struct ibv_qp_attr attr = *with;

    assert_int_equal(srd_modify_qp(end->qp, &attr, mask), EINVAL);
    assert_int_equal(state_of(end), IBV_QPS_INIT);
}

static void a_peer_that_cannot_be_named_is_refused(void **state)
{
    struct ibv_qp_attr good, attr;
    struct pair pair;

    (void)state;
    open_pair(&pair);
    good = rtr_attr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    attr = good;
    attr.ah_attr.is_global = 0;
    refused(&pair.active, &attr, RTR_MASK);
    attr = good;
    attr.ah_attr.grh.sgid_index = 255;
    refused(&pair.active, &attr, RTR_MASK);
    attr = good;
    attr.dest_qp_num = 2; /* of a queue pair for ids */
    refused(&pair.active, &attr, RTR_MASK);
    attr = good;
    attr.dest_qp_num |= 1 << 24;
    refused(&pair.active, &attr, RTR_MASK);
    attr = good;
    attr.dest_qp_num = pair.active.qp->qp_num;
    refused(&pair.active, &attr, RTR_MASK);
    attr = good;
    memset(&attr.ah_attr.grh.dgid, 0, sizeof(attr.ah_attr.grh.dgid));
    refused(&pair.active, &attr, RTR_MASK); /* IPv6 from an IPv4 address */
    attr.ah_attr.grh.sgid_index = gid_index(&pair.active, "::1", &(union ibv_gid){ .raw = { 0 } });
    refused(&pair.active, &attr, RTR_MASK); /* zero */
    refused(&pair.active, &good, RTR_MASK & ~IBV_QP_DEST_QPN);
    refused(&pair.active, &good, RTR_MASK & ~IBV_QP_STATE);
    attr = good;
    attr.qp_state = IBV_QPS_INIT;
    refused(&pair.active, &attr, RTR_MASK);
    connect_pair(&pair, "127.0.0.1");
    works(&pair);
    pair_close(&pair);
}

/* ---- numbers ---- */

static void numbers_name_ports(void **state)
{
    enum { COUNT = 300 };
    struct ibv_qp *qps[COUNT];
    uint32_t ports[2] = { 0, 0 };
    struct sockaddr_in any = { .sin_family = AF_INET };
    struct end end;
    int fd;

    (void)state;
    end_open(&end);
    for (int i = 0; i < COUNT; i++) {
        uint32_t port;

        make_qp(&end);
        qps[i] = end.qp;
        port = end.qp->qp_num >> 8;
        if (i == 0)
            ports[0] = port;
        if (i == 256)
            ports[1] = port;
        assert_true(port == ports[i >= 256]);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(qps[j]->qp_num, end.qp->qp_num);
    }
    assert_int_not_equal(ports[0], ports[1]);
    /* A number that became free is not given away at once. */
    for (int i = 256; i < 260; i++) {
        uint32_t number = qps[i]->qp_num;

        assert_int_equal(srd_destroy_qp(qps[i]), 0);
        make_qp(&end);
        qps[i] = end.qp;
        assert_int_equal(end.qp->qp_num >> 8, ports[1]);
        assert_int_not_equal(end.qp->qp_num, number);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(srd_destroy_qp(qps[i]), 0);
    end.qp = NULL;
    for (int i = 0; i < 2; i++) { /* given back */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        any.sin_port = htons((uint16_t)ports[i]);
        assert_int_equal(bind(fd, (struct sockaddr *)&any, sizeof(any)), 0);
        close(fd);
    }
    end_close(&end);
}

/* A queue pair of either kind may still be connected by ids. */
static void ids_connect_them_too(void **state)
{
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    make_qp(&pair.active);
    end_make_qp(&pair.passive);
    end_resolve(&pair.active, &pair.address);
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair);
    works(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_end_may_be_first),
        cmocka_unit_test(ipv6),
        cmocka_unit_test(requests_wait_for_the_connection),
        cmocka_unit_test(two_that_have_asked_agree),
        cmocka_unit_test(both_at_once),
        cmocka_unit_test_setup_teardown(a_request_without_a_peer_fails, short_limit, usual_limit),
        cmocka_unit_test_setup_teardown(
            what_does_not_fit_is_not_connected, short_limit, usual_limit),
        cmocka_unit_test_setup_teardown(
            a_wrong_sequence_number_ends_the_connection, NULL, usual_limit),
        cmocka_unit_test(its_end_may_come_while_it_attaches),
        cmocka_unit_test_setup_teardown(a_peer_that_goes_is_silent, NULL, usual_limit),
        cmocka_unit_test_setup_teardown(
            a_request_under_way_fails_when_the_peer_goes, NULL, usual_limit),
        cmocka_unit_test(after_the_peer_the_program_may_flush_or_begin_anew),
        cmocka_unit_test(a_queue_pair_may_go_at_any_time),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(a_peer_whose_address_is_translated_is_a_warning),
        cmocka_unit_test(a_peer_that_cannot_be_named_is_refused),
        cmocka_unit_test(numbers_name_ports),
        cmocka_unit_test(ids_connect_them_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
