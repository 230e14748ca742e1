/* SPDX-License-Identifier: MIT */
/*
 * verbs.c - a device used directly, by verbs calls: what NetworkDirect on top of it is compared with. Control calls
 * come from the table of the library that has the device; data calls are the same inline functions for both.
 */
#include "tests/bench/driver.h"

#include "ndspi/verbs/verbs.h"
#include "softrdma/softrdma.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct verbs {
    const struct bench_side *side;
    const struct nd_verbs *calls;
    struct rdma_event_channel *events;
    struct rdma_cm_id *listener, *id;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel; /* NULL when polling */
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    char *buffer;
    unsigned events_unacked;
};

static struct rdma_cm_id *verbs_event(struct verbs *verbs, enum rdma_cm_event_type wanted)
{
    struct rdma_cm_event *event;
    struct rdma_cm_id *id;

    if (verbs->calls->get_cm_event(verbs->events, &event) != 0)
        bench_die("get_cm_event: %s", strerror(errno));
    if (event->event != wanted)
        bench_die(
            "connection event %d where %d is due (status %d)", event->event, wanted, event->status);
    id = event->id;
    verbs->calls->ack_cm_event(event);
    return id;
}

static void verbs_receive(void *end)
{
    struct verbs *verbs = end;
    struct ibv_sge sge = {
        .addr = (uintptr_t)verbs->buffer,
        .length = (uint32_t)verbs->side->test->octets,
        .lkey = verbs->mr->lkey,
    };
    struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

    if (ibv_post_recv(verbs->id->qp, &wr, &bad) != 0)
        bench_die("ibv_post_recv failed");
}

static void verbs_send(void *end, size_t octets)
{
    struct verbs *verbs = end;
    struct ibv_sge sge = {
        .addr = (uintptr_t)verbs->buffer,
        .length = (uint32_t)octets,
        .lkey = verbs->mr->lkey,
    };
    struct ibv_send_wr wr = {
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED,
    };
    struct ibv_send_wr *bad;

    if (ibv_post_send(verbs->id->qp, &wr, &bad) != 0)
        bench_die("ibv_post_send failed");
}

/* The one pair of calls that NetworkDirect has no use for: a queue pair that its connection moves. */
static int verbs_create_qp(struct verbs *verbs, struct ibv_qp_init_attr *attr)
{
    return verbs->side->place->kernel ? rdma_create_qp(verbs->id, verbs->pd, attr)
                                      : srd_create_id_qp(verbs->id, verbs->pd, attr);
}

static void verbs_destroy_qp(struct verbs *verbs)
{
    if (verbs->side->place->kernel)
        rdma_destroy_qp(verbs->id);
    else
        srd_destroy_id_qp(verbs->id);
}

static void verbs_queue_pair(struct verbs *verbs)
{
    const struct bench_test *test = verbs->side->test;
    unsigned depth = bench_depth(test);
    struct ibv_qp_init_attr attr = {
        .cap = { .max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1 },
        .qp_type = IBV_QPT_RC,
    };

    verbs->pd = verbs->calls->alloc_pd(verbs->id->verbs);
    if (!verbs->pd)
        bench_die("alloc_pd: %s", strerror(errno));
    if (test->wait != BENCH_POLL) {
        verbs->channel = verbs->calls->create_comp_channel(verbs->id->verbs);
        if (!verbs->channel)
            bench_die("create_comp_channel: %s", strerror(errno));
    }
    verbs->cq = verbs->calls->create_cq(verbs->id->verbs, 2 * (int)depth, NULL, verbs->channel, 0);
    verbs->buffer = bench_alloc(test->octets);
    verbs->mr =
        verbs->calls->reg_mr(verbs->pd, verbs->buffer, test->octets, IBV_ACCESS_LOCAL_WRITE);
    if (!verbs->cq || !verbs->mr)
        bench_die("create_cq or reg_mr: %s", strerror(errno));
    attr.send_cq = attr.recv_cq = verbs->cq;
    if (verbs_create_qp(verbs, &attr) != 0)
        bench_die("create_qp: %s", strerror(errno));
    for (unsigned i = 0; i < depth; i++)
        verbs_receive(verbs);
}

static const struct rdma_conn_param verbs_param = { .rnr_retry_count = 6, .retry_count = 6 };

static struct sockaddr_in verbs_address(uint32_t address_be, uint16_t port_be)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port_be, .sin_addr.s_addr = address_be
    };
}

static void *verbs_open(const struct bench_side *side)
{
    static struct verbs verbs;

    verbs.side = side;
    verbs.calls = side->place->kernel ? &nd_verbs_rdma_core : &nd_verbs_soft;
    verbs.events = verbs.calls->create_event_channel();
    if (!verbs.events)
        bench_die("create_event_channel: %s", strerror(errno));
    return &verbs;
}

