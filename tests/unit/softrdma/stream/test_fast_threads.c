/* SPDX-License-Identifier: MIT */
/*
 * Fast regions of one connection used by several threads at once: two register, look and take back, each its region,
 * while the peer's two write; and two of two connections that want the same region.
 */
#include "tests/unit/softrdma/pair.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    OWNERS = 2,
    ROUNDS = 400,
    PAGE = SRD_FAST_PAGE_OCTETS,
    COUNT = 16,
    AREA = COUNT * PAGE, /* of one owner, and of its writer */
    LIMIT_MS = 60000,
};

static struct pair pair;
static atomic_int bad;
static atomic_uint done[2][2 * OWNERS]; /* completions by end and wr_id */
static atomic_bool stop;

static uint64_t first_page(const struct end *end)
{
    return ((uintptr_t)end->memory + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Failures are counted: cmocka's assertions are for the main thread only. */
static void check(bool good)
{
    if (!good)
        atomic_fetch_add(&bad, 1);
}

static bool await(atomic_uint *count, unsigned wanted)
{
    uint64_t deadline_ms = test_now_ms() + LIMIT_MS;

    while (atomic_load(count) < wanted) {
        if (test_now_ms() > deadline_ms || atomic_load(&bad)) {
            check(false);
            return false;
        }
        sched_yield();
    }
    return true;
}

static void *poll_end(void *arg)
{
    struct end *end = arg;
    int side = end == &pair.passive;

    while (!atomic_load(&stop)) {
        struct ibv_wc wc;
        int n = ibv_poll_cq(end->cq, 1, &wc);

        if (n == 1) {
            check(wc.status == IBV_WC_SUCCESS && wc.wr_id < 2 * OWNERS);
            atomic_fetch_add(&done[side][wc.wr_id % (2 * OWNERS)], 1);
        } else {
            check(n == 0);
            sched_yield();
        }
    }
    return NULL;
}

struct owner {
    unsigned index;
    struct ibv_mr *mr;
    uint64_t base;
    atomic_uint registered, written; /* rounds */
};
static struct owner owners[OWNERS];

static void take_back(struct owner *owner)
{
    struct ibv_send_wr wr = {
        .wr_id = OWNERS + owner->index, .opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED
    };
    struct ibv_send_wr *refused;

    wr.invalidate_rkey = owner->mr->rkey;
    check(ibv_post_send(pair.passive.qp, &wr, &refused) == 0);
}

static void look(const struct owner *owner, const uint64_t *pages, unsigned round)
{
    for (size_t i = 0; i < AREA; i += 97) {
        const uint8_t *there = (const uint8_t *)(uintptr_t)(pages[i / PAGE] + i % PAGE);

        check(*there == (uint8_t)(round * 7 + owner->index + i / 97));
    }
}

/* Registers its pages in another order each time. */
static void *own(void *arg)
{
    struct owner *owner = arg;
    unsigned seed = owner->index + 1;
    uint64_t pages[COUNT];

    for (size_t i = 0; i < COUNT; i++)
        pages[i] = first_page(&pair.passive) + owner->index * AREA + i * PAGE;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct srd_fast_reg reg = { .wr_id = owner->index,
            .mr = owner->mr,
            .pages = pages,
            .n_pages = COUNT,
            .length = AREA,
            .base = owner->base,
            .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
            .send_flags = IBV_SEND_SIGNALED };

        for (unsigned i = COUNT - 1; i; i--) {
            unsigned other = (unsigned)rand_r(&seed) % (i + 1);
            uint64_t page = pages[i];

            pages[i] = pages[other];
            pages[other] = page;
        }
        check(srd_post_fast_reg(pair.passive.qp, &reg) == 0);
        if (!await(&done[1][owner->index], round))
            break;
        atomic_store(&owner->registered, round);
        if (!await(&owner->written, round))
            break;
        look(owner, pages, round);
        take_back(owner);
        if (round % 2 && !await(&done[1][OWNERS + owner->index], round))
            break; /* else the next registration is posted behind it */
    }
    return NULL;
}

static void *write_to(void *arg)
{
    struct owner *owner = arg;
    uint8_t *from = pair.active.memory + owner->index * AREA;

    for (unsigned round = 1; round <= ROUNDS; round++) {
        struct ibv_sge sge = { (uintptr_t)from, AREA, pair.active.mr->lkey };
        struct ibv_send_wr wr = { .wr_id = owner->index,
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_WRITE,
            .send_flags = IBV_SEND_SIGNALED };
        struct ibv_send_wr *refused;

        for (size_t i = 0; i < AREA; i += 97)
            from[i] = (uint8_t)(round * 7 + owner->index + i / 97);
        if (!await(&owner->registered, round))
            break;
        wr.wr.rdma.remote_addr = owner->base;
        wr.wr.rdma.rkey = owner->mr->rkey;
        check(ibv_post_send(pair.active.qp, &wr, &refused) == 0);
        if (!await(&done[0][owner->index], round))
            break;
        atomic_store(&owner->written, round);
    }
    return NULL;
}

static void two_threads_register_while_peers_write(void **state)
{
    pthread_t threads[OWNERS][2], pollers[2];

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    for (unsigned i = 0; i < OWNERS; i++) {
        owners[i].index = i;
        owners[i].base = (uint64_t)(i + 1) << 44;
        owners[i].mr = srd_alloc_fast_mr(pair.passive.pd, COUNT);
        assert_non_null(owners[i].mr);
    }
    pthread_create(&pollers[0], NULL, poll_end, &pair.active);
    pthread_create(&pollers[1], NULL, poll_end, &pair.passive);
    for (unsigned i = 0; i < OWNERS; i++) {
        pthread_create(&threads[i][0], NULL, own, &owners[i]);
        pthread_create(&threads[i][1], NULL, write_to, &owners[i]);
    }
    for (unsigned i = 0; i < OWNERS; i++)
        for (int j = 0; j < 2; j++)
            pthread_join(threads[i][j], NULL);
    for (unsigned i = 0; i < OWNERS; i++)
        await(&done[1][OWNERS + i], ROUNDS);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(pollers[i], NULL);
    assert_int_equal(atomic_load(&bad), 0);
    for (unsigned i = 0; i < OWNERS; i++)
        assert_int_equal(srd_dereg_mr(owners[i].mr), 0);
    pair_close(&pair);
}

/* ------------------------------------------------------------------------------------------------------------------ */

struct rival {
    struct ibv_qp *qp;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
    uint64_t page;
    pthread_barrier_t *start;
    enum ibv_wc_status status;
};

static void *want(void *arg)
{
    struct rival *rival = arg;
    uint64_t page = rival->page;
    struct srd_fast_reg reg = { .mr = rival->mr,
        .pages = &page,
        .n_pages = 1,
        .length = PAGE,
        .access = IBV_ACCESS_LOCAL_WRITE,
        .send_flags = IBV_SEND_SIGNALED };
    uint64_t deadline_ms = test_now_ms() + LIMIT_MS;
    struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

    pthread_barrier_wait(rival->start);
    check(srd_post_fast_reg(rival->qp, &reg) == 0);
    while (ibv_poll_cq(rival->cq, 1, &wc) == 0 && test_now_ms() < deadline_ms)
        ;
    rival->status = wc.status;
    return NULL;
}

/* One of both gets it; the other's connection ends. */
static void of_two_that_want_one_region_one_gets_it(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        struct pair other;
        struct rival rivals[2];
        pthread_barrier_t start;
        pthread_t threads[2];
        struct ibv_mr *mr;
        struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
            .cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 } };

        /* queue pairs of one domain: the other's ends belong to the first one's context and domain */
        pair_connect(&pair, "127.0.0.1");
        mr = srd_alloc_fast_mr(pair.active.pd, 1);
        pair_prepare(&other, "127.0.0.1");
        assert_int_equal(srd_destroy_qp(other.active.qp), 0);
        attr.send_cq = attr.recv_cq = other.active.cq;
        other.active.qp = srd_create_qp(pair.active.pd, &attr);
        assert_non_null(other.active.qp);
        pair_request(&other, 4);
        pair_accept(&other, 4);
        pair_establish(&other);
        pthread_barrier_init(&start, NULL, 2);
        rivals[0] = (struct rival){ pair.active.qp, pair.active.cq, mr, first_page(&pair.active),
            &start, IBV_WC_GENERAL_ERR };
        rivals[1] = (struct rival){ other.active.qp, other.active.cq, mr, first_page(&pair.active),
            &start, IBV_WC_GENERAL_ERR };
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, want, &rivals[i]);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&start);
        assert_int_equal(atomic_load(&bad), 0);
        assert_int_equal(rivals[0].status + rivals[1].status, IBV_WC_SUCCESS + IBV_WC_MW_BIND_ERR);
        assert_true(rivals[0].status == IBV_WC_SUCCESS || rivals[1].status == IBV_WC_SUCCESS);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&other);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_threads_register_while_peers_write),
        cmocka_unit_test(of_two_that_want_one_region_one_gets_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
