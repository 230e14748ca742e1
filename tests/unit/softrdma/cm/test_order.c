/* SPDX-License-Identifier: MIT */
/*
 * Connects that wait for a listener (NDSPI_SOFT_PATIENCE_MS): the peer gets them in the order of their calls, as it
 * gets them when it listens in time. perftest gives its queue pairs to requests in that order (perftest -q 8, whose
 * client is started before its server).
 */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/cm/id.h"
#include "tests/support/asleep.h"
#include "tests/support/haste.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { IDS = 8, LATE = 4, ROUNDS = 10 };

/* The next so many attempts find that an earlier connection to the peer still holds their port (TIME_WAIT). */
static atomic_int ports_held;

int __real_connect(int fd, const struct sockaddr *addr, socklen_t octets);
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t octets);
int __wrap_connect(int fd, const struct sockaddr *addr, socklen_t octets)
{
    if (addr->sa_family == AF_INET && atomic_load(&ports_held) > 0) {
        atomic_fetch_sub(&ports_held, 1);
        errno = EADDRNOTAVAIL;
        return -1;
    }
    return __real_connect(fd, addr, octets);
}

/* So many times softrdma finds, right after its attempt, that TCP has not connected yet, as with a peer far away. */
static atomic_int slow;

int __real_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (count == 1 && fds->events == POLLOUT && !timeout_ms && atomic_load(&slow) > 0) {
        atomic_fetch_sub(&slow, 1);
        return 0;
    }
    return __real_poll(fds, count, timeout_ms);
}

struct scene {
    struct end client, server;
    struct rdma_cm_id *listener; /* bound, and listening later */
    struct rdma_cm_id *ids[IDS + LATE];
    struct sockaddr_storage address;
};

static void begin(struct scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    end_open(&scene->client);
    end_open(&scene->server);
    end_make_qp(&scene->client);
    test_address("127.0.0.1", 0, &scene->address);
    assert_int_equal(srd_create_id(scene->server.events, &scene->listener, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(scene->listener, (struct sockaddr *)&scene->address), 0);
    test_address("127.0.0.1", ntohs(srd_get_src_port(scene->listener)), &scene->address);
}

/* Each has its number as private data. */
static void connect_one(struct scene *scene, uint8_t number)
{
    struct rdma_conn_param param = { .qp_num = scene->client.qp->qp_num,
        .private_data = &number,
        .private_data_len = sizeof(number) };
    struct end *client = &scene->client;

    client->id = NULL;
    end_resolve(client, &scene->address);
    scene->ids[number] = client->id;
    client->id = NULL;
    assert_int_equal(srd_connect(scene->ids[number], &param), 0);
}

static bool waits(struct rdma_cm_id *ibv)
{
    struct srd_id *id = srd_id_from(ibv);
    bool again;

    lock_acquire(&id->lock);
    again = id->again;
    lock_release(&id->lock);
    return again;
}

static void connect_all(struct scene *scene)
{
    for (uint8_t i = 0; i < IDS; i++)
        connect_one(scene, i);
    for (uint8_t i = 0; i < IDS; i++)
        assert_true(SETTLES(waits(scene->ids[i])));
}

static void expect_requests(struct scene *scene, uint8_t from, uint8_t to)
{
    for (uint8_t i = from; i < to; i++) {
        struct rdma_cm_event *event =
            test_event(scene->server.events, RDMA_CM_EVENT_CONNECT_REQUEST);

        assert_true(event->param.conn.private_data_len > 0);
        assert_int_equal(*(const uint8_t *)event->param.conn.private_data, i);
        assert_int_equal(srd_destroy_id(event->id), 0);
        assert_int_equal(srd_ack_cm_event(event), 0);
    }
}

static void finish(struct scene *scene)
{
    for (int i = 0; i < IDS + LATE; i++)
        if (scene->ids[i])
            assert_int_equal(srd_destroy_id(scene->ids[i]), 0);
    assert_int_equal(srd_destroy_id(scene->listener), 0);
    end_close(&scene->client);
    end_close(&scene->server);
}

/* All connects wait, and then there is a listener. */
static void begin_late(struct scene *scene)
{
    begin(scene);
    connect_all(scene);
    assert_int_equal(srd_listen(scene->listener, 64), 0);
}

static void a_late_listener_gets_connects_in_their_order(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene scene;

        begin_late(&scene);
        expect_requests(&scene, 0, IDS);
        finish(&scene);
    }
}

