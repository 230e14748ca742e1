/* SPDX-License-Identifier: MIT */
/* The connection manager: addresses, options, channels, queues shared by connections. */
#include "tests/unit/softrdma/pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct rdma_cm_id *new_id(struct end *end)
{
    struct rdma_cm_id *id;

    assert_int_equal(srd_create_id(end->events, &id, end, RDMA_PS_TCP), 0);
    return id;
}

static int bind_to(struct rdma_cm_id *id, const char *host, uint16_t port)
{
    struct sockaddr_storage address;

    test_address(host, port, &address);
    errno = 0;
    return srd_bind_addr(id, (struct sockaddr *)&address);
}

static void ports_are_taken_once(void **state)
{
    struct rdma_cm_id *first, *second, *third;
    struct end end;
    uint16_t port;
    int on = 1;

    (void)state;
    end_open(&end);
    first = new_id(&end);
    assert_int_equal(bind_to(first, "127.0.0.1", 0), 0);
    port = ntohs(srd_get_src_port(first));
    assert_int_not_equal(port, 0);
    assert_ptr_equal(first->verbs->device, end.context->device);
    assert_int_equal(first->port_num, 1);
    second = new_id(&end);
    assert_int_equal(bind_to(second, "127.0.0.1", port), -1); /* bound */
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(srd_listen(first, 0), 0);
    assert_int_equal(bind_to(second, "127.0.0.1", port), -1); /* listening */
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(
        srd_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind_to(second, "127.0.0.1", port), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(bind_to(second, "127.0.0.1", 0), 0);
    assert_int_equal(bind_to(second, "127.0.0.1", 0), -1); /* an id is bound once */
    assert_int_equal(errno, EINVAL);
    /* Several may share a port when all of them ask for it. */
    third = new_id(&end);
    assert_int_equal(
        srd_set_option(third, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind_to(third, "127.0.0.1", ntohs(srd_get_src_port(second))), 0);
    assert_int_equal(srd_destroy_id(first), 0);
    assert_int_equal(srd_destroy_id(second), 0);
    assert_int_equal(srd_destroy_id(third), 0);
    first = new_id(&end);
    assert_int_equal(bind_to(first, "127.0.0.1", port), 0); /* free again */
    assert_int_equal(srd_destroy_id(first), 0);
    end_close(&end);
}

static void a_port_can_be_listened_on_again_at_once(void **state)
{
    struct pair pair;
    struct rdma_cm_id *again;
    uint16_t port;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    port = ntohs(srd_get_src_port(pair.listener));
    assert_int_equal(srd_disconnect(pair.passive.id), 0); /* this side keeps TIME_WAIT */
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(srd_destroy_id(pair.listener), 0);
    pair.listener = NULL;
    again = new_id(&pair.passive);
    assert_int_equal(bind_to(again, "127.0.0.1", port), 0);
    assert_int_equal(srd_listen(again, 0), 0);
    assert_int_equal(srd_destroy_id(again), 0);
    pair_close(&pair);
}

static void wrong_addresses_are_refused(void **state)
{
    struct sockaddr_storage address;
    struct sockaddr odd = { .sa_family = AF_UNIX };
    struct rdma_cm_id *id;
    struct end end;

    (void)state;
    end_open(&end);
    assert_int_equal(srd_create_id(end.events, &id, NULL, RDMA_PS_UDP), -1);
    assert_int_equal(errno, EPROTONOSUPPORT);
    id = new_id(&end);
    assert_int_equal(bind_to(id, "192.0.2.1", 0), -1);
    assert_int_equal(errno, EADDRNOTAVAIL);
    assert_int_equal(srd_bind_addr(id, &odd), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
    assert_int_equal(srd_bind_addr(id, NULL), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(srd_resolve_route(id, 100), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(bind_to(id, "127.0.0.1", 0), 0);
    test_address("::1", 1, &address);
    assert_int_equal(
        srd_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), -1); /* other family */
    assert_int_equal(errno, EINVAL);
    assert_int_equal(srd_destroy_id(id), 0);
    end_close(&end);
}

static void the_wildcard_as_destination_is_this_host(void **state)
{
    struct sockaddr_storage address;
    struct end end;

    (void)state;
    end_open(&end);
    test_address("0.0.0.0", 4791, &address);
    end_resolve(&end, &address);
    assert_int_equal(end.id->route.addr.dst_sin.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    assert_int_equal(srd_get_dst_port(end.id), htons(4791));
    assert_int_not_equal(srd_get_src_port(end.id), 0);
    end_close(&end);
}

static void an_id_does_not_connect_to_itself(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct sockaddr_storage address;
    struct end end;

    (void)state;
    end_open(&end);
    end_make_qp(&end);
    end.id = new_id(&end);
    assert_int_equal(bind_to(end.id, "127.0.0.1", 0), 0);
    test_address("127.0.0.1", ntohs(srd_get_src_port(end.id)), &address);
    assert_int_equal(srd_resolve_addr(end.id, NULL, (struct sockaddr *)&address, 100), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    assert_int_equal(srd_resolve_route(end.id, 100), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
    param.qp_num = end.qp->qp_num;
    assert_int_equal(srd_connect(end.id, &param), 0);
    assert_int_equal(test_event_done(end.events, RDMA_CM_EVENT_REJECTED), 8);
    end_close(&end);
}

static void a_dual_stack_listener_shows_ipv4_peers_as_such(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "::");
    assert_null(pair.listener->verbs);
    test_address("127.0.0.1", ntohs(srd_get_src_port(pair.listener)), &pair.address);
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    param.qp_num = pair.active.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(event->id->route.addr.src_addr.sa_family, AF_INET);
    assert_int_equal(event->id->route.addr.dst_addr.sa_family, AF_INET);
    assert_ptr_equal(event->id->verbs->device, pair.passive.context->device);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_close(&pair);
}

static void requests_beyond_the_backlog_are_rejected(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct sockaddr_storage address;
    struct pollfd fd;
    struct end second;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    assert_int_equal(srd_destroy_id(pair.listener), 0);
    pair.listener = new_id(&pair.passive);
    assert_int_equal(bind_to(pair.listener, "127.0.0.1", 0), 0);
    assert_int_equal(srd_listen(pair.listener, 1), 0);
    test_address("127.0.0.1", ntohs(srd_get_src_port(pair.listener)), &address);
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &address);
    param.qp_num = pair.active.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    fd = (struct pollfd){ .fd = pair.passive.events->fd, .events = POLLIN };
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1); /* one is queued */
    end_open(&second);
    end_make_qp(&second);
    end_resolve(&second, &address);
    param.qp_num = second.qp->qp_num;
    assert_int_equal(srd_connect(second.id, &param), 0);
    assert_int_equal(test_event_done(second.events, RDMA_CM_EVENT_REJECTED), 28);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    end_close(&second);
    pair_close(&pair);
}

static void migration_takes_queued_events_along(void **state)
{
    struct rdma_event_channel *other = srd_create_event_channel();
    struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1 };
    struct rdma_cm_event *event;
    struct pollfd fd = { .events = POLLIN };
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_make_qp(&pair.active);
    end_resolve(&pair.active, &pair.address);
    param.qp_num = pair.active.qp->qp_num;
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    fd.fd = pair.passive.events->fd;
    assert_int_equal(poll(&fd, 1, DEADLINE_MS), 1);
    assert_int_equal(srd_migrate_id(pair.listener, other), 0);
    assert_int_equal(poll(&fd, 1, 0), 0);
    event = test_event(other, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_ptr_equal(event->id->channel, other);
    assert_int_equal(srd_destroy_id(event->id), 0);
    assert_int_equal(srd_ack_cm_event(event), 0);
    pair_close(&pair);
    srd_destroy_event_channel(other);
}

static void a_queue_pair_on_the_id_is_moved_by_itself(void **state)
{
    struct rdma_conn_param param = { .responder_resources = 2,
        .initiator_depth = 2,
        .private_data = "hello",
        .private_data_len = 5 };
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct rdma_cm_event *event;
    struct rdma_cm_id *passive;
    struct ibv_qp_init_attr copy = init;
    struct ibv_qp_attr attr;
    struct pair pair;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    end_resolve(&pair.active, &pair.address);
    assert_int_equal(srd_create_id_qp(pair.active.id, NULL, &copy), 0);
    assert_non_null(pair.active.id->qp);
    assert_non_null(pair.active.id->send_cq);
    assert_int_equal(srd_connect(pair.active.id, &param), 0);
    event = test_event(pair.passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    passive = event->id;
    assert_int_equal(event->param.conn.private_data_len, 5);
    assert_int_equal(srd_ack_cm_event(event), 0);
    copy = init;
    assert_int_equal(srd_create_id_qp(passive, pair.passive.pd, &copy), 0);
    assert_int_equal(srd_accept(passive, &param), 0);
    event = test_event(pair.active.events, RDMA_CM_EVENT_ESTABLISHED);
    assert_int_equal(event->param.conn.private_data_len, 5);
    assert_memory_equal(event->param.conn.private_data, "hello", 5);
    assert_int_equal(srd_ack_cm_event(event), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
    assert_int_equal(srd_query_qp(passive->qp, &attr, IBV_QP_STATE, &copy), 0);
    assert_int_equal(attr.qp_state, IBV_QPS_RTS);
    assert_int_equal(srd_disconnect(passive), 0);
    assert_int_equal(test_event_done(pair.active.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    assert_int_equal(test_event_done(pair.passive.events, RDMA_CM_EVENT_DISCONNECTED), 0);
    srd_destroy_id_qp(pair.active.id);
    srd_destroy_id_qp(passive);
    assert_int_equal(srd_destroy_id(passive), 0);
    pair_close(&pair);
}

static void two_connections_on_one_queue_both_move(void **state)
{
    struct pair pair[2];
    struct ibv_cq *shared, *own;
    struct ibv_wc wc[8];

    (void)state;
    /* The second pair's passive queue pair completes into the queue of the first pair's active one. */
    pair_connect(&pair[0], "127.0.0.1");
    shared = pair[0].active.cq;
    pair_listen(&pair[1], "127.0.0.1");
    own = pair[1].active.cq;
    pair[1].active.cq = shared;
    end_make_qp(&pair[1].active);
    end_make_qp(&pair[1].passive);
    end_resolve(&pair[1].active, &pair[1].address);
    pair_request(&pair[1], 4);
    pair_accept(&pair[1], 4);
    pair_establish(&pair[1]);
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 2; i++) {
            end_recv(&pair[i].active, (uint64_t)i, 0, 64);
            end_post(&pair[i].passive, IBV_WR_SEND, 9, 0, 8, NULL, 0, 0);
        }
        test_poll(shared, 2, wc);
        assert_int_equal(wc[0].wr_id + wc[1].wr_id, 1);
        for (int i = 0; i < 2; i++) {
            test_poll(pair[i].passive.cq, 1, wc);
            assert_int_equal(wc[0].status, IBV_WC_SUCCESS);
        }
    }
    assert_int_equal(srd_destroy_qp(pair[1].active.qp), 0);
    pair[1].active.qp = NULL;
    pair[1].active.cq = own;
    pair_close(&pair[1]);
    pair_close(&pair[0]);
}

static int child_of_a_fork(struct pair *pair)
{
    struct rdma_cm_event *event;
    struct pair fresh;
    struct ibv_wc wc;

    /* What came from the parent fails ... */
    if (ibv_poll_cq(pair->active.cq, 1, &wc) >= 0)
        return 1;
    if (srd_get_cm_event(pair->active.events, &event) != -1 || errno != EIO)
        return 2;
    if (srd_alloc_pd(pair->active.context) || errno != EIO)
        return 3;
    if (srd_disconnect(pair->active.id) != -1 || errno != EIO)
        return 4;
    /* ... and the device can be used anew. */
    pair_connect(&fresh, "127.0.0.1");
    end_recv(&fresh.passive, 1, 0, 64);
    end_post(&fresh.active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    test_poll(fresh.passive.cq, 1, &wc);
    return wc.status == IBV_WC_SUCCESS ? 0 : 5;
}

static void a_fork_leaves_the_parent_alone(void **state)
{
    struct pair pair;
    struct ibv_wc wc;
    int status;
    pid_t child;

    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* ThreadSanitizer does not follow a fork of a process with threads */
#endif
    pair_connect(&pair, "127.0.0.1");
    child = fork();
    if (!child)
        _exit(child_of_a_fork(&pair));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 8, NULL, 0, 0);
    test_poll(pair.passive.cq, 1, &wc);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* rdma_create_id(3): an id without a channel of the program's waits for its events by itself. */
static void a_synchronous_call_does_not_wait_where_its_channel_does_not(void **state)
{
    struct rdma_conn_param param = { .retry_count = 7 };
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct sockaddr_storage address;
    struct rdma_cm_id *id;
    int never_answers = raw_listen(&address);

    (void)state;
    assert_int_equal(srd_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_resolve_addr(id, NULL, (struct sockaddr *)&address, DEADLINE_MS), 0);
    assert_int_equal(srd_resolve_route(id, DEADLINE_MS), 0);
    assert_int_equal(srd_create_id_qp(id, NULL, &init), 0);
    assert_int_equal(fcntl(id->channel->fd, F_SETFL, O_NONBLOCK), 0);
    errno = 0;
    assert_int_equal(srd_connect(id, &param), -1);
    assert_int_equal(errno, EAGAIN);
    srd_destroy_id_qp(id);
    assert_int_equal(srd_destroy_id(id), 0);
    close(never_answers);
}

static void all_devices_have_a_context(void **state)
{
    int count = -1, devices = -1;
    struct ibv_device **list = srd_get_device_list(&devices);
    struct ibv_context **contexts = srd_get_devices(&count);

    (void)state;
    assert_non_null(contexts);
    assert_int_equal(count, devices);
    for (int i = 0; i < count; i++)
        assert_ptr_equal(contexts[i]->device, list[i]);
    assert_null(contexts[count]);
    srd_free_devices(contexts);
    srd_free_device_list(list);
    assert_non_null(contexts = srd_get_devices(NULL));
    srd_free_devices(contexts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_taken_once),
        cmocka_unit_test(a_port_can_be_listened_on_again_at_once),
        cmocka_unit_test(wrong_addresses_are_refused),
        cmocka_unit_test(the_wildcard_as_destination_is_this_host),
        cmocka_unit_test(an_id_does_not_connect_to_itself),
        cmocka_unit_test(a_dual_stack_listener_shows_ipv4_peers_as_such),
        cmocka_unit_test(requests_beyond_the_backlog_are_rejected),
        cmocka_unit_test(migration_takes_queued_events_along),
        cmocka_unit_test(a_queue_pair_on_the_id_is_moved_by_itself),
        cmocka_unit_test(two_connections_on_one_queue_both_move),
        cmocka_unit_test(a_synchronous_call_does_not_wait_where_its_channel_does_not),
        cmocka_unit_test(all_devices_have_a_context),
        cmocka_unit_test(a_fork_leaves_the_parent_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