static uint16_t verbs_listen(void *end)
{
    struct verbs *verbs = end;
    struct sockaddr_in address = verbs_address(bench_local_be(verbs->side), 0);

    if (verbs->calls->create_id(verbs->events, &verbs->listener, NULL, RDMA_PS_TCP) != 0 ||
        verbs->calls->bind_addr(verbs->listener, (struct sockaddr *)&address) != 0 ||
        verbs->calls->listen(verbs->listener, 1) != 0)
        bench_die("listen: %s", strerror(errno));
    return verbs->calls->get_src_port(verbs->listener);
}

static void verbs_accept(void *end)
{
    struct verbs *verbs = end;
    struct rdma_conn_param param = verbs_param;

    verbs->id = verbs_event(verbs, RDMA_CM_EVENT_CONNECT_REQUEST);
    verbs_queue_pair(verbs);
    if (verbs->calls->accept(verbs->id, &param) != 0)
        bench_die("accept: %s", strerror(errno));
    verbs_event(verbs, RDMA_CM_EVENT_ESTABLISHED);
}

static void verbs_connect(void *end, uint16_t port_be)
{
    struct verbs *verbs = end;
    struct sockaddr_in local = verbs_address(bench_local_be(verbs->side), 0);
    struct sockaddr_in address = verbs_address(verbs->side->place->server.address_be, port_be);
    struct rdma_conn_param param = verbs_param;

    if (verbs->calls->create_id(verbs->events, &verbs->id, NULL, RDMA_PS_TCP) != 0 ||
        verbs->calls->resolve_addr(
            verbs->id, (struct sockaddr *)&local, (struct sockaddr *)&address, 2000) != 0)
        bench_die("resolve_addr: %s", strerror(errno));
    verbs_event(verbs, RDMA_CM_EVENT_ADDR_RESOLVED);
    if (verbs->calls->resolve_route(verbs->id, 2000) != 0)
        bench_die("resolve_route: %s", strerror(errno));
    verbs_event(verbs, RDMA_CM_EVENT_ROUTE_RESOLVED);
    verbs_queue_pair(verbs);
    if (verbs->calls->connect(verbs->id, &param) != 0)
        bench_die("connect: %s", strerror(errno));
    verbs_event(verbs, RDMA_CM_EVENT_ESTABLISHED);
}

static void verbs_close(void *end)
{
    struct verbs *verbs = end;

    verbs->calls->disconnect(verbs->id);
    if (verbs->events_unacked)
        verbs->calls->ack_cq_events(verbs->cq, verbs->events_unacked);
    verbs_destroy_qp(verbs);
    verbs->calls->destroy_cq(verbs->cq);
    if (verbs->channel)
        verbs->calls->destroy_comp_channel(verbs->channel);
    verbs->calls->dereg_mr(verbs->mr);
    verbs->calls->dealloc_pd(verbs->pd);
    verbs->calls->destroy_id(verbs->id);
    if (verbs->listener)
        verbs->calls->destroy_id(verbs->listener);
    verbs->calls->destroy_event_channel(verbs->events);
}

/* Sleeps until the armed completion queue has something. */
static void verbs_sleep(struct verbs *verbs)
{
    struct ibv_cq *cq;
    void *context;

    if (verbs->calls->get_cq_event(verbs->channel, &cq, &context) != 0)
        bench_die("get_cq_event: %s", strerror(errno));
    verbs->events_unacked++;
}

static unsigned verbs_wait(void *end, unsigned *received)
{
    struct verbs *verbs = end;
    struct ibv_wc wc[BENCH_BATCH];
    bool armed = false;

    for (;;) {
        int count = ibv_poll_cq(verbs->cq, BENCH_BATCH, wc);

        if (count < 0)
            bench_die("ibv_poll_cq failed");
        *received = 0;
        for (int i = 0; i < count; i++) {
            if (wc[i].status != IBV_WC_SUCCESS)
                bench_die("completion with status %d", wc[i].status);
            *received += wc[i].opcode == IBV_WC_RECV;
        }
        if (count > 0)
            return (unsigned)count - *received;
        if (!verbs->channel)
            continue;
        if (armed) {
            verbs_sleep(verbs);
            armed = false;
        } else {
            if (ibv_req_notify_cq(verbs->cq, 0) != 0)
                bench_die("ibv_req_notify_cq failed");
            armed = true;
        }
    }
}

static const struct bench_api verbs_api = {
    .open = verbs_open,
    .listen = verbs_listen,
    .accept = verbs_accept,
    .connect = verbs_connect,
    .close = verbs_close,
    .receive = verbs_receive,
    .send = verbs_send,
    .wait = verbs_wait,
};

uint64_t bench_verbs(const struct bench_side *side)
{
    return bench_play(&verbs_api, side);
}