/* What is called while others wait comes behind them, though it would find the listener at once. */
static void a_later_call_does_not_overtake(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct scene scene;

        begin_late(&scene);
        for (uint8_t i = IDS; i < IDS + LATE; i++)
            connect_one(&scene, i);
        expect_requests(&scene, 0, IDS + LATE);
        finish(&scene);
    }
}

/* The first ones do not try any more: the others have not waited for them alone. */
static void one_that_is_destroyed_holds_no_other_up(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    connect_all(&scene);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(srd_destroy_id(scene.ids[i]), 0);
        scene.ids[i] = NULL;
    }
    assert_int_equal(srd_listen(scene.listener, 64), 0);
    expect_requests(&scene, 2, IDS);
    finish(&scene);
}

/* The first attempt of a call that comes behind others is made late, and may need another port as any first attempt. */
static void one_whose_port_is_held_takes_another(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    connect_all(&scene);
    atomic_store(&ports_held, 2);
    assert_true(SETTLES(atomic_load(&ports_held) == 0));
    assert_int_equal(srd_listen(scene.listener, 64), 0);
    expect_requests(&scene, 0, IDS);
    finish(&scene);
}

/* The reactor, not the call, finds the first one connected. The clock stands, so no attempt of the others is due. */
static void the_others_go_on_once_the_first_has_connected(void **state)
{
    struct scene scene;

    (void)state;
    begin(&scene);
    connect_all(&scene);
    haste_begin(0);
    assert_int_equal(srd_listen(scene.listener, 64), 0);
    atomic_store(&slow, 1);
    while (atomic_load(&slow)) {
        haste_skip_ms(SRD_CM_RETRY_MS);
        poll(NULL, 0, 1);
    }
    expect_requests(&scene, 0, IDS);
    haste_end();
    finish(&scene);
}

/* Each has its own patience: all are told, whoever is the first. */
static void all_fail_when_their_patience_ends(void **state)
{
    struct rdma_cm_event *event;
    struct scene scene;

    (void)state;
    begin(&scene);
    connect_all(&scene);
    for (int i = IDS; i--;) {
        struct srd_id *id = srd_id_from(scene.ids[i]);

        lock_acquire(&id->lock);
        id->retry_until_ms = 0;
        lock_release(&id->lock);
        event = test_event(scene.client.events, RDMA_CM_EVENT_REJECTED);
        assert_ptr_equal(event->id, scene.ids[i]);
        assert_int_equal(event->status, SRD_CM_NO_LISTENER);
        assert_int_equal(srd_ack_cm_event(event), 0);
    }
    finish(&scene);
}

/* Another destination is no concern of theirs. */
static void who_waits_elsewhere_holds_nobody_up(void **state)
{
    struct scene waiting, other;

    (void)state;
    begin(&waiting);
    connect_all(&waiting);
    begin(&other);
    assert_int_equal(srd_listen(other.listener, 64), 0);
    for (uint8_t i = 0; i < IDS; i++)
        connect_one(&other, i);
    expect_requests(&other, 0, IDS);
    finish(&other);
    finish(&waiting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_listener_gets_connects_in_their_order),
        cmocka_unit_test(a_later_call_does_not_overtake),
        cmocka_unit_test(one_that_is_destroyed_holds_no_other_up),
        cmocka_unit_test(one_whose_port_is_held_takes_another),
        cmocka_unit_test(the_others_go_on_once_the_first_has_connected),
        cmocka_unit_test(all_fail_when_their_patience_ends),
        cmocka_unit_test(who_waits_elsewhere_holds_nobody_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
