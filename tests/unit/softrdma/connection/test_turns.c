/* SPDX-License-Identifier: MIT */
/*
 * A peer that drains memory by long Reads takes the background thread for a turn of so many octets and calls, not for
 * as long as it keeps up: between two looks at all connections no more is sent. The linker counts (--wrap).
 */
#include "tests/unit/softrdma/pair.h"

#include "softrdma/events/source.h"
#include "softrdma/stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { READS = 4, READ_OCTETS = 8 << 20, MOST_OCTETS = (64 + 64) << 10, MOST_CALLS = 16 };
/* Through shared memory: its bell, the socket and the deadline may have a turn each. */
enum { MOST_OCTETS_SHARED = 3 * (256 + 64) << 10 };

/* Counts of the background thread; the test reads those of the last two lines. */
static size_t turn_octets;
static unsigned turn_calls;
static _Atomic size_t sent_octets, most_octets;
static atomic_uint most_calls, turns;

static void turn_is_over(void)
{
    if (!turn_calls)
        return;
    if (turn_octets > atomic_load(&most_octets))
        atomic_store(&most_octets, turn_octets);
    if (turn_calls > atomic_load(&most_calls))
        atomic_store(&most_calls, turn_calls);
    atomic_fetch_add(&turns, 1);
    turn_octets = turn_calls = 0;
}

unsigned __real_srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms);
unsigned __wrap_srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms);
bool __real_reactor_turn_at_once(enum reactor_how how, bool set);
bool __wrap_reactor_turn_at_once(enum reactor_how how, bool set);

unsigned __wrap_srd_stream_tx_done(struct srd_qp *qp, size_t octets, uint64_t now_ms)
{
    if (octets && srd_in_background()) {
        turn_octets += octets;
        turn_calls++;
        atomic_fetch_add(&sent_octets, octets);
    }
    return __real_srd_stream_tx_done(qp, octets, now_ms);
}

bool __wrap_reactor_turn_at_once(enum reactor_how how, bool set)
{
    if (how == REACTOR_BACKGROUND)
        turn_is_over();
    return __real_reactor_turn_at_once(how, set);
}

static struct ibv_mr *map(struct end *end)
{
    void *memory = mmap(NULL, (size_t)READS * READ_OCTETS, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct ibv_mr *mr;

    assert_ptr_not_equal(memory, MAP_FAILED);
    mr = srd_reg_mr(end->pd, memory, (size_t)READS * READ_OCTETS,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    assert_non_null(mr);
    return mr;
}

static void unmap(struct ibv_mr *mr)
{
    void *memory = mr->addr;

    assert_int_equal(srd_dereg_mr(mr), 0);
    munmap(memory, (size_t)READS * READ_OCTETS);
}

static void a_turn_is_bounded(void **state)
{
    struct pair pair;
    struct ibv_mr *from, *to;
    struct ibv_wc wc[READS];
    bool shared;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    shared = !strcmp(srd_query_path(pair.active.qp), "shm");
    from = map(&pair.passive);
    to = map(&pair.active);
    for (int i = 0; i < READS; i++) {
        size_t offset = (size_t)i * READ_OCTETS;
        struct ibv_sge sge = { (uintptr_t)to->addr + offset, READ_OCTETS, to->lkey };
        struct ibv_send_wr wr = { .wr_id = (uint64_t)i,
            .sg_list = &sge,
            .num_sge = 1,
            .opcode = IBV_WR_RDMA_READ,
            .send_flags = IBV_SEND_SIGNALED };
        struct ibv_send_wr *bad;

        wr.wr.rdma.remote_addr = (uintptr_t)from->addr + offset;
        wr.wr.rdma.rkey = from->rkey;
        assert_int_equal(ibv_post_send(pair.active.qp, &wr, &bad), 0);
    }
    test_poll(pair.active.cq, READS, wc);
    for (int i = 0; i < READS; i++)
        assert_int_equal(wc[i].status, IBV_WC_SUCCESS);
    unmap(from);
    unmap(to);
    pair_close(&pair);
    assert_true(atomic_load(&sent_octets) >= (size_t)READS * READ_OCTETS);
    print_message("%u turns, of %zu octets and %u calls at most\n", atomic_load(&turns),
        atomic_load(&most_octets), atomic_load(&most_calls));
    assert_true(atomic_load(&most_octets) <= (shared ? MOST_OCTETS_SHARED : MOST_OCTETS));
    assert_true(atomic_load(&most_calls) <= MOST_CALLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
