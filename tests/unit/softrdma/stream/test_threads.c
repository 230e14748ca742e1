/* SPDX-License-Identifier: MIT */
/* A connection over sockets used by several threads at once: posting, polling, ending it, taking memory away. */
#include "tests/unit/softrdma/pair.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

enum { POSTERS = 2, EACH = 1500, RECEIVES = 64 };

/* What one end's threads share. Failures are counted: cmocka's assertions are for the main thread only. */
struct load {
    struct end *end, *peer;
    atomic_int room;      /* requests that may be posted */
    atomic_int accepted;  /* by post_send */
    atomic_int completed; /* of those */
    atomic_int received, receives_posted;
    atomic_int bad;
    atomic_bool error_expected, stop;
    uint64_t next[POSTERS]; /* number each poster's next completion carries */
};

static bool take_room(struct load *load)
{
    int room = atomic_load(&load->room);

    while (room > 0)
        if (atomic_compare_exchange_weak(&load->room, &room, room - 1))
            return true;
    return false;
}

static int post_one(struct load *load, unsigned poster, uint32_t number)
{
    struct ibv_sge sge = { (uintptr_t)load->end->memory + 65536 * poster, 40 + number % 5000,
        load->end->mr->lkey };
    struct ibv_send_wr wr = { .wr_id = (uint64_t)poster << 32 | number,
        .sg_list = &sge,
        .num_sge = 1,
        .send_flags = IBV_SEND_SIGNALED },
                       *bad;
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_SEND,
        IBV_WR_RDMA_READ };

    wr.opcode = opcodes[number % 4];
    if (number % 7 == 0)
        wr.send_flags |= IBV_SEND_FENCE;
    wr.wr.rdma.remote_addr = (uintptr_t)load->peer->memory + 524288 + 65536 * poster;
    wr.wr.rdma.rkey = load->peer->mr->rkey;
    return ibv_post_send(load->end->qp, &wr, &bad);
}

struct poster {
    struct load *load;
    unsigned index;
};

static void *post_thread(void *arg)
{
    struct poster *poster = arg;
    struct load *load = poster->load;

    for (uint32_t i = 0; i < EACH && !atomic_load(&load->stop);) {
        if (!take_room(load)) {
            sched_yield();
            continue;
        }
        if (post_one(load, poster->index, i++))
            atomic_fetch_add(&load->bad, 1);
        else
            atomic_fetch_add(&load->accepted, 1);
    }
    return NULL;
}

static void repost(struct load *load)
{
    struct ibv_sge sge = { (uintptr_t)load->end->memory + 262144, 8192, load->end->mr->lkey };
    struct ibv_recv_wr wr = { .wr_id = UINT64_MAX, .sg_list = &sge, .num_sge = 1 }, *bad;

    if (ibv_post_recv(load->end->qp, &wr, &bad))
        atomic_fetch_add(&load->bad, 1);
    else
        atomic_fetch_add(&load->receives_posted, 1);
}

static void account(struct load *load, const struct ibv_wc *wc)
{
    bool failed = wc->status != IBV_WC_SUCCESS;

    if (failed && !atomic_load(&load->error_expected))
        atomic_fetch_add(&load->bad, 1);
    if (wc->wr_id == UINT64_MAX) {
        atomic_fetch_add(&load->received, 1);
        if (!failed)
            repost(load);
        return;
    }
    /* in the order posted, each once */
    if ((uint32_t)wc->wr_id != load->next[wc->wr_id >> 32]++)
        atomic_fetch_add(&load->bad, 1);
    atomic_fetch_add(&load->completed, 1);
    atomic_fetch_add(&load->room, 1);
}

/* Polls until wanted requests are complete and the peer's Sends are in, or until the test stops it. */
static void *poll_thread(void *arg)
{
    struct load *load = arg;
    uint64_t deadline_ms = test_now_ms() + 60000;
    struct ibv_wc wc[16];

    while (!atomic_load(&load->stop)) {
        int n = ibv_poll_cq(load->end->cq, 16, wc);

        if (n < 0 || test_now_ms() > deadline_ms) {
            atomic_fetch_add(&load->bad, 1);
            return NULL;
        }
        for (int i = 0; i < n; i++)
            account(load, &wc[i]);
        if (!n)
            sched_yield();
    }
    return NULL;
}

