/* SPDX-License-Identifier: MIT */
#include "pair.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

uint64_t test_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

void test_address(const char *host, uint16_t port, struct sockaddr_storage *out)
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;

    assert_int_equal(getaddrinfo(host, NULL, &hints, &found), 0);
    memset(out, 0, sizeof(*out));
    memcpy(out, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    ((struct sockaddr_in *)out)->sin_port = htons(port); /* at the same place in both families */
}

int raw_listen(struct sockaddr_storage *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t octets = sizeof(*address);

    test_address("127.0.0.1", 0, address);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(struct sockaddr_in)), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &octets), 0);
    return fd;
}

void end_open(struct end *end)
{
    struct ibv_device **list = srd_get_device_list(NULL);

    assert_non_null(list);
    assert_non_null(list[0]);
    memset(end, 0, sizeof(*end));
    end->context = srd_open_device(list[0]);
    srd_free_device_list(list);
    assert_non_null(end->context);
    end->pd = srd_alloc_pd(end->context);
    end->channel = srd_create_comp_channel(end->context);
    end->cq = srd_create_cq(end->context, 2 * END_DEPTH, end, end->channel, 0);
    end->memory = calloc(1, END_MEMORY);
    end->mr = srd_reg_mr(end->pd, end->memory, END_MEMORY,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
            IBV_ACCESS_MW_BIND);
    end->events = srd_create_event_channel();
    assert_non_null(end->pd);
    assert_non_null(end->channel);
    assert_non_null(end->cq);
    assert_non_null(end->mr);
    assert_non_null(end->events);
}

void end_make_qp(struct end *end)
{
    struct ibv_qp_init_attr init = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = END_DEPTH,
            .max_recv_wr = END_DEPTH,
            .max_send_sge = 4,
            .max_recv_sge = 4 },
    };
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_INIT,
        .port_num = 1,
        .qp_access_flags =
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
    };

    end->qp = srd_create_qp(end->pd, &init);
    assert_non_null(end->qp);
    assert_int_equal(srd_modify_qp(end->qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
        0);
}

void end_close(struct end *end)
{
    if (end->qp)
        assert_int_equal(srd_destroy_qp(end->qp), 0);
    if (end->id)
        assert_int_equal(srd_destroy_id(end->id), 0);
    srd_destroy_event_channel(end->events);
    assert_int_equal(srd_dereg_mr(end->mr), 0);
    assert_int_equal(srd_destroy_cq(end->cq), 0);
    assert_int_equal(srd_destroy_comp_channel(end->channel), 0);
    assert_int_equal(srd_dealloc_pd(end->pd), 0);
    assert_int_equal(srd_close_device(end->context), 0);
    free(end->memory);
    memset(end, 0, sizeof(*end));
}

int end_setup(void **state)
{
    struct end *end = malloc(sizeof(*end));

    end_open(end);
    end_make_qp(end);
    *state = end;
    return 0;
}

int end_teardown(void **state)
{
    end_close(*state);
    free(*state);
    return 0;
}

struct rdma_cm_event *test_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
    struct rdma_cm_event *event;
    int ready = poll(&fd, 1, DEADLINE_MS);

    if (ready != 1)
        fail_msg("no event %d within %d ms", (int)type, DEADLINE_MS);
    assert_int_equal(srd_get_cm_event(channel, &event), 0);
    assert_int_equal(event->event, type);
    return event;
}

int test_event_done(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event = test_event(channel, type);
    int status = event->status;

    assert_int_equal(srd_ack_cm_event(event), 0);
    return status;
}

void end_to_rts(struct end *end)
{
    static const enum ibv_qp_state states[] = { IBV_QPS_RTR, IBV_QPS_RTS };

    for (int i = 0; i < 2; i++) {
        struct ibv_qp_attr attr = { .qp_state = states[i] };
        int mask;
        assert_int_equal(srd_init_qp_attr(end->id, &attr, &mask), 0);
        if (i ==
            0) /* as the layer above does: on the passive side these are not in the attributes yet */
            attr.max_dest_rd_atomic = 4;
        else
            attr.max_rd_atomic = 4;
        assert_int_equal(srd_modify_qp(end->qp, &attr, mask), 0);
    }
}

