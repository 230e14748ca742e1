/* SPDX-License-Identifier: MIT */
/*
 * Every pair of calls at the same time: threads of a server post to its shared receive queue, poll, send, disconnect,
 * move queue pairs to other states and destroy them, at random, while peers send without receives, read and write, and
 * hang up in every way. What is looked for is what sanitizers find; without them, a crash or a hang.
 *
 *   test_robustness_storm [seconds [seed]]
 */
#include "softrdma/softrdma.h"
#include "util/clock.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECONDS = 3,
    SLOTS = 6,
    PEERS = 4,
    WORKERS = 4,
    RECEIVES = 2, /* so that connections wait for one, most of the time */
    SENDS = 8,
    MESSAGE_OCTETS = 8192,
    MEMORY_OCTETS = 1 << 18,
    CQ_ENTRIES = 1 << 14,
};

#define REQUIRE(condition) require((condition), #condition, __LINE__)
static void require(bool good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "line %d: %s\n", line, what);
    abort();
}

/* --- what both sides have ---------------------------------------------------------------------------------------- */

struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    uint8_t *memory;
};

static atomic_bool over;
static atomic_uint connected, destroyed, received, sent;

static void side_open(struct side *side)
{
    struct ibv_device **list = srd_get_device_list(NULL);

    REQUIRE(list && list[0]);
    side->context = srd_open_device(list[0]);
    srd_free_device_list(list);
    REQUIRE(side->context);
    side->pd = srd_alloc_pd(side->context);
    side->memory = calloc(1, MEMORY_OCTETS);
    side->mr = srd_reg_mr(side->pd, side->memory, MEMORY_OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    REQUIRE(side->mr);
}

static void side_close(struct side *side)
{
    REQUIRE(!srd_dereg_mr(side->mr));
    REQUIRE(!srd_dealloc_pd(side->pd));
    REQUIRE(!srd_close_device(side->context));
    free(side->memory);
}

static struct ibv_sge piece(struct side *side, unsigned *seed)
{
    uint32_t octets = (uint32_t)rand_r(seed) % (rand_r(seed) % 2 ? MESSAGE_OCTETS : 64);

    return (struct ibv_sge){ (uintptr_t)side->memory, octets, side->mr->lkey };
}

struct worker {
    unsigned seed, mostly; /* what it does most, see work */
};

/* --- the server -------------------------------------------------------------------------------------------------- */

struct slot {
    pthread_rwlock_t lock; /* read: id is used; write: it is put in or destroyed */
    struct rdma_cm_id *id;
};

static struct server {
    struct side side;
    struct ibv_srq *srq;
    struct ibv_cq *cq;
    struct rdma_event_channel *events;
    struct rdma_cm_id *listener;
    struct sockaddr_in address;
    struct slot slots[SLOTS];
} server;

static void poll_once(struct ibv_cq *cq)
{
    struct ibv_wc wc[16];
    int count = ibv_poll_cq(cq, 16, wc);

    REQUIRE(count >= 0);
    for (int i = 0; i < count; i++)
        if (wc[i].status == IBV_WC_SUCCESS && wc[i].opcode & IBV_WC_RECV)
            atomic_fetch_add(&received, 1);
}

static void post_shared(unsigned *seed)
{
    struct ibv_sge sge = { (uintptr_t)server.side.memory, MESSAGE_OCTETS, server.side.mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1 }, *bad;

    for (int i = rand_r(seed) % 4; i >= 0; i--)
        if (ibv_post_srq_recv(server.srq, &wr, &bad))
            return; /* full */
}

static void post_some(struct side *side, struct rdma_cm_id *id, unsigned *seed)
{
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_SEND, IBV_WR_RDMA_WRITE,
        IBV_WR_RDMA_READ };
    struct ibv_sge sge = piece(side, seed);
    struct ibv_send_wr wr = { .wr_id = 2, .sg_list = &sge, .num_sge = 1 }, *bad;

    wr.opcode = opcodes[rand_r(seed) % 4];
    wr.send_flags = rand_r(seed) % 2 ? IBV_SEND_SIGNALED : 0;
    wr.wr.rdma.remote_addr =
        (uintptr_t)server.side.memory; /* for a peer; no memory of its own is */
    wr.wr.rdma.rkey = server.side.mr->rkey;
    if (!ibv_post_send(id->qp, &wr, &bad))
        atomic_fetch_add(&sent, 1);
}

static void move_to(struct rdma_cm_id *id, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = { .qp_state = state };

    srd_modify_qp(id->qp, &attr, IBV_QP_STATE);
}

