/* SPDX-License-Identifier: MIT */
/*
 * test_connections.c - connections one after the other, as fast as they go, from one host to one port: each leaves the
 * port it had to the next.
 * usage: test_robustness_connections          in a network namespace with 16 ports and no help for TIME_WAIT
 *        test_robustness_connections COUNT    so many on this host as it is, with a message each way; prints the rate
 *        test_robustness_connections COUNT LONG    so many, or LONG of them where NDSPI_TEST_LONG=1
 */
#include "tests/support/long.h"
#include "tests/unit/softrdma/pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST_PORT = 40000, PORTS = 16, ROUNDS = 200, SKIPPED = 77 };

/* ---- a network namespace of its own ---- */

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return good;
}

static bool lo_up(void)
{
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && !ioctl(fd, SIOCSIFFLAGS, &lo);

    if (fd >= 0)
        close(fd);
    return good;
}

static bool few_ports(void)
{
    char range[32];

    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
        return false;
    snprintf(range, sizeof(range), "%d %d", FIRST_PORT, FIRST_PORT + PORTS - 1);
    return lo_up() && put("/proc/sys/net/ipv4/ip_local_port_range", range) &&
           put("/proc/sys/net/ipv4/tcp_tw_reuse", "0") &&
           put("/proc/sys/net/ipv4/tcp_timestamps", "0"); /* with these TCP knows an old segment */
}

/* ---- one connection after the other over the same objects ---- */

static void drop(struct end *end)
{
    if (end->qp)
        assert_int_equal(srd_destroy_qp(end->qp), 0);
    if (end->id)
        assert_int_equal(srd_destroy_id(end->id), 0);
    end->qp = NULL;
    end->id = NULL;
}

static void request(struct pair *pair)
{
    end_make_qp(&pair->active);
    end_make_qp(&pair->passive);
    end_resolve(&pair->active, &pair->address);
    pair_request(pair, 1);
}

static void connect_again(struct pair *pair)
{
    request(pair);
    pair_accept(pair, 1);
    pair_establish(pair);
}

static void disconnect(struct pair *pair, struct end *first)
{
    assert_int_equal(srd_disconnect(first->id), 0);
    assert_int_equal(test_event_done(pair->active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair->passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
}

static void exchange(struct end *from, struct end *to)
{
    struct ibv_wc wc;

    end_recv(to, 1, 0, 64);
    end_post(from, IBV_WR_SEND, 2, 64, 64, NULL, 0, 0);
    test_poll(to->cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    while (!ibv_poll_cq(from->cq, 1, &wc)) /* the acknowledgement goes out while its sender looks */
        assert_int_equal(ibv_poll_cq(to->cq, 1, &wc), 0);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/* ---- with few ports ---- */

static struct pair pair;

static int listen_once(void **state)
{
    (void)state;
    pair_listen(&pair, "127.0.0.1");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    pair_close(&pair);
    return 0;
}

static void either_end_may_disconnect(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        connect_again(&pair);
        disconnect(&pair, i % 2 ? &pair.active : &pair.passive);
        drop(&pair.active);
        drop(&pair.passive);
    }
}

/* Both say that they end it before they hear that the other does. */
static void both_ends_may_disconnect(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        connect_again(&pair);
        assert_int_equal(srd_disconnect(i % 2 ? pair.active.id : pair.passive.id), 0);
        disconnect(&pair, i % 2 ? &pair.passive : &pair.active);
        drop(&pair.active);
        drop(&pair.passive);
    }
}

static void the_queue_pair_may_go_first(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        struct end *first = i % 2 ? &pair.active : &pair.passive;

        connect_again(&pair);
        assert_int_equal(srd_destroy_qp(first->qp), 0);
        first->qp = NULL;
        assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
        assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
        drop(&pair.active);
        drop(&pair.passive);
    }
}

static void the_passive_program_may_refuse(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        request(&pair);
        assert_int_equal(srd_reject(pair.passive.id, "no", 2), 0);
        assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_REJECTED), 28);
        drop(&pair.active);
        drop(&pair.passive);
    }
}

