/* SPDX-License-Identifier: MIT */
/* Fast registration and its invalidation make no system call: a filter ends the process at any. */
#include "tests/support/no_calls.h"
#include "tests/unit/softrdma/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 10000, MOST = 256, PAGE = SRD_FAST_PAGE_OCTETS };

/* Silent, and with a completion. */
static bool turn(struct end *end, struct srd_fast_reg *reg)
{
    struct ibv_send_wr wr = { .wr_id = 2, .opcode = IBV_WR_LOCAL_INV }, *bad;
    struct ibv_wc wc;

    wr.send_flags = IBV_SEND_SIGNALED;
    wr.invalidate_rkey = reg->mr->rkey;
    return srd_post_fast_reg(end->qp, reg) == 0 && ibv_post_send(end->qp, &wr, &bad) == 0 &&
           ibv_poll_cq(end->cq, 1, &wc) == 1 && wc.wr_id == 2 && wc.status == IBV_WC_SUCCESS;
}

/* argument: how many pages */
static void child(const void *argument)
{
    static uint64_t pages[MOST];
    uint32_t n_pages = *(const uint32_t *)argument;
    struct srd_fast_reg reg = { .pages = pages,
        .n_pages = n_pages,
        .length = (uint64_t)n_pages * PAGE,
        .base = 0x10000,
        .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };
    struct pair pair;

    pair_connect(&pair, "127.0.0.1");
    reg.mr = srd_alloc_fast_mr(pair.active.pd, n_pages);
    for (uint32_t i = 0; i < n_pages; i++)
        pages[i] = (uint64_t)(i * 3 + 1) * PAGE;
    if (!turn(&pair.active, &reg)) /* what happens once has happened */
        return;
    no_calls_from_here();
    for (int i = 0; i < ROUNDS; i++)
        if (!turn(&pair.active, &reg))
            return;
    _exit(NO_CALLS_DONE);
}

static void registering_makes_no_system_call(void **state)
{
    static const uint32_t few = 16, most = MOST;

    (void)state;
    if (!NO_CALLS_TESTABLE)
        skip();
    assert_int_equal(no_calls_run(child, &few), NO_CALLS_DONE);
    assert_int_equal(no_calls_run(child, &most), NO_CALLS_DONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registering_makes_no_system_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
