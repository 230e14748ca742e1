/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs that a program connects by number and GID: whose Request counts when both ends have asked, against a peer
 * that keeps the rule; when a request that waits for the peer fails; and events that find the queue pair gone.
 */
#include "tests/unit/softrdma/cm/exchange_end.h"

#include "softrdma/cm/exchange.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <malloc.h>
#include <net/if.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the addresses of this host ---- */

static const char *const addresses[] = { "127.0.0.1", "127.0.0.5" };
enum { ADDRESSES = 2 };

int __wrap_getifaddrs(struct ifaddrs **list);
int __wrap_getifaddrs(struct ifaddrs **list)
{
    struct ifaddrs *all = calloc(ADDRESSES, sizeof(*all));

    for (int i = 0; i < ADDRESSES; i++) {
        struct sockaddr_storage *addr = calloc(1, sizeof(*addr));

        test_address(addresses[i], 0, addr);
        all[i] = (struct ifaddrs){ .ifa_next = i + 1 < ADDRESSES ? &all[i + 1] : NULL,
            .ifa_flags = IFF_UP | IFF_LOOPBACK,
            .ifa_addr = (struct sockaddr *)addr };
    }
    *list = all;
    return 0;
}

void __wrap_freeifaddrs(struct ifaddrs *list);
void __wrap_freeifaddrs(struct ifaddrs *list)
{
    for (int i = 0; i < ADDRESSES; i++)
        free(list[i].ifa_addr);
    free(list);
}

/* ---- the deadline of the requests of one queue pair ---- */

static _Atomic(struct srd_qp_exchange *) watched;
static _Atomic(struct reactor_source *) timer; /* that of the watched one */
static _Atomic uint64_t deadline_ns;           /* its last */

void __real_ndspi_reactor_deadline(struct reactor_source *source, uint64_t at_ns);
void __wrap_ndspi_reactor_deadline(struct reactor_source *source, uint64_t at_ns);
void __wrap_ndspi_reactor_deadline(struct reactor_source *source, uint64_t at_ns)
{
    char *its = (char *)atomic_load(&watched);

    if (its && (char *)source >= its && (char *)source < its + malloc_usable_size(its)) {
        timer = source;
        deadline_ns = at_ns;
    }
    __real_ndspi_reactor_deadline(source, at_ns);
}

static void watch(struct end *end)
{
    watched = end ? srd_qp_from(end->qp)->exchange : NULL;
    timer = NULL;
    deadline_ns = 0;
}

/* ---- whose Request counts ---- */

/* The peer's Request waits for the answer to the end's own. */
static void the_end_waits_for_the_larger_to_yield(void **state)
{
    struct by_hand peer;
    uint8_t rtr[20];

    (void)state;
    for (int accepted = 0; accepted < 2; accepted++) {
        int own, other;

        open_by_hand(&peer, true, 8);
        hold(true);
        to_rtr(&peer.end, peer.number, "127.0.0.1");
        own = read_request(&peer);
        other = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
        step(RDMA_CM_EVENT_CONNECT_REQUEST);
        answer(&peer, own, accepted);
        step(accepted ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_REJECTED);
        assert_int_equal(is_accepted(other), !accepted);
        if (accepted) {
            assert_int_equal(recv(own, rtr, sizeof(rtr), MSG_WAITALL), (int)sizeof(rtr));
            assert_true(is_connected(&peer.end));
        }
        close(other);
        close(own);
        hold(false);
        close_by_hand(&peer);
    }
}

/* An earlier Request of the peer's is given up for a later one, and one whose peer went away is forgotten. */
static void the_last_request_of_the_peer_counts(void **state)
{
    struct by_hand peer;
    int own, first, second;

    (void)state;
    open_by_hand(&peer, true, 8);
    hold(true);
    to_rtr(&peer.end, peer.number, "127.0.0.1");
    own = read_request(&peer);
    first = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    close(first);
    step(RDMA_CM_EVENT_REJECTED);
    first = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    second = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_false(is_accepted(first));
    answer(&peer, own, false);
    step(RDMA_CM_EVENT_REJECTED);
    assert_true(is_accepted(second));
    close(first);
    close(second);
    close(own);
    hold(false);
    close_by_hand(&peer);
}