static void load_init(struct load *load, struct end *end, struct end *peer)
{
    memset(load, 0, sizeof(*load));
    load->end = end;
    load->peer = peer;
    atomic_store(&load->room, 100);
    for (int i = 0; i < RECEIVES; i++)
        repost(load);
}

static void all_threads_at_once(void **state)
{
    static struct load loads[2];
    struct pair pair;
    pthread_t posters[2][POSTERS], pollers[2];
    struct poster args[2][POSTERS];
    uint64_t deadline_ms;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    load_init(&loads[0], &pair.active, &pair.passive);
    load_init(&loads[1], &pair.passive, &pair.active);
    for (int e = 0; e < 2; e++) {
        assert_int_equal(pthread_create(&pollers[e], NULL, poll_thread, &loads[e]), 0);
        for (unsigned i = 0; i < POSTERS; i++) {
            args[e][i] = (struct poster){ &loads[e], i };
            assert_int_equal(pthread_create(&posters[e][i], NULL, post_thread, &args[e][i]), 0);
        }
    }
    for (int e = 0; e < 2; e++)
        for (unsigned i = 0; i < POSTERS; i++)
            pthread_join(posters[e][i], NULL);
    deadline_ms = test_now_ms() + 60000;
    for (int e = 0; e < 2; e++)
        while ((atomic_load(&loads[e].completed) < POSTERS * EACH ||
                   atomic_load(&loads[e].received) < POSTERS * EACH / 2) &&
               test_now_ms() < deadline_ms)
            sched_yield();
    for (int e = 0; e < 2; e++) {
        atomic_store(&loads[e].stop, true);
        pthread_join(pollers[e], NULL);
        assert_int_equal(atomic_load(&loads[e].bad), 0);
        assert_int_equal(atomic_load(&loads[e].completed), POSTERS * EACH);
        assert_int_equal(atomic_load(&loads[e].received), POSTERS * EACH / 2);
    }
    pair_close(&pair);
}

/* One end goes to the error state in full traffic: each accepted request completes once, on both sides. */
static void error_state_in_full_traffic(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        static struct load loads[2];
        struct pair pair;
        pthread_t posters[2][POSTERS], pollers[2];
        struct poster args[2][POSTERS];
        struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
        uint64_t deadline_ms = test_now_ms() + 60000;

        pair_connect(&pair, "127.0.0.1");
        load_init(&loads[0], &pair.active, &pair.passive);
        load_init(&loads[1], &pair.passive, &pair.active);
        for (int e = 0; e < 2; e++) {
            atomic_store(&loads[e].error_expected, true);
            assert_int_equal(pthread_create(&pollers[e], NULL, poll_thread, &loads[e]), 0);
            for (unsigned i = 0; i < POSTERS; i++) {
                args[e][i] = (struct poster){ &loads[e], i };
                assert_int_equal(pthread_create(&posters[e][i], NULL, post_thread, &args[e][i]), 0);
            }
        }
        while (atomic_load(&loads[round % 2].completed) < 100 + 50 * round &&
               test_now_ms() < deadline_ms)
            sched_yield();
        assert_int_equal(srd_modify_qp(loads[round % 2].end->qp, &attr, IBV_QP_STATE), 0);
        for (int e = 0; e < 2; e++)
            for (unsigned i = 0; i < POSTERS; i++)
                pthread_join(posters[e][i], NULL); /* posts go on, flushed */
        for (int e = 0; e < 2; e++)
            while ((atomic_load(&loads[e].completed) < atomic_load(&loads[e].accepted) ||
                       atomic_load(&loads[e].received) < atomic_load(&loads[e].receives_posted)) &&
                   test_now_ms() < deadline_ms)
                sched_yield();
        for (int e = 0; e < 2; e++) {
            atomic_store(&loads[e].stop, true);
            pthread_join(pollers[e], NULL);
            assert_int_equal(atomic_load(&loads[e].bad), 0);
            assert_int_equal(atomic_load(&loads[e].completed), POSTERS * EACH);
            assert_int_equal(
                atomic_load(&loads[e].received), atomic_load(&loads[e].receives_posted));
            assert_int_equal(loads[e].end->qp->state, IBV_QPS_ERR);
        }
        pair_close(&pair);
    }
}

struct writer {
    struct end *end;
    uint64_t remote;
    uint32_t rkey, octets;
    atomic_bool over;
    atomic_int done;
    enum ibv_wc_status last;
};

