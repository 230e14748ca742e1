/* SPDX-License-Identifier: MIT */
/*
 * Many threads connect, talk, and end their connections in every way there is, at any moment; nothing may hang, leak or
 * touch what is gone. The sanitizers do the looking.
 */
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 60, DEPTH = 16 };

static struct sockaddr_storage where;
static atomic_bool over;
static int visitors; /* the passive thread's */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            print_error("%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);          \
            abort(); /* cmocka's own asserts are for its thread */                                 \
        }                                                                                          \
    } while (0)

struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_comp_channel *channel;
    struct ibv_mr *mr;
    struct rdma_event_channel *events;
    uint8_t memory[4096];
};

static void open_side(struct side *side)
{
    struct ibv_device **list = srd_get_device_list(NULL);

    CHECK((side->context = srd_open_device(list[0])));
    srd_free_device_list(list);
    CHECK((side->pd = srd_alloc_pd(side->context)));
    CHECK((side->mr = srd_reg_mr(side->pd, side->memory, sizeof(side->memory),
               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)));
    CHECK((side->events = srd_create_event_channel()));
}

static void close_side(struct side *side)
{
    srd_destroy_event_channel(side->events);
    CHECK(!srd_dereg_mr(side->mr));
    CHECK(!srd_dealloc_pd(side->pd));
    CHECK(!srd_close_device(side->context));
}

struct talk {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static void open_talk(struct side *side, struct talk *talk)
{
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
        .cap = {
            .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
    struct ibv_sge sge = { (uintptr_t)side->memory, 512, side->mr->lkey };
    struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 }, *bad;