static void the_end_yields_to_the_smaller(void **state)
{
    struct by_hand peer;
    int own, other;

    (void)state;
    open_by_hand(&peer, false, 8);
    hold(true);
    to_rtr(&peer.end, peer.number, "127.0.0.1");
    own = read_request(&peer);
    other = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_true(is_accepted(other));
    expect_end(own);
    close(other);
    hold(false);
    close_by_hand(&peer);
}

/*
 * The smaller address counts, and the number only where both are the same. The sheets of the wire have no such rule: it
 * is ours, and both ends have to keep it.
 */
static void the_smaller_address_counts_whatever_the_numbers(void **state)
{
    static const char *const peers[2] = { "127.0.0.9", "127.0.0.2" };

    (void)state;
    for (int yields = 0; yields < 2; yields++) {
        for (int larger = 0; larger < 2; larger++) {
            struct by_hand peer;
            int own, other;

            open_by_hand_at(&peer, peers[yields], "127.0.0.5", larger, 8);
            hold(true);
            ask_by_hand(&peer);
            own = read_request(&peer);
            other = ask_the_end(&peer);
            step(RDMA_CM_EVENT_CONNECT_REQUEST);
            if (yields) {
                assert_true(is_accepted(other));
                expect_end(own);
            } else {
                answer(&peer, own, true);
                step(RDMA_CM_EVENT_CONNECT_RESPONSE);
                assert_false(is_accepted(other));
                assert_true(is_connected(&peer.end));
                close(own);
            }
            close(other);
            hold(false);
            close_by_hand(&peer);
        }
    }
}

/* TCP does not connect: the peer's firewall may let out what it does not let in. */
static void a_request_that_was_not_sent_is_taken_back(void **state)
{
    struct sockaddr_storage address;
    struct by_hand peer;
    int fill[8], other;

    (void)state;
    open_by_hand(&peer, true, 0);
    test_address("127.0.0.1", (uint16_t)(peer.number >> 8), &address);
    for (int i = 0; i < 8; i++) { /* the backlog is full: no SYN is answered any more */
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fill[i], (struct sockaddr *)&address, sizeof(struct sockaddr_in));
    }
    hold(true);
    to_rtr(&peer.end, peer.number, "127.0.0.1");
    other = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
    step(RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_true(is_accepted(other));
    close(other);
    hold(false);
    for (int i = 0; i < 8; i++)
        close(fill[i]);
    close_by_hand(&peer);
}

/* The peer says what it expects in its answer, too; and may say nothing. */
static void an_answer_that_does_not_fit_is_none(void **state)
{
    struct by_hand peer;
    int own;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_by_hand(&peer, true, 8);
        hold(true);
        to_rtr(&peer.end, peer.number, "127.0.0.1");
        to_rts(&peer.end, PSN);
        own = read_request(&peer);
        peer.card[i ? 0 : 15] ^= 1;
        answer(&peer, own, true);
        step(RDMA_CM_EVENT_CONNECT_RESPONSE);
        assert_false(is_connected(&peer.end));
        hold(false);
        end_post(&peer.end, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
        expect(&peer.end, 2, IBV_WC_RETRY_EXC_ERR);
        close(own);
        close_by_hand(&peer);
    }
}

/* It has asked and does not complete the connection: another attempt may. */
static void a_peer_may_ask_again(void **state)
{
    struct by_hand peer;
    int own, other;

    (void)state;
    open_by_hand(&peer, false, 8);
    hold(true);
    to_rtr(&peer.end, peer.number, "127.0.0.1");
    own = read_request(&peer);
    answer(&peer, own, false);
    step(RDMA_CM_EVENT_REJECTED);
    for (int i = 0; i < 2; i++) {
        other = send_request("127.0.0.1", peer.end.qp->qp_num, peer.card, 16);
        step(RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_true(is_accepted(other));
        close(other);
        step(RDMA_CM_EVENT_REJECTED);
    }
    close(own);
    hold(false);
    close_by_hand(&peer);
}

/* ---- when a request fails ---- */

static void to_rts_waiting(struct end *end, uint8_t timeout, uint8_t retries)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS,
        .timeout = timeout,
        .retry_cnt = retries,
        .rnr_retry = 7,
        .sq_psn = PSN,
        .max_rd_atomic = 1 };

    assert_int_equal(srd_modify_qp(end->qp, &attr, RTS_MASK), 0);
}