static void use_slot(struct slot *slot, unsigned what, unsigned *seed)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    pthread_rwlock_rdlock(&slot->lock);
    if (slot->id) {
        switch (what) {
        case 0: srd_disconnect(slot->id); break;
        case 1: move_to(slot->id, IBV_QPS_ERR); break;
        case 2: move_to(slot->id, IBV_QPS_RESET); break;
        case 3: srd_query_qp(slot->id->qp, &attr, IBV_QP_STATE, &init); break;
        default: post_some(&server.side, slot->id, seed);
        }
    }
    pthread_rwlock_unlock(&slot->lock);
}

static void empty_slot(struct slot *slot, unsigned *seed)
{
    struct rdma_cm_id *id;

    pthread_rwlock_wrlock(&slot->lock);
    id = slot->id;
    slot->id = NULL;
    pthread_rwlock_unlock(&slot->lock);
    if (!id)
        return;
    if (rand_r(seed) % 2)
        srd_destroy_id_qp(id); /* else its connection goes first */
    if (id->qp) {
        struct ibv_qp *qp = id->qp;

        REQUIRE(!srd_destroy_id(id));
        REQUIRE(!srd_destroy_qp(qp));
    } else {
        REQUIRE(!srd_destroy_id(id));
    }
    atomic_fetch_add(&destroyed, 1);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    unsigned seed = worker->seed;

    while (!atomic_load(&over)) {
        struct slot *slot = &server.slots[rand_r(&seed) % SLOTS];
        struct ibv_srq_attr attr = { .srq_limit = 1 };
        unsigned what = (unsigned)rand_r(&seed) % 64;

        if (rand_r(&seed) % 8) /* its own business */
            what = worker->mostly;
        if (what < 16)
            post_shared(&seed);
        else if (what < 32)
            poll_once(server.cq);
        else if (what < 36)
            empty_slot(slot, &seed);
        else if (what < 38)
            ibv_req_notify_cq(server.cq, (int)what & 1);
        else if (what < 40)
            srd_modify_srq(server.srq, &attr, IBV_SRQ_LIMIT);
        else if (what < 41)
            srd_query_srq(server.srq, &attr);
        else
            use_slot(slot,
                what < 42   ? 0
                : what < 43 ? 1
                : what < 44 ? 2
                : what < 50 ? 3
                            : 4,
                &seed);
    }
    return NULL;
}

static void accept_into(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr init = { .send_cq = server.cq,
        .recv_cq = server.cq,
        .srq = server.srq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = SENDS, .max_send_sge = 1 } };
    struct rdma_conn_param param = { .responder_resources = 2, .initiator_depth = 2 };

    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &server.slots[i];
        bool taken;

        pthread_rwlock_wrlock(&slot->lock);
        taken = !slot->id && !srd_create_id_qp(id, server.side.pd, &init);
        if (taken) {
            slot->id = id;
            srd_accept(
                id, &param); /* a peer that has gone already shows in an event, or in nothing */
        }
        pthread_rwlock_unlock(&slot->lock);
        if (taken)
            return;
    }
    srd_reject(id, NULL, 0);
    REQUIRE(!srd_destroy_id(id));
}

static void *hear(void *unused)
{
    struct rdma_cm_event *event;

    (void)unused;
    while (!srd_get_cm_event(server.events, &event)) {
        struct rdma_cm_id *id = event->id;
        bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;
        bool last = request && event->param.conn.private_data_len;

        REQUIRE(!srd_ack_cm_event(event));
        if (request && !atomic_load(&over))
            accept_into(id);
        else if (request)
            REQUIRE(!srd_destroy_id(id));
        if (last)
            return NULL;
    }
    abort();
}

static void server_open(void)
{
    struct ibv_srq_init_attr srq = { .attr = { .max_wr = RECEIVES, .max_sge = 1 } };

    side_open(&server.side);
    server.srq = srd_create_srq(server.side.pd, &srq);
    server.cq = srd_create_cq(server.side.context, CQ_ENTRIES, NULL, NULL, 0);
    server.events = srd_create_event_channel();
    REQUIRE(server.srq && server.cq && server.events);
    for (int i = 0; i < SLOTS; i++)
        pthread_rwlock_init(&server.slots[i].lock, NULL);
    server.address.sin_family = AF_INET;
    server.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(!srd_create_id(server.events, &server.listener, NULL, RDMA_PS_TCP));
    REQUIRE(!srd_bind_addr(server.listener, (struct sockaddr *)&server.address));
    REQUIRE(!srd_listen(server.listener, 64));
    server.address.sin_port = srd_get_src_port(server.listener);
}

static void server_close(void)
{
    unsigned seed = 1;

    for (int i = 0; i < SLOTS; i++) {
        empty_slot(&server.slots[i], &seed);
        pthread_rwlock_destroy(&server.slots[i].lock);
    }
    REQUIRE(!srd_destroy_id(server.listener));
    srd_destroy_event_channel(server.events);
    REQUIRE(!srd_destroy_cq(server.cq));
    REQUIRE(!srd_destroy_srq(server.srq));
    side_close(&server.side);
}