static void the_active_program_may_refuse(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        request(&pair);
        pair_accept(&pair, 1);
        assert_int_equal(srd_reject(pair.active.id, "no", 2), 0);
        assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_REJECTED), 28);
        drop(&pair.active);
        drop(&pair.passive);
    }
}

static void the_active_program_may_give_up(void **state)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
    int mask;

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        request(&pair);
        drop(&pair.active);
        while (!srd_init_qp_attr(pair.passive.id, &attr, &mask))
            sched_yield(); /* its end is on the way */
        drop(&pair.passive);
    }
}

/*
 * One connection to a foreign peer, ended here first. False: there is no port any more. A peer that is not softrdma
 * closes by FIN, after which a port stays taken for a minute.
 */
static bool use_up(struct end *end, int listener, struct sockaddr_storage *address)
{
    static const uint8_t reply[20] = { 'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'p', ' ', 'F',
        'r', 'a', 'm', 'e', 0, 1, 0, 0 };
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    uint8_t octets[64];
    int fd;

    end_make_qp(end);
    end_resolve(end, address);
    param.qp_num = end->qp->qp_num;
    errno = 0;
    if (srd_connect(end->id, &param)) {
        assert_int_equal(errno, EADDRNOTAVAIL);
        drop(end);
        return false;
    }
    fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(recv(fd, octets, 24, MSG_WAITALL), 24);
    close(fd); /* of revision 1 */
    fd = accept(listener, NULL, NULL);
    assert_int_equal(recv(fd, octets, 20, MSG_WAITALL), 20);
    assert_int_equal(send(fd, reply, sizeof(reply), MSG_NOSIGNAL), (int)sizeof(reply));
    assert_int_equal(test_event_done(end->events, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
    end_to_rts(end);
    assert_int_equal(srd_establish(end->id), 0);
    assert_int_equal(srd_disconnect(end->id), 0);
    assert_int_equal(recv(fd, octets, 1, MSG_WAITALL), 0);
    close(fd);
    assert_int_equal(test_event_done(end->events, RDMA_CM_EVENT_DISCONNECTED), 0);
    drop(end);
    return true;
}

static void a_limit_that_is_met_says_so_and_is_that_of_one_peer(void **state)
{
    struct sockaddr_storage address, second;
    int listener = raw_listen(&address), other = raw_listen(&second), used = 0;

    (void)state;
    while (use_up(&pair.active, listener, &address))
        used++;
    assert_in_range(used, 1, PORTS - 3);               /* three listen */
    assert_true(use_up(&pair.active, other, &second)); /* the same ports do for another peer */
    connect_again(&pair);
    disconnect(&pair, &pair.active);
    drop(&pair.active);
    drop(&pair.passive);
    close(listener);
    close(other);
}

static int with_few_ports(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_end_may_disconnect),
        cmocka_unit_test(both_ends_may_disconnect),
        cmocka_unit_test(the_queue_pair_may_go_first),
        cmocka_unit_test(the_passive_program_may_refuse),
        cmocka_unit_test(the_active_program_may_refuse),
        cmocka_unit_test(the_active_program_may_give_up),
        cmocka_unit_test(a_limit_that_is_met_says_so_and_is_that_of_one_peer),
    };

    if (!few_ports()) {
        fprintf(stderr, "no network namespace can be made here: %s\n", strerror(errno));
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, listen_once, close_all);
}

/* ---- at full rate ---- */

static int count;

static void many_connections(void **state)
{
    uint64_t start_ms = test_now_ms(), took_ms;

    (void)state;
    for (int i = 0; i < count; i++) {
        connect_again(&pair);
        exchange(&pair.active, &pair.passive);
        exchange(&pair.passive, &pair.active);
        disconnect(&pair, i % 2 ? &pair.active : &pair.passive);
        drop(&pair.active);
        drop(&pair.passive);
    }
    took_ms = test_now_ms() - start_ms;
    printf("%d connections in %.1f s: %.0f a second\n", count, (double)took_ms / 1e3,
        count * 1e3 / (double)(took_ms ? took_ms : 1));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(many_connections) };

    if (argc < 2)
        return with_few_ports();
    count = atoi(argv[argc > 2 && test_is_long() ? 2 : 1]);
    return cmocka_run_group_tests(tests, listen_once, close_all);
}