/*
 * 4.096 us * 2^timeout for the first try and each further one (IBTA, "Local ACK Timeout"; rdma-core, ibv_modify_qp);
 * but a peer that asks over TCP gets the time to repeat a lost SYN twice: 4 s. Our reading. timeout 0: for ever
 * (rdma-core, ibv_modify_qp), but for our own limit of an answer.
 */
static void a_request_waits_as_long_as_its_tries_and_no_less_than_4_s(void **state)
{
    static const struct {
        uint8_t timeout, retries;
        uint64_t ms;
    } rows[] = { { 1, 0, 4000 }, { 14, 7, 4000 }, { 19, 0, 4000 }, { 19, 1, 4294 },
        { 20, 3, 17179 }, { 31, 7, 70368744 }, { 0, 7, 100000000 } };

    (void)state;
    assert_int_equal(setenv("NDSPI_SOFT_ANSWER_MS", "100000000", 1), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t before_ms, after_ms;
        struct pair pair;

        open_pair(&pair);
        to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
        to_rts_waiting(&pair.active, rows[i].timeout, rows[i].retries);
        watch(&pair.active);
        before_ms = clock_now_ms();
        end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
        after_ms = clock_now_ms();
        assert_non_null(timer);
        assert_in_range(deadline_ns / 1000000, before_ms + rows[i].ms, after_ms + rows[i].ms);
        end_post(
            &pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0); /* which does not begin it anew */
        assert_in_range(deadline_ns / 1000000, before_ms + rows[i].ms, after_ms + rows[i].ms);
        watch(NULL);
        pair_close(&pair);
    }
}

/*
 * The reactor has begun to say that the time is up, when the program begins anew: what it posts then has its own time.
 */
static void a_limit_that_is_told_late_is_not_that_of_a_later_attempt(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
    struct pair pair;

    (void)state;
    open_pair(&pair);
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair.active, PSN);
    watch(&pair.active);
    end_post(&pair.active, IBV_WR_SEND, 1, 0, 64, NULL, 0, 0);
    assert_non_null(timer);
    move(&pair.active, IBV_QPS_RESET);
    timer->ops->expired(timer, REACTOR_WAITING); /* which finds no request */
    assert_int_equal(srd_modify_qp(pair.active.qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
    to_rtr(&pair.active, pair.passive.qp->qp_num, "127.0.0.1");
    to_rts(&pair.active, PSN);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 64, NULL, 0, 0);
    timer->ops->expired(timer, REACTOR_WAITING);
    assert_int_equal(state_of(&pair.active), IBV_QPS_RTS);
    end_recv(&pair.passive, 3, 0, 64);
    to_rtr(&pair.passive, pair.active.qp->qp_num, "127.0.0.1");
    to_rts(&pair.passive, PSN);
    expect(&pair.passive, 3, IBV_WC_SUCCESS);
    expect(&pair.active, 2, IBV_WC_SUCCESS);
    watch(NULL);
    pair_close(&pair);
}

/* ---- a queue pair that goes ---- */

struct destroyer {
    struct ibv_qp *qp;
    atomic_int thread; /* its number */
};

static void *destroy_qp(void *argument)
{
    struct destroyer *destroyer = argument;

    atomic_store(&destroyer->thread, thread_number());
    return (void *)(intptr_t)srd_destroy_qp(destroyer->qp);
}