/* --- peers ------------------------------------------------------------------------------------------------------- */

struct peer {
    struct side side;
    struct ibv_cq *cq;
    unsigned seed;
};

/* A synchronous id with a queue pair, connected; NULL: refused. last: see stop_hearing */
static struct rdma_cm_id *connect_one(struct peer *peer, bool last)
{
    struct ibv_qp_init_attr init = { .send_cq = peer->cq,
        .recv_cq = peer->cq,
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = SENDS, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 } };
    struct rdma_conn_param param = { .responder_resources = 2,
        .initiator_depth = 2,
        .private_data = "last",
        .private_data_len = last ? 4 : 0 };
    struct rdma_cm_id *id;

    REQUIRE(!srd_create_id(NULL, &id, NULL, RDMA_PS_TCP));
    if (!srd_resolve_addr(id, NULL, (struct sockaddr *)&server.address, 2000) &&
        !srd_resolve_route(id, 2000) && !srd_create_id_qp(id, peer->side.pd, &init)) {
        if (!srd_connect(id, &param))
            return id;
        srd_destroy_id_qp(id);
    }
    REQUIRE(!srd_destroy_id(id));
    return NULL;
}

static void hang_up(struct peer *peer, struct rdma_cm_id *id)
{
    struct ibv_qp *qp = id->qp;

    switch (rand_r(&peer->seed) % 4) {
    case 0: srd_disconnect(id); break;
    case 1: move_to(id, IBV_QPS_ERR); break;
    case 2: move_to(id, IBV_QPS_RESET); break;
    default: break;
    }
    if (rand_r(&peer->seed) % 2) {
        srd_destroy_id_qp(id);
        REQUIRE(!srd_destroy_id(id));
    } else {
        REQUIRE(!srd_destroy_id(id));
        REQUIRE(!srd_destroy_qp(qp));
    }
}

static void *bother(void *arg)
{
    struct peer *peer = arg;

    side_open(&peer->side);
    peer->cq = srd_create_cq(peer->side.context, CQ_ENTRIES, NULL, NULL, 0);
    REQUIRE(peer->cq);
    while (!atomic_load(&over)) {
        struct rdma_cm_id *id = connect_one(peer, false);

        if (!id)
            continue;
        atomic_fetch_add(&connected, 1);
        for (int i = rand_r(&peer->seed) % 64; i >= 0; i--) {
            post_some(&peer->side, id, &peer->seed);
            if (rand_r(&peer->seed) % 2)
                poll_once(peer->cq);
        }
        hang_up(peer, id);
    }
    REQUIRE(!srd_destroy_cq(peer->cq));
    side_close(&peer->side);
    return NULL;
}

/* Sends a last request, which the listening thread refuses before it ends. */
static void stop_hearing(pthread_t thread)
{
    struct peer last = { .seed = 1 };

    side_open(&last.side);
    last.cq = srd_create_cq(last.side.context, 16, NULL, NULL, 0);
    REQUIRE(!connect_one(&last, true)); /* refused */
    pthread_join(thread, NULL);
    REQUIRE(!srd_destroy_cq(last.cq));
    side_close(&last.side);
}

int main(int argc, char **argv)
{
    uint64_t seconds = argc > 1 ? (uint64_t)atoi(argv[1]) : SECONDS, end_ms;
    unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : (unsigned)clock_now_ns();
    struct worker each[WORKERS] = { { .mostly = 0 }, { .mostly = 32 }, { .mostly = 32 },
        { .mostly = 64 } };
    pthread_t workers[WORKERS], peers[PEERS], hearer;
    static struct peer all[PEERS];

    fprintf(stderr, "seed %u\n", seed);
    server_open();
    pthread_create(&hearer, NULL, hear, NULL);
    for (unsigned i = 0; i < WORKERS; i++) {
        each[i].seed = seed + i;
        pthread_create(&workers[i], NULL, work, &each[i]);
    }
    for (unsigned i = 0; i < PEERS; i++) {
        all[i].seed = seed + WORKERS + i;
        pthread_create(&peers[i], NULL, bother, &all[i]);
    }
    for (end_ms = clock_now_ms() + seconds * 1000; clock_now_ms() < end_ms;)
        poll_once(server.cq);
    atomic_store(&over, true);
    for (int i = 0; i < PEERS; i++)
        pthread_join(peers[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    stop_hearing(hearer);
    server_close();
    printf("%u connections, %u destroyed here, %u requests, %u messages received\n",
        atomic_load(&connected), atomic_load(&destroyed), atomic_load(&sent),
        atomic_load(&received));
    REQUIRE(atomic_load(&destroyed) && atomic_load(&received));
    return 0;
}