/* Writes all over the peer's region, alternating contents, until refused. */
static void *write_until_refused(void *arg)
{
    struct writer *writer = arg;
    struct ibv_sge sge = { (uintptr_t)writer->end->memory, writer->octets, writer->end->mr->lkey };
    struct ibv_send_wr wr = { .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = IBV_SEND_SIGNALED },
                       *bad;
    struct ibv_wc wc = { 0 };
    uint64_t deadline_ms = test_now_ms() + 60000;

    wr.wr.rdma.remote_addr = writer->remote;
    wr.wr.rdma.rkey = writer->rkey;
    for (uint8_t round = 0; wc.status == IBV_WC_SUCCESS && test_now_ms() < deadline_ms; round++) {
        memset(writer->end->memory, round, writer->octets);
        if (ibv_post_send(writer->end->qp, &wr, &bad))
            break;
        while (!ibv_poll_cq(writer->end->cq, 1, &wc) && test_now_ms() < deadline_ms)
            ;
        atomic_fetch_add(&writer->done, wc.status == IBV_WC_SUCCESS);
    }
    writer->last = wc.status;
    atomic_store(&writer->over, true);
    return NULL;
}

/* When the deregistration has returned, the peer changes not one octet more (RFC 5042 section 6.4). */
static void nothing_is_placed_after_deregistration(void **state)
{
    static uint8_t target[256 * 1024], copy[256 * 1024];
    struct pair pair;
    struct writer writer;
    struct ibv_mr *mr;
    pthread_t thread;
    uint64_t deadline_ms;

    (void)state;
    for (int round = 0; round < 6; round++) {
        pair_connect(&pair, "127.0.0.1");
        mr = srd_reg_mr(pair.passive.pd, target, sizeof(target),
            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
        assert_non_null(mr);
        memset(&writer, 0, sizeof(writer));
        writer.end = &pair.active;
        writer.remote = (uintptr_t)target;
        writer.rkey = mr->rkey;
        writer.octets = round % 2 ? 1000 : sizeof(target);
        assert_int_equal(pthread_create(&thread, NULL, write_until_refused, &writer), 0);
        deadline_ms = test_now_ms() + 60000;
        while (atomic_load(&writer.done) < 3 + round && test_now_ms() < deadline_ms) {
            struct ibv_wc wc;

            if (round < 3) /* by our polling, or by the device's own thread */
                ibv_poll_cq(pair.passive.cq, 1, &wc);
            else
                sched_yield();
        }
        assert_int_equal(srd_dereg_mr(mr), 0);
        memcpy(copy, target, sizeof(copy));
        pthread_join(thread, NULL);
        assert_memory_equal(copy, target, sizeof(copy));
        assert_int_equal(writer.last, IBV_WC_REM_ACCESS_ERR);
        pair_close(&pair);
    }
}

/* Queue pairs are destroyed with everything under way; the rest of the device goes on. */
static void destroyed_in_full_traffic(void **state)
{
    (void)state;
    for (int round = 0; round < 8; round++) {
        static struct load loads[2];
        struct pair pair;
        pthread_t poller;
        struct end *gone;
        uint64_t deadline_ms = test_now_ms() + 60000;

        pair_connect(&pair, "127.0.0.1");
        load_init(&loads[0], &pair.active, &pair.passive);
        load_init(&loads[1], &pair.passive, &pair.active);
        atomic_store(&loads[0].error_expected, true);
        assert_int_equal(pthread_create(&poller, NULL, poll_thread, &loads[0]), 0);
        gone = &pair.passive;
        for (uint32_t i = 0; i < 60; i++) {
            assert_int_equal(post_one(&loads[0], 0, i), 0);
            assert_int_equal(post_one(&loads[1], 0, i), 0);
        }
        assert_int_equal(srd_destroy_qp(gone->qp), 0);
        gone->qp = NULL;
        while (atomic_load(&loads[0].completed) < 60 && test_now_ms() < deadline_ms)
            sched_yield();
        atomic_store(&loads[0].stop, true);
        pthread_join(poller, NULL);
        assert_int_equal(atomic_load(&loads[0].bad), 0);
        assert_int_equal(atomic_load(&loads[0].completed), 60);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_at_once),
        cmocka_unit_test(error_state_in_full_traffic),
        cmocka_unit_test(nothing_is_placed_after_deregistration),
        cmocka_unit_test(destroyed_in_full_traffic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