/* Another thread does, until it waits for an event to be handled. */
static void destroy_beside(struct destroyer *destroyer, pthread_t *thread)
{
    assert_int_equal(pthread_create(thread, NULL, destroy_qp, destroyer), 0);
    assert_true(SETTLES(
        atomic_load(&destroyer->thread) && thread_is_asleep(atomic_load(&destroyer->thread))));
}

static void expect_destroyed(pthread_t thread)
{
    void *error;

    assert_int_equal(pthread_join(thread, &error), 0);
    assert_null(error);
}

/* The reactor has taken the event when another thread destroys the queue pair, which waits for it to be handled. */
static void an_event_is_handled_when_its_queue_pair_is_gone(void **state)
{
    (void)state;
    for (int accepted = 0; accepted < 2; accepted++) {
        struct destroyer destroyer = { .thread = 0 };
        struct rdma_cm_event *event;
        struct by_hand peer;
        pthread_t thread;
        int own;

        open_by_hand(&peer, true, 8);
        destroyer.qp = peer.end.qp;
        hold(true);
        ask_by_hand(&peer);
        own = read_request(&peer);
        answer(&peer, own, accepted);
        event = take_event();
        assert_int_equal(
            event->event, accepted ? RDMA_CM_EVENT_CONNECT_RESPONSE : RDMA_CM_EVENT_REJECTED);
        destroy_beside(&destroyer, &thread);
        srd_exchange_event(event);
        expect_destroyed(thread);
        peer.end.qp = NULL;
        expect_end(own);
        hold(false);
        close_by_hand(&peer);
    }
}

static _Atomic(struct destroyer *)
    destroyer_of_found; /* as soon as a Request has found its queue pair */
static pthread_t destroying;

struct srd_qp *__real_srd_device_find_qp(struct srd_device *device, uint32_t number);
struct srd_qp *__wrap_srd_device_find_qp(struct srd_device *device, uint32_t number);
struct srd_qp *__wrap_srd_device_find_qp(struct srd_device *device, uint32_t number)
{
    struct srd_qp *qp = __real_srd_device_find_qp(device, number);
    struct destroyer *destroyer = atomic_exchange(&destroyer_of_found, NULL);

    if (destroyer) {
        assert_ptr_equal(qp, srd_qp_from(destroyer->qp));
        destroy_beside(destroyer, &destroying);
    }
    return qp;
}

static void a_request_that_finds_its_queue_pair_destroyed_is_refused(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct destroyer destroyer = { .thread = 0 };
        struct by_hand peer;
        int own, other;

        open_by_hand(&peer, false, 8);
        hold(true);
        ask_by_hand(&peer);
        own = read_request(&peer);
        if (waits) {
            answer(&peer, own, false);
            step(RDMA_CM_EVENT_REJECTED);
        }
        other = ask_the_end(&peer);
        destroyer.qp = peer.end.qp;
        destroyer_of_found = &destroyer;
        step(RDMA_CM_EVENT_CONNECT_REQUEST);
        assert_null(destroyer_of_found);
        expect_destroyed(destroying);
        peer.end.qp = NULL;
        assert_false(is_accepted(other));
        close(other);
        expect_end(own);
        hold(false);
        close_by_hand(&peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_waits_for_the_larger_to_yield),
        cmocka_unit_test(the_last_request_of_the_peer_counts),
        cmocka_unit_test(the_end_yields_to_the_smaller),
        cmocka_unit_test(the_smaller_address_counts_whatever_the_numbers),
        cmocka_unit_test(a_request_that_was_not_sent_is_taken_back),
        cmocka_unit_test_setup_teardown(
            an_answer_that_does_not_fit_is_none, short_limit, usual_limit),
        cmocka_unit_test(a_peer_may_ask_again),
        cmocka_unit_test_setup_teardown(
            a_request_waits_as_long_as_its_tries_and_no_less_than_4_s, NULL, usual_limit),
        cmocka_unit_test(a_limit_that_is_told_late_is_not_that_of_a_later_attempt),
        cmocka_unit_test(an_event_is_handled_when_its_queue_pair_is_gone),
        cmocka_unit_test(a_request_that_finds_its_queue_pair_destroyed_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
