/* SPDX-License-Identifier: MIT */
/*
 * Connections with traffic are looked at every 250 ms, by one deadline for all; one without leaves the list, its
 * staging given back. The linker has the test turn the clock and count the looks (--wrap); sleeps are short, so that
 * the clock is looked at.
 */
#include "tests/support/haste.h"
#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/queues/qp.h"
#include "softrdma/stream/stream.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { OCTETS = 65536, LOOKS_MAX = 4, HASTE = 20 };

/* --- the clock, and what is looked at ----------------------------------------------------------------------------- */

static _Atomic uint64_t stopped_ms; /* 0: it goes */

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
    uint64_t ms = atomic_load(&stopped_ms);

    if (!ms)
        return __real_clock_gettime(id, now);
    now->tv_sec = (time_t)(ms / 1000);
    now->tv_nsec = (long)(ms % 1000 * 1000000 + 999999); /* the end of the millisecond */
    return 0;
}

/* Of the clock that goes. */
static uint64_t clock_ms(void)
{
    struct timespec now;

    __real_clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static _Atomic(struct srd_qp *) watched; /* whose looks are counted */
static atomic_uint looks;
/* The next look waits for the test, its locks held: if `stops` is set, it sets `stands`, and goes on at `go`. */
static atomic_bool stops, stands, go;

static void wait_for(atomic_bool *flag)
{
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;

    while (!atomic_load(flag) && haste_real_ms() < end_ms)
        sched_yield();
    assert_true(atomic_load(flag));
}

bool __real_srd_stream_give_back(struct srd_qp *qp, uint64_t *mark);
bool __wrap_srd_stream_give_back(struct srd_qp *qp, uint64_t *mark);
bool __wrap_srd_stream_give_back(struct srd_qp *qp, uint64_t *mark)
{
    bool idle = __real_srd_stream_give_back(qp, mark);

    if (qp != atomic_load(&watched))
        return idle;
    if (atomic_exchange(&stops, false)) {
        atomic_store(&stands, true);
        wait_for(&go);
    }
    atomic_fetch_add(&looks, 1);
    return idle;
}

/* A quarter of a second passes, and every connection with traffic is looked at. */
static void next_look(void)
{
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;
    unsigned before = atomic_load(&looks);

    atomic_fetch_add(&stopped_ms, 250);
    while (atomic_load(&looks) == before && haste_real_ms() < end_ms)
        sched_yield();
    assert_int_equal(atomic_load(&looks), before + 1);
}

/* --- a pair, its messages ----------------------------------------------------------------------------------------- */

static struct pair pair;

static struct srd_conn *conn_of(struct end *end)
{
    return srd_qp_from(end->qp)->conn;
}

static bool is_busy(struct end *end)
{
    return atomic_load(&conn_of(end)->busy);
}

/* Until it is not any more. */
static void await_idle(struct end *end)
{
    uint64_t end_ms = haste_real_ms() + DEADLINE_MS;

    while (is_busy(end) && haste_real_ms() < end_ms)
        sched_yield();
    assert_false(is_busy(end));
}

static int setup(void **state)
{
    (void)state;
    pair_connect(&pair, "127.0.0.1");
    haste_begin(HASTE);
    await_idle(&pair.active); /* from its startup */
    await_idle(&pair.passive);
    atomic_store(&stopped_ms, clock_ms());
    atomic_store(&looks, 0);
    atomic_store(&watched, srd_qp_from(pair.passive.qp));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    atomic_store(&watched, NULL);
    atomic_store(&stopped_ms, 0);
    haste_end();
    pair_close(&pair);
    return 0;
}

static void one_message(struct pair *between)
{
    struct ibv_wc wc;

    memset(between->active.memory, (int)atomic_load(&looks) + 1, OCTETS);
    end_recv(&between->passive, 7, 0, OCTETS);
    end_post(&between->active, IBV_WR_SEND, 8, 0, OCTETS, NULL, 0, 0);
    test_poll(between->passive.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 7);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_memory_equal(between->passive.memory, between->active.memory, OCTETS);
    srd_run_soon(); /* its acknowledgement: the clock stands */
    test_poll(between->active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 8);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

/* Pages of the receive staging that are there. */
static unsigned pages_of(struct end *end)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *staging = srd_qp_from(end->qp)->stream.rx.staging;
    unsigned char there[SRD_RX_STAGING / 4096];
    unsigned count = 0;

    if ((uintptr_t)staging % page) /* from malloc, as sanitizers want it: it keeps it */
        return 0;
    assert_int_equal(mincore(staging, SRD_RX_STAGING, there), 0);
    for (size_t i = 0; i < SRD_RX_STAGING / page; i++)
        count += there[i] & 1;
    return count;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void the_second_look_without_traffic_is_the_last(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        one_message(&pair);
        assert_true(is_busy(&pair.passive));
        next_look();
        assert_true(is_busy(&pair.passive));
        next_look();
        await_idle(&pair.passive);
        assert_int_equal(pages_of(&pair.passive), 0);
    }
    assert_int_equal(atomic_load(&looks), 6);
}

static void traffic_keeps_it(void **state)
{
    (void)state;
    for (int i = 0; i < LOOKS_MAX; i++) {
        one_message(&pair);
        next_look();
        assert_true(is_busy(&pair.passive));
    }
    next_look();
    await_idle(&pair.passive);
}

/* A thread in the middle of it keeps it, whatever it does there; others have their turn. */
static void a_thread_inside_keeps_it(void **state)
{
    struct srd_qp *busy = srd_qp_from(pair.active.qp);

    (void)state;
    one_message(&pair);
    lock_acquire(&busy->tx_lock);
    next_look();
    next_look();
    await_idle(&pair.passive);
    assert_true(is_busy(&pair.active));
    lock_release(&busy->tx_lock);
    atomic_store(&watched, busy);
    next_look();
    next_look();
    await_idle(&pair.active);
}

/* A thread that posts leaves the send side to the one that has it. */
static void what_is_posted_during_a_look_is_sent(void **state)
{
    uint64_t end_ms;
    struct ibv_wc wc;

    (void)state;
    atomic_store(&watched, srd_qp_from(pair.active.qp));
    one_message(&pair);
    next_look();
    atomic_store(&stands, false);
    atomic_store(&go, false);
    atomic_store(&stops, true);
    atomic_fetch_add(&stopped_ms, 250);
    wait_for(&stands);
    end_recv(&pair.passive, 17, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 18, 0, 64, NULL, 0, 0);
    atomic_store(&go, true);
    end_ms = haste_real_ms() + DEADLINE_MS;
    while (!ibv_poll_cq(pair.passive.cq, 1, &wc) && haste_real_ms() < end_ms)
        ;
    assert_true(haste_real_ms() < end_ms);
    assert_int_equal(wc.wr_id, 17);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    srd_run_soon(); /* its acknowledgement */
    test_poll(pair.active.cq, 1, &wc);
    assert_int_equal(wc.wr_id, 18);
}

static void closing_one_that_is_busy_takes_it_off_the_list(void **state)
{
    struct pair other;

    (void)state;
    pair_connect(&other, "127.0.0.1");
    one_message(&other);
    one_message(&pair);
    pair_close(&other);
    next_look();
    next_look();
    await_idle(&pair.passive);
}

/* The child has a list, and a deadline, of its own: none of the parent's connections is in it. */
static int child_has_its_own(void)
{
    static struct pair own;

    atomic_store(&watched, NULL);
    atomic_store(&stopped_ms, 0);
    pair_connect(&own, "127.0.0.1");
    one_message(&own);
    await_idle(&own.active);
    await_idle(&own.passive);
    pair_close(&own);
    return 0;
}

static void a_fork_takes_no_connection_along(void **state)
{
    int status;
    pid_t child;

    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it allows the child no thread */
#endif
    one_message(&pair);
    assert_true(is_busy(&pair.active));
    if (!(child = fork()))
        _exit(child_has_its_own());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    next_look();
    next_look();
    await_idle(&pair.passive);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_second_look_without_traffic_is_the_last),
        TEST(traffic_keeps_it),
        TEST(a_thread_inside_keeps_it),
        TEST(what_is_posted_during_a_look_is_sent),
        TEST(closing_one_that_is_busy_takes_it_off_the_list),
        TEST(a_fork_takes_no_connection_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