void end_resolve(struct end *end, struct sockaddr_storage *address)
{
    assert_int_equal(srd_create_id(end->events, &end->id, end, RDMA_PS_TCP), 0);
    assert_int_equal(srd_resolve_addr(end->id, NULL, (struct sockaddr *)address, 2000), 0);
    assert_int_equal(test_event_done(end->events, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
    assert_non_null(end->id->verbs);
    assert_ptr_equal(end->id->verbs->device, end->context->device);
    assert_int_equal(srd_resolve_route(end->id, 2000), 0);
    assert_int_equal(test_event_done(end->events, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
}

void pair_listen(struct pair *pair, const char *host)
{
    memset(pair, 0, sizeof(*pair));
    end_open(&pair->active);
    end_open(&pair->passive);
    test_address(host, 0, &pair->address);
    assert_int_equal(srd_create_id(pair->passive.events, &pair->listener, pair, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(pair->listener, (struct sockaddr *)&pair->address), 0);
    assert_int_equal(srd_listen(pair->listener, 0), 0);
    ((struct sockaddr_in *)&pair->address)->sin_port = srd_get_src_port(pair->listener);
}

void pair_prepare(struct pair *pair, const char *host)
{
    pair_listen(pair, host);
    end_make_qp(&pair->active);
    end_make_qp(&pair->passive);
    end_resolve(&pair->active, &pair->address);
}

void pair_request(struct pair *pair, uint8_t reads)
{
    struct rdma_conn_param param = { .responder_resources = reads,
        .initiator_depth = reads,
        .rnr_retry_count = 7,
        .qp_num = pair->active.qp->qp_num };
    struct rdma_cm_event *event;

    assert_int_equal(srd_connect(pair->active.id, &param), 0);
    event = test_event(pair->passive.events, RDMA_CM_EVENT_CONNECT_REQUEST);
    assert_ptr_equal(event->listen_id, pair->listener);
    pair->passive.id = event->id;
    assert_int_equal(srd_ack_cm_event(event), 0);
}

void pair_accept(struct pair *pair, uint8_t reads)
{
    struct rdma_conn_param param = { .responder_resources = reads,
        .initiator_depth = reads,
        .rnr_retry_count = 7,
        .qp_num = pair->passive.qp->qp_num };

    end_to_rts(&pair->passive);
    assert_int_equal(srd_accept(pair->passive.id, &param), 0);
    assert_int_equal(test_event_done(pair->active.events, RDMA_CM_EVENT_CONNECT_RESPONSE), 0);
}

void pair_establish(struct pair *pair)
{
    end_to_rts(&pair->active);
    assert_int_equal(srd_establish(pair->active.id), 0);
    assert_int_equal(test_event_done(pair->passive.events, RDMA_CM_EVENT_ESTABLISHED), 0);
}

void pair_connect(struct pair *pair, const char *host)
{
    pair_prepare(pair, host);
    pair_request(pair, 4);
    pair_accept(pair, 4);
    pair_establish(pair);
}

void pair_close(struct pair *pair)
{
    if (pair->listener)
        assert_int_equal(srd_destroy_id(pair->listener), 0);
    end_close(&pair->active);
    end_close(&pair->passive);
}

void test_poll(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    for (int got = 0; got < count;) {
        int n = ibv_poll_cq(cq, count - got, wc + got);
        assert_true(n >= 0);
        got += n;
        if (!n && test_now_ms() > end_ms)
            fail_msg("%d of %d completions within %d ms", got, count, DEADLINE_MS);
    }
}

void end_recv(struct end *end, uint64_t wr_id, size_t offset, uint32_t octets)
{
    struct ibv_sge sge = { (uintptr_t)end->memory + offset, octets, end->mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad;

    assert_int_equal(ibv_post_recv(end->qp, &wr, &bad), 0);
}

void end_post(struct end *end, enum ibv_wr_opcode opcode, uint64_t wr_id, size_t offset,
    uint32_t octets, struct end *peer, size_t peer_offset, unsigned flags)
{
    struct ibv_sge sge = { (uintptr_t)end->memory + offset, octets, end->mr->lkey };
    struct ibv_send_wr wr = { .wr_id = wr_id,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED | flags };
    struct ibv_send_wr *bad;

    if (peer) {
        wr.wr.rdma.remote_addr = (uintptr_t)peer->memory + peer_offset;
        wr.wr.rdma.rkey = peer->mr->rkey;
    }
    assert_int_equal(ibv_post_send(end->qp, &wr, &bad), 0);
}
