/* SPDX-License-Identifier: MIT */
/*
 * test_preempted.c - a message that meets no Receive waits for one as long as it may, however long the thread stood
 * still that served the message before it. That each message has a time of its own is our reading: iWARP's RFCs have no
 * wait. Found by tests/simulation.
 */
#include "tests/unit/softrdma/pair.h"

#include "tests/support/settle.h"

#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"
#include "softrdma/stream/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { OCTETS = 64, STANDS_STILL_S = 1000, RETRIES = 200 };

static struct pair pair;

/* A thread that stands still where a Receive completes; the linker leads softrdma's calls here. */
static _Thread_local time_t ahead_s;
static _Thread_local bool stands_still;

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    int error = __real_clock_gettime(id, now);

    now->tv_sec += ahead_s;
    return error;
}

void __real_srd_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, bool solicited);
void __wrap_srd_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, bool solicited);
void __wrap_srd_cq_push(struct ibv_cq *cq, const struct ibv_wc *wc, bool solicited)
{
    __real_srd_cq_push(cq, wc, solicited);
    if (stands_still)
        ahead_s = STANDS_STILL_S;
}

/* Whether both messages wait at the passive end. */
static bool both_wait(struct srd_qp *qp)
{
    bool held;

    lock_acquire(&qp->rx_lock);
    held = qp->stream.rx.held && qp->stream.rx.hold_wr > 2 * OCTETS;
    lock_release(&qp->rx_lock);
    return held;
}

static void the_next_message_waits_from_then_on(void **state)
{
    struct srd_qp *qp;
    uint64_t first_ms, second_ms;
    struct ibv_wc wc;

    (void)state;
    pair_connect(&pair, "127.0.0.1");
    qp = srd_qp_from(pair.passive.qp);
    atomic_store(&qp->rnr_retries, RETRIES);
    atomic_store(&qp->rnr_timer, 0); /* 0.66 s each */
    for (uint64_t i = 0; i < 2; i++)
        end_post(&pair.active, IBV_WR_SEND, i, 0, OCTETS, NULL, 0, IBV_SEND_SIGNALED);
    assert_true(SETTLES(both_wait(qp)));
    first_ms = srd_stream_deadline_ms(qp);
    stands_still = true;
    end_recv(&pair.passive, 0, 0, OCTETS);
    second_ms = srd_stream_deadline_ms(qp);
    stands_still = false;
    ahead_s = 0;
    assert_true(second_ms - first_ms >= STANDS_STILL_S * 1000);
    end_recv(&pair.passive, 1, 0, OCTETS);
    for (uint64_t i = 0; i < 2; i++) {
        test_poll(pair.passive.cq, 1, &wc);
        assert_int_equal(wc.status, IBV_WC_SUCCESS);
        assert_int_equal(wc.wr_id, i);
    }
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_next_message_waits_from_then_on) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