    CHECK((talk->cq = srd_create_cq(side->context, 2 * DEPTH, NULL, NULL, 0)));
    init.send_cq = init.recv_cq = talk->cq;
    CHECK((talk->qp = srd_create_qp(side->pd, &init)));
    CHECK(!srd_modify_qp(
        talk->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    for (int i = 0; i < DEPTH; i++)
        CHECK(!ibv_post_recv(talk->qp, &recv, &bad));
}

static void close_talk(struct talk *talk)
{
    if (talk->qp)
        CHECK(!srd_destroy_qp(talk->qp));
    CHECK(!srd_destroy_cq(talk->cq));
}

static void to_rts(struct rdma_cm_id *id, struct ibv_qp *qp)
{
    for (int state = IBV_QPS_RTR; state <= IBV_QPS_RTS; state++) {
        struct ibv_qp_attr attr = { .qp_state = (enum ibv_qp_state)state };
        int mask;
        if (!srd_init_qp_attr(id, &attr, &mask)) /* the peer may have gone */
            CHECK(!srd_modify_qp(qp, &attr, mask));
    }
}

static void chat(struct side *side, struct talk *talk, unsigned count)
{
    struct ibv_sge sge = { (uintptr_t)side->memory + 1024, 64, side->mr->lkey };
    struct ibv_send_wr send = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad_send;
    struct ibv_wc wc[DEPTH];

    for (unsigned i = 0; i < count; i++) {
        send.send_flags = i % 4 ? 0 : IBV_SEND_SIGNALED;
        ibv_post_send(talk->qp, &send, &bad_send);
        CHECK(ibv_poll_cq(talk->cq, DEPTH, wc) >= 0);
    }
}

/* Ends a connection; which way is up to the dice. */
static void end_somehow(struct rdma_cm_id *id, struct talk *talk, unsigned dice)
{
    struct ibv_qp_attr error = { .qp_state = IBV_QPS_ERR };

    switch (dice % 4) {
    case 0: srd_disconnect(id); break;
    case 1:
        CHECK(!srd_destroy_qp(talk->qp));
        talk->qp = NULL;
        break;
    case 2: srd_modify_qp(talk->qp, &error, IBV_QP_STATE); break;
    default: break; /* the id's destruction does it */
    }
}

/* The next event, or NULL when the peer's thread is through and none comes. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel, bool forever)
{
    struct rdma_cm_event *event;
    struct pollfd fd = { .fd = channel->fd, .events = POLLIN };

    while (poll(&fd, 1, 20) == 0) /* looked at again only to see whether it is over */
        if (!forever && !visitors && atomic_load(&over))
            return NULL;
    CHECK(!srd_get_cm_event(channel, &event));
    return event;
}

static void *active(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;
    struct side *side = calloc(1, sizeof(*side));

    open_side(side);
    for (int round = 0; round < ROUNDS; round++) {
        struct rdma_conn_param param = { .responder_resources = 2, .initiator_depth = 2 };
        struct rdma_cm_event *event;
        struct rdma_cm_id *id;
        struct talk talk;
        int kind;

        open_talk(side, &talk);
        CHECK(!srd_create_id(side->events, &id, NULL, RDMA_PS_TCP));
        CHECK(!srd_resolve_addr(id, NULL, (struct sockaddr *)&where, 1000));
        CHECK(!srd_ack_cm_event(next_event(side->events, true)));
        CHECK(!srd_resolve_route(id, 1000));
        CHECK(!srd_ack_cm_event(next_event(side->events, true)));
        param.qp_num = talk.qp->qp_num;
        CHECK(!srd_connect(id, &param));
        if (rand_r(&seed) % 8) {
            event = next_event(side->events, true);
            kind = event->event;
            CHECK(!srd_ack_cm_event(event));
            if (kind == RDMA_CM_EVENT_CONNECT_RESPONSE) {
                to_rts(id, talk.qp);
                if (rand_r(&seed) % 8 == 0)
                    srd_reject(id, "no", 2);
                else if (!srd_establish(id))
                    chat(side, &talk, (unsigned)rand_r(&seed) % 100);
            }
            end_somehow(id, &talk, (unsigned)rand_r(&seed));
        }
        if (rand_r(&seed) % 2) {
            close_talk(&talk);
            CHECK(!srd_destroy_id(id));
        } else {
            CHECK(!srd_destroy_id(id));
            close_talk(&talk);
        }
    }
    close_side(side);
    free(side);
    return NULL;
}

struct visitor {
    struct rdma_cm_id *id;
    struct talk talk;
};

static void leave(struct visitor *visitor)
{
    visitors--;
    CHECK(!srd_destroy_id(visitor->id));
    close_talk(&visitor->talk);
    free(visitor);
}

static void *passive(void *arg)
{
    struct rdma_cm_id *listener = arg;
    struct side *side = calloc(1, sizeof(*side));
    struct rdma_cm_event *event;
    unsigned seed = 77;

    open_side(side);
    CHECK(!srd_migrate_id(listener, side->events));
    while ((event = next_event(side->events, false)) != NULL) {
        struct rdma_conn_param param = { .responder_resources = 2, .initiator_depth = 2 };
        struct visitor *visitor = event->id->context;
        enum rdma_cm_event_type kind = event->event;
        struct rdma_cm_id *id = event->id;

        CHECK(!srd_ack_cm_event(event));
        switch (kind) {
        case RDMA_CM_EVENT_CONNECT_REQUEST:
            visitor = calloc(1, sizeof(*visitor));
            visitor->id = id;
            visitors++;
            id->context = visitor;
            open_talk(side, &visitor->talk);
            to_rts(id, visitor->talk.qp);
            param.qp_num = visitor->talk.qp->qp_num;
            if (rand_r(&seed) % 8 == 0 || srd_accept(id, &param))
                leave(visitor);
            break;
        case RDMA_CM_EVENT_ESTABLISHED:
            chat(side, &visitor->talk, (unsigned)rand_r(&seed) % 50);
            if (rand_r(&seed) % 4 == 0)
                leave(visitor);
            break;
        default: leave(visitor); break;
        }
    }
    CHECK(!srd_destroy_id(listener));
    close_side(side);
    free(side);
    return NULL;
}

static void connections_may_end_in_any_way_at_any_moment(void **state)
{
    struct rdma_event_channel *events = srd_create_event_channel();
    pthread_t threads[THREADS], server;
    struct rdma_cm_id *listener;

    (void)state;
    test_address("127.0.0.1", 0, &where);
    assert_int_equal(srd_create_id(events, &listener, NULL, RDMA_PS_TCP), 0);
    assert_int_equal(srd_bind_addr(listener, (struct sockaddr *)&where), 0);
    assert_int_equal(srd_listen(listener, 0), 0);
    ((struct sockaddr_in *)&where)->sin_port = srd_get_src_port(listener);
    assert_int_equal(pthread_create(&server, NULL, passive, listener), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, active, (void *)(uintptr_t)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    atomic_store(&over, true);
    assert_int_equal(pthread_join(server, NULL), 0);
    srd_destroy_event_channel(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        connections_may_end_in_any_way_at_any_moment) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
